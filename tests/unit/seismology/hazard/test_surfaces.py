"""Distances to ruptures against the nearest of many points, and the shapes of faults."""

from __future__ import annotations

import numpy as np
import pytest

from groundswell.arrays import Floats
from groundswell.seismology.hazard.floating import SimpleFault, around, fitted
from groundswell.seismology.hazard.surfaces import Surface, triangle_distances

KM = 1e3


def cloud(surface: Surface, n: int = 150) -> Floats:
    """Points on the panels."""
    s, t = np.meshgrid(*[np.linspace(0, 1, n)] * 2)
    a, b, c, d = (surface.panels[:, k, None, None] for k in range(4))
    s, t = s[..., None], t[..., None]
    return np.asarray((1 - s) * (1 - t) * a + s * (1 - t) * b + s * t * c + (1 - s) * t * d)


@pytest.mark.parametrize("dip", [90.0, 55.0, 20.0])
def test_distances_are_those_of_the_nearest_point(dip: float) -> None:
    rng = np.random.default_rng(int(dip))
    trace = np.array([[0.0, 0.0], [3.0, 9.0], [9.0, 16.0]]) * KM
    surface = SimpleFault(trace, dip, (1 * KM, 12 * KM)).whole
    sites = rng.uniform(-30 * KM, 40 * KM, (60, 2))
    found = surface.distances(sites)
    points = cloud(surface).reshape(-1, 3)
    apart = sites[:, None] - points[None, :, :2]
    flat = np.hypot(apart[..., 0], apart[..., 1])
    spacing = 150.0  # m, half a diagonal between points
    for values, reference in (
        (found.joyner_boore, flat.min(axis=1)),
        (found.rupture, np.hypot(flat, points[:, 2]).min(axis=1)),
    ):
        assert (values <= reference + 1e-6).all()
        assert np.allclose(values, reference, atol=spacing)
    assert (found.joyner_boore <= found.rupture + 1e-6).all()


def test_distances_of_a_known_rectangle() -> None:
    """Top edge at 2 km depth from (0, -5) to (0, 5) km, dipping to the east at 45 degrees."""
    surface = Surface.rectangle((0.0, 0.0, 2 * KM), 0.0, 45.0, (10 * KM, 8 * KM))
    across = 8 * KM / np.sqrt(2)
    sites = np.array([[-3 * KM, 0], [across / 2, 0], [10 * KM, 9 * KM], [0, 5 * KM]])
    found = surface.distances(sites)
    beyond = np.hypot(10 * KM - across, 4 * KM)
    assert found.joyner_boore == pytest.approx([3 * KM, 0, beyond, 0], abs=1e-6)
    assert found.rupture[[0, 3]] == pytest.approx([np.hypot(3, 2) * KM, 2 * KM])
    assert found.rupture[1] == pytest.approx((across / 2 + 2 * KM) / np.sqrt(2))
    assert found.across == pytest.approx([-3 * KM, across / 2, 10 * KM, 0], abs=1e-6)
    assert found.along == pytest.approx([0, 0, 4 * KM, 0], abs=1e-6)
    assert surface.dip == pytest.approx(45) and surface.strike == pytest.approx(0)
    assert surface.top_depth == 2 * KM and surface.area == pytest.approx(80 * KM**2)
    assert surface.width == pytest.approx(8 * KM) and surface.length == pytest.approx(10 * KM)


def test_degenerate_triangles_are_segments_and_points() -> None:
    segment = np.array([[[0, 0, 0], [4, 0, 0], [2, 0, 0]], [[1, 1, 1]] * 3], float)
    points = np.array([[2.0, 3.0, 0.0], [7.0, 4.0, 0.0]])
    found = triangle_distances(points, segment)
    assert found[:, 0] == pytest.approx([3, 5])
    assert found[:, 1] == pytest.approx([np.sqrt(6), np.sqrt(36 + 9 + 1)])


# --- faults -------------------------------------------------------------------------------------


def test_floating_ruptures_fill_the_fault() -> None:
    fault = SimpleFault(np.array([[0, 0], [0, 30 * KM]]), 90.0, (0.0, 10 * KM))
    surfaces = list(fault.float_ruptures(50 * KM**2, 2.0, 4 * KM))
    assert {round(surface.area / KM**2, 6) for surface in surfaces} == {50.0}
    starts = sorted({round(float(s.panels[0, 0, 1]), 3) for s in surfaces})
    assert starts[0] == 0 and starts[-1] == pytest.approx(20 * KM)
    assert max(np.diff(starts)) <= 4 * KM
    depths = sorted({round(s.top_depth, 3) for s in surfaces})
    assert depths[0] == 0 and depths[-1] == pytest.approx(5 * KM)
    assert len(surfaces) == len(starts) * len(depths)


def test_a_large_rupture_is_the_whole_fault() -> None:
    fault = SimpleFault(np.array([[0, 0], [5 * KM, 30 * KM]]), 60.0, (2 * KM, 10 * KM))
    (only,) = fault.float_ruptures(1e5 * KM**2, 1.0, 2 * KM)
    assert np.allclose(only.panels, fault.whole.panels)
    assert only.area == pytest.approx(fault.length * fault.width)


@pytest.mark.parametrize(
    ("area", "aspect", "widest", "longest", "wanted"),
    [
        (50, 2, 100, 100, (10, 5)),
        (50, 2, 2.5, 100, (20, 2.5)),
        (50, 2, 2.5, 10, (10, 2.5)),
        (50, 8, 100, 10, (10, 5)),
    ],
)
def test_sizes_keep_the_area_while_they_can(
    area: float, aspect: float, widest: float, longest: float, wanted: tuple[float, float]
) -> None:
    assert fitted(area, aspect, widest, longest) == pytest.approx(wanted)


@pytest.mark.parametrize("depth", [1.0, 8.0, 14.0])
def test_a_rupture_around_a_point_stays_between_the_depths(depth: float) -> None:
    centre = (3 * KM, -2 * KM, depth * KM)
    surface = around(centre, (30.0, 45.0), (6 * KM, 5 * KM), (0.0, 15 * KM))
    z = surface.panels[..., 2]
    assert z.min() >= -1e-6 and z.max() <= 15 * KM + 1e-6
    middle = surface.panels.mean(axis=(0, 1))
    assert middle[:2] == pytest.approx(centre[:2])
    if depth == 8.0:
        assert middle[2] == pytest.approx(centre[2])
    assert surface.dip == pytest.approx(45) and surface.strike == pytest.approx(30)
