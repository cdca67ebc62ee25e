"""Bricks side by side or refined 2:1, and what lies beyond each of their faces, for dg_scheme.py.

Faces are numbered 2 axis + side: axis 0 is x, 1 is y, 2 is z, side 0 is the low end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from groundswell.arrays import Floats, Integers
from groundswell.meshes.gll import gll


@dataclass(frozen=True)
class Boundary:
    """No element: a reflection coefficient, -1 free surface, 0 absorbing, +1 rigid wall."""

    reflection: float


@dataclass(frozen=True)
class Neighbour:
    """An element with the same face."""

    element: int


@dataclass(frozen=True)
class Coarser:
    """An element of whose face this is a quarter: lower axis + 2 times higher axis, 0 or 1 each."""

    element: int
    quarter: int


@dataclass(frozen=True)
class Finer:
    """The elements of the four quarters, in their order."""

    elements: tuple[int, ...]


Face = Boundary | Neighbour | Coarser | Finer


@dataclass(frozen=True, eq=False)
class Bricks:
    """Elements of one or two cells of a lattice each way, which fill it.

    Args:
        edges: coordinates of the lattice along x, y and z.
        low: the first cell of each element, (elements, 3).
        width: 1 or 2 cells, (elements,).
        reflections: of the six sides of the lattice; None where it is periodic.
    """

    edges: Sequence[Floats]
    low: Integers
    width: Integers
    reflections: Sequence[float | None] = (None,) * 6

    @property
    def count(self) -> int:
        """Number of elements."""
        return len(self.low)

    @cached_property
    def corners(self) -> Floats:
        """Low and high corners, (2, elements, 3)."""
        ends = np.array([self.low, self.low + self.width[:, None]])
        return np.stack([edge[ends[..., d]] for d, edge in enumerate(self.edges)], axis=-1)

    @cached_property
    def sizes(self) -> Floats:
        """Edges of the elements, (elements, 3)."""
        return self.corners[1] - self.corners[0]

    def positions(self, degree: int) -> Floats:
        """Coordinates of the nodes, (3, elements, n, n, n)."""
        along = (gll(degree).points + 1) / 2
        x, y, z = (
            low[:, None] + size[:, None] * along
            for low, size in zip(self.corners[0].T, self.sizes.T, strict=True)
        )
        return np.stack(
            np.broadcast_arrays(x[:, None, None, :], y[:, None, :, None], z[:, :, None, None])
        )

    @cached_property
    def owners(self) -> Integers:
        """The element of each cell, indexed x, y, z."""
        found = np.full([len(e) - 1 for e in self.edges], -1)
        for element in range(self.count):
            cells = self._cells(element)
            assert (found[cells] == -1).all(), "elements overlap"
            found[cells] = element
        assert (found >= 0).all(), "elements leave gaps"
        return found

    @cached_property
    def faces(self) -> list[list[Face]]:
        """What lies beyond each face of each element."""
        return [[self._beyond(e, face) for face in range(6)] for e in range(self.count)]

    def _cells(self, element: int) -> tuple[slice, ...]:
        return tuple(slice(n, n + self.width[element]) for n in self.low[element])

    def _beyond(self, element: int, face: int) -> Face:
        axis, side = divmod(face, 2)
        cell = self.low[element, axis] + (self.width[element] if side else -1)
        reflection = self.reflections[face]
        if reflection is not None and cell in (-1, self.owners.shape[axis]):
            return Boundary(reflection)
        cells = list(self._cells(element))
        cells[axis] = cell % self.owners.shape[axis]
        others = [int(other) for other in self.owners[tuple(cells)].T.ravel()]
        if len(set(others)) == 4:
            return Finer(tuple(others))
        offsets = np.delete(self.low[element] - self.low[others[0]], axis)
        if self.width[others[0]] > self.width[element]:
            return Coarser(others[0], int(offsets @ (1, 2)))
        assert len(set(others)) == 1 and not offsets.any(), "not a 2:1 refinement"
        return Neighbour(others[0])


def lattice(
    counts: Sequence[int], lengths: ArrayLike = 1.0, uneven: int | None = None
) -> list[Floats]:
    """Edges of cells of equal size, or of random sizes from a seed; pairs of cells are equal."""
    edges = []
    rng = np.random.default_rng(uneven)
    for count, length in zip(counts, np.broadcast_to(lengths, 3), strict=True):
        pairs = rng.uniform(0.7, 1.4, (count + 1) // 2) if uneven is not None else np.ones(count)
        sizes = np.repeat(pairs, 2)[:count]
        edges.append(np.concatenate([[0.0], np.cumsum(sizes) / sizes.sum() * length]))
    return edges


def equal(counts: Sequence[int], lengths: ArrayLike = 1.0, **options: object) -> Bricks:
    """A box of counts (x, y, z) elements of the same size."""
    low = np.stack(np.meshgrid(*map(np.arange, counts), indexing="ij"), axis=-1).reshape(-1, 3)
    return Bricks(lattice(counts, lengths), low, np.ones(len(low), int), **options)


def refined(edges: Sequence[Floats], coarse: ArrayLike, **options: object) -> Bricks:
    """Elements of 2 x 2 x 2 cells from these first cells, (elements, 3), and others of one cell."""
    coarse = np.asarray(coarse).reshape(-1, 3)
    free = np.ones([len(e) - 1 for e in edges], bool)
    for x, y, z in coarse:
        free[x : x + 2, y : y + 2, z : z + 2] = False
    low = np.concatenate([coarse, np.argwhere(free)])
    width = np.where(np.arange(len(low)) < len(coarse), 2, 1)
    return Bricks(edges, low, width, **options)
