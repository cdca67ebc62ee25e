"""Flow in time: implicit steps of second order, each found by the iteration to a steady state.

Dual time stepping (Jameson 1991, AIAA 91-1596): backward differences of second order stand for the
derivative in time. The coefficient of the new values is part of the rates of change on all grids,
and the earlier values are a forcing on the finest. Cycles through the grids make the rates vanish.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from groundswell.arrays import DeviceArray, HostArray
from groundswell.backends import Backend, Cells, Launch, Listing, Source, list_launches
from groundswell.backends.base import in_order
from groundswell.backends.source import precision
from groundswell.case.quantities import time_of
from groundswell.errors import NotFinite, counted
from groundswell.exchange.communicator import Communicator
from groundswell.outputs.distributed_array import DistributedArray
from groundswell.solvers.cavity.case import FIELDS
from groundswell.solvers.cavity.flow_solver import FlowSolver
from groundswell.solvers.cavity.initial_condition import initial_flow
from groundswell.solvers.cavity.level_kernels import KERNELS
from groundswell.solvers.cavity.outputs import Outputs
from groundswell.solvers.cavity.residual_scale import ResidualScale
from groundswell.solvers.cavity.setup import Setup
from groundswell.solvers.cavity.step_history import StepHistory


class UnsteadyCavity(FlowSolver):
    """One rank's part of a flow in time.

    >>> import groundswell as gs
    >>> moving = {"time.duration": 1.0, "time.step": 0.1}
    >>> with gs.Simulation("cavity.toml", settings=moving) as simulation:
    ...     steps = simulation.advance(5)
    ...     type(simulation.solver).__name__, simulation.time
    ('UnsteadyCavity', 0.5)

    Args:
        comm: the ranks that share the grid.

    Attributes:
        before: the flow one step earlier; at first, the initial flow.
    """

    in_graph = False  # the host decides after each cycle whether another one follows
    steps_at_once = 1

    def __init__(self, setup: Setup, backend: Backend, comm: Communicator | None = None) -> None:
        super().__init__(setup, backend, comm)
        self.before = self.levels[0].new_state()
        inertia = {"INERTIA": setup.finest.inertia}
        source = Source(KERNELS / "time_step.h", precision(setup.dtype), inertia)
        self._module = backend.compile(source)
        self._scale = ResidualScale(setup)
        self.history = StepHistory(backend, setup, self.comm)
        self.outputs = Outputs(setup.case.output, self.levels[0], self.history)
        self._connect()
        self.restart()

    # --- the step ---------------------------------------------------------------------------------

    def initialize(self) -> None:
        """Compose the launches of a step."""
        self._cycle = in_order(self.cycles.launches(dict(enumerate(self.setup.cycle()))))
        self._begin = in_order([*self.outputs.launches, *self._begin_step()])

    def prepare(self) -> None:
        """Find out how many steps have been made; ghosts follow the fields, which may be new."""
        self._done, self._made = self.history.steps, 0
        in_order(self.levels[0].fill_ghosts())()

    def step(self) -> None:
        """Make a step in time.

        Raises:
            NotFinite: the iteration diverges.
        """
        self._begin()
        self._made, residual = self._iterate()
        if self._done == 0:
            in_order(self._end_first_step())()
        self._done += 1
        self.history.append(self._done, self._made, residual, self.levels[0])

    def _iterate(self) -> tuple[int, float]:
        """Cycles until the residual meets the tolerance; returns their number and the residual."""
        made, residual = 0, np.inf
        while residual > self.setup.tolerance and made < self.setup.cycles:
            self._cycle()
            made += 1
            residual = self._measured()
        return made, residual

    def _measured(self) -> float:
        """The residual.

        Raises:
            NotFinite: it is out of bounds.
        """
        norms, _ = self.levels[0].measure()
        if not self._scale.is_bounded(norms):
            raise NotFinite(self.not_finite(self._done + 1, 0))
        return self._scale.largest(norms)

    def _begin_step(self) -> list[Launch]:
        level = self.levels[0]
        begin = [
            self._launch(
                "begin_step",
                now=level.copies[0][name].interior,
                before=self.before[name].interior,
                forcing=level.forcing[name].interior,
                is_carried=int(name != "p"),
            )
            for name in FIELDS
        ]
        return [*begin, *self._weigh_by_capacity(), *level.fill_ghosts()]

    def _weigh_by_capacity(self) -> list[Launch]:
        level = self.levels[0]
        if not level.solids:
            return []
        arguments = {
            "forcing": level.forcing["T"].interior,
            "capacity": level.solids["capacity"],
        }
        return [self._launch("weigh_by_capacity", **arguments)]

    def _end_first_step(self) -> list[Launch]:
        level = self.levels[0]
        end = [
            self._launch(
                "end_first_step",
                now=level.copies[0][name].interior,
                before=self.before[name].interior,
            )
            for name in FIELDS
            if name != "p"
        ]
        return [*end, *level.fill_ghosts()]

    def _launch(self, kernel: str, **arguments: DeviceArray | int) -> Launch:
        layout, cells = self.levels[0].layout, self.levels[0].part.cells
        arguments |= {"row": layout.row, "plane": layout.plane}
        arguments |= dict(zip(("nx", "ny", "nz"), cells, strict=True))
        return self._module.launch(kernel, Cells(*cells), **arguments)

    def list_step(self) -> Listing:
        """The launches of a step with one cycle; grid 0 is the finest."""
        launches = in_order([self._begin, self._cycle])
        return list_launches(launches, self.array_names(), "1 step, 1 cycle")

    def time(self, step: int) -> float:
        """Time after so many steps, s."""
        return step * self.setup.dt

    # --- initial condition ------------------------------------------------------------------------

    def restart(self) -> None:
        """Start from the flow that the case names, or from rest."""
        self.backend.assign(self.history.rows, np.zeros(self.history.rows.shape))
        self._fill(initial_flow(self.setup.finest, self.levels[0].part))

    def fill(self, values: dict[str, HostArray]) -> None:
        """Start from these fields, each (nz, ny, nx), temperature in K."""
        self._fill(self.less_neutral(values))

    def _fill(self, values: dict[str, HostArray]) -> None:
        finest = self.levels[0]
        finest.fill(values)
        for name in FIELDS:
            self.backend.assign(self.before[name].interior, finest.copies[0][name].interior)
        for level in self.levels:
            level.set_step_sizes()
        self.initialize()
        self.prepare()

    # --- the solver interface ---------------------------------------------------------------------

    @property
    def updates_per_step(self) -> int:
        """Points that the last step has updated on all grids."""
        return max(1, self._made) * self.setup.updates_from(0)

    def state(self) -> dict[str, DistributedArray]:
        """The arrays of a checkpoint: writing them back restores the solver."""
        level = self.levels[0]
        states = {"now": level.copies[0], "before": self.before}
        fields = {
            f"{name}-{key}": DistributedArray.of_field(field, level.part)
            for key, state in states.items()
            for name, field in state.items()
        }
        rows = DistributedArray.replicated(self.history.rows, self.comm)
        return {**fields, "history": rows, **self.outputs.state()}

    @property
    def warnings(self) -> Sequence[str]:
        """A warning if steps missed the tolerance."""
        return [*self._missed()]

    def _missed(self) -> Iterator[str]:
        found = self.history.convergence()["steps_above_tolerance"]
        if found:
            yield (
                f"{found:,} of {self.history.steps:,} steps in time ended above the tolerance, "
                f"{self.setup.tolerance:g}; shorten time.step or raise time.steps "
                f"({counted(self.setup.cycles, 'cycle')} in a step)"
            )

    def status(self, step: int) -> str:
        """Simulated time, and the cycles of the last step."""
        now, end = self.time(step), self.time(self.setup.steps)
        has_units = self.setup.case.fluid.kind == "properties"
        time = time_of(now, end) if has_units else f"{now:.4g} of {end:.4g}"
        return f"t = {time}, {counted(self._made, 'cycle')} a step"
