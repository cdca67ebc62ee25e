"""Shapes of transducers: areas, extents, points, and what is refused."""

from __future__ import annotations

from math import cos, radians, sin
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import cKDTree
from transducer_shapes import APEX, FOCUS, SHAPES, SURFACES, TILTED

from groundswell.errors import InputError
from groundswell.solvers.ultrasound.transducers import (
    AnnularArray,
    Arc,
    Bowl,
    Disc,
    Line,
    PhasedArray,
    Point,
    Rectangle,
    Ring,
    Surface,
)

OVERLAP = ((0, 4e-3), (3e-3, 5e-3))  # diameters of rings, m


@pytest.mark.parametrize(("shape", "measure"), SHAPES)
def test_weights_sum_to_the_exact_area(shape: Surface, measure: float) -> None:
    assert shape.measure == pytest.approx(measure, rel=1e-12)
    assert shape.sample(0.3e-3).weights.sum() == pytest.approx(measure, rel=1e-12)


@pytest.mark.parametrize(("shape", "measure"), SHAPES)
def test_the_extent_encloses_the_points_closely(shape: Surface, measure: float) -> None:
    points, (low, high) = shape.sample(0.1e-3).points, shape.extent
    for bound, found, sign in ((low, points.min(axis=0), -1), (high, points.max(axis=0), 1)):
        assert np.all(sign * (bound - found) > -1e-12)
        assert np.all(np.abs(bound - found) < 0.2e-3)


@pytest.mark.parametrize("bowl", [shape for shape in SURFACES if isinstance(shape, Bowl | Ring)])
def test_points_of_a_bowl_lie_on_its_sphere_within_its_circles(bowl: Bowl | Ring) -> None:
    axis = np.subtract(FOCUS, APEX) / np.linalg.norm(np.subtract(FOCUS, APEX))
    away = bowl.sample(0.3e-3).points - APEX
    depth = away @ axis
    across = np.linalg.norm(away - depth[:, None] * axis, axis=1)
    inner, outer = bowl.circles
    assert np.linalg.norm(away - 10e-3 * axis, axis=1) == pytest.approx(10e-3)
    assert np.all((depth > 0) & (depth < 10e-3))
    assert np.all((across > inner / 2) & (across < outer / 2))


@pytest.mark.parametrize("shape", [Disc(APEX, 8e-3, TILTED), Rectangle(APEX, 3e-3, 4e-3, TILTED)])
def test_points_of_a_plane_surface_lie_in_its_plane(shape: Surface) -> None:
    away = shape.sample(0.3e-3).points - APEX
    assert np.abs(away @ TILTED).max() < 1e-15
    assert np.linalg.norm(away, axis=1).max() < 4e-3
    assert np.abs(away.mean(axis=0)).max() < 0.01e-3


def test_a_rectangle_is_turned_about_its_normal_from_width_to_height() -> None:
    points = Rectangle((0, 0, 0), 8e-3, 0.02e-3, rotation=30.0).sample(0.1e-3).points
    assert points @ [-sin(radians(30)), cos(radians(30)), 0] == pytest.approx(0, abs=1e-15)
    assert Rectangle((0, 0, 0), 8e-3, 2e-3, (1, 0, 0)).extent[1] == pytest.approx([0, 4e-3, 1e-3])


@pytest.mark.parametrize("shape", SURFACES)
def test_points_are_spread_evenly(shape: Surface) -> None:
    step = 0.2e-3
    points = shape.sample(step).points
    nearest = cKDTree(points).query(points, 2)[0][:, 1]
    assert nearest.min() > 0.75 * step
    assert nearest.max() < 1.25 * step


@settings(max_examples=15, deadline=None)
@given(diameter=st.floats(1e-3, 40e-3), radius=st.floats(1.0, 20.0), step=st.floats(0.2e-3, 1e-3))
def test_a_point_has_at_most_the_area_of_a_step(
    diameter: float, radius: float, step: float
) -> None:
    bowl = Bowl(APEX, radius * diameter / 2, diameter, FOCUS)
    weights = bowl.sample(step).weights
    assert weights.max() <= step**2 * (1 + 1e-6)
    assert weights.sum() == pytest.approx(bowl.measure)


def test_rings_of_an_annular_array_make_up_the_bowl() -> None:
    array = AnnularArray(APEX, 30e-3, ((0, 8e-3), (8e-3, 12e-3), (12e-3, 16e-3)), FOCUS)
    whole = Bowl(APEX, 30e-3, 16e-3, FOCUS).measure
    assert sum(ring.measure for ring in array.elements) == pytest.approx(whole)
    assert array.elements[0].reference_point == pytest.approx(APEX)


REFUSED: list[tuple[str, Any, tuple[Any, ...]]] = [
    ("diameter = 0.03 m, but .* 0.01 m allows at most 0.02 m", Bowl, (APEX, 0.01, 0.03, FOCUS)),
    ("bowl: diameter = 0 m, but it must be positive", Bowl, (APEX, 10e-3, 0.0, FOCUS)),
    ("focus = apex = .* move the focus off the surface", Bowl, (APEX, 1e-2, 1e-2, APEX)),
    ("inner = 0.009 m, .* the outer diameter, 0.008 m", Ring, (APEX, 1e-2, 9e-3, 8e-3, FOCUS)),
    ("focus z = 0.026 m, but .* the apex, 0.006 m", Arc, (APEX, 10e-3, 8e-3, FOCUS)),
    ("disc: diameter = nan m", Disc, (APEX, float("nan"))),
    (r"disc: normal = \(0, 0, 0\) m has no direction", Disc, (APEX, 1e-3, (0, 0, 0))),
    ("rectangle: height = -0.001 m", Rectangle, (APEX, 1e-3, -1e-3)),
    ("rectangle: rotation = inf", Rectangle, (APEX, 1e-3, 1e-3, TILTED, float("inf"))),
    ("line: start = end", Line, (APEX, APEX)),
    ("point: position = .* three finite numbers", Point, ((0, 0),)),
    ("annular array: diameters = .* has no ring", AnnularArray, (APEX, 1e-2, (), FOCUS)),
    ("ring 2 .* 0.003 m, but ring 1 .* 0.004 m", AnnularArray, (APEX, 1, OVERLAP, FOCUS)),
    ("phased array: elements", PhasedArray, ((),)),
    (r"amplitudes have the shape \(3,\), .* 1 el", PhasedArray, ((Point(APEX),), (0, 1, 2))),
]


@pytest.mark.parametrize(("message", "shape", "arguments"), REFUSED)
def test_impossible_shapes_are_refused(message: str, shape: Any, arguments: Any) -> None:
    with pytest.raises(InputError, match=message):
        shape(*arguments)
