"""Grids, layouts and fields: numbering, padding, and where values sit."""

from __future__ import annotations

from ctypes import c_double

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundswell.backends.cpu import CpuBackend
from groundswell.grids.cartesian import Field, Grid, Layout

GRID = Grid((7, 5, 4), (100.0, 50.0, 20.0), before=(3, 2, 0), after=(1, 4, 6))
counts = st.integers(1, 40)
cells = st.tuples(counts, counts, counts)


def test_layers_lie_around_the_region() -> None:
    assert GRID.cells == (11, 11, 10)
    assert GRID.shape == (10, 11, 11)
    assert GRID.count == 1210
    assert np.zeros(GRID.shape)[GRID.region_slices].shape == (4, 5, 7)


def test_counts_of_huge_grids_do_not_overflow() -> None:
    assert Grid((2**20, 2**20, 2**20), (1.0, 1.0, 1.0)).count == 2**60


@pytest.mark.parametrize("axis", range(3))
def test_the_regions_corner_is_the_origin(axis: int) -> None:
    """Face `before` lies at 0 and the centre of that cell half a cell further."""
    on_face = GRID.indices((0.0, 0.0, 0.0), (0, 0, 0))
    assert on_face[axis] == GRID.before[axis]
    middle = [h / 2 for h in GRID.spacing]
    assert GRID.indices((*middle,), (0.5, 0.5, 0.5))[axis] == GRID.before[axis]


@given(st.tuples(*[st.floats(-1e4, 1e4)] * 3), st.tuples(*[st.sampled_from([0.0, 0.5])] * 3))
def test_indices_and_positions_are_inverse(position, offset) -> None:
    index = GRID.indices(position, offset)
    back = (index + offset - np.array(GRID.before)) * GRID.spacing
    assert np.allclose(back, position, rtol=0, atol=1e-9)


@pytest.mark.parametrize("axis", range(3))
def test_layers_repeat_the_outermost_cells(axis: int) -> None:
    n, before, after = GRID.region[axis], GRID.before[axis], GRID.after[axis]
    wanted = [0] * before + list(range(n)) + [n - 1] * after
    assert GRID.edge_indices(axis).tolist() == wanted


@given(cells, st.sampled_from([4, 8]))
def test_rows_are_whole_cache_lines_with_room_for_ghosts(cells, itemsize: int) -> None:
    layout = Layout(cells, itemsize)
    nx, ny, nz = cells
    assert layout.row * itemsize % 128 == 0
    assert nx + 4 <= layout.row < nx + 4 + 128 // itemsize
    assert layout.plane == layout.row * (ny + 4)
    assert layout.size >= layout.plane * (nz + 4)
    names = {"NX": nx, "NY": ny, "NZ": nz, "ROW": layout.row, "PLANE": layout.plane}
    assert layout.constants() == names


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("cells", [(1, 1, 1), (29, 3, 5), (32, 4, 2)])
def test_fields_are_views_of_one_aligned_block(dtype: str, cells) -> None:
    layout = Layout(cells, np.dtype(dtype).itemsize)
    field = Field(CpuBackend(), layout, dtype)
    assert field.array.shape == tuple(n + 4 for n in cells[::-1])
    assert field.interior.shape == cells[::-1]
    assert field.interior.ctypes.data % 128 == 0
    strides = np.array([layout.plane, layout.row, 1]) * layout.itemsize
    assert field.interior.strides == field.array.strides == tuple(strides)
    field.interior[...] = 1
    assert field.array.sum() == np.prod(cells)


def test_places_of_cells_are_affine() -> None:
    """A kernel's k PLANE + j ROW + i finds what NumPy finds, ghosts included."""
    layout = Layout((6, 5, 4), 8)
    field = Field(CpuBackend(), layout, "float64")
    field.array[...] = np.random.default_rng(1).normal(size=field.array.shape)
    for k, j, i in [(0, 0, 0), (3, 4, 5), (-2, -2, -2), (5, 6, 7), (2, -1, 6)]:
        place = field.interior.ctypes.data + 8 * (k * layout.plane + j * layout.row + i)
        assert c_double.from_address(place).value == field.array[k + 2, j + 2, i + 2]
