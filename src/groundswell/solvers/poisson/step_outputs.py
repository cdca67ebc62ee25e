"""Files of a solution in time: records, a table of steps, and u at the end."""

from __future__ import annotations

from pathlib import Path

from groundswell.backends import Backend
from groundswell.exchange.communicator import Communicator
from groundswell.formats.text import write_json
from groundswell.outputs.distributed_array import DistributedArray
from groundswell.solvers.poisson.boundary_value_problem import BoundaryValueProblem
from groundswell.solvers.poisson.findings import findings_of
from groundswell.solvers.poisson.flow_history import FlowHistory
from groundswell.solvers.poisson.outputs import Outputs, Solution
from groundswell.solvers.poisson.setup import Setup
from groundswell.solvers.poisson.step_history import StepHistory


class StepOutputs(Outputs):
    """Records during a run, and collects the solution of all ranks at its end.

    Args:
        solution: its values are on the device until `write` copies those of the end to the host.
        tables: of the steps, and of flows.

    Attributes:
        launches: what the recorders launch before each step.
    """

    def __init__(
        self,
        setup: Setup,
        backend: Backend,
        comm: Communicator,
        problem: BoundaryValueProblem,
        solution: Solution,
        tables: tuple[StepHistory, FlowHistory],
    ) -> None:
        super().__init__(setup, backend, comm, problem, solution, u=solution.values)
        self._history, self._flow_history = tables
        at_once = ([launch] for launch in self._recorders.launches)
        self.launches = [*backend.concurrently(*at_once), *self._recorders.tick]

    def state(self) -> dict[str, DistributedArray]:
        """The recorders' part of a checkpoint."""
        return self._recorders.state()

    def write(self, folder: Path) -> list[Path]:
        """Write all files; rank 0 writes."""
        self._solution.values = self._backend.to_host(self._u)
        summary = self._history.convergence() | self._range() | self._errors()
        summary |= self._flow_history.summary() | self._unit()
        fields, records = self._fields(), self._recorders.write(folder)
        self.findings = [*findings_of(summary)]
        if not self._comm.first:
            return []
        files = [
            *records,
            self._history.write(folder),
            self._flow_history.write(folder),
            write_json(folder / "solution.json", summary),
        ]
        if fields:
            files.append(self._write_fields(folder / "solution.vtkhdf", fields))
        return files
