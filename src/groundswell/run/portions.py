"""Portions of arrays that ranks hold, as checkpoints keep them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

from groundswell.backends import Array
from groundswell.grids.cartesian import GHOSTS, Field, Part
from groundswell.run.checkpoint import Portion

Run = tuple[slice, slice]  # along one axis: where here, and where in the whole
AXES = (2, 1, 0)  # of cells (x, y, z), in an array's order


def field_portion(field: Field, part: Part) -> Portion:
    """A field; the outermost ghosts of the whole belong to the blocks beside them."""
    whole = tuple(n + 2 * GHOSTS for n in part.grid.shape)
    window, own = [], []
    for axis in AXES:
        start, n, end = part.start[axis], part.cells[axis], part.grid.cells[axis]
        first = 0 if start == 0 else GHOSTS
        last = n + 2 * GHOSTS if start + n == end else n + GHOSTS
        window.append([span(0, start, n + 2 * GHOSTS)])
        own.append([span(first, start + first, last - first)])
    return Portion(field.array, whole, _boxes(window), _boxes(own))


def own_portion(array: Array, shape: tuple[int, ...], runs: Sequence[Sequence[Run]]) -> Portion:
    """An array that no other rank has a part of.

    Args:
        shape: of the whole.
        runs: for each axis, where pieces of it lie here and in the whole.
    """
    boxes = _boxes(runs)
    return Portion(array, shape, boxes, boxes)


def span(here: int, there: int, count: int) -> Run:
    """So many points from `here` on, which are those from `there` on in the whole."""
    return slice(here, here + count), slice(there, there + count)


def _boxes(runs: Sequence[Sequence[Run]]) -> tuple[tuple[Any, Any], ...]:
    return tuple(
        (tuple(here for here, _ in box), tuple(there for _, there in box)) for box in product(*runs)
    )
