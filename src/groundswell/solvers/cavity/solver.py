"""The cavity solver: incompressible Boussinesq flow, second order, brought to a steady state.

Artificial compressibility (Chorin 1967) with a local beta, fourth-difference damping of pressure,
central differences and explicit steps: the method of Xue & Roy (2020) and the codes before theirs.
Coarser grids give it a flow to begin with, and then speed it up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundswell.backends import Backend
from groundswell.backends.base import Event, in_order
from groundswell.errors import InputError, RunFailed
from groundswell.exchange.decomposition import Decomposition, decompose
from groundswell.exchange.exchange import Exchange
from groundswell.exchange.traffic import traffic
from groundswell.exchange.tuning import Choice, Memory, Rehearsal, Tuning, candidates, tune
from groundswell.exchange.world import Alone, World
from groundswell.grids.cartesian import Part, times
from groundswell.run.checkpoint import Portion
from groundswell.run.portions import field_portion
from groundswell.solvers.cavity.case import AXES
from groundswell.solvers.cavity.history import History
from groundswell.solvers.cavity.level import READ, Level, source_of
from groundswell.solvers.cavity.multigrid import Bridge, cycle
from groundswell.solvers.cavity.results import Results
from groundswell.solvers.cavity.setup import FIELDS, Setup
from groundswell.solvers.cavity.start import read_start, require_fitting

LEAST_BLOCK = 2  # points: a fourth difference that is shifted off a wall reaches three further

# A flow on a coarse grid is good enough to begin the next one with at this residual, or after so
# many looks: single precision may not let it fall so far.
BEGIN, LOOKS = 1e-4, 60


class Cavity:
    """One rank's part of a flow; `step` advances it.

    Args:
        world: the ranks that share the grid.

    Attributes:
        levels: the grids, the finest first.
        stage: the finest of them that is in use yet.
    """

    unit = "MLUPS"  # million lattice points updated a second
    warnings = ()  # beside what its set-up says

    @staticmethod
    def prepare(case: Any, world: World | None = None) -> Setup:
        """What the case says, without a device.

        Raises:
            InputError: the flow that it starts from cannot be used.
        """
        setup = Setup(case)
        if setup.case.start is not None:
            require_fitting(setup)
        return setup

    @staticmethod
    def outline(setup: Setup, ranks: int) -> dict[str, Any]:
        """How ranks would share the grid: blocks, bytes of each and between them in a step."""
        cuts = cut_grids(setup, ranks)
        largest = [max(np.diff(edges)) for edges in cuts[0].edges][::-1]
        size, stages = np.dtype(setup.dtype).itemsize, len(setup.scheme.stages)
        swept = zip(cuts, setup.cycle(), strict=True)
        sent = [n * traffic(cut, [(READ[name], size) for name in FIELDS]) for cut, n in swept]
        return {
            "ranks": ranks,
            "processes": cuts[0].processes[::-1],
            "largest_block": [int(n) for n in largest],
            "updates_per_step": sum(
                n * prod(int(max(np.diff(edges))) for edges in cut.edges)
                for n, cut in zip(setup.cycle(), cuts, strict=True)
            ),
            "memory": [_memory(setup, cuts, rank) for rank in range(ranks)],
            "traffic": stages * np.sum(sent, axis=0),
        }

    def __init__(self, setup: Setup, backend: Backend, world: World | None = None) -> None:
        self.setup, self.backend, self.world = setup, backend, world or Alone()
        run = setup.case.run
        overlap = bool(run.overlap) and not run.version
        self.choice = Choice(run.transport, overlap=overlap, codec=run.codecs[0])
        cuts = cut_grids(setup, self.world.size)
        parts = _parts(setup, cuts, self.world.rank)
        backend.build_all(
            [source_of(*pair, backend.processors, n > 0) for n, pair in enumerate(parts)]
        )
        self.levels = [
            Level(grid, backend, self.world, cut, self.choice, coarse=n > 0)
            for n, (grid, cut) in enumerate(zip(setup.grids, cuts, strict=True))
        ]
        self._stage = backend.zeros((1,), np.int64)
        self.history = History(backend, setup)
        self.recorders = Results(self)
        self._connect()
        self._start()

    # --- the step ---------------------------------------------------------------------------------

    def begin(self) -> None:
        """Make ready for the state as it is: at rest, or a checkpoint's."""
        self.stage = int(self.backend.to_host(self._stage)[0])
        self._looks = self.history.begin(self.stage)
        levels, bridges = self.levels[self.stage :], self._bridges[self.stage :]
        self._verbs = in_order(cycle(levels, bridges, self.setup.cycle(self.stage)))

    def step(self) -> None:
        """Enqueue `steps_at_once` steps, or a cycle through the grids in use."""
        self._verbs()

    @property
    def steps_at_once(self) -> int:
        """Steps that `step` makes."""
        return self.setup.scheme.at_once

    @property
    def look_every(self) -> int:
        """Steps between looks."""
        return self.setup.look

    def look(self, step: int) -> bool:
        """Measure the residuals, set the next steps' length; whether the flow stands still.

        Raises:
            RunFailed: a value is not finite.
        """
        level = self.levels[self.stage]
        norms, limit = level.measure()
        if not self.history.bounded(norms):
            raise RunFailed(self._where_not_finite(step))
        level.set_pace(limit)
        largest = self.history.add(step // self.look_every - 1, step, self.stage, norms)
        self._looks += 1
        if self.stage > 0:
            return largest <= max(self.setup.tolerance, BEGIN) or self._looks >= LOOKS
        return largest <= self.setup.tolerance

    def go_on(self) -> bool:
        """Begin on the next finer grid with the flow of this one; False if there is none."""
        if self.stage == 0:
            return False
        bridge = self._bridges[self.stage - 1]
        self.levels[self.stage].forget_drift()
        in_order([*bridge.remember(), *bridge.up()])()
        self._set_stage(self.stage - 1)
        return True

    def to_rest(self) -> Iterator[tuple[int, int]]:
        """Bring the flow to rest without a run; yields steps and points updated after each look.

        Raises:
            RunFailed: a value is not finite, or the flow still moves after all steps.
        """
        self.begin()
        graph = self.backend.capture(self.step, in_graph=self.in_graph)
        for done in range(self.look_every, self.setup.steps + 1, self.look_every):
            graph.replay(self.look_every // self.steps_at_once)
            yield self.look_every, self.look_every * self.updates_per_step
            if self.look(done):
                if not self.go_on():
                    return
                graph = self.backend.capture(self.step, in_graph=self.in_graph)
        raise RunFailed(f"the flow is not steady after {self.setup.steps} steps; allow for more")

    def _where_not_finite(self, step: int) -> str:
        """Say what has become infinite or NaN."""
        level = self.levels[self.stage]
        values = {n: self.backend.to_host(f.interior) for n, f in level.copies[0].items()}
        bad = [name for name, found in values.items() if not np.isfinite(found).all()]
        fewer = f" or time.levels lower than {len(self.levels)}" if len(self.levels) > 1 else ""
        return (
            f"the flow grows without bounds at step {step}"
            + f", {', '.join(bad)} of rank {self.world.rank} beyond all numbers" * bool(bad)
            + f": the run is unstable; set time.courant lower than {self.setup.courant:g}{fewer}"
        )

    # --- beginnings -------------------------------------------------------------------------------

    def _start(self) -> None:
        """The flow that the case names, or fluid at rest."""
        self._rest()
        if self.setup.case.start is not None:
            self.fill(read_start(self.setup, self.levels[0].part))

    def _rest(self) -> None:
        """Fluid at rest, of the neutral temperature, on the coarsest grid."""
        for level in self.levels:
            level.fill({name: np.zeros(level.part.shape) for name in FIELDS})
            level.set_pace(0.0 if self.setup.case.time.local else level.measure()[1])
        self._set_stage(len(self.levels) - 1)

    def fill(self, values: dict[str, NDArray[Any]]) -> None:
        """Begin on the finest grid with these fields, each (nz, ny, nx)."""
        finest = self.levels[0]
        above = {"T": values["T"] - self.setup.fluid.neutral} if "T" in values else {}
        finest.fill({**values, **above})
        finest.set_pace(finest.measure()[1])
        self._set_stage(0)

    def _set_stage(self, stage: int) -> None:
        self.backend.assign(self._stage, np.array([stage]))
        self.begin()

    # --- ranks ------------------------------------------------------------------------------------

    def _connect(self) -> None:
        pairs = zip(self.levels, self.levels[1:], strict=False)
        self._bridges = [Bridge(fine, coarse) for fine, coarse in pairs]

    @property
    def _exchanges(self) -> list[Exchange]:
        owners: list[Level | Bridge] = [*self.levels, *self._bridges]
        return [exchange for owner in owners for exchange in owner.exchanges]

    def adopt(self, choice: Choice) -> None:
        """Exchange in another way from now on; every rank must."""
        self.close()
        self.choice = choice
        for level in self.levels:
            level.adopt(choice)
        self._connect()
        self.begin()

    def close(self) -> None:
        """Give back what it holds of other ranks; every rank must, before MPI ends."""
        for exchange in self._exchanges:
            exchange.close()

    def describe_ranks(self) -> dict[str, Any]:
        """How the ranks share the grid, and the way their messages really took."""
        finest = self.levels[0]
        swept = zip(self.levels, self.setup.cycle(), strict=True)
        sent = sum(n * level.sent for level, n in swept)
        return {
            "count": self.world.size,
            "processes": finest.cut.processes[::-1],
            "transport": finest.exchanges[0].path,
            "overlap": self.choice.overlap and self.world.size > 1,
            "aggregate": self.choice.aggregate,
            "bytes_sent_per_step": sent * len(self.setup.scheme.stages),
        }

    def tune(self) -> Tuning | None:
        """Find the fastest way to exchange and adopt it; afterwards the flow is at its start."""
        if self.world.size == 1:
            return None
        run, cut = self.setup.case.run, self.levels[0].cut
        overlap = False if run.version else run.overlap
        codecs = ["none"] if run.version else run.codecs
        choices = candidates(
            self.backend,
            self.world,
            transport=run.transport,
            overlap=overlap,
            codecs=codecs,
            slow=run.link is not None,
        )
        choices = [choice for choice in choices if choice.aggregate or not run.version]
        problem = (self.setup.grid.cells, cut, run.transport, overlap, run.narrow, run.version)
        more = (
            codecs,
            run.link,
            self.setup.dtype,
            self.setup.scheme,
            self.setup.periodic,
            self.world.same_host,
        )
        memory = Memory.of(self.world, self.backend, self.world.tell(("cavity", *problem, *more)))
        tuning = tune(self.world, choices, self._rehearsal, memory)
        self.adopt(tuning.best)
        self.world.agree(self._start)
        return tuning

    def _rehearsal(self, choice: Choice) -> Rehearsal:
        self.adopt(choice)
        steps = in_order(self.levels[0].steps(self.steps_at_once))
        graph = self.backend.capture(steps, in_graph=self.in_graph)
        return lambda times: self.backend.seconds(lambda: graph.replay(times))

    # --- what the driver asks ---------------------------------------------------------------------

    @property
    def updates_per_step(self) -> int:
        """Points that a step updates, coarser grids' included."""
        return self.setup.updates_from(self.stage)

    @property
    def bytes_per_update(self) -> float:
        """Least traffic of a point's step."""
        return self.setup.bytes_per_update

    def state(self) -> dict[str, Portion]:
        """Every array that decides what comes next; writing them back restores the moment."""
        state = {}
        for n, level in enumerate(self.levels):
            for name, field in level.copies[0].items():
                state[f"{name}-{n}"] = field_portion(field, level.part)
            for name, array in (("pace", level.pace), ("drift", level.drift)):
                state[f"{name}-{n}"] = Portion.shared(array, self.world)
        own = {"history": self.history.rows, "stage": self._stage}
        return state | {name: Portion.shared(array, self.world) for name, array in own.items()}

    def guard(self) -> None:
        """Nothing: `look` finds what is not finite."""

    @property
    def in_graph(self) -> bool:
        """Whether a graph of launches may hold a step."""
        return all(exchange.in_graph for exchange in self._exchanges)

    def raise_if_unstable(self, steps: int, after: Event | None = None) -> None:
        """See that no rank was waited for in vain; raises RunFailed."""
        for exchange in self._exchanges:
            exchange.check(after)

    def steadiness(self) -> dict[str, Any]:
        """The largest residual at the last look at the finest grid, and whether it is small."""
        rows = self.history.read()
        looks = rows[rows[:, 1] == 0]
        residual = float(looks[-1, 2:].max()) if len(looks) else None
        return {
            "residual": residual,
            "steady": residual is not None and residual <= self.setup.tolerance,
        }

    def news(self, step: int) -> str:
        """How far it is, in words."""
        return self.history.news

    def snapshot(self, name: str) -> NDArray[Any]:
        """A host copy of a field of the finest grid over this rank's part, (nz, ny, nx)."""
        found = self.backend.to_host(self.levels[0].copies[0][name].interior)
        return found + found.dtype.type(self.setup.fluid.neutral) if name == "T" else found


def cut_grids(setup: Setup, ranks: int) -> list[Decomposition]:
    """How ranks share the grid, as the case wants it where it says so, and the coarser ones.

    Raises:
        InputError: a grid is too small for so many ranks.
    """
    processes = setup.case.run.processes
    wanted = tuple(processes)[::-1] if processes else None
    periodic, least = setup.periodic[::-1], (LEAST_BLOCK,) * 3
    cuts = [decompose(setup.grid.shape, ranks, periodic, wanted, least)]
    for fine, coarse in zip(setup.grids, setup.grids[1:], strict=False):
        cuts.append(_alike(cuts[-1], fine, coarse))
    return cuts


def _alike(cut: Decomposition, fine: Setup, coarse: Setup) -> Decomposition:
    """Blocks of a coarser grid that cover the same parts of the box."""
    cuts = []
    for axis, edges in zip((2, 1, 0), cut.edges, strict=True):
        first = fine.inside(axis)[edges[1:-1]] - fine.grid.spacing[axis] / 2
        inner = np.searchsorted(coarse.inside(axis), first)
        points = np.diff([0, *inner, coarse.grid.cells[axis]])
        if len(inner) and points.min() < LEAST_BLOCK:
            raise InputError(
                f"a coarser grid of {times(coarse.grid.cells)} points leaves some of "
                f"{len(points)} blocks along {AXES[axis]} less than {LEAST_BLOCK}; use fewer "
                f"ranks, or time.levels = {coarse.depth}"
            )
        cuts.append(tuple(int(n) for n in inner))
    return Decomposition(coarse.grid.shape, cut.processes, cut.periodic, tuple(cuts))


def _parts(setup: Setup, cuts: Sequence[Decomposition], rank: int) -> list[tuple[Setup, Part]]:
    """What a rank holds of each grid."""
    blocks = [(grid, cut.block(rank)) for grid, cut in zip(setup.grids, cuts, strict=True)]
    return [(grid, Part.held(grid.grid, block.start, block.shape)) for grid, block in blocks]


def _memory(setup: Setup, cuts: Sequence[Decomposition], rank: int) -> int:
    """Bytes of all grids' parts of a rank."""
    parts = enumerate(_parts(setup, cuts, rank))
    return sum(grid.memory_of(part, coarse=n > 0) for n, (grid, part) in parts)
