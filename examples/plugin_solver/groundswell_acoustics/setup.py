"""Host-side preparation: the grid, the time step, and the pressure at the beginning."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundswell.errors import InputError
from groundswell.exchange.ghosts import uniform
from groundswell.grids.cartesian import Grid
from groundswell.outputs.recording import RecordableField
from groundswell.simulation.blocks import BlockSetup, validated
from groundswell_acoustics.case import AcousticsCase

COURANT = 0.9  # share of the longest stable step that "auto" takes


@dataclass(frozen=True)
class Setup(BlockSetup):
    """A case whose sections fit together."""

    fields = ("p", "q")  # pressure, and its rate of change half a step before
    ghosts = {"p": uniform(1)}  # noqa: RUF012
    periodic = (True, True, True)
    recordable = (RecordableField("p", "Pa", "pressure"),)
    words_per_update = 6.0  # both kernels read p and q, and write one of them

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


def prepare(case: AcousticsCase, communicator: Any = None) -> Setup:
    """The set-up of a case.

    Raises:
        InputError: the case cannot run.
    """
    return validated(Setup(case))
