"""Cells along an axis: positions of indices, and back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundswell.grids.axis import Axis

EDGES = (75.0, 75.0, 150.0, 500.0)
edges = st.lists(st.floats(0.1, 1e4), min_size=1, max_size=12).map(tuple)


def test_graded_cells() -> None:
    axis = Axis(EDGES)
    assert axis.ends == (75, 500)
    assert axis.at(range(5)).tolist() == [0, 75, 150, 300, 800]
    assert axis.at([0.5, 2.5, 3.25]).tolist() == [37.5, 225, 425]
    assert axis.index([0, 37.5, 150, 425, 800]).tolist() == [0, 0.5, 2, 3.25, 4]


def test_outermost_edges_are_repeated_beyond_the_ends() -> None:
    axis = Axis(EDGES)
    assert axis.at([-2, -0.5, 4.5, 7]).tolist() == [-150, -37.5, 1050, 2300]
    assert axis.index([-150, -37.5, 1050, 2300]).tolist() == [-2, -0.5, 4.5, 7]


def test_cells_are_divided_in_equal_parts() -> None:
    assert Axis(100.0).divided(4) == Axis(25.0)
    fine = Axis(EDGES).divided(3)
    assert np.allclose(fine.spacing, np.repeat([25, 25, 50, 500 / 3], 3), rtol=1e-15)
    numbers = np.arange(-6, 20)
    assert np.allclose(fine.at(numbers), Axis(EDGES).at(numbers / 3), rtol=1e-14)


@given(edges, st.lists(st.floats(-5, 20), min_size=1))
def test_indices_and_positions_are_inverse(spacing, index) -> None:
    axis = Axis(spacing)
    found = axis.index(axis.at(index))
    assert np.allclose(found, index, rtol=0, atol=1e-9 * max(spacing) / min(spacing))
    assert (np.diff(axis.at(np.sort(index))) >= 0).all()


@given(st.floats(0.1, 1e4), st.lists(st.floats(-1e4, 1e4), min_size=1))
def test_cells_of_one_edge_are_multiples_of_it(edge, values) -> None:
    """To the last bit, as results depend on it."""
    axis = Axis(edge)
    assert axis.at(values).tolist() == [n * edge for n in values]
    assert axis.index(values).tolist() == [x / edge for x in values]


@pytest.mark.parametrize("axis", [Axis(75.0), Axis((75.0,) * 4)])
def test_equal_edges_are_one_edge(axis: Axis) -> None:
    index = np.arange(-2, 7) + 0.25
    assert axis.at(index).tolist() == (75 * index).tolist()
    assert axis.index(75 * index).tolist() == index.tolist()
    assert axis.ends == (75, 75)
