"""The cavity solver: incompressible Boussinesq flow, second order, brought to a steady state.

The method follows Xue & Roy (2020): artificial compressibility (Chorin 1967) with a local beta,
fourth-difference damping of pressure, central differences and explicit steps.
Coarser grids first provide an initial flow, and then accelerate convergence.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from groundswell.arrays import HostArray
from groundswell.backends import Backend, Launch, Listing, list_launches
from groundswell.backends.base import in_order, in_section
from groundswell.errors import NotFinite, counted
from groundswell.exchange.communicator import Communicator
from groundswell.outputs.distributed_array import DistributedArray
from groundswell.solvers.cavity.check import remedy
from groundswell.solvers.cavity.flow_solver import FlowSolver
from groundswell.solvers.cavity.implicit_steps import ImplicitSteps
from groundswell.solvers.cavity.initial_condition import fluid_at_rest, read_initial_flow
from groundswell.solvers.cavity.kernel_groups import steps_on
from groundswell.solvers.cavity.outputs import Outputs
from groundswell.solvers.cavity.residual_history import ResidualHistory
from groundswell.solvers.cavity.setup import ALONE, Setup

# A coarse grid hands its flow to the next finer one at this residual, or after this many checks:
# in single precision, rounding may keep the residual above the threshold.
STAGE_TOLERANCE, MAX_STAGE_CHECKS = 1e-4, 60

ALONE_WARNING = (
    "cycles through coarser grids did not converge, so the run started again on the finest grid "
    "alone; time.levels = 1 avoids these cycles, and implicit steps (time.step) may make them "
    "converge"
)


class Cavity(FlowSolver):
    """One rank's part of a steady flow; `step` approaches it.

    >>> import groundswell as gs
    >>> with gs.Simulation("cavity.toml") as simulation:
    ...     steps = simulation.advance(3)
    ...     type(simulation.solver).__name__, simulation.fields["T"].shape  # z, y, x
    ('Cavity', (27, 27, 27))

    Args:
        comm: the ranks that share the grid.

    Attributes:
        stage: index of the finest grid in use, or ALONE.
    """

    def __init__(self, setup: Setup, backend: Backend, comm: Communicator | None = None) -> None:
        super().__init__(setup, backend, comm)
        self._stage = backend.zeros((1,), np.int64)
        self.history = ResidualHistory(backend, setup)
        self.outputs = Outputs(setup.case.output, self.levels[0], self.history)
        self._implicit, self._made = ImplicitSteps(backend, setup.finest), 1
        self._connect()
        self.restart()

    # --- the step ---------------------------------------------------------------------------------

    def initialize(self) -> None:
        """Prepare the first step from the present state, initial or restored."""
        self.stage = int(self.backend.to_host(self._stage)[0])
        self._has_failed = False
        self._checks = self.history.start_stage(self._grid)
        self._cycle = in_order(self._compose())
        self._begin = in_order(self._implicit.begin(self.levels[self._grid]))
        self._launch_all = in_order([*self.outputs.launches, self._begin, self._cycle])

    def _compose(self) -> list[Launch]:
        """A cycle through the grids in use, or steps on the finest grid alone."""
        counts = self.setup.cycle(self.stage)
        if self._is_cycling:
            return self.cycles.launches(dict(enumerate(counts, start=self.stage)))
        return in_section(steps_on(0), self.levels[0].steps(*counts))

    @property
    def in_graph(self) -> bool:
        """Whether a graph can capture a step; the parts of a cycle are graphs already."""
        return not (self._is_cycling or self._implicit.is_used) and super().in_graph

    def step(self) -> None:
        """Enqueue `steps_at_once` steps, or a multigrid cycle; or make an implicit step."""
        self._made = 1
        if not self._implicit.is_used:
            self._launch_all()
            return
        in_order([*self.outputs.launches, self._begin])()
        self._made = self._implicit.iterate(self._cycle, self._residual)

    def _residual(self) -> float:
        norms, _ = self.levels[self._grid].measure()
        return self.history.scaled(norms)

    @property
    def step_launches(self) -> Launch:
        """The launches of `step`, as one."""
        return self._launch_all

    def list_step(self) -> Listing:
        """The launches of `step`, with the grids in use; grid 0 is the finest."""
        return list_launches(self._launch_all, self.array_names(), self._step_name)

    @property
    def _grid(self) -> int:
        """Index of the finest grid in use."""
        return max(self.stage, 0)

    @property
    def _step_name(self) -> str:
        first, last, count = self.stage, len(self.levels) - 1, self.steps_at_once
        if last and first != ALONE:
            return f"1 cycle on grid {first}" + f" to {last}" * (first < last)
        count = count if first != ALONE else sum(self.setup.cycle(ALONE))
        return counted(count, "step")

    @property
    def steps_at_once(self) -> int:
        """Number of steps that one call of `step` makes."""
        return self.setup.scheme.steps_per_cycle

    @property
    def check_every(self) -> int:
        """Steps between checks of the residuals."""
        return self.setup.check_every

    def check_convergence(self, step: int) -> bool:
        """Measure the residuals and set the next step sizes; returns whether the stage has ended.

        Raises:
            NotFinite: the flow grows without bounds, although steps are not cycles.
        """
        level = self.levels[self._grid]
        self._begin()  # the residual is then that of the steady flow
        norms, limit = level.measure()
        if not self.history.is_bounded(norms):
            if not self._is_cycling:
                raise NotFinite(self.not_finite(step, self._grid))
            self._has_failed = True
            return True
        level.set_step_sizes(limit)
        largest = self.history.append(step // self.check_every - 1, step, self._grid, norms)
        self._checks += 1
        if self.stage > 0:
            return (
                largest <= max(self.setup.tolerance, STAGE_TOLERANCE)
                or self._checks >= MAX_STAGE_CHECKS
            )
        self._has_failed = self._is_cycling and self.history.has_stalled(0)
        return self._has_failed or largest <= self.setup.tolerance

    @property
    def _is_cycling(self) -> bool:
        """Whether steps are cycles through several grids, or prepare them."""
        return len(self.levels) > 1 and self.stage != ALONE

    def next_stage(self) -> bool:
        """Start on the next finer grid from this grid's flow; False if there is none.

        Where cycles have failed, steps on the finest grid alone start from rest.
        """
        if self._has_failed:
            self.levels[0].fill(fluid_at_rest(self.setup.finest, self.levels[0].part))
            self._set_stage(ALONE)
            return True
        if self.stage <= 0:
            return False
        transfer = self._transfers[self.stage - 1]
        in_order([*transfer.flow_to_coarse, *transfer.to_fine])()
        self._set_stage(self.stage - 1)
        return True

    # --- initial condition ------------------------------------------------------------------------

    def restart(self) -> None:
        """Start from the flow that the case names, or from rest."""
        self._start_from_rest()
        if self.setup.case.start is not None:
            self.fill(read_initial_flow(self.setup.finest, self.levels[0].part))

    def _start_from_rest(self) -> None:
        """Start on the coarsest grid, at rest and at the neutral temperature."""
        for level in self.levels:
            level.fill(fluid_at_rest(level.grid, level.part))
            level.set_step_sizes(0.0 if self.setup.case.time.local else level.measure()[1])
        self._set_stage(len(self.levels) - 1)

    def fill(self, values: dict[str, HostArray]) -> None:
        """Start on the finest grid from these fields, each (nz, ny, nx), temperature in K."""
        finest = self.levels[0]
        finest.fill(self.less_neutral(values))
        finest.set_step_sizes(finest.measure()[1])
        self._set_stage(0)

    def _set_stage(self, stage: int) -> None:
        self.backend.assign(self._stage, np.array([stage]))
        self.initialize()

    # --- the solver interface ---------------------------------------------------------------------

    @property
    def updates_per_step(self) -> int:
        """Points that a step updates on all grids in use."""
        return self.setup.updates_from(self.stage) * self._made

    def state(self) -> dict[str, DistributedArray]:
        """The arrays of a checkpoint: writing them back restores the solver."""
        state = {}
        for n, level in enumerate(self.levels):
            for name, field in level.copies[0].items():
                state[f"{name}-{n}"] = level.distributed(field)
            state[f"pace-{n}"] = DistributedArray.replicated(level.step_sizes, self.comm)
        common = {"history": self.history.rows, "stage": self._stage}
        state |= {n: DistributedArray.replicated(array, self.comm) for n, array in common.items()}
        return state | self.outputs.state()

    @property
    def warnings(self) -> Sequence[str]:
        """Warnings if cycles failed, or if the run ended before a record or the steady flow."""
        found = self.history.convergence()
        others = [*self.outputs.warnings, *[ALONE_WARNING] * (self.stage == ALONE)]
        if found["steady"]:
            return others
        stalled = self.history.has_stalled(0)
        advice = (
            f"the residual no longer falls: {remedy(self.setup.finest)}"
            if stalled
            else f"raise time.steps ({self.setup.steps:,}) or the tolerance"
        )
        residual = "unknown" if found["residual"] is None else f"{found['residual']:.2g}"
        return [
            *others,
            f"the flow is not steady: the residual is {residual} and time.tolerance is "
            f"{self.setup.tolerance:g}; {advice}",
        ]

    def status(self, step: int) -> str:
        """The grid in use, and its residual."""
        return self.history.status
