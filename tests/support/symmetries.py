"""Symmetries of a box: its axes exchanged, mirrored, and rolled by whole cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations, product
from typing import Any

import numpy as np

from groundswell.arrays import Floats

NAMES = "xyz"


@dataclass(frozen=True)
class Symmetry:
    """New axis `i` is old axis `source[i]`, mirrored if `mirrored[i]`; then cells are rolled.

    Arrays have the shape (nz, ny, nx); points, vectors and `rolled` have the order (x, y, z).
    """

    source: tuple[int, int, int] = (0, 1, 2)
    mirrored: tuple[bool, bool, bool] = (False, False, False)
    rolled: tuple[int, int, int] = (0, 0, 0)

    @property
    def matrix(self) -> Floats:
        """The orthogonal matrix that turns vectors, (3, 3)."""
        signs = np.where(self.mirrored, -1.0, 1.0)
        return signs[:, None] * np.eye(3)[list(self.source)]

    def of_lengths(self, lengths: Sequence[Any]) -> tuple[Any, ...]:
        """Lengths or counts along the new axes."""
        return tuple(lengths[axis] for axis in self.source)

    def of_array(self, values: Floats) -> Floats:
        """A scalar field in the new box."""
        turned = np.transpose(values, [2 - self.source[2 - k] for k in range(3)])
        turned = np.flip(turned, [2 - i for i in range(3) if self.mirrored[i]])
        return np.ascontiguousarray(np.roll(turned, self.rolled[::-1], (0, 1, 2)))

    def of_points(self, points: Floats, size: Sequence[float], cell: float = 0.0) -> Floats:
        """Points, (..., 3), of a box from the origin to `size`; `cell` is the edge of its cells."""
        new = self.of_lengths(size)
        turned = np.where(self.mirrored, new, 0) + points @ self.matrix.T
        return np.where(self.rolled, np.mod(turned + cell * np.asarray(self.rolled), new), turned)

    def of_vectors(self, vectors: Floats) -> Floats:
        """Vectors, (..., 3)."""
        return vectors @ self.matrix.T

    def of_tensor(self, tensor: Floats) -> Floats:
        """A tensor of second order, (3, 3)."""
        return self.matrix @ tensor @ self.matrix.T

    def __str__(self) -> str:
        """Such as `y,-x,z`, for the names of tests."""
        axes = ("-" * m + NAMES[s] for m, s in zip(self.mirrored, self.source, strict=True))
        return ",".join(axes) + (f" rolled {self.rolled}" if any(self.rolled) else "")


def horizontal() -> Iterator[Symmetry]:
    """The seven that leave the depth alone: of a region with a surface, or with gravity along z."""
    for source in ((0, 1, 2), (1, 0, 2)):
        for x, y in product((False, True), repeat=2):
            if (source, x, y) != ((0, 1, 2), False, False):
                yield Symmetry(source, (x, y, False))


def of_all_axes() -> Iterator[Symmetry]:
    """Every order of the axes, each with another choice of mirrored axes, and every mirror."""
    mirrors = list(product((False, True), repeat=3))
    for i, source in enumerate(permutations(range(3))):
        yield Symmetry(source, mirrors[(3 * i) % 8] if i else mirrors[7])  # type: ignore[arg-type]
    for axis in range(3):
        yield Symmetry(mirrored=tuple(i == axis for i in range(3)))  # type: ignore[arg-type]
