"""Sites at which hazard is computed, and their frame."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from groundswell.arrays import Floats
from groundswell.errors import InputError, did_you_mean, quoted
from groundswell.grids.geography import Geography

_SPECIAL = re.compile(r"[^\w.-]|^[.]")


@dataclass(frozen=True, eq=False)
class Sites:
    """Sites, all with longitude and latitude, or all with x and y.

    Args:
        names: unique names.
        horizontal: longitude and latitude (degrees), or x and y (m), (n, 2).
        is_geographic: whether positions are longitudes and latitudes.
        vs30: mean S-wave speed of the upper 30 m, m/s, (n,); NaN if unknown.
        z1: depth to S waves of 1 km/s, m, (n,); NaN if unknown.
        grid: numbers of rows and columns, (ny, nx), if the sites are those of a grid, row by row.
    """

    names: Sequence[str]
    horizontal: Floats
    is_geographic: bool
    vs30: Floats
    z1: Floats
    grid: tuple[int, int] | None = None

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def frame(self) -> Geography | None:
        """The frame of x and y around geographic sites."""
        if not self.is_geographic:
            return None
        longitude, latitude = self.horizontal.T
        if np.ptp(longitude) > 180.0:  # on both sides of the date line
            longitude = longitude % 360.0
        longitude, latitude = longitude.mean(), latitude.mean()
        return Geography.from_point((float(longitude), float(latitude)), (0.0, 0.0))

    @cached_property
    def positions(self) -> Floats:
        """x to the east and y to the north, m, (n, 2)."""
        return self.horizontal if self.frame is None else plane(self.frame, self.horizontal)

    def index(self, name: str) -> int:
        """The number of a site.

        Raises:
            InputError: there is no such site.
        """
        if name not in self.names:
            raise InputError(f"no site is called {quoted(name)}{did_you_mean(name, self.names)}")
        return list(self.names).index(name)

    def file_name(self, name: str) -> str:
        """The name of a site in file names, without characters such as slashes."""
        plain = _SPECIAL.sub("_", name)
        return plain if plain == name else f"{plain}-{self.index(name)}"


def names_of_grid(grid: tuple[int, int]) -> list[str]:
    """Names of the sites of a grid (rows, columns), row by row: "row-column", from 0."""
    return [f"{row}-{column}" for row in range(grid[0]) for column in range(grid[1])]


def plane(frame: Geography | None, horizontal: Floats) -> Floats:
    """x and y (n, 2) in m of longitudes and latitudes (n, 2).

    Raises:
        InputError: there is no frame, because the sites are given by x and y.
    """
    if frame is None:
        raise InputError(
            "ruptures have longitudes and latitudes, but the sites x and y; give both the same way"
        )
    return np.column_stack(frame.to_grid(*np.asarray(horizontal, float).T))
