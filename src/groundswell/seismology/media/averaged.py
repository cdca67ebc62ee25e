"""Averages of a medium that is given on smaller cells than those of the region."""

from __future__ import annotations

import numpy as np

from groundswell.arrays import Mask, Reals
from groundswell.errors import InputError
from groundswell.grids.axis import Spacings
from groundswell.seismology.media.material import (
    Counts,
    Material,
    Medium,
    describe_cell,
    sample_points,
    solid_at_points,
    volume_average,
)
from groundswell.seismology.media.profile import Profile, find_profile


class CellAverages:
    """Volume averages of a medium over larger cells.

    Args:
        medium: the medium on small cells, which divide the larger ones.
        factors: number of small cells in a larger cell along each axis (x, y, z).
        spacing: edges of the larger cells (x, y, z), m.
    """

    def __init__(self, medium: Medium, factors: Counts, spacing: Spacings) -> None:
        self._medium, self._factors = medium, factors
        nx, ny, nz = (n // factor for n, factor in zip(medium.cells, factors, strict=True))
        self.cells: Counts = (nx, ny, nz)
        self.spacing = spacing

    @property
    def profile(self) -> Profile | None:
        """The medium as a function of depth; None if it varies along x or y."""
        return find_profile(self._medium)

    def plane(self, k: int) -> Material:
        """Averages over the cells of depth row `k`: arrays (ny, nx).

        Raises:
            InputError: a value of the medium is negative, which averages of squares would hide.
        """
        depth = self._factors[2]
        planes = [self._plane(depth * k + n) for n in range(depth)]
        stacked = {name: np.stack([plane[name] for plane in planes]) for name in planes[0]}
        return volume_average(Material(**stacked), self._mean)

    def _plane(self, k: int) -> dict[str, Reals]:
        """The medium on row `k` of small cells, by property."""
        given = self._medium.plane(k).given()
        for name in ("vp", "vs", "rho"):
            if (wrong := np.argwhere(given[name] < 0)).size:
                j, i = map(int, wrong[0])
                raise InputError(
                    f"medium: {name} = {given[name][j, i]:.6g} in sub-"
                    f"{describe_cell((i, j, k), self._medium.spacing)}; it must not be negative; "
                    "correct the model"
                )
        return given

    def sample(self, points: Reals) -> Material:
        """The medium on small cells at points; see `SampledMedium`."""
        return sample_points(self._medium, points)

    def is_solid(self, points: Reals) -> Mask:
        """Whether the medium is solid at points, (n,)."""
        return solid_at_points(self._medium, points)

    def _mean(self, values: Reals) -> Reals:
        """Means over blocks of (factor along z, ny * factor, nx * factor)."""
        (nx, ny, _), (fx, fy, fz) = self.cells, self._factors
        means: Reals = values.reshape(fz, ny, fy, nx, fx).mean(axis=(0, 2, 4))
        return means
