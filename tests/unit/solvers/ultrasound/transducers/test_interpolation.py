"""Weights of grid points, and the axial solutions of O'Neil."""

from __future__ import annotations

from math import ceil, pi, sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import i0
from transducer_shapes import APEX, CENTRE, FOCUS, SURFACES, TILTED

from groundswell.errors import InputError
from groundswell.solvers.ultrasound import reference
from groundswell.solvers.ultrasound.transducers import (
    AnnularArray,
    Bowl,
    Disc,
    GridWeights,
    Line,
    Point,
    PointGrid,
    Rectangle,
    Surface,
    interpolate,
    interpolation_matrix,
)

H = 0.5e-3  # spacing of most grids, m


def cube(n: int = 48, h: float = H) -> PointGrid:
    return PointGrid((0.0, 0.0, 0.0), (h, h, h), (n, n, n))


def indices(grid: PointGrid, weights: GridWeights) -> Any:
    """Indices (i, j, k) of the points with weights, (n, 3)."""
    return np.stack(np.unravel_index(weights.points, grid.counts[::-1])[::-1], axis=1)


def positions(grid: PointGrid, weights: GridWeights) -> Any:
    return np.asarray(grid.origin) + indices(grid, weights) * np.asarray(grid.spacing)


# --- weights of grid points -----------------------------------------------------------------------


def test_a_full_plane_has_the_weight_1_at_its_points_and_nothing_elsewhere() -> None:
    grid = cube(24)
    plane = Rectangle((11.5 * H, 11.5 * H, 7 * H), 24 * H, 24 * H)
    points, weights = interpolate(plane, grid)
    assert np.array_equal(points, 7 * 24**2 + np.arange(24**2))
    assert weights == pytest.approx(1.0, abs=1e-12)


def test_a_full_line_has_the_weight_1_in_two_dimensions() -> None:
    grid = PointGrid((1.0, 2.0, 3.0), (H, H, H), (24, 16, 1))
    line = Line((1 - H / 2, 2 + 5 * H, 3), (1 + 23.5 * H, 2 + 5 * H, 3))
    points, weights = interpolate(line, grid)
    assert np.array_equal(points, 5 * 24 + np.arange(24))
    assert weights == pytest.approx(1.0, abs=1e-12)


def test_a_plane_between_grid_planes_radiates_as_much_as_one_on_a_plane() -> None:
    grid = cube(24)
    plane = Rectangle((11.5 * H, 11.5 * H, 7.3 * H), 24 * H, 24 * H)
    weights = interpolate(plane, grid)
    along = np.bincount(indices(grid, weights)[:, 2], weights.weights, 24) / 24**2
    k = 2 * pi / (4 * H)  # 4 points per wavelength
    found = along @ np.exp(1j * k * H * (np.arange(24) - 7.3))
    assert abs(found - 1) < 1e-3


def test_a_point_on_the_grid_is_that_point() -> None:
    points, weights = interpolate(Point((3 * H, 4 * H, 5 * H)), cube(16))
    assert (points.tolist(), weights.tolist()) == ([3 + 16 * (4 + 16 * 5)], [1.0])


def test_a_point_on_a_grid_plane_has_weights_in_this_plane_only() -> None:
    grid = cube(32)
    weights = interpolate(Point((15.3 * H, 16 * H * (1 + 1e-9), 14.7 * H)), grid)
    i, j, k = indices(grid, weights).T
    assert np.all(j == 16) and np.unique(i).size == 14 and np.unique(k).size == 14


@pytest.mark.parametrize("tolerance", [0.005, 0.05, 0.3])
def test_a_point_has_the_weights_of_a_sinc_with_a_kaiser_window(tolerance: float) -> None:
    grid, at = cube(160), np.random.default_rng(5).uniform(70, 90, 3)
    at[0] = 80 + 2e-6  # hardly off the plane
    half_width = ceil(1 / (pi * tolerance))
    rows = []
    for distance in np.arange(160) - at[:, None]:
        inside = np.maximum(1 - (distance / half_width) ** 2, 0)
        row = np.where(inside > 0, np.sinc(distance) * i0(6.5 * np.sqrt(inside)), 0)
        rows.append(row / row.sum())
    x, y, z = rows
    dense = np.zeros(grid.counts)
    found = interpolate(Point(tuple(at * H)), grid, tolerance=tolerance)
    dense.flat[found.points] = found.weights
    # The polynomials have errors of 4e-15 in each factor, and the position of 1e-14 cells.
    assert np.abs(dense - np.einsum("i,j,k->kji", x, y, z)).max() < 5e-14


@pytest.mark.parametrize("shape", SURFACES)
def test_the_weights_sum_to_the_area_in_cells(shape: Surface) -> None:
    grid = PointGrid((-10e-3, -10e-3, -5e-3), (0.5e-3, 0.4e-3, 0.6e-3), (80, 80, 60))
    cells = shape.measure * 0.5e-3 / (0.5e-3 * 0.4e-3 * 0.6e-3)
    assert interpolate(shape, grid).weights.sum() == pytest.approx(cells)
    assert interpolate(shape, grid, layer=1e-3).weights.sum() == pytest.approx(2 * cells)


@settings(max_examples=20, deadline=None)
@given(
    position=st.tuples(*[st.floats(12.0, 20.0)] * 3),
    direction=st.tuples(*[st.floats(-1, 1)] * 3).filter(lambda d: np.linalg.norm(d) > 0.1),
    points_per_wavelength=st.floats(3.2, 30.0),
)
def test_waves_are_interpolated(
    position: Any, direction: Any, points_per_wavelength: float
) -> None:
    grid = cube(32)
    where = H * np.array(position)
    k = 2 * pi / (points_per_wavelength * H) * np.array(direction) / np.linalg.norm(direction)
    weights = interpolate(Point(tuple(where)), grid)
    found = weights.weights @ np.exp(1j * (positions(grid, weights) - where) @ k)
    assert abs(found - 1) < 2e-3


@settings(max_examples=15, deadline=None)
@given(
    shift=st.tuples(*[st.integers(-9, 9)] * 3),
    shape=st.sampled_from([Disc(CENTRE, 3e-3, TILTED), Point(CENTRE)]),
)
def test_a_translation_by_whole_cells_shifts_the_weights(shift: Any, shape: Surface) -> None:
    grid = cube(64)
    moved = PointGrid(tuple(H * np.array(shift)), grid.spacing, grid.counts)
    before, after = interpolate(shape, grid), interpolate(shape, moved)
    dense = [np.zeros(64**3) for _ in range(2)]
    dense[0][before.points] = before.weights
    moved = (indices(grid, after) + np.array(shift)) % np.array(grid.counts)
    dense[1][np.ravel_multi_index(moved.T[::-1], grid.counts[::-1])] = after.weights
    assert np.abs(dense[0] - dense[1]).max() < 1e-9


def test_weights_beyond_an_edge_go_to_the_opposite_side() -> None:
    grid = cube(16)
    weights = interpolate(Point((0.3 * H, 5 * H, 5 * H)), grid)
    i = indices(grid, weights)[:, 0]
    assert weights.weights.sum() == pytest.approx(1.0)
    assert {0, 1, 15, 14} <= set(i.tolist()) and np.unique(weights.points).size == i.size


def test_a_matrix_has_the_weights_of_each_element() -> None:
    grid = cube(48)
    array = AnnularArray((12e-3, 12e-3, 6e-3), 20e-3, ((0, 4e-3), (4e-3, 8e-3)), (12e-3, 12e-3, 1))
    points, matrix = interpolation_matrix(array.elements, grid)
    assert matrix.shape == (2, points.size)
    for row, element in zip(matrix.toarray(), array.elements, strict=True):
        single = interpolate(element, grid)
        assert np.array_equal(points[row != 0], single.points)
        assert np.array_equal(row[row != 0], single.weights)


def test_a_surface_off_the_grid_is_refused() -> None:
    message = r"a disc extends from x = 0.008 to 0.016 m, but the grid .* to 0.01175 m; move"
    with pytest.raises(InputError, match=message):
        interpolate(Disc((12e-3, 6e-3, 6e-3), 8e-3), cube(24))
    with pytest.raises(InputError, match="enlarge the grid along x"):  # mm given as m
        interpolate(Bowl((6e-3, 6e-3, 6e-3), 64.0, 64.0, (6e-3, 6e-3, 70.0)), cube(24))


@pytest.mark.parametrize(
    ("shape", "options", "message"),
    [
        (Disc(APEX, 1e-3), {}, "a disc is a surface, but the grid is two-dimensional; use"),
        (Line(APEX, (4e-3, 5e-3, 7e-3)), {}, "extends from z = 0.006 to 0.007 m"),
        (Point(APEX), {"upsampling": 0.5}, "upsampling = 0.5, but it must be at least 1"),
        (Point(APEX), {"tolerance": 0.0}, "tolerance = 0, but it must be from 0.005 to 0.3"),
        (Point(APEX), {"layer": 0.0}, "layer = 0 m"),
    ],
)
def test_impossible_interpolations_are_refused(shape: Surface, options: Any, message: str) -> None:
    grid = PointGrid((0, 0, APEX[2]), (H, H, H), (24, 24, 1))
    with pytest.raises(InputError, match=message):
        interpolate(shape, grid, **options)


# --- the axial solutions of O'Neil ----------------------------------------------------------------

K = 2 * pi * 1e6 / 1500  # wavenumber of 1 MHz in water, rad/m


def rayleigh(points: Any, weights: Any, at: Any) -> Any:
    """Rayleigh integral of the unit of rho c u."""
    away = np.linalg.norm(points - at[:, None, :], axis=-1)
    return 1j * K / (2 * pi) * (weights * np.exp(-1j * K * away) / away).sum(axis=1)


@pytest.mark.parametrize("radius", [20e-3, 64e-3])
def test_integration_points_of_a_bowl_reproduce_the_axial_solution(radius: float) -> None:
    axis = np.subtract(FOCUS, APEX) / np.linalg.norm(np.subtract(FOCUS, APEX))
    z = np.linspace(8e-3, 80e-3, 40)
    samples = Bowl(APEX, radius, 24e-3, FOCUS).sample(0.375e-3)  # 4 per wavelength
    exact = reference.focused_bowl(z, radius, 24e-3, K)
    found = rayleigh(samples.points, samples.weights, APEX + z[:, None] * axis)
    assert np.abs(found - exact).max() < 5e-3 * np.abs(exact).max()


@pytest.mark.parametrize("points_per_wavelength", [3.2, 6.0])
def test_grid_points_radiate_as_the_surface(points_per_wavelength: float) -> None:
    h = 2 * pi / K / points_per_wavelength
    grid, axis = PointGrid((0, 0, 0), (h, h, h), (64, 64, 40)), np.array([0.2, 0.35, 0.9])
    apex = h * np.array([30.3, 31.7, 14.2])
    axis /= np.linalg.norm(axis)
    z = np.linspace(30 * h, 80 * h, 20)
    exact = reference.focused_bowl(z, 40 * h, 30 * h, K)
    weights = interpolate(Bowl(tuple(apex), 40 * h, 30 * h, tuple(apex + axis)), grid)
    at = apex + z[:, None] * axis
    found = rayleigh(positions(grid, weights), weights.weights * h**2, at)
    assert np.abs(found - exact).max() < 2e-3 * np.abs(exact).max()


def test_a_bowl_of_a_large_radius_is_a_piston() -> None:
    z = np.linspace(0, 50e-3, 11)
    exact = np.exp(-1j * K * z) - np.exp(-1j * K * np.sqrt(z**2 + 1e-4))
    assert np.abs(reference.piston(z, 20e-3, K) - exact).max() < 1e-12
    assert np.abs(reference.focused_bowl(z, 1e6, 20e-3, K) - exact).max() < 1e-5


def test_the_pressure_at_the_focus_is_k_times_the_depth() -> None:
    depth = 64e-3 - sqrt(64e-3**2 - 32e-3**2)
    assert abs(reference.focused_bowl(64e-3, 64e-3, 64e-3, K)) == pytest.approx(K * depth)
