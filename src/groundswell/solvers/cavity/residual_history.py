"""How the flow has come to rest: residuals, as they fell."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groundswell.backends import Backend
from groundswell.formats.text import write_table
from groundswell.grids.cartesian import format_extent
from groundswell.solvers.cavity.case import FIELDS
from groundswell.solvers.cavity.setup import Setup

BOUND = 1e5  # of norms: far beyond those of fluid at rest beside a hot wall
COLUMNS = ("step", "grid", "mass", "momentum_x", "momentum_y", "momentum_z", "heat")
DIGITS = 6  # that the decision to stop goes by: sums of other ranks differ by rounding


class ResidualHistory:
    """Root mean squares of all rates of change, by step.

    Those of divergence, velocity and temperature are given in U / L, U^2 / L and U dT / L, so that
    they mean the same on every grid and from every beginning.

    Attributes:
        rows: step, grid and norms, on the device, so that checkpoints keep them; unused rows are
            zero. The finest grid is number 0.
    """

    def __init__(self, backend: Backend, setup: Setup) -> None:
        self._backend = backend
        speed, size = setup.fluid.speed, setup.length
        contrast = setup.contrast or 1.0
        self._scale = np.array([1.0, speed, speed, speed, contrast]) * speed / size
        rows = setup.steps // setup.check_every + 2
        self.rows = backend.zeros((rows, 2 + len(FIELDS)), np.float64)
        self._grids = [format_extent(grid.grid.cells) for grid in setup.grids]
        self.status = ""
        self.latest: NDArray[np.float64] = np.full(len(FIELDS), np.nan)

    def start_stage(self, grid: int) -> int:
        """Be ready for steps on a grid; how often it has been looked at so far."""
        rows = self.read()
        self.status = f"{self._grids[grid]} points"
        return int((rows[:, 1] == grid).sum())

    def is_bounded(self, norms: NDArray[np.float64]) -> bool:
        """Whether a flow with these norms can still come to rest."""
        return bool((norms / self._scale < BOUND).all())

    def append(self, row: int, step: int, grid: int, norms: NDArray[np.float64]) -> float:
        """Note the norms of a step on a grid; the largest of them."""
        self.latest = norms / self._scale
        self._backend.assign(self.rows[row : row + 1], np.array([[step, grid, *self.latest]]))
        largest = float(f"{self.latest.max():.{DIGITS - 1}e}")
        self.status = f"{self._grids[grid]} points, residual {largest:.1e}"
        return largest

    def read(self) -> NDArray[np.float64]:
        """Step, grid and the five norms, a row a look."""
        rows = self._backend.to_host(self.rows)
        return rows[rows[:, 0] > 0]

    def write(self, path: Path) -> Path:
        """The same as a table of text."""
        return write_table(path, dict(zip(COLUMNS, self.read().T, strict=True)))
