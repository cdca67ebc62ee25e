"""What a cavity leaves behind: fields, profiles, heat fluxes, and how the residuals fell."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from groundswell.formats.atomic import atomic_write
from groundswell.outputs.ring_buffer import Output
from groundswell.solvers.cavity.case import FIELDS
from groundswell.solvers.cavity.flow import Flow

if TYPE_CHECKING:
    from groundswell.solvers.cavity.solver import Cavity


class Outputs:
    """Collects the flow of all ranks at the end of a run."""

    def __init__(self, solver: Cavity) -> None:
        self._solver = solver

    def open(self, folder: Path, lengths: Mapping[str, int] | None) -> dict[str, Output]:
        """Files that grow during the run: none."""
        return {}

    def write(self, folder: Path) -> list[Path]:
        """Write everything, of the finest grid; files are rank 0's."""
        while self._solver.next_stage():  # a run may have ended on a coarse grid
            self._solver.step()
        flow = self.flow()
        if flow is None:
            return []
        files = [
            self._solver.history.write(folder / "residuals.csv"),
            flow.write_profiles(folder / "profiles.csv"),
            _write_json(folder / "heat.json", flow.summary() | self._solver.steadiness()),
        ]
        if self._solver.setup.heat is not None:
            files.append(flow.write_nusselt(folder / "nusselt.csv"))
        if self._solver.setup.case.output.fields:
            files.append(flow.write(folder / "flow.nc"))
        return files

    def flow(self) -> Flow | None:
        """The whole flow at rank 0."""
        whole_fields = {name: self._gather(name) for name in FIELDS}
        if not self._solver.world.first:
            return None
        return Flow.of(self._solver.setup, whole_fields)

    def _gather(self, name: str) -> NDArray[Any]:
        solver = self._solver
        block = solver.levels[0].cut.block(solver.world.rank)
        found = np.zeros(solver.setup.grid.shape, solver.setup.dtype)
        for place, part in solver.world.gather((block.slices, solver.snapshot(name))):
            found[place] = part
        return found


def _write_json(path: Path, content: dict[str, Any]) -> Path:
    with atomic_write(path) as part:
        part.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    return path
