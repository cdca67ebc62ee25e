"""Random grids with layers around them, in blocks that may be thinner than the layers."""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any

from hypothesis import strategies as st

from groundswell.grids.cartesian import Grid, Part


@st.composite
def decomposed_grids(draw: Any, longest: int = 9, widest: int = 5) -> tuple[Grid, list[Part]]:
    """A grid and its parts; regions have up to `longest` cells an axis, layers up to `widest`."""
    widths = st.tuples(*[st.integers(0, widest)] * 3)
    region = draw(st.tuples(*[st.integers(1, longest)] * 3))
    grid = Grid(region, (10.0, 20.0, 30.0), draw(widths), draw(widths))
    runs = [list(pairwise([0, *draw(cut_positions(n)), n])) for n in grid.cells]
    parts = [
        Part(grid, (x[0], y[0], z[0]), (x[1] - x[0], y[1] - y[0], z[1] - z[0]))
        for z, y, x in product(*runs[::-1])
    ]
    return grid, parts


def cut_positions(cells: int) -> Any:
    """Where an axis is cut."""
    return st.sets(st.integers(1, max(cells - 1, 1)), max_size=min(cells - 1, 5)).map(sorted)


def slices_of(part: Part) -> tuple[slice, ...]:
    """Where a part lies in an array (z, y, x) of the whole grid."""
    return tuple(slice(s, s + n) for s, n in zip(part.start, part.cells, strict=True))[::-1]
