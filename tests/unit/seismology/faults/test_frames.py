"""Frames of faults: orientation of normals, strike, updip, and the sense of slip."""

from __future__ import annotations

import numpy as np
import pytest
from fault_cases import TPV5, dipping_points, random_points, section
from hypothesis import given, settings
from hypothesis import strategies as st

from groundswell.arrays import Floats
from groundswell.errors import InputError
from groundswell.seismology.case.fault_stress import StressSection
from groundswell.seismology.faults.places import nearest_place
from groundswell.seismology.faults.planes import hanging_side, surface_points
from groundswell.seismology.faults.points import FaultPoints, frame_of
from groundswell.seismology.faults.tractions import initial_traction
from groundswell.seismology.sources.moment import fault_normal, slip_direction

ANGLE = st.floats(0, 360)
DIP = st.floats(1, 86)
HIGH = np.array([[0.0, 0.0, 0.0]])


def grid(vector: Floats) -> Floats:
    """North, east, down as x east, y north, z down."""
    return np.asarray(vector)[..., [1, 0, 2]]


def one_point(normal: Floats, azimuth: float | None = None) -> FaultPoints:
    """The normal may have any sign."""
    normal = hanging_side(normal, azimuth) * normal
    return surface_points((HIGH, normal[None, :], np.ones(1)), azimuth)


@given(strike=ANGLE, dip=DIP, rake=st.floats(-180, 180), sign=st.sampled_from([-1.0, 1.0]))
@settings(deadline=None)
def test_frames_follow_aki_and_richards(
    strike: float, dip: float, rake: float, sign: float
) -> None:
    """Whatever the sign of the normal, with a strike and without."""
    normal, slip = grid(fault_normal(strike, dip)), grid(slip_direction(strike, dip, rake))
    for azimuth in (None, strike, strike + 60):
        point = one_point(sign * normal, azimuth)
        np.testing.assert_allclose(point.normal[0], normal, atol=1e-15)
        angle = np.radians(rake)
        found = np.cos(angle) * point.strike[0] + np.sin(angle) * point.updip[0]
        np.testing.assert_allclose(found, slip, atol=1e-13)  # divided by sin(1 degree)
        assert point.strike[0, 2] == 0 and point.updip[0, 2] < 0


@given(azimuth=ANGLE, sign=st.sampled_from([-1.0, 1.0]), off=st.floats(-80, 80))
@settings(deadline=None)
def test_upright_faults_take_the_side_from_the_strike(
    azimuth: float, sign: float, off: float
) -> None:
    point = one_point(sign * grid(fault_normal(azimuth, 90.0)), azimuth + off)
    angle = np.radians(azimuth)
    expected = [np.sin(angle), np.cos(angle), 0]
    np.testing.assert_allclose(point.strike[0], expected, atol=1e-15)
    np.testing.assert_allclose(point.updip[0], [0, 0, -1], atol=1e-15)


def test_planes_of_a_grid() -> None:
    along_x = random_points(section(TPV5), 5)
    assert (along_x.strike == [1, 0, 0]).all() and (along_x.updip == [0, 0, -1]).all()
    assert (along_x.normal == [0, -1, 0]).all()  # the hanging wall is at smaller y
    turned = {"x": 3e3, "y": [2e3, 8e3], "depth": [1e3, 4e3]}
    along_y = random_points(section(TPV5, plane=turned, hypocenter=None, patch=None), 5)
    assert (along_y.strike == [0, 1, 0]).all() and (along_y.updip == [0, 0, -1]).all()
    assert (along_y.normal == [1, 0, 0]).all()  # at larger x
    assert (along_y.along_strike == along_y.position[:, 1] - 5e3).all()  # from the middle
    assert (along_y.down_dip == along_y.position[:, 2] - 1e3).all()


def test_a_horizontal_fault_needs_a_strike() -> None:
    flat = np.array([0.0, 0.0, 1.0])
    with pytest.raises(InputError, match="the fault is horizontal in parts; give its strike"):
        one_point(flat)
    point = one_point(flat, 90.0)
    assert (point.normal == [0, 0, -1]).all()
    np.testing.assert_allclose(point.strike, [[1, 0, 0]], atol=1e-16)
    np.testing.assert_allclose(point.updip, [[0, 1, 0]], atol=1e-16)


def test_rough_faults_that_overturn() -> None:
    """An upright fault along x whose dip varies around 90 degrees keeps its sides."""
    rng = np.random.default_rng(5)
    normal = np.stack([rng.uniform(-0.3, 0.3, 99), -np.ones(99), rng.uniform(-0.2, 0.2, 99)], -1)
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    for azimuth in (None, 90.0, 45.0):
        assert hanging_side(normal.mean(axis=0), azimuth) == 1
    strike, updip = frame_of(normal)
    assert (strike[:, 0] > 0.9).all() and (updip[:, 2] < -0.9).all()


@pytest.mark.parametrize(("azimuth", "of_strike"), [(0, 0), (1, 1), (91, 91), (179, -1), (181, 1)])
@pytest.mark.parametrize("sign", [-1, 1])
def test_upright_faults_without_strike_point_from_0_to_180_degrees(
    azimuth: float, of_strike: float, sign: int
) -> None:
    """As planes of a grid; directions within 3 degrees of north belong to it."""
    point = one_point(sign * grid(fault_normal(azimuth, 90.0)))
    angle = np.radians(of_strike)
    expected = [np.sin(angle), np.cos(angle), 0]
    np.testing.assert_allclose(point.strike[0], expected, atol=1e-14)


def test_distances_on_a_surface() -> None:
    points = dipping_points()
    assert points.down_dip.min() == 0
    np.testing.assert_allclose(points.along_strike, points.position[:, 0], atol=1e-9)
    count = len(points)
    middle = surface_points((points.position, points.normal, np.ones(count)))
    expected = (
        points.position[:, 0] - (points.position[:, 0].min() + points.position[:, 0].max()) / 2
    )
    np.testing.assert_allclose(middle.along_strike, expected, atol=1e-9)


def test_places_between_points() -> None:
    """The nearest place of a plane fault does not depend on where its points are."""
    rng = np.random.default_rng(3)
    for seed in range(5):
        points = dipping_points(50, seed)
        along, down, across = rng.uniform(-9e3, 9e3), rng.uniform(0, 9e3), rng.uniform(-500, 500)
        point = along * points.strike[0] - down * points.updip[0] + across * points.normal[0]
        place = nearest_place(points, point)
        assert place.along_strike == pytest.approx(along, abs=1e-8)
        assert place.down_dip == pytest.approx(down, abs=1e-8)
        assert place.offset == pytest.approx(abs(across), abs=1e-8)


@pytest.mark.parametrize(
    ("normal", "azimuth", "message"),
    [
        ([0, 0.02, 0.01], None, "the fault has no hanging wall: .*; give its strike"),
        ([0, 1, 0], 1.0, "about 90 degrees from strike = 1; give its mean strike, or split"),
        ([0, 0.6, 0.8], 271.0, r"dips to the left of strike = 271; give .* strike = 91, so that"),
    ],
)
def test_sides_that_are_not_defined(
    normal: list[float], azimuth: float | None, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        one_point(np.array(normal), azimuth)


def test_a_surface_without_points() -> None:
    nothing = np.zeros((0, 3))
    with pytest.raises(InputError, match="the fault has no points; correct its surface"):
        surface_points((nothing, nothing, np.zeros(0)))


# --- tractions ------------------------------------------------------------------------------------


def tensor_of(sigma: Floats) -> dict[str, float]:
    rows = {"x": 0, "y": 1, "z": 2}
    keys = ("xx", "yy", "zz", "xy", "xz", "yz")
    return {key: float(sigma[rows[key[0]], rows[key[1]]]) for key in keys}


def test_right_lateral_stress_on_a_fault_along_x() -> None:
    """By hand: sigma_xy > 0 drags the northern side, y > 0, east; looking north it moves right."""
    points = random_points(section(TPV5), 3)
    sigma = np.array([[-50.0, 70, 0], [70, -120, 7], [0, 7, -80]])
    stress = StressSection(tensor=tensor_of(sigma), fluid_pressure=30.0)
    found = initial_traction("stress", stress, points)
    assert (found.normal == 120 - 30).all()
    # On the north side acts sigma (0, -1, 0) = (-70, 120, -7): west, and up, since z is down.
    np.testing.assert_allclose(found.components, np.tile([-70.0, 7.0], (3, 1)), rtol=1e-15)
    shear_and_rake = StressSection(
        normal=90, shear=np.hypot(70, 7), rake="180 - 180/pi*arctan(0.1)"
    )
    again = initial_traction("stress", shear_and_rake, points)
    np.testing.assert_allclose(again.components, found.components, rtol=1e-13)


@given(strike=ANGLE, dip=DIP, seed=st.integers(0, 99), fluid=st.floats(0, 9))
@settings(deadline=None)
def test_tensors_are_resolved(strike: float, dip: float, seed: int, fluid: float) -> None:
    """The traction is that of the tensor, and a tensor of this traction alone gives it again."""
    sigma = np.random.default_rng(seed).uniform(-9, 9, (3, 3))
    sigma += sigma.T
    normal = grid(fault_normal(strike, dip))
    point = one_point(normal)
    stress = StressSection(tensor=tensor_of(sigma), fluid_pressure=fluid)
    found = initial_traction("stress", stress, point)
    along, up = found.components[0]
    traction = along * point.strike[0] + up * point.updip[0] - (found.normal[0] + fluid) * normal
    np.testing.assert_allclose(traction, sigma @ normal, atol=1e-12)
    slip = grid(slip_direction(strike, dip, np.degrees(np.arctan2(up, along))))
    couple = found.shear[0] * (np.outer(slip, normal) + np.outer(normal, slip))
    pure = initial_traction("stress", StressSection(tensor=tensor_of(couple)), point)
    np.testing.assert_allclose(pure.components, found.components, atol=1e-12)
    assert abs(pure.normal[0]) < 1e-12
