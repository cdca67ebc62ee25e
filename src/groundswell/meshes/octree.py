"""Forests of octrees: a box of roots, each divided recursively into eight, down to its leaves.

Leaves are the elements of locally refined meshes. A forest stores only its leaves, in Morton order
of the whole box, that is, sorted by the key of the first lattice cell of each leaf.

Burstedde, Wilcox & Ghattas, p4est: scalable algorithms for parallel adaptive mesh refinement on
forests of octrees, SIAM J. Sci. Comput. 33, 2011; Sundar, Sampath & Biros, Bottom-up construction
and 2:1 balance refinement of linear octrees in parallel, SIAM J. Sci. Comput. 30, 2008.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groundswell.arrays import Floats, Integers, Mask
from groundswell.errors import InputError
from groundswell.meshes.hexahedra import AXES
from groundswell.meshes.morton import BITS, decode, encode

Edges = tuple[Floats, Floats, Floats]
Levels = NDArray[np.int8]

_THINNEST = 1e-8  # width of a root over the largest coordinate; keeps lattice planes distinct


@dataclass(frozen=True, eq=False)
class Forest:
    """The leaves of a box of octrees, which fill it without overlap.

    A root has level 0. The edges of a leaf of level n are 2^n times shorter than those of its root.
    Positions are cells of a lattice of level `max_level`. The number of lattice cells along an
    axis, roots times 2^max_level, is at most 2^20. One root along an axis thus allows level 20, and
    a hundred roots allow level 13. Leaves are numbered by ascending keys, in Morton order.

    Args:
        edges: edges of the roots along x, y and z, ascending, each (roots + 1,), m.
        keys: Morton key of the first lattice cell of each leaf, ascending, (leaves,).
        levels: level of each leaf, (leaves,).
        periodic: whether the box is periodic along x, y, z.

    Raises:
        InputError: edges are not ascending or too many, or leaves do not fill the box in Morton
            order.
    """

    edges: Edges
    keys: Integers
    levels: Levels
    periodic: tuple[bool, bool, bool] = (False, False, False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "edges", _checked_edges(self.edges))
        object.__setattr__(self, "keys", np.asarray(self.keys, np.int64))
        for level in (np.min(self.levels, initial=0), np.max(self.levels, initial=0)):
            require_level(self.roots, int(level))
        object.__setattr__(self, "levels", np.asarray(self.levels, np.int8))
        self._require_tiling()

    @property
    def count(self) -> int:
        """Number of leaves."""
        return len(self.keys)

    @property
    def roots(self) -> tuple[int, int, int]:
        """Number of roots along x, y, z."""
        return count_roots(self.edges)

    @property
    def max_level(self) -> int:
        """The deepest level that leaves may have."""
        return deepest_level(self.roots)

    def anchors(self, leaves: ArrayLike | None = None) -> Integers:
        """Indices of the first lattice cells of leaves in the whole box, (leaves, 3).

        Args:
            leaves: numbers of leaves; all of them if None.
        """
        return decode(self.keys[_chosen(leaves)])

    def sizes(self, leaves: ArrayLike | None = None) -> Integers:
        """Number of lattice cells along an edge of leaves, (leaves,); `leaves` as in `anchors`."""
        return cells_along(self.max_level, self.levels[_chosen(leaves)])

    def trees(self, leaves: ArrayLike | None = None) -> Integers:
        """Numbers of the roots of leaves, x fastest, (leaves,); `leaves` as in `anchors`."""
        roots = self.anchors(leaves) >> self.max_level
        return np.asarray(roots @ np.array([1, self.roots[0], self.roots[0] * self.roots[1]]))

    def boxes(self, leaves: ArrayLike | None = None) -> tuple[Floats, Floats]:
        """Lower and upper corners of leaves, each (leaves, 3), m; `leaves` as in `anchors`."""
        return self.boxes_of(self.keys[_chosen(leaves)], self.levels[_chosen(leaves)])

    def boxes_of(self, keys: Integers, levels: Levels) -> tuple[Floats, Floats]:
        """Lower and upper corners of octants, each (octants, 3), m.

        Args:
            keys: Morton keys of their first lattice cells, (octants,).
            levels: their levels, (octants,).
        """
        anchors, sizes = decode(keys), cells_along(self.max_level, levels)
        return self._positions(anchors), self._positions(anchors + sizes[:, None])

    def mirrored(self, axis: int) -> Forest:
        """The forest with the coordinates along an axis negated."""
        edges, anchors = list(self.edges), self.anchors()
        edges[axis] = -edges[axis][::-1]
        cells = self.roots[axis] << self.max_level
        anchors[:, axis] = cells - anchors[:, axis] - self.sizes()
        keys = encode(anchors)
        order = np.argsort(keys)
        x, y, z = edges
        return replace(self, edges=(x, y, z), keys=keys[order], levels=self.levels[order])

    def wrap(self, cells: Integers) -> tuple[Integers, Mask]:
        """Wrap lattice cells along periodic axes.

        Args:
            cells: indices along x, y and z, (..., 3).

        Returns:
            The wrapped cells, (..., 3), and whether each lies in the box, (...).
        """
        counts = np.array(self.roots) << self.max_level
        wrapped = np.where(self.periodic, cells % counts, cells) if any(self.periodic) else cells
        return wrapped, np.all((wrapped >= 0) & (wrapped < counts), axis=-1)

    def find(self, cells: Integers) -> Integers:
        """The leaf that holds each lattice cell, -1 outside the box.

        Args:
            cells: indices along x, y and z, wrapped along periodic axes, (..., 3).

        Returns:
            (...).
        """
        wrapped, inside = self.wrap(cells)
        keys = encode(np.where(inside[..., None], wrapped, 0))
        return np.where(inside, np.searchsorted(self.keys, keys, side="right") - 1, -1)

    def locate(self, points: ArrayLike) -> Integers:
        """The leaf that contains each point, -1 outside the box.

        A point on a face, edge or corner belongs to the leaf with the lowest number. Points beyond
        the ends of periodic axes are outside.

        Args:
            points: positions, (points, 3), m.

        Returns:
            (points,).
        """
        where = np.asarray(points, float).reshape(-1, AXES)
        ends = np.array([[line[0], line[-1]] for line in self.edges]).T
        inside = ((where >= ends[0]) & (where <= ends[1])).all(axis=1)
        found = np.full(len(where), -1)
        found[inside] = self.find(self._cells(where[inside]))
        return found

    def _positions(self, planes: Integers) -> Floats:
        """Coordinates of lattice planes along x, y and z, (..., 3)."""
        columns, mask = [], (1 << self.max_level) - 1
        for axis, line in enumerate(self.edges):
            root, step = planes[..., axis] >> self.max_level, planes[..., axis] & mask
            widths = np.append(np.diff(line), 0.0)  # no root starts at the last edge
            columns.append(line[root] + widths[root] * (step / (mask + 1)))
        return np.stack(columns, axis=-1)

    def _cells(self, points: Floats) -> Integers:
        """The first lattice cell that touches each point of the box, (points, 3).

        Among the cells that touch a point, the first one along all axes has the lowest key.
        """
        columns = []
        for x, line in zip(points.T, self.edges, strict=True):
            root = np.clip(np.searchsorted(line, x) - 1, 0, len(line) - 2)
            inside = (x - line[root]) / np.diff(line)[root]
            step = np.ceil(inside * 2**self.max_level).astype(np.int64) - 1
            columns.append((root << self.max_level) + step)
        cells = np.stack(columns, axis=-1)
        # Rounding may give the next cell.
        cells += self._positions(np.maximum(cells + 1, 0)) < points
        cells -= self._positions(np.maximum(cells, 0)) >= points
        return np.asarray(np.maximum(cells, 0))

    def _require_tiling(self) -> None:
        """Check that leaves fill the box in Morton order."""
        if self.keys.shape != self.levels.shape or self.keys.ndim != 1:
            raise InputError(
                f"keys of shape {self.keys.shape} and levels of shape {self.levels.shape}; give "
                "one of each per leaf"
            )
        volumes = self.sizes() ** AXES
        ends = np.append(self.keys[1:], 2 ** (AXES * BITS))
        fits = (self.keys >= 0) & (self.keys % volumes == 0) & (self.keys <= ends - volumes)
        total = prod(self.roots) << AXES * self.max_level
        if not fits.all() or volumes.sum() != total or not self.wrap(self.anchors())[1].all():
            raise InputError(
                f"{self.count} leaves do not fill the box of {self.roots} roots in Morton order; "
                "make forests with uniform_forest, refine and balance"
            )


def uniform_forest(
    edges: Sequence[ArrayLike],
    level: int = 0,
    periodic: tuple[bool, bool, bool] = (False, False, False),
) -> Forest:
    """The forest with all leaves on one level.

    Args:
        edges, periodic: see `Forest`.
        level: level of the leaves; 0 for the roots alone.

    Raises:
        InputError: the edges are invalid, or the level is out of range.
    """
    lines = _checked_edges(edges)
    roots = count_roots(lines)
    require_level(roots, level)
    along = [np.arange(n << level) for n in roots]
    cells = np.stack(np.meshgrid(*along, indexing="ij"), axis=-1).reshape(-1, AXES)
    keys = np.sort(encode(cells)) << AXES * (deepest_level(roots) - level)
    return Forest(lines, keys, np.full(len(keys), level, np.int8), periodic)


def partition_curve(weights: ArrayLike, parts: int) -> Integers:
    """Divide the leaves, in their order, into contiguous ranges of nearly equal weight.

    The weight of a range differs from the mean by at most the weight of the heaviest leaf. No range
    is empty unless there are fewer leaves than parts; in that case the last ranges are empty.

    Args:
        weights: cost of each leaf, above 0, (leaves,).
        parts: number of ranges.

    Returns:
        The first leaf of each range, and the number of leaves, (parts + 1,). Range n contains the
        leaves from entry n up to, but not including, entry n + 1.

    Raises:
        InputError: `parts` is below 1, or weights are not finite and above 0.
    """
    costs = np.asarray(weights, float)
    if parts < 1:
        raise InputError(f"parts = {parts}; allowed: at least 1")
    if costs.ndim != 1 or not (np.isfinite(costs) & (costs > 0)).all():
        raise InputError("weights of leaves must be finite and above 0, one for each leaf")
    sums, ranks, count = np.cumsum(np.append(0.0, costs)), np.arange(parts + 1), len(costs)
    shares = sums[-1] * ranks / parts
    starts = np.searchsorted((sums[1:] + sums[:-1]) / 2, shares)  # the nearest sums
    # Ranges that would be empty take one leaf from the following ranges; at the end, from the
    # previous ranges.
    starts = np.maximum.accumulate(starts - ranks) + ranks
    latest = np.minimum(max(count - parts, 0) + ranks, count)
    return np.asarray(np.minimum(starts, latest), np.int64)


def cells_along(max_level: int, levels: Levels) -> Integers:
    """Number of lattice cells along an edge of octants of the given levels, (octants,)."""
    return np.asarray(np.left_shift(1, max_level - levels.astype(np.int64)))


def require_level(roots: tuple[int, int, int], level: int) -> None:
    """Check that leaves may have a level.

    Args:
        roots: number of roots along x, y, z.

    Raises:
        InputError: the level is below 0 or above `Forest.max_level`.
    """
    deepest = deepest_level(roots)
    if not 0 <= level <= deepest:
        raise InputError(
            f"level = {level}; allowed: 0 to {deepest} for {roots} roots, with at most 2^{BITS} "
            "leaves along an axis; use fewer levels or fewer roots"
        )


def deepest_level(roots: tuple[int, int, int]) -> int:
    """The deepest level that leaves may have, from the number of roots along x, y, z."""
    return BITS - (max(roots) - 1).bit_length()


def count_roots(edges: Edges) -> tuple[int, int, int]:
    """Number of roots along x, y, z, from their edges."""
    x, y, z = edges
    return len(x) - 1, len(y) - 1, len(z) - 1


def _checked_edges(edges: Sequence[ArrayLike]) -> Edges:
    """Validate the edges of roots; widths must allow division to the deepest level."""
    x, y, z = (np.asarray(line, float) for line in edges)
    for name, line in zip("xyz", (x, y, z), strict=True):
        if line.ndim != 1 or not 2 <= len(line) <= 2**BITS + 1:
            raise InputError(
                f"edges along {name} of shape {line.shape}; give one more than roots; "
                f"allowed: 1 to 2^{BITS} roots"
            )
        if not (np.isfinite(line).all() and np.diff(line).min() > _THINNEST * np.abs(line).max()):
            raise InputError(
                f"edges along {name} = {np.array2string(line, threshold=6)}; give finite values "
                f"that increase by more than {_THINNEST:g} of the largest coordinate"
            )
    return x, y, z


def _chosen(leaves: ArrayLike | None) -> slice | Integers:
    """The index of the given leaves, or of all leaves."""
    return slice(None) if leaves is None else np.asarray(leaves, np.int64)
