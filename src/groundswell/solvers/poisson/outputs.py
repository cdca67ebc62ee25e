"""Files of a solution: u on all elements, a summary, and residuals."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from groundswell.formats.text import write_json, write_table
from groundswell.meshes.hexahedra import Floats
from groundswell.outputs.recorder import Recorders
from groundswell.outputs.ring_buffer import Output
from groundswell.solvers.poisson.recordable import recording
from groundswell.spectral_elements.boundary import evaluate
from groundswell.spectral_elements.fields import gather_on_root
from groundswell.spectral_elements.recording import ElementDomain
from groundswell.spectral_elements.vtkhdf import LagrangeElements

if TYPE_CHECKING:
    from groundswell.solvers.poisson.solver import Poisson


class Outputs:
    """Collects the solution of all ranks at the end of a run."""

    def __init__(self, solver: Poisson) -> None:
        self._solver = solver
        setup, comm, sections = solver.setup, solver.comm, solver.setup.case.output.record
        domain = ElementDomain(comm, setup.mesh, setup.degree, solver.elements)
        self._u = solver.backend.zeros(solver.values.shape if sections else (0, 1), "float64")
        records = recording(setup.case.title, domain)
        self._recorders = Recorders(sections, records, {"u": self._u}, solver.backend, comm)

    def open(self, folder: Path, lengths: Mapping[str, int] | None) -> dict[str, Output]:
        """Files that grow during the run: none."""
        return {}

    def write(self, folder: Path) -> list[Path]:
        """Write all files; rank 0 writes."""
        summary, fields, records = self._summary(), self._fields(), self._records(folder)
        if not self._solver.comm.first:
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
            self._solver.backend.assign(self._u, self._solver.values)
        return self._recorders.write(folder)

    def _summary(self) -> dict[str, Any]:
        """Summary of the whole solution; all ranks must call it."""
        solver, history = self._solver, self._solver.history
        first, last = (float(history.residuals[n]) for n in (0, -1))
        ranges = solver.comm.allgather((solver.values.min(), solver.values.max()))
        low, high = zip(*ranges, strict=True)
        found = {
            "iterations": history.iterations,
            "converged": history.converged,
            "residual": last,
            "relative_residual": last / first if first else 0.0,
            "smallest": float(min(low)),
            "largest": float(max(high)),
        }
        if (exact := solver.setup.exact) is None:
            return found
        largest, norm = solver.problem.measure_errors(solver.values, exact)
        return found | {"error_max": largest, "error_l2": norm}

    def _write_residuals(self, path: Path) -> Path:
        """Norms of the residual before each iteration, and their ratios to the first."""
        residuals = self._solver.history.residuals
        relative = residuals / (residuals[0] or 1.0)
        columns = {"iteration": np.arange(len(residuals)), "residual": residuals}
        return write_table(path, columns | {"relative": relative})

    def _fields(self) -> dict[str, Floats]:
        """u, and its error if the exact solution is known, on the whole mesh at rank 0."""
        solver, setup = self._solver, self._solver.setup
        if not setup.case.output.fields:
            return {}
        found = {"u": solver.values}
        if (exact := setup.exact) is not None:
            found["error"] = solver.values - evaluate(exact, solver.problem.nodes, "exact")
        where = (solver.comm, setup.mesh, solver.elements)
        return {name: gather_on_root(*where, values) for name, values in found.items()}

    def _write_fields(self, path: Path, fields: Mapping[str, Floats]) -> Path:
        setup = self._solver.setup
        attrs = {"title": setup.case.title, "degree": setup.degree}
        return LagrangeElements.of(setup.mesh, setup.degree, fields, attrs).write(path)
