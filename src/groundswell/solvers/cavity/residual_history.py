"""The residuals of a flow, recorded at each convergence check."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from groundswell.arrays import Floats
from groundswell.backends import Backend
from groundswell.formats.text import write_table
from groundswell.grids.cartesian import format_extent
from groundswell.solvers.cavity.case import FIELDS
from groundswell.solvers.cavity.setup import Setup

BOUND = 1e5  # of scaled norms: far above those of fluid at rest next to a hot wall
STALLED_CHECKS = 200  # cycles; even slow runs halve a residual in about fifty
COLUMNS = ("step", "grid", "mass", "momentum_x", "momentum_y", "momentum_z", "heat")
DIGITS = 6  # significant digits compared with the tolerance: rank counts change the rounding


class ResidualHistory:
    """Root mean squares of all rates of change, by step.

    The units are U / L for the divergence, U^2 / L for velocity and U dT / L for temperature, so
    that values compare between grids and initial conditions.

    Attributes:
        rows: step, grid (0 is the finest) and norms, (rows, 7). They are on the device, so that
            checkpoints include them. Unused rows are zero.
        status: the grid in use and its residual, as text.
        latest: the norms of the last check, (5,).
    """

    def __init__(self, backend: Backend, setup: Setup) -> None:
        self._backend, self._tolerance = backend, setup.tolerance
        speed, size = setup.fluid.speed, setup.scales.length
        contrast = setup.scales.temperature_difference or 1.0
        self._scale = np.array([1.0, speed, speed, speed, contrast]) * speed / size
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
        return bool((norms / self._scale < BOUND).all())

    def has_stalled(self, grid: int) -> bool:
        """Whether the residual on a grid has not halved in its last checks."""
        rows = self.read()
        largest = rows[rows[:, 1] == grid][:, 2:].max(axis=1)
        latest, before = largest[-STALLED_CHECKS:], largest[:-STALLED_CHECKS]
        return len(before) > 0 and bool(latest.min() > before.min() / 2)

    def append(self, row: int, step: int, grid: int, norms: Floats) -> float:
        """Store the norms of a step on a grid; returns the largest in scaled units."""
        self.latest = norms / self._scale
        self._backend.assign(self.rows[row : row + 1], np.array([[step, grid, *self.latest]]))
        largest = float(f"{self.latest.max():.{DIGITS - 1}e}")
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

    def write(self, path: Path) -> Path:
        """Write `read` as a CSV table."""
        return write_table(path, dict(zip(COLUMNS, self.read().T, strict=True)))
