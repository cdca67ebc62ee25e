"""Cells along an axis, all of one edge or graded: positions of their indices, and back."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groundswell.arrays import Floats, Integers

Spacing = float | tuple[float, ...]  # edge of all cells along an axis, or of each, m
Spacings = tuple[Spacing, Spacing, Spacing]  # along x, y and z


@dataclass(frozen=True)
class Axis:
    """Cells along an axis, the first of which begins at 0.

    Indices are fractional: 2.5 is the middle of the third cell. Beyond both ends of graded cells,
    the outermost edges are repeated.

    Args:
        spacing: edge of all cells, or of each, m.
    """

    spacing: Spacing

    @property
    def ends(self) -> tuple[float, float]:
        """Edges of the first and the last cell, m."""
        edges = self.spacing if isinstance(self.spacing, tuple) else (self.spacing,)
        return edges[0], edges[-1]

    def at(self, index: ArrayLike) -> Floats:
        """Positions of fractional indices, m."""
        where = np.asarray(index)
        if not isinstance(self.spacing, tuple):
            return np.asarray(where * self.spacing)
        cell = self._nearest(np.floor(where))
        return np.asarray(self._faces[cell] + (where - cell) * self._edges[cell])

    def index(self, position: ArrayLike) -> Floats:
        """Fractional indices of positions, m."""
        where = np.asarray(position)
        if not isinstance(self.spacing, tuple):
            return np.asarray(where / self.spacing)
        cell = self._nearest(np.searchsorted(self._faces, where, side="right") - 1)
        return np.asarray(cell + (where - self._faces[cell]) / self._edges[cell])

    def divided(self, parts: int) -> Axis:
        """The axis whose cells are equal parts of these."""
        if not isinstance(self.spacing, tuple):
            return Axis(self.spacing / parts)
        return Axis(tuple(np.repeat(self._edges / parts, parts).tolist()))

    @cached_property
    def _edges(self) -> Floats:
        return np.array(self.spacing)

    @cached_property
    def _faces(self) -> Floats:
        """Positions of the faces of graded cells, (cells + 1,), m."""
        return np.append(0.0, np.cumsum(self._edges))

    def _nearest(self, cell: NDArray[np.generic]) -> Integers:
        """The nearest graded cells."""
        return np.clip(cell, 0, len(self._edges) - 1).astype(np.int64)
