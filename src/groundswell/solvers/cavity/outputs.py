"""The files of a run: fields, profiles, heat fluxes and residuals."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from groundswell.formats.text import write_json
from groundswell.outputs.distributed_array import DistributedArray
from groundswell.outputs.recorder import Recorders
from groundswell.outputs.ring_buffer import Output
from groundswell.solvers.cavity.case import FIELDS
from groundswell.solvers.cavity.flow import Flow
from groundswell.solvers.cavity.recording import recording

if TYPE_CHECKING:
    from groundswell.solvers.cavity.solver import Cavity


class Outputs:
    """Records during a run and gathers the flow of all ranks at its end.

    Attributes:
        launches: what the recorders launch before each step.
    """

    def __init__(self, solver: Cavity) -> None:
        self._solver, backend, finest = solver, solver.backend, solver.levels[0]
        self._recorders = Recorders(
            solver.setup.case.output.record,
            recording(finest.grid, finest.part),
            {name: field.interior for name, field in finest.copies[0].items()},
            backend,
            solver.comm,
        )
        at_once = ([launch] for launch in self._recorders.launches)
        self.launches = [*backend.concurrently(*at_once), *self._recorders.tick]

    def open(self, folder: Path, lengths: Mapping[str, int] | None) -> dict[str, Output]:
        """Open the files that recorders extend during the run."""
        return self._recorders.open(folder, lengths)

    def state(self) -> dict[str, DistributedArray]:
        """The recorders' part of a checkpoint."""
        return self._recorders.state()

    def write(self, folder: Path) -> list[Path]:
        """Write all results on the finest grid; rank 0 writes, and the others return no files."""
        flow, records = self.flow(), self._recorders.write(folder)
        if flow is None:
            return []
        files = [
            *records,
            self._solver.history.write(folder / "residuals.csv"),
            flow.write_profiles(folder / "profiles.csv"),
            write_json(folder / "heat.json", flow.summary() | self._solver.convergence_summary()),
        ]
        if self._solver.setup.scales.heat is not None:
            files.append(flow.write_nusselt(folder / "nusselt.csv"))
        if self._solver.setup.case.output.fields:
            files.append(flow.write(folder / "flow.nc"))
        return files

    def flow(self) -> Flow | None:
        """The whole flow on rank 0, None on the others; collective."""
        whole_fields = {name: self._gather(name) for name in FIELDS}
        if not self._solver.comm.first:
            return None
        return Flow.of(self._solver.setup.finest, whole_fields)

    def _gather(self, name: str) -> NDArray[Any]:
        solver = self._solver
        block = solver.levels[0].decomposition.block(solver.comm.rank)
        field = np.zeros(solver.setup.finest.grid.shape, solver.setup.dtype)
        for slices, part in solver.comm.gather((block.slices, solver.snapshot(name))):
            field[slices] = part
        return field
