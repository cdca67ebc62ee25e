"""The cavity solver: incompressible Boussinesq flow, second order, brought to a steady state.

Artificial compressibility (Chorin 1967) with a local beta, fourth-difference damping of pressure,
central differences and explicit steps: the method of Xue & Roy (2020) and the codes before theirs.
"""

from __future__ import annotations

from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundswell.backends import Backend, Blocks, Constant, Items, Launch, Source
from groundswell.backends.base import ROW_ALIGNMENT, Array, Event, in_order
from groundswell.errors import RunFailed
from groundswell.exchange.decomposition import Decomposition, decompose
from groundswell.exchange.exchange import Exchange
from groundswell.exchange.messages import GhostField
from groundswell.exchange.overlap import Box, boundary_first
from groundswell.exchange.pattern import Ghosts
from groundswell.exchange.traffic import traffic
from groundswell.exchange.tuning import Choice, Memory, Rehearsal, Tuning, candidates, tune
from groundswell.exchange.world import Alone, World
from groundswell.grids.cartesian import Field, Layout, Part
from groundswell.run.checkpoint import Portion
from groundswell.run.portions import field_portion
from groundswell.solvers.cavity.history import History
from groundswell.solvers.cavity.results import Results
from groundswell.solvers.cavity.setup import FIELDS, SUMS, Setup
from groundswell.solvers.cavity.tiles import Tile
from groundswell.solvers.cavity.walls import sides

KERNELS = Path(__file__).parent / "kernels"
LANES = 32

# Ghosts that the stencils read, and points that a block has at least: a fourth difference that is
# shifted off a wall reaches three points further.
READ = {name: 2 if name == "p" else 1 for name in FIELDS}
LEAST_BLOCK = 2
THICKNESS = (2, 4)  # of the slabs along z and y that are computed before the exchange


class Cavity:
    """One rank's part of a flow; `step` advances it.

    Args:
        world: the ranks that share the grid.

    Attributes:
        part: the points of this rank.
        cut: who has which points.
    """

    unit = "MLUPS"  # million lattice points updated a second

    @staticmethod
    def prepare(case: Any, world: World | None = None) -> Setup:
        """What the case says, without a device."""
        return Setup(case)

    @staticmethod
    def outline(setup: Setup, ranks: int) -> dict[str, Any]:
        """How ranks would share the grid: blocks, bytes of each and between them in a step."""
        cut = cut_grid(setup, ranks)
        size = np.dtype(setup.dtype).itemsize
        largest = [-(-n // p) for n, p in zip(cut.shape, cut.processes, strict=True)][::-1]
        stages = len(setup.scheme.stages)
        return {
            "ranks": ranks,
            "processes": cut.processes[::-1],
            "largest_block": largest,
            "updates_per_step": prod(largest),
            "memory": [
                setup.memory_of(Part.held(setup.grid, block.start, block.shape))
                for block in map(cut.block, range(ranks))
            ],
            "traffic": stages * traffic(cut, [(_ghosts(name), size) for name in FIELDS]),
        }

    def __init__(self, setup: Setup, backend: Backend, world: World | None = None) -> None:
        self.setup, self.backend, self.world = setup, backend, world or Alone()
        self.cut = cut_grid(setup, self.world.size)
        block = self.cut.block(self.world.rank)
        self.part = Part.held(setup.grid, block.start, block.shape)
        self.layout = Layout(self.part.cells, np.dtype(setup.dtype).itemsize)
        self.copies = [
            {name: Field(backend, self.layout, setup.dtype) for name in FIELDS}
            for _ in range(setup.scheme.copies)
        ]
        self.tile = Tile.of(self.part.cells, backend.processors)
        self.module = backend.compile(Source(KERNELS / "step.h", self._constants()))
        self._pace = backend.zeros((len(setup.scheme.stages),), setup.dtype)
        self._drift = backend.zeros((1,), np.float64)
        rows = self.part.cells[1] * self.part.cells[2]
        self._sums = backend.zeros((rows, SUMS), np.float64)
        self.exchanges: dict[int, Exchange] = {}
        self.adopt(Choice(setup.case.run.transport, overlap=bool(setup.case.run.overlap)))
        self.history = History(backend, setup)
        self.recorders = Results(self)
        self._rest()

    # --- the step ---------------------------------------------------------------------------------

    def step(self) -> None:
        """Enqueue `steps_at_once` steps."""
        in_order(self._verbs)()

    @property
    def look_every(self) -> int:
        """Steps between looks."""
        at_once = self.steps_at_once
        return -(-self.setup.case.time.look // at_once) * at_once

    @property
    def steps_at_once(self) -> int:
        """Steps that `step` makes."""
        return self.setup.scheme.at_once

    def adopt(self, choice: Choice) -> None:
        """Exchange in another way from now on; every rank must."""
        self.close()
        self.choice = choice
        targets = {target for _, _, target, _ in self.setup.scheme.sweeps()}
        self.exchanges = {target: self._exchange(target) for target in sorted(targets)}
        self._verbs = self._compose()

    def _compose(self) -> list[Launch]:
        """The step, as the list of what happens in it."""
        return [
            launch
            for start, latest, target, stage in self.setup.scheme.sweeps()
            for launch in self._sweep(start, latest, target, stage)
        ]

    def _sweep(self, start: int, latest: int, target: int, stage: int) -> list[Launch]:
        """One stage; what neighbours need travels while the rest is computed."""
        boundary, interior = boundary_first(
            self.cut, self.world.rank, self._thickness, wanted=self.choice.overlap
        )
        return self.exchanges[target].hidden_by(
            [self._advance(box, start, latest, target, stage) for box in boundary],
            [self._advance(box, start, latest, target, stage) for box in interior],
        )

    def _advance(self, box: Box, start: int, latest: int, target: int, stage: int) -> Launch:
        now, then = self._fields(latest), self._fields(target)
        pace = self._pace[stage : stage + 1]
        if start == latest:
            return self._in_box("advance_first", box, *now, *then, pace)
        return self._in_box("advance", box, *self._fields(start), *now, *then, pace)

    # --- how far it is from standing still --------------------------------------------------------

    def look(self, step: int) -> bool:
        """Measure the residuals, set the next steps' length; whether the flow stands still.

        Raises:
            RunFailed: a value is not finite.
        """
        norms, limit = self._measure()
        if not self.history.bounded(norms):
            raise RunFailed(self._where_not_finite(step))
        self.set_pace(limit)
        return self.history.add(step // self.look_every - 1, step, norms)

    def _measure(self) -> tuple[NDArray[np.float64], float]:
        """Root mean square of each rate of change, and one over the longest stable step, 1/s."""
        self.backend.assign(self._drift, np.zeros(1))
        here = self.part.local(self.setup.centre)
        if here:
            self._find_rates(Box(here[::-1], (1, 1, 1)))
            self._find_drift(here)
        drift = max(self.world.share(float(self.backend.to_host(self._drift)[0])), key=abs)
        self.backend.assign(self._drift, np.array([drift]))
        self._find_rates(self._whole)
        rows = Blocks(len(self._sums), LANES)
        self.module.launch("sum_rows", rows, *self._fields(0), *self._fields(1), self._sums)()
        sums = self.backend.to_host(self._sums)
        found = self.world.share((sums[:, :-1].sum(axis=0), float(sums[:, -1].max())))
        squares = sum(squares for squares, _ in found)
        return np.sqrt(squares / self.setup.grid.count), max(limit for _, limit in found)

    def _find_rates(self, box: Box) -> None:
        self._in_box("find_rates", box, *self._fields(0), *self._fields(1), self._drift)()

    def _find_drift(self, place: tuple[int, int, int]) -> None:
        i, j, k = place
        at = k * self.layout.plane + j * self.layout.row + i
        fields = (*self._fields(0), *self._fields(1))
        self.module.launch("find_drift", Items(1), *fields, self._drift, at)()

    def set_pace(self, limit: float) -> None:
        """Choose steps for flows like the present one.

        Args:
            limit: one over the longest stable step anywhere, 1/s.
        """
        least = max(limit, self.setup.diffusion_limit)
        step = self.setup.courant / (1.0 if self.setup.case.time.local else least)
        stages = step * np.array(self.setup.scheme.stages)
        self.backend.assign(self._pace, stages.astype(self.setup.dtype))

    def _where_not_finite(self, step: int) -> str:
        """Say what has become infinite or NaN."""
        bad = [name for name in FIELDS if not np.isfinite(self.snapshot(name)).all()]
        return (
            f"the flow grows without bounds at step {step}"
            + f", {', '.join(bad)} of rank {self.world.rank} beyond all numbers" * bool(bad)
            + f": the run is unstable; set time.courant lower than {self.setup.courant:g}"
        )

    # --- beginnings -------------------------------------------------------------------------------

    def _rest(self) -> None:
        """Fluid at rest, of the neutral temperature, and steps for it."""
        temperature = self.setup.fluid.neutral
        values = {name: temperature if name == "T" else 0.0 for name in FIELDS}
        self.fill({name: np.full(self.part.shape, value) for name, value in values.items()})

    def fill(self, values: dict[str, NDArray[Any]]) -> None:
        """Set fields, each (nz, ny, nx), and what depends on them."""
        for name, inside in values.items():
            self.backend.assign(self.copies[0][name].interior, inside.astype(self.setup.dtype))
        self.refresh()

    def refresh(self) -> None:
        """Exchange the ghosts of fields that were set, and choose steps for them."""
        self.exchanges[0]()
        self.set_pace(self._measure()[1])

    # --- launches ---------------------------------------------------------------------------------

    @property
    def _whole(self) -> Box:
        return Box((0, 0, 0), self.part.shape)

    @property
    def _thickness(self) -> tuple[int, ...]:
        return (*THICKNESS, ROW_ALIGNMENT // self.layout.itemsize)

    def _fields(self, copy: int) -> list[Array]:
        return [self.copies[copy][name].interior for name in FIELDS]

    def _in_box(self, kernel: str, box: Box, *arguments: Any) -> Launch:
        where = (*box.start[::-1], *box.shape[::-1])
        return self.module.launch(kernel, self.tile.cover(box), *arguments, *where)

    def _exchange(self, copy: int) -> Exchange:
        return Exchange(
            self.backend,
            self.world,
            self.cut,
            [
                GhostField(f.array, f.origin, _ghosts(name), self.setup.case.run.narrow)
                for name, f in self.copies[copy].items()
            ],
            transport=self.choice.transport,
            aggregate=self.choice.aggregate,
        )

    def _constants(self) -> dict[str, Constant]:
        setup, time = self.setup, self.setup.case.time
        constants: dict[str, Constant] = {
            **self.layout.constants(),
            **sides(setup, self.part),
            **self.tile.constants(),
            "LOCAL_STEPS": time.local,
            "DISSIPATION": time.dissipation,
            "LEAST_BETA2": setup.least_beta2,
            "VISCOSITY": setup.fluid.viscosity,
            "DIFFUSIVITY": setup.fluid.diffusivity,
            "NEUTRAL_TEMPERATURE": setup.fluid.neutral,
            "DIFFUSION_LIMIT": setup.diffusion_limit,
            "UNDAMPED_LIMIT": setup.undamped_limit,
        }
        for axis, name in enumerate("XYZ"):
            constants[f"SPACING_{name}"] = setup.grid.spacing[axis]
            constants[f"BUOYANCY_{name}"] = setup.fluid.buoyancy[axis]
        return constants | ({"DOUBLE_PRECISION": 1} if setup.dtype == "float64" else {})

    # --- what the driver asks ---------------------------------------------------------------------

    def describe_ranks(self) -> dict[str, Any]:
        """How the ranks share the grid, and the way their messages really took."""
        return {
            "count": self.world.size,
            "processes": self.cut.processes[::-1],
            "transport": self.exchanges[0].path,
            "overlap": self.choice.overlap and self.world.size > 1,
            "aggregate": self.choice.aggregate,
            "bytes_sent_per_step": self.exchanges[0].bytes * len(self.setup.scheme.stages),
        }

    def tune(self) -> Tuning | None:
        """Find the fastest way to exchange and adopt it; afterwards the fluid is at rest."""
        if self.world.size == 1:
            return None
        run = self.setup.case.run
        choices = candidates(self.backend, self.world, transport=run.transport, overlap=run.overlap)
        problem = (self.setup.grid.cells, self.cut, run.transport, run.overlap, run.narrow)
        more = (self.setup.dtype, self.setup.scheme, self.setup.periodic, self.world.same_host)
        memory = Memory.of(self.world, self.backend, self.world.tell(("cavity", *problem, *more)))
        tuning = tune(self.world, choices, self._rehearsal, memory)
        self.adopt(tuning.best)
        self._rest()
        return tuning

    def _rehearsal(self, choice: Choice) -> Rehearsal:
        self.adopt(choice)
        graph = self.backend.capture(self.step, in_graph=self.in_graph)
        return lambda times: self.backend.seconds(lambda: graph.replay(times))

    def close(self) -> None:
        """Give back what it holds of other ranks; every rank must, before MPI ends."""
        for exchange in self.exchanges.values():
            exchange.close()

    @property
    def updates_per_step(self) -> int:
        """Points that a step updates."""
        return self.setup.updates_per_step

    @property
    def bytes_per_update(self) -> float:
        """Least traffic of a point's step."""
        return self.setup.bytes_per_update

    def state(self) -> dict[str, Portion]:
        """Every array that decides what comes next; writing them back restores the moment."""
        state = {name: field_portion(field, self.part) for name, field in self.copies[0].items()}
        own = {"history": self.history.rows, "pace": self._pace}
        return state | {name: Portion.shared(array, self.world) for name, array in own.items()}

    def guard(self) -> None:
        """Nothing: `look` finds what is not finite."""

    @property
    def in_graph(self) -> bool:
        """Whether a graph of launches may hold a step."""
        return all(exchange.in_graph for exchange in self.exchanges.values())

    def raise_if_unstable(self, steps: int, after: Event | None = None) -> None:
        """See that no rank was waited for in vain; raises RunFailed."""
        for exchange in self.exchanges.values():
            exchange.check(after)

    def snapshot(self, name: str) -> NDArray[Any]:
        """A host copy of a field over this rank's part, (nz, ny, nx)."""
        return self.backend.to_host(self.copies[0][name].interior)


def cut_grid(setup: Setup, ranks: int) -> Decomposition:
    """How ranks share the grid, as the case wants it where it says so."""
    processes = setup.case.run.processes
    wanted = tuple(processes)[::-1] if processes else None
    periodic = setup.periodic[::-1]
    return decompose(setup.grid.shape, ranks, periodic, wanted, (LEAST_BLOCK,) * 3)


def _ghosts(name: str) -> Ghosts:
    width = (READ[name],) * 3
    return Ghosts(width, width)
