"""What a grid in parts records: every `stride`-th cell of the region, once, where it belongs."""

from __future__ import annotations

import numpy as np
import pytest
from decompositions import decomposed_grids, slices_of
from hypothesis import given
from hypothesis import strategies as st

from groundswell.grids.cartesian import Grid, Part
from groundswell.outputs.cartesian import recorded_cells, strided
from groundswell.outputs.ring_buffer import MOST_STEPS, RING_BYTES
from groundswell.solvers.earthquake.sampling import SectionSamples


@given(st.tuples(*[st.integers(1, 30)] * 3), st.integers(1, 12))
def test_strided_counts_what_a_slice_takes(cells, stride: int) -> None:
    found = np.zeros(cells)[::stride, ::stride, ::stride].shape
    assert tuple(map(len, strided(cells, stride))) == found


@given(decomposed_grids(), st.integers(1, 7))
def test_parts_record_every_cell_of_a_stride_once_where_it_belongs(cut, stride: int) -> None:
    grid, parts = cut
    labels = np.arange(grid.count).reshape(grid.shape)
    wanted = labels[grid.region_slices][::stride, ::stride, ::stride]
    found, times = np.full(wanted.shape, -1), np.zeros(wanted.shape, int)
    for part in parts:
        cells = recorded_cells(part, strided(grid.region, stride))
        own = labels[slices_of(part)][part.region_slices]
        # As the recorders' kernels walk: `count` cells, `stride` apart, from the first on.
        steps = zip(cells.first, cells.count, strict=True)
        places = [first + stride * np.arange(count) for first, count in steps]
        values = own[np.ix_(*places[::-1])]
        found[cells.place] = values
        times[cells.place] += 1
        assert found[cells.place].shape == cells.count[::-1]
    assert (times == 1).all()
    assert (found == wanted).all()


def test_a_part_between_two_recorded_cells_records_none() -> None:
    part = Part(Grid((10, 4, 4), (1.0, 1.0, 1.0)), (6, 0, 0), (2, 4, 4))
    cells = recorded_cells(part, strided((10, 4, 4), 5))
    assert cells.count == (0, 1, 1)
    assert np.zeros((1, 1, 2))[cells.place].size == 0


@pytest.mark.parametrize("start", [0, 2, 6, 8])
def test_a_part_in_a_layer_records_none(start: int) -> None:
    grid = Grid((2, 2, 2), (1.0, 1.0, 1.0), before=(4, 4, 0), after=(4, 4, 4))
    for stride in (1, 2, 3):
        cells = recorded_cells(Part(grid, (0, start, 0), (10, 2, 6)), strided(grid.region, stride))
        assert cells.count[1] == 0
        assert np.zeros(grid.region)[cells.place].size == 0


@given(
    st.lists(st.integers(1, 500), min_size=2, max_size=3).map(tuple),
    st.integers(1, 9),
    st.integers(1, 3000),
    st.sampled_from([4, 8]),
)
def test_rings_hold_two_batches_or_fill_their_memory(shape, fields, every, itemsize) -> None:
    samples = SectionSamples(shape, fields, every, itemsize)
    assert samples.size == fields * np.zeros(shape, f"f{itemsize}").nbytes
    if samples.slots > 2:
        assert samples.slots * samples.size <= RING_BYTES
    enough = samples.slots * every >= 2 * MOST_STEPS
    assert enough or (samples.slots + 1) * samples.size > RING_BYTES
