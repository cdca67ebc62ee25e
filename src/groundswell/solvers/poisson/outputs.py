"""Files of a solution: u on all elements, a summary, and residuals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from groundswell.arrays import DeviceArray, Integers
from groundswell.backends import Backend
from groundswell.case.quantities import Quantity
from groundswell.errors import InputError
from groundswell.exchange.communicator import Communicator
from groundswell.formats.text import write_json, write_table
from groundswell.linear.cg import ConvergenceHistory
from groundswell.meshes.hexahedra import Floats
from groundswell.outputs.recorder import Recorders
from groundswell.outputs.ring_buffer import Output
from groundswell.solvers.poisson.boundary_value_problem import BoundaryValueProblem, Terms
from groundswell.solvers.poisson.findings import findings_of
from groundswell.solvers.poisson.recordable import recording
from groundswell.solvers.poisson.setup import Setup
from groundswell.solvers.poisson.side_flows import by_name
from groundswell.spectral_elements.fields import gather_on_root
from groundswell.spectral_elements.recording import ElementDomain
from groundswell.spectral_elements.vtkhdf import LagrangeElements


@dataclass
class Solution:
    """The solution on a rank's elements.

    Args:
        elements: their numbers.
        values: u at their nodes, (elements, (N + 1)^3); 0 before the solution.
        history: how the iteration converged.
        exact: the exact solution at the nodes, if it is known.
        terms: source and sides of a steady solution.
        unmeasured: why the error could not be measured; empty if it could.
    """

    elements: Integers
    values: Floats
    history: ConvergenceHistory
    exact: Floats | None = None
    terms: Terms | None = None
    unmeasured: str = ""


class Outputs:
    """Collects the solution of all ranks at the end of a run.

    Args:
        u: the solution on the device, (elements, (N + 1)^3); by default, room for it if needed.

    Attributes:
        findings: a few numbers, after `write`.
    """

    def __init__(
        self,
        setup: Setup,
        backend: Backend,
        comm: Communicator,
        problem: BoundaryValueProblem,
        solution: Solution,
        *,
        u: DeviceArray | None = None,
    ) -> None:
        self._setup, self._backend, self._comm = setup, backend, comm
        self._problem, self._solution = problem, solution
        self.findings: list[Quantity] = []
        domain = ElementDomain(comm, setup.mesh, setup.degree, solution.elements)
        records, sections = recording(setup.case, domain), setup.records
        shape = solution.values.shape if sections else (0, 1)
        self._u = backend.zeros(shape, "float64") if u is None else u
        self._recorders = Recorders(sections, records, {"u": self._u}, backend, comm)

    def open(self, folder: Path, lengths: Mapping[str, int] | None) -> dict[str, Output]:
        """Open the files that recorders extend during the run; there are none without steps."""
        return self._recorders.open(folder, lengths)

    def write(self, folder: Path) -> list[Path]:
        """Write all files; rank 0 writes."""
        summary, fields, records = self._summary(), self._fields(), self._records(folder)
        self.findings = [*findings_of(summary)]
        if not self._comm.first:
            return []
        files = [
            *records,
            self._write_residuals(folder / "convergence.csv"),
            write_json(folder / "solution.json", summary),
        ]
        if fields:
            files.append(self._write_fields(folder / "solution.vtkhdf", fields))
        return files

    def _records(self, folder: Path) -> list[Path]:
        """u at positions; all ranks must call it."""
        if self._u.size:
            self._backend.assign(self._u, self._solution.values)
        return self._recorders.write(folder)

    def _summary(self) -> dict[str, Any]:
        """Summary of the whole solution; all ranks must call it."""
        history = self._solution.history
        first, last = (float(history.residuals[n]) for n in (0, -1))
        found: dict[str, Any] = {
            "iterations": history.iterations,
            "converged": history.converged,
            "residual": last,
            "relative_residual": last / first if first else 0.0,
        }
        found |= self._range() | self._mean() | self._errors() | self._flows()
        return found | self._unit()

    def _unit(self) -> dict[str, str]:
        """The unit of u, if the case gives it."""
        unit = self._setup.case.output.unit
        return {"unit": unit} if unit else {}

    def _mean(self) -> dict[str, float]:
        """The mean of u over the domain; all ranks must call it."""
        mass = self._problem.system.mass
        sums = self._comm.allgather((float((mass * self._solution.values).sum()), mass.sum()))
        heat, volume = (sum(each) for each in zip(*sums, strict=True))
        return {"mean": float(heat / volume)}

    def _flows(self) -> dict[str, dict[str, float]]:
        """What flows in through sides with a condition, by name; all ranks must call it."""
        solution = self._solution
        assert solution.terms is not None
        found = self._problem.measure_flows(solution.terms, solution.values)
        return {"flows": by_name(found, self._setup.sides)}

    def _range(self) -> dict[str, float]:
        """The smallest and the largest u; all ranks must call it."""
        values = self._solution.values
        ranges = self._comm.allgather((values.min(), values.max()))
        low, high = zip(*ranges, strict=True)
        return {"smallest": float(min(low)), "largest": float(max(high))}

    def _errors(self) -> dict[str, float]:
        """Errors, if the exact solution is known; all ranks must call it."""
        if (exact := self._setup.exact) is None:
            return {}
        try:
            largest, norm = self._problem.measure_errors(self._solution.values, exact)
        except InputError as error:  # the solution is valid all the same
            self._solution.unmeasured = str(error)
            return {}
        return {"error_max": largest, "error_l2": norm}

    def _write_residuals(self, path: Path) -> Path:
        """Norms of the residual before each iteration, and their ratios to the first."""
        residuals = self._solution.history.residuals
        relative = residuals / (residuals[0] or 1.0)
        columns = {"iteration": np.arange(len(residuals)), "residual": residuals}
        return write_table(path, columns | {"relative": relative})

    def _fields(self) -> dict[str, Floats]:
        """u, and its error if the exact solution is known, on the whole mesh at rank 0."""
        setup, values = self._setup, self._solution.values
        if not setup.case.output.fields:
            return {}
        found = {"u": values}
        if (exact := self._solution.exact) is not None:
            found["error"] = values - exact
        where = (self._comm, setup.mesh, self._solution.elements)
        return {name: gather_on_root(*where, each) for name, each in found.items()}

    def _write_fields(self, path: Path, fields: Mapping[str, Floats]) -> Path:
        setup = self._setup
        attrs = {"title": setup.case.title, "degree": setup.degree}
        if unit := setup.case.output.unit:
            attrs["units"] = unit
        return LagrangeElements.of(setup.mesh, setup.degree, fields, attrs).write(path)
