"""Maps of few cells between their centres."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy.interpolate import PchipInterpolator

from groundswell.plotting.map_frame import MapFrame
from groundswell.plotting.refinement import LEAST_CELLS, coloured_map, refined

rng = np.random.default_rng(20251130)


@pytest.mark.parametrize("shape", [(3, 5), (40, 60), (1, 7), (299, 2), (310, 4)])
def test_linear_values_remain_linear_within_the_centres(shape: tuple[int, int]) -> None:
    slopes, (rows, columns) = rng.uniform(-1, 1, 2), shape
    values = slopes[0] * np.arange(rows)[:, None] + slopes[1] * np.arange(columns)
    found = refined(values)
    factor = max(1, -(-LEAST_CELLS // max(shape)))
    assert found.shape == (rows * factor, columns * factor) and found.count() == found.size
    at = [((np.arange(n * factor) + 0.5) / factor - 0.5).clip(0, n - 1) for n in shape]
    np.testing.assert_allclose(
        found, slopes[0] * at[0][:, None] + slopes[1] * at[1], rtol=0, atol=1e-12 * max(shape)
    )


def test_values_stay_within_those_of_cells() -> None:
    values = rng.uniform(0, 1, (20, 30))
    found = refined(values)
    assert values.min() <= found.min() and found.max() <= values.max()


@pytest.mark.parametrize("rows", [2, 3, 9])
@pytest.mark.parametrize("levels", [0, 3], ids=["any", "steps"])
def test_interpolation_is_that_of_scipy(rows: int, levels: int) -> None:
    values = rng.normal(size=(rows, 25)) * 10.0 ** rng.integers(-9, 9)
    if levels:  # equal neighbours and equal steps are common
        values = np.round(values / abs(values).max() * levels)
    at = [
        ((np.arange(n * 12) + 0.5) / 12 - 0.5).clip(0, n - 1)  # 12 smaller cells in each of 25
        for n in values.shape
    ]
    expected = PchipInterpolator(np.arange(rows), values, axis=0)(at[0])
    expected = PchipInterpolator(np.arange(25), expected, axis=1)(at[1])
    np.testing.assert_allclose(refined(values), expected, rtol=0, atol=1e-13 * abs(values).max())


def test_waves_have_no_creases() -> None:
    """Between smaller cells, slopes change by less than half as much as those of straight lines."""
    values = np.sin(0.9 * np.arange(15))[:, None] * np.cos(0.7 * np.arange(20))
    found, factor = refined(values).data, -(-LEAST_CELLS // 20)
    inner = found[factor:-factor, factor:-factor]
    kinks = np.abs(np.diff(inner, 2, axis=1)).max() * factor
    assert kinks < 0.5 * np.abs(np.diff(values, 2, axis=1)).max()


def test_unknown_cells_stay_unknown_and_known_ones_known() -> None:
    values = np.ma.masked_less(rng.uniform(0, 1, (6, 9)), 0.4)
    found, factor = refined(values), -(-LEAST_CELLS // 9)
    expected = np.ma.getmaskarray(values).repeat(factor, 0).repeat(factor, 1)
    np.testing.assert_array_equal(np.ma.getmaskarray(found), expected)


def test_the_map_covers_all_cells() -> None:
    x, y = 1000.0 * np.arange(7), 1000.0 * np.arange(4)
    mesh = coloured_map(Figure().add_subplot(), MapFrame(x, y), rng.uniform(0, 1, (4, 7)))
    corners = mesh.get_coordinates()
    np.testing.assert_allclose(corners[0, 0], [-0.5, -0.5])
    np.testing.assert_allclose(corners[-1, -1], [6.5, 3.5])
