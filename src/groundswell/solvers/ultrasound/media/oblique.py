"""Images whose axes are rotated relative to the grid, interpolated at its points."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from groundswell.arrays import Floats, Mask, Reals
from groundswell.errors import InputError
from groundswell.solvers.ultrasound.media.case import FileSection
from groundswell.solvers.ultrasound.media.files import COVER, covered
from groundswell.solvers.ultrasound.media.formats import NiftiImage
from groundswell.solvers.ultrasound.media.points import AXES, GridPoints

_ROUNDING = 1e-6  # voxels


class ObliqueImage:
    """The image of a NIfTI file in oblique axes, in memory; see `GridFile`.

    Points of absorbing layers have the values at the nearest point of the region.

    Args:
        section: the file and its position in the case.
        points: the grid.
        image: the image.
        name: what the image is called.

    Raises:
        InputError: the image does not cover the region.
    """

    def __init__(
        self, section: FileSection, points: GridPoints, image: NiftiImage, name: str
    ) -> None:
        self.path, self.variables, self._points = section.file, [name], points
        self._values: Reals = np.asarray(image.values, np.float32)
        self._obliquity = image.obliquity
        from_metres = np.linalg.inv(image.affine_in_metres)
        self._shift = from_metres[:3, 3]
        axes = enumerate(zip(section.axes, section.offset, strict=True))
        self._terms = [
            np.outer(
                from_metres[:3, AXES.index(axis[-1])], _along(axis, points.in_region(n), offset)
            )
            for n, (axis, offset) in axes
        ]
        if section.outside is None:
            self._require_covered()

    def plane(self, k: int, name: str, unit: str = "", *, nearest: bool = False) -> Reals:
        """The image at the points (ny, nx) of the plane with the index `k` along z.

        Raises:
            InputError: the image has gaps there.
        """
        from scipy.ndimage import map_coordinates

        order = 0 if nearest else 1
        found = map_coordinates(self._values, self._indices(k), order=order, mode="nearest")
        if not np.isfinite(found).all():
            raise InputError(
                f"{self.path} has gaps (NaN or infinite values) where the grid needs it; fill "
                "them, or move or shrink the region"
            )
        return np.asarray(found)

    def inside(self, k: int) -> Mask:
        """Whether the image covers the points (ny, nx) of a plane; see `GridFile`."""
        return self._covers(self._indices(k))

    def samples(self, name: str) -> Iterator[Reals]:
        """The nearest values at the points of each plane."""
        return (self.plane(k, name, nearest=True) for k in range(self._points.shape[0]))

    @property
    def notes(self) -> list[str]:
        """Notes for users about the image."""
        x, y, z = self._points.region
        inside = [self.inside(k)[y, x].mean() for k in range(z.start, z.stop)]
        return [
            f"rotated by {self._obliquity:.3g} degrees relative to the grid, and interpolated at "
            "its points",
            *covered(float(np.mean(inside))),
        ]

    def release(self) -> None:
        """The image remains in memory."""

    def _indices(self, k: int) -> Floats:
        """Positions in the image of the points of a plane, voxels, (3, ny, nx)."""
        x, y, z = self._terms
        fixed = self._shift + z[:, k]
        return np.asarray(x[:, None, :] + y[:, :, None] + fixed[:, None, None])

    def _covers(self, indices: Reals) -> Mask:
        """Whether positions lie between the centres of voxels; within the voxel if there is one."""
        axes = (slice(None), *(np.newaxis,) * (indices.ndim - 1))
        last = np.array(self._values.shape)[axes] - 1.0
        margin = np.where(last == 0, 0.5, _ROUNDING * (last + 1))
        return np.asarray(((indices >= -margin) & (indices <= last + margin)).all(axis=0))

    def _require_covered(self) -> None:
        """Check the corners of the region, between which all points lie."""
        for corner in product((0, -1), repeat=3):
            index = self._shift + sum(
                term[:, at] for term, at in zip(self._terms, corner, strict=True)
            )
            if not self._covers(index):
                place = ", ".join(
                    f"{self._points.in_region(n)[at]:.6g}" for n, at in enumerate(corner)
                )
                raise InputError(
                    f"{self.path}: the image is rotated by {self._obliquity:.3g} degrees and does "
                    f"not cover the corner of the region at x, y, z = {place} m; {COVER}"
                )


def _along(axis: str, at: Floats, offset: float) -> Floats:
    """Coordinates of the file along an axis, from positions in the case."""
    return (-1.0 if axis[0] == "-" else 1.0) * (at - offset)
