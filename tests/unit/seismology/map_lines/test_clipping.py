"""Lines within the bounds of a map, against the definition point by point."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from groundswell.arrays import Floats
from groundswell.grids.geography import Geography
from groundswell.seismology.map_lines.lines import Bounds, clipped

BOUNDS = Bounds(-118.0, -117.0, 33.0, 34.0)


def walk(seed: int, step: float = 0.2, count: int = 400) -> Floats:
    """A random walk through the map and around it."""
    rng = np.random.default_rng(seed)
    return np.array([-117.5, 33.5]) + rng.normal(0, step, (count, 2)).cumsum(axis=0)


def inside(points: Floats) -> Floats:
    x, y = points.T
    west, east, south, north = BOUNDS
    return (x >= west) & (x <= east) & (y >= south) & (y <= north)


def samples(line: Floats) -> Floats:
    """Points along all segments of a line."""
    t = np.linspace(0, 1, 50)[:, None]
    return np.concatenate([a + t * (b - a) for a, b in pairwise(line)])


@pytest.mark.parametrize("seed", range(5))
def test_all_that_is_visible_is_kept(seed: int) -> None:
    """And each part has a segment whose box meets the map."""
    line = walk(seed)
    parts = clipped([line], BOUNDS)
    kept = np.concatenate([samples(part) for part in parts])
    shown, expected = kept[inside(kept)], samples(line)[inside(samples(line))]
    assert len(shown) == len(expected) > 100
    np.testing.assert_allclose(shown, expected, rtol=0, atol=1e-9)
    assert sum(map(len, parts)) < len(line)


@pytest.mark.parametrize("turns", [-360, 360])
def test_longitudes_of_other_conventions(turns: float) -> None:
    line = walk(6, step=0.02, count=30)
    (moved,) = clipped([line + np.array([turns, 0])], BOUNDS)
    np.testing.assert_allclose(moved, clipped([line], BOUNDS)[0], rtol=0, atol=1e-9)


def test_a_line_across_the_date_line_does_not_cross_the_map() -> None:
    east, west = [[170.0, 33.5], [179.9, 33.5]], [[-179.9, 33.5], [-170.0, 33.5]]
    assert clipped([np.array([*east, *west])], BOUNDS) == []
    around = clipped([np.array([*east, *west])], Bounds(178, 182, 33, 34))
    assert [part[:, 0].round(1).tolist() for part in around] == [[170.0, 179.9, 180.1, 190.0]]


def test_lines_beside_the_map_and_points_are_left_out() -> None:
    assert clipped([np.array([[-117.5, 33.5]]), np.array([[0.0, 0.0], [1.0, 1.0]])], BOUNDS) == []


def test_the_bounds_of_a_turned_region_contain_its_points() -> None:
    geography = Geography.from_center((-117.5, 33.5), (60e3, 40e3), azimuth=30.0)
    west, east, south, north = Bounds.of_region(geography)
    rng = np.random.default_rng(0)
    x, y = rng.uniform(0, 1, (2, 1000)) * np.array([[60e3], [40e3]])
    longitude, latitude = geography.to_lonlat(x, y)
    assert west < longitude.min() and longitude.max() < east < longitude.max() + 0.1
    assert south < latitude.min() and latitude.max() < north < latitude.max() + 0.1
