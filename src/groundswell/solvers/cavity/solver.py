"""The cavity solver: incompressible Boussinesq flow, second order, brought to a steady state.

Artificial compressibility (Chorin 1967) with a local beta, fourth-difference damping of pressure,
central differences and explicit steps: the method of Xue & Roy (2020) and the codes before theirs.
Coarser grids give it a flow to begin with, and then speed it up.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundswell.backends import Backend
from groundswell.backends.base import in_order
from groundswell.errors import RunFailed
from groundswell.exchange.distributed_array import DistributedArray
from groundswell.exchange.tuning import Choice, Memory, Rehearsal, Tuning, candidates, tune
from groundswell.exchange.world import Alone, World
from groundswell.simulation.blocks import ExchangingSolver
from groundswell.solvers.cavity.case import FIELDS
from groundswell.solvers.cavity.decomposition import decompose_grids, local_parts
from groundswell.solvers.cavity.initial_condition import read_initial_flow
from groundswell.solvers.cavity.level import Level, kernel_source
from groundswell.solvers.cavity.multigrid import GridTransfer, cycle
from groundswell.solvers.cavity.outputs import Outputs
from groundswell.solvers.cavity.residual_history import ResidualHistory
from groundswell.solvers.cavity.setup import Setup

# A flow on a coarse grid is good enough to begin the next one with at this residual, or after so
# many looks: single precision may not let it fall so far.
BEGIN, LOOKS = 1e-4, 60


class Cavity(ExchangingSolver):
    """One rank's part of a flow; `step` advances it.

    Args:
        world: the ranks that share the grid.

    Attributes:
        levels: the grids, the finest first.
        stage: the finest of them that is in use yet.
    """

    def __init__(self, setup: Setup, backend: Backend, world: World | None = None) -> None:
        self.setup, self.backend, self.world = setup, backend, world or Alone()
        run = setup.case.run
        self.choice = Choice(run.transport, overlap=bool(run.overlap), codec=run.codecs[0])
        cuts = decompose_grids(setup, self.world.size)
        self.decomposition = cuts[0]
        parts = local_parts(setup, cuts, self.world.rank)
        backend.build_all(
            [kernel_source(*pair, backend.processors, n > 0) for n, pair in enumerate(parts)]
        )
        self.levels = [
            Level(grid, backend, self.world, cut, self.choice, coarse=n > 0)
            for n, (grid, cut) in enumerate(zip(setup.grids, cuts, strict=True))
        ]
        self._stage = backend.zeros((1,), np.int64)
        self.history = ResidualHistory(backend, setup)
        self.outputs = Outputs(self)
        self._connect()
        self._start()

    # --- the step ---------------------------------------------------------------------------------

    def initialize(self) -> None:
        """Make ready for the state as it is: at rest, or a checkpoint's."""
        self.stage = int(self.backend.to_host(self._stage)[0])
        self._looks = self.history.start_stage(self.stage)
        levels, transfers = self.levels[self.stage :], self._transfers[self.stage :]
        steps = cycle(levels, transfers, self.setup.cycle(self.stage))
        self._verbs = in_order([*self.outputs.launches, *steps])

    def step(self) -> None:
        """Enqueue `steps_at_once` steps, or a cycle through the grids in use."""
        self._verbs()

    @property
    def steps_at_once(self) -> int:
        """Steps that `step` makes."""
        return self.setup.scheme.steps_per_cycle

    @property
    def check_every(self) -> int:
        """Steps between looks."""
        return self.setup.check_every

    def check_convergence(self, step: int) -> bool:
        """Measure the residuals, set the next steps' length; whether the flow stands still.

        Raises:
            RunFailed: a value is not finite.
        """
        level = self.levels[self.stage]
        norms, limit = level.measure()
        if not self.history.is_bounded(norms):
            raise RunFailed(self._where_not_finite(step))
        level.set_step_sizes(limit)
        largest = self.history.append(step // self.check_every - 1, step, self.stage, norms)
        self._looks += 1
        if self.stage > 0:
            return largest <= max(self.setup.tolerance, BEGIN) or self._looks >= LOOKS
        return largest <= self.setup.tolerance

    def next_stage(self) -> bool:
        """Begin on the next finer grid with the flow of this one; False if there is none."""
        if self.stage == 0:
            return False
        transfer = self._transfers[self.stage - 1]
        self.levels[self.stage].reset_drift()
        in_order([*transfer.restrict_flow(), *transfer.prolongate()])()
        self._set_stage(self.stage - 1)
        return True

    def iterate_to_steady_state(self) -> Iterator[tuple[int, int]]:
        """Bring the flow to rest without a run; yields steps and points updated after each look.

        Raises:
            RunFailed: a value is not finite, or the flow still moves after all steps.
        """
        self.initialize()
        graph = self.backend.capture(self.step, in_graph=self.in_graph)
        for done in range(self.check_every, self.setup.steps + 1, self.check_every):
            graph.replay(self.check_every // self.steps_at_once)
            yield self.check_every, self.check_every * self.updates_per_step
            if self.check_convergence(done):
                if not self.next_stage():
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
            self.fill(read_initial_flow(self.setup, self.levels[0].part))

    def _rest(self) -> None:
        """Fluid at rest, of the neutral temperature, on the coarsest grid."""
        for level in self.levels:
            level.fill({name: np.zeros(level.part.shape) for name in FIELDS})
            level.set_step_sizes(0.0 if self.setup.case.time.local else level.measure()[1])
        self._set_stage(len(self.levels) - 1)

    def fill(self, values: dict[str, NDArray[Any]]) -> None:
        """Begin on the finest grid with these fields, each (nz, ny, nx)."""
        finest = self.levels[0]
        above = {"T": values["T"] - self.setup.fluid.neutral} if "T" in values else {}
        finest.fill({**values, **above})
        finest.set_step_sizes(finest.measure()[1])
        self._set_stage(0)

    def _set_stage(self, stage: int) -> None:
        self.backend.assign(self._stage, np.array([stage]))
        self.initialize()

    # --- ranks ------------------------------------------------------------------------------------

    def _connect(self) -> None:
        pairs = zip(self.levels, self.levels[1:], strict=False)
        self._transfers = [GridTransfer(fine, coarse) for fine, coarse in pairs]
        owners: list[Level | GridTransfer] = [*self.levels, *self._transfers]
        self.exchanges = [exchange for owner in owners for exchange in owner.exchanges]

    def set_exchange(self, choice: Choice) -> None:
        """Exchange in another way from now on; every rank must."""
        self.close()
        self.choice = choice
        for level in self.levels:
            level.set_exchange(choice)
        self._connect()
        self.initialize()

    @property
    def bytes_sent(self) -> int:
        """Bytes that this rank sends in a step, or in a cycle through all grids."""
        swept = zip(self.levels, self.setup.cycle(), strict=True)
        return sum(n * level.bytes_sent for level, n in swept) * len(self.setup.scheme.stages)

    def autotune(self) -> Tuning | None:
        """Find the fastest way to exchange and adopt it; afterwards the flow is at its start."""
        if self.world.size == 1:
            return None
        run, cut = self.setup.case.run, self.decomposition
        choices = candidates(
            self.backend,
            self.world,
            transport=run.transport,
            overlap=run.overlap,
            codecs=run.codecs,
        )
        problem = (self.setup.grid.cells, cut, run.transport, run.overlap, run.narrow)
        more = (
            run.codecs,
            self.setup.dtype,
            self.setup.scheme,
            self.setup.periodic,
            self.world.same_host,
        )
        memory = Memory.of(self.world, self.backend, self.world.tell(("cavity", *problem, *more)))
        tuning = tune(self.world, choices, self._rehearsal, memory)
        self.set_exchange(tuning.best)
        self.world.agree(self._start)
        return tuning

    def _rehearsal(self, choice: Choice) -> Rehearsal:
        self.set_exchange(choice)
        steps = in_order(self.levels[0].steps(self.steps_at_once))
        graph = self.backend.capture(steps, in_graph=self.in_graph)
        return lambda times: self.backend.seconds(lambda: graph.replay(times))

    # --- the solver interface ---------------------------------------------------------------------

    @property
    def updates_per_step(self) -> int:
        """Points that a step updates, coarser grids' included."""
        return self.setup.updates_from(self.stage)

    def distributed_fields(self) -> dict[str, DistributedArray]:
        """Pressure, velocities and temperature (above the neutral one) on the finest grid."""
        level = self.levels[0]
        return {
            name: DistributedArray.of_region(field.interior, level.part)
            for name, field in level.copies[0].items()
        }

    def state(self) -> dict[str, DistributedArray]:
        """Every array that decides what comes next; writing them back restores the moment."""
        state = {}
        for n, level in enumerate(self.levels):
            for name, field in level.copies[0].items():
                state[f"{name}-{n}"] = DistributedArray.of_field(field, level.part)
            for name, array in (("pace", level.step_sizes), ("drift", level.drift)):
                state[f"{name}-{n}"] = DistributedArray.replicated(array, self.world)
        own = {"history": self.history.rows, "stage": self._stage}
        state |= {n: DistributedArray.replicated(array, self.world) for n, array in own.items()}
        return state | self.outputs.state()

    def convergence_summary(self) -> dict[str, Any]:
        """The largest residual at the last look at the finest grid, and whether it is small."""
        rows = self.history.read()
        looks = rows[rows[:, 1] == 0]
        residual = float(looks[-1, 2:].max()) if len(looks) else None
        return {
            "residual": residual,
            "steady": residual is not None and residual <= self.setup.tolerance,
        }

    def status(self, step: int) -> str:
        """The grid in use, and its residual."""
        return self.history.status

    def snapshot(self, name: str) -> NDArray[Any]:
        """A host copy of a field of the finest grid over this rank's part, (nz, ny, nx)."""
        found = self.backend.to_host(self.levels[0].copies[0][name].interior)
        return found + found.dtype.type(self.setup.fluid.neutral) if name == "T" else found
