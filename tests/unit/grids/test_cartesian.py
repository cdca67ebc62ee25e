"""Grids, their parts, layouts and fields: numbering, padding, and where values sit."""

from __future__ import annotations

from ctypes import c_double

import numpy as np
import pytest
from decompositions import decomposed_grids, slices_of
from hypothesis import given
from hypothesis import strategies as st

from groundswell.backends.cpu import CpuBackend
from groundswell.grids.cartesian import Field, Grid, Layout, Part
from groundswell.outputs.distributed_array import DistributedArray

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


@given(cells, st.sampled_from([4, 8]))
def test_rows_are_whole_cache_lines_with_room_for_ghosts(cells, itemsize: int) -> None:
    layout = Layout(cells, itemsize)
    nx, ny, nz = cells
    assert layout.row * itemsize % 128 == 0
    assert nx + 4 <= layout.row < nx + 4 + 128 // itemsize
    assert layout.plane == layout.row * (ny + 4)
    assert layout.size >= layout.plane * (nz + 4)
    names = {"NX": nx, "NY": ny, "NZ": nz, "ROW": layout.row, "PLANE": layout.plane}
    assert layout.parameters() == names


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


widths = st.tuples(*[st.integers(0, 20)] * 3)


@given(cells, widths, widths, st.sampled_from(["float32", "float64"]))
def test_ghost_layers_are_as_wide_as_each_side_wants(cells, low, high, dtype: str) -> None:
    layout = Layout(cells, np.dtype(dtype).itemsize, low, high)
    field = Field(CpuBackend(), layout, dtype)
    assert field.array.shape == tuple(np.add(np.add(low, cells), high))[::-1]
    assert field.interior.shape == cells[::-1] and field.origin == low[::-1]
    assert field.interior.ctypes.data % 128 == 0 and layout.row * layout.itemsize % 128 == 0
    field.array[...] = 1
    field.interior[...] = 2
    inside = tuple(slice(a, a + n) for a, n in zip(low, cells, strict=True))[::-1]
    assert (field.array[inside] == 2).all() and (field.array == 2).sum() == np.prod(cells)


@given(decomposed_grids(longest=6, widest=3), widths, widths)
def test_parts_of_a_field_own_each_value_once(cut, low, high) -> None:
    """Also where ghost layers are wider than blocks, or there are none."""
    grid, parts = cut
    shape = tuple(np.add(np.add(low, grid.cells), high))[::-1]
    whole = np.arange(np.prod(shape), dtype=float).reshape(shape)
    owners = np.zeros(shape, int)
    for part in parts:
        found = DistributedArray.of_field(
            Field(CpuBackend(), Layout(part.cells, 8, low, high), "float64"), part
        )
        assert found.shape == shape
        inside = [
            slice(s, s + a + n + b)
            for s, a, n, b in zip(part.start, low, part.cells, high, strict=True)
        ]
        for here, there in found.window:
            found.array[here] = whole[there]
        assert (found.array == whole[tuple(inside[::-1])]).all()
        for here, there in found.own:
            owners[there] += 1
            assert (found.array[here] == whole[there]).all()
    assert (owners == 1).all()


def test_places_of_cells_are_affine() -> None:
    """A kernel's k PLANE + j ROW + i finds what NumPy finds, ghosts included."""
    layout = Layout((6, 5, 4), 8)
    field = Field(CpuBackend(), layout, "float64")
    field.array[...] = np.random.default_rng(1).normal(size=field.array.shape)
    for k, j, i in [(0, 0, 0), (3, 4, 5), (-2, -2, -2), (5, 6, 7), (2, -1, 6)]:
        place = field.interior.ctypes.data + 8 * (k * layout.plane + j * layout.row + i)
        assert c_double.from_address(place).value == field.array[k + 2, j + 2, i + 2]


# --- parts ----------------------------------------------------------------------------------------


@given(decomposed_grids())
def test_parts_know_their_layers_and_their_region(cut) -> None:
    """Counted cell by cell in the whole grid: layers below, the region's places, layers above."""
    grid, parts = cut
    for part in parts:
        for axis in range(3):
            n = grid.cells[axis]
            cells = list(range(n))[part.start[axis] : part.start[axis] + part.cells[axis]]
            low = [c for c in cells if c < grid.before[axis]]
            high = [c for c in cells if c >= n - grid.after[axis]]
            inside = [c - grid.before[axis] for c in cells if c not in low + high]
            assert part.indices(axis).tolist() == cells
            assert (part.before[axis], part.after[axis]) == (len(low), len(high))
            assert part.region[axis] == len(inside)
            if inside:
                assert part.region_start[axis] == inside[0]
            found = cells[part.region_slices[2 - axis]]
            assert [c - grid.before[axis] for c in found] == inside
        assert part.shape == np.zeros(grid.shape)[slices_of(part)].shape


@given(decomposed_grids())
def test_parts_tile_the_grid_and_its_region(cut) -> None:
    grid, parts = cut
    labels = np.arange(grid.count).reshape(grid.shape)
    cells, region = np.zeros(grid.shape, int), np.full(grid.region[::-1], -1)
    for part in parts:
        cells[slices_of(part)] += 1
        values = labels[slices_of(part)][part.region_slices]
        if values.size:
            begin = part.region_start[::-1]
            here = tuple(slice(b, b + n) for b, n in zip(begin, values.shape, strict=True))
            assert (region[here] == -1).all()
            region[here] = values
    assert (cells == 1).all()
    assert (region == labels[grid.region_slices]).all()


@given(decomposed_grids(), st.data())
def test_one_part_has_a_cell_and_says_where(cut, data) -> None:
    grid, parts = cut
    cell = data.draw(st.tuples(*[st.integers(-2, n + 1) for n in grid.cells]))
    places = [(part, place) for part in parts if (place := part.local(cell)) is not None]
    exists = all(0 <= c < n for c, n in zip(cell, grid.cells, strict=True))
    assert len(places) == exists
    for part, place in places:
        labels = np.arange(grid.count).reshape(grid.shape)
        assert labels[slices_of(part)][place[::-1]] == labels[cell[::-1]]


def test_the_whole_is_a_part() -> None:
    whole = Part.whole(GRID)
    assert (whole.start, whole.cells, whole.shape) == ((0, 0, 0), GRID.cells, GRID.shape)
    assert (whole.before, whole.region, whole.after) == (GRID.before, GRID.region, GRID.after)
    assert whole.region_start == (0, 0, 0) and whole.region_slices == GRID.region_slices


def test_a_part_inside_a_layer_has_no_region() -> None:
    """Two cells in the middle of the four of a layer, on either side."""
    low, high = Part(GRID, (1, 0, 0), (1, 11, 10)), Part(GRID, (0, 8, 0), (11, 2, 10))
    assert (low.before, low.after, low.region) == ((1, 2, 0), (0, 4, 6), (0, 5, 4))
    assert (high.before, high.after, high.region) == ((3, 0, 0), (1, 2, 6), (7, 0, 4))
    for part in (low, high):
        assert np.zeros(part.shape)[part.region_slices].size == 0
