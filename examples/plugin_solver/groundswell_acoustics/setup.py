"""Host-side preparation: the grid, the time step, and the pressure at the beginning."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundswell.case.quantities import Quantity, byte_size
from groundswell.errors import InputError
from groundswell.exchange.pattern import uniform
from groundswell.grids.cartesian import Grid, describe_grid
from groundswell.outputs.recording import RecordableField
from groundswell.simulation.blocks import BlockSetup
from groundswell_acoustics.case import AcousticsCase

COURANT = 0.9  # share of the longest stable step that "auto" takes


@dataclass(frozen=True)
class Setup(BlockSetup):
    """A case whose sections fit together."""

    fields = ("p", "q")  # pressure, and its rate of change half a step before
    ghosts = {"p": uniform(1)}  # noqa: RUF012
    periodic = (True, True, True)
    recordable = (RecordableField("p", "Pa", "pressure"),)

    case: AcousticsCase

    def validate(self) -> None:
        """See that the time step is stable.

        Raises:
            InputError: it is not.
        """
        if self.dt > self.longest:
            raise InputError(
                f"time.step = {self.dt:g} s is unstable; use {self.longest:.4g} s at most"
            )

    @property
    def grid(self) -> Grid:
        """All cells."""
        return Grid(self.case.grid.cells, (self.case.grid.spacing,) * 3)

    @property
    def longest(self) -> float:
        """The longest stable step, s."""
        return self.case.grid.spacing / (self.case.medium.speed * sqrt(3))

    @property
    def steps(self) -> int:
        """Steps of the run."""
        time = self.case.time
        wanted = COURANT * self.longest if time.step == "auto" else time.step
        return max(1, ceil(time.duration / wanted - 1e-9))

    @property
    def dt(self) -> float:
        """The time step, s, of which the duration is a whole number."""
        return self.case.time.duration / self.steps

    @property
    def bytes_per_update(self) -> float:
        """Least memory traffic of a cell: both kernels read p and q, and write one of them."""
        return 6.0 * self.itemsize

    def quantities(self) -> list[Quantity]:
        """What `check`, the summary and the report say."""
        cells = describe_grid(self.grid.cells, self.grid.spacing)
        return [
            Quantity("cells", self.grid.cells, "grid", text=cells),
            Quantity("dt", self.dt, "time step", "s"),
            Quantity("steps", self.steps, "steps"),
            Quantity("memory", self.memory, "memory", "B", byte_size(self.memory)),
        ]

    def pressure(self, i: NDArray[Any], j: NDArray[Any], k: NDArray[Any]) -> NDArray[Any]:
        """At the beginning, in the cells (i, j, k), (nz, ny, nx)."""
        start, h = self.case.start, self.case.grid.spacing
        x, y, z = h * (i + 0.5), h * (j[:, None] + 0.5), h * (k[:, None, None] + 0.5)
        if start.kind == "pulse":
            away = zip((x, y, z), start.center, strict=True)
            return np.exp(-sum((place - at) ** 2 for place, at in away) / start.width**2)
        turns = zip((x, y, z), start.modes, self.grid.cells, strict=True)
        kx, ky, kz = (np.cos(2 * np.pi * mode / (n * h) * place) for place, mode, n in turns)
        return kx * ky * kz
