"""Planes under construction, and points on the surfaces of shapes."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from groundswell.solvers.ultrasound.media.parts import Change
from groundswell.solvers.ultrasound.media.plane import Plane
from groundswell.solvers.ultrasound.media.rectangle import Rectangle
from groundswell.solvers.ultrasound.media.shapes import ROUNDING, Cylinder, Sphere

SHAPE = (9, 12)
NAMES = ("speed", "density")


def random_rectangle(rng: np.random.Generator) -> Rectangle:
    return Rectangle(*(slice(*sorted(rng.choice(n + 1, 2, replace=False).tolist())) for n in SHAPE))


def random_change(rng: np.random.Generator) -> Change:
    rows, columns = part = random_rectangle(rng)
    values = {name: float(rng.integers(3)) for name in NAMES if rng.random() < 0.7}
    return Change(rows, columns, rng.random(part.shape) < 0.6, values)


@pytest.mark.parametrize("is_array", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_a_plane_has_the_values_of_the_last_change_at_each_point(seed: int, is_array: bool) -> None:
    rng = np.random.default_rng(seed)
    density: Any = rng.random(SHAPE) if is_array else 1.0
    plane = Plane({"speed": 1.0, "density": density}, SHAPE, "float64")
    expected = {"speed": np.full(SHAPE, 1.0), "density": np.full(SHAPE, density)}
    for change in (random_change(rng) for _ in range(5)):
        plane.apply(change)
        for name, value in change.values.items():
            expected[name][change.rows, change.columns][change.mask] = value
    part = random_rectangle(rng)
    for name in NAMES:
        assert_array_equal(np.broadcast_to(plane.property(name), SHAPE), expected[name])
        plane.copy(name, part, target := np.empty(part.shape))
        assert_array_equal(target, expected[name][part])
    if not is_array:
        pairs = {tuple(point[name] for name in NAMES) for point in plane.present()}
        assert pairs == set(
            zip(*(each.ravel().tolist() for each in expected.values()), strict=True)
        )


@pytest.mark.parametrize("shape", ["sphere", "shell", "cylinder"])
def test_points_on_a_surface_are_inside_as_their_distance_is_rounded(shape: str) -> None:
    """Radii are distances of points, so that an error of the last bit would change a result."""
    rng = np.random.default_rng(8)
    x, y, z = (np.arange(n) * 0.1e-3 for n in (12, 11, 10))
    for _ in range(50):
        i, j, k = rng.integers(2, 10, 3)
        outside = sqrt(x[i] ** 2 + y[j] ** 2 + (z[k] ** 2 if shape != "cylinder" else 0.0))
        radius = outside - ROUNDING
        squared = x**2 + (y**2)[:, None] + (z**2 * (shape != "cylinder"))[:, None, None]
        inside = np.broadcast_to(np.sqrt(squared) <= radius + ROUNDING, (10, 11, 12))
        made: Any = Sphere((0.0, 0.0, 0.0), radius)
        if shape == "shell":
            made, inside = Sphere((0.0, 0.0, 0.0), 1.0, radius), ~inside
        if shape == "cylinder":
            made = Cylinder((0.0, 0.0, -1.0), (0.0, 0.0, 1.0), radius)
        assert_array_equal(made.contains(x, y[:, None], z[:, None, None]), inside)
