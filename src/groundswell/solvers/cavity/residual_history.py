"""The residuals of a flow, recorded at each convergence check."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from groundswell.arrays import Floats
from groundswell.backends import Backend
from groundswell.formats.text import write_table
from groundswell.grids.cartesian import format_extent
from groundswell.solvers.cavity.case import FIELDS
from groundswell.solvers.cavity.residual_scale import ResidualScale
from groundswell.solvers.cavity.setup import Setup

STALLED_CHECKS = 200  # cycles; even slow runs halve a residual in about fifty
COLUMNS = ("step", "grid", "mass", "momentum_x", "momentum_y", "momentum_z", "heat")


class ResidualHistory:
    """Root mean squares of all rates of change, by step.

    Attributes:
        rows: step, grid (0 is the finest) and norms, (rows, 7). They are on the device, so that
            checkpoints include them. Unused rows are zero.
        status: the grid in use and its residual, as text.
        latest: the norms of the last check, (5,).
    """

    def __init__(self, backend: Backend, setup: Setup) -> None:
        self._backend, self._tolerance = backend, setup.tolerance
        self._scale = ResidualScale(setup)
        rows = setup.steps // setup.check_every + 2
        self.rows = backend.zeros((rows, 2 + len(FIELDS)), np.float64)
        self._grids = [format_extent(grid.grid.cells) for grid in setup.grids]
        self.status = ""
        self.latest: Floats = np.full(len(FIELDS), np.nan)

    def start_stage(self, grid: int) -> int:
        """Report steps on this grid from now on; returns how often it has been checked so far."""
        rows = self.read()
        self.status = f"{self._grids[grid]} points"
        return int((rows[:, 1] == grid).sum())

    def is_bounded(self, norms: Floats) -> bool:
        """Whether a flow with these norms can still converge; False if any is not finite."""
        return self._scale.is_bounded(norms)

    def scaled(self, norms: Floats) -> float:
        """The largest of these norms in scaled units."""
        return self._scale.largest(norms)

    def has_stalled(self, grid: int) -> bool:
        """Whether the residual on a grid has not halved in its last checks."""
        rows = self.read()
        largest = rows[rows[:, 1] == grid][:, 2:].max(axis=1)
        latest, before = largest[-STALLED_CHECKS:], largest[:-STALLED_CHECKS]
        return len(before) > 0 and bool(latest.min() > before.min() / 2)

    def append(self, row: int, step: int, grid: int, norms: Floats) -> float:
        """Store the norms of a step on a grid; returns the largest in scaled units."""
        self.latest = self._scale.of(norms)
        self._backend.assign(self.rows[row : row + 1], np.array([[step, grid, *self.latest]]))
        largest = self._scale.largest(norms)
        self.status = f"{self._grids[grid]} points, residual {largest:.1e}"
        return largest

    def convergence(self) -> dict[str, object]:
        """The finest grid's last residual, and whether it meets the tolerance."""
        rows = self.read()
        finest = rows[rows[:, 1] == 0]
        residual = float(finest[-1, 2:].max()) if len(finest) else None
        steady = residual is not None and residual <= self._tolerance
        return {"residual": residual, "steady": steady}

    def read(self) -> Floats:
        """Step, grid and the five norms, one row for each check."""
        rows = self._backend.to_host(self.rows)
        return rows[rows[:, 0] > 0]

    def write(self, folder: Path) -> Path:
        """Write `residuals.csv`."""
        return write_table(folder / "residuals.csv", dict(zip(COLUMNS, self.read().T, strict=True)))
