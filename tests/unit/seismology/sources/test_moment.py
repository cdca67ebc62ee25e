"""Moment tensors against trigonometric formulas, ObsPy's nodal planes and the GCMT catalogue."""

from __future__ import annotations

import numpy as np
import pytest

from groundswell.errors import InputError
from groundswell.seismology.sources import moment

rng = np.random.default_rng(20140329)


def random_mechanisms(count: int) -> np.ndarray:
    """Strike, dip and rake in degrees, (3, count)."""
    low, high = np.array([[0.0], [1.0], [-180.0]]), np.array([[360.0], [89.0], [180.0]])
    return low + (high - low) * rng.random((3, count))


def test_a_double_couple_has_eigenvalues_plus_and_minus_its_moment() -> None:
    m0 = rng.uniform(1e10, 1e22, 200)
    tensor = moment.double_couple(*random_mechanisms(200), m0)
    eigenvalues = np.linalg.eigvalsh(moment.as_matrix(tensor)) / m0[:, None]
    np.testing.assert_allclose(eigenvalues, np.tile([-1.0, 0, 1], (200, 1)), atol=1e-12)
    np.testing.assert_allclose(moment.scalar_moment(tensor), m0, rtol=1e-12)


def test_the_catalogue_frame_is_left_as_it_was_entered() -> None:
    for components, azimuth in zip(rng.normal(size=(20, 6)), rng.uniform(0, 360, 20), strict=True):
        tensor = moment.from_rtp(components, azimuth)
        np.testing.assert_allclose(moment.to_rtp(tensor, azimuth), components, atol=1e-14)


def test_a_double_couple_matches_the_trigonometric_form() -> None:
    """Aki & Richards (2002), box 4.4, in north, east, down."""
    strike, dip, rake = random_mechanisms(100)
    f, d, r = np.radians([strike, dip, rake])
    nn = -(np.sin(d) * np.cos(r) * np.sin(2 * f) + np.sin(2 * d) * np.sin(r) * np.sin(f) ** 2)
    ee = np.sin(d) * np.cos(r) * np.sin(2 * f) - np.sin(2 * d) * np.sin(r) * np.cos(f) ** 2
    dd = np.sin(2 * d) * np.sin(r)
    ne = np.sin(d) * np.cos(r) * np.cos(2 * f) + np.sin(2 * d) * np.sin(r) * np.sin(2 * f) / 2
    nd = -(np.cos(d) * np.cos(r) * np.cos(f) + np.cos(2 * d) * np.sin(r) * np.sin(f))
    ed = -(np.cos(d) * np.cos(r) * np.sin(f) - np.cos(2 * d) * np.sin(r) * np.cos(f))
    expected = np.stack([ee, nn, dd, ne, ed, nd], axis=-1)  # x is east, y is north
    np.testing.assert_allclose(moment.double_couple(strike, dip, rake), expected, atol=1e-14)


@pytest.mark.parametrize("mechanism", random_mechanisms(20).T.tolist())
def test_obspy_finds_the_nodal_plane_that_was_put_in(mechanism: list[float]) -> None:
    beachball = pytest.importorskip("obspy.imaging.beachball")
    xx, yy, zz, xy, xz, yz = moment.double_couple(*mechanism, 3e17)
    # r up, t south, p east, from x east, y north, z down
    tensor = beachball.MomentTensor(zz, yy, xx, yz, -xz, -xy, 0)
    first = beachball.mt2plane(tensor)
    planes = [(first.strike, first.dip, first.rake)]
    planes.append(beachball.aux_plane(*planes[0]))
    want = [moment.fault_normal(*mechanism[:2]), moment.slip_direction(*mechanism)]
    found = [
        [moment.fault_normal(strike, dip), moment.slip_direction(strike, dip, rake)]
        for strike, dip, rake in planes
    ]
    assert min(np.abs(np.array(plane) - want).max() for plane in found) < 1e-6


def test_the_frame_is_east_north_down() -> None:
    # Left-lateral slip on a vertical fault that strikes north: the east side moves north.
    np.testing.assert_allclose(moment.double_couple(0, 90, 0), [0, 0, 0, 1, 0, 0], atol=1e-15)
    # A thrust that strikes north shortens east-west and lengthens the vertical.
    np.testing.assert_allclose(moment.double_couple(0, 45, 90), [-1, 0, 1, 0, 0, 0], atol=1e-15)
    # Horizontal fault: the block above moves north, the one below south; z points down.
    np.testing.assert_allclose(moment.double_couple(0, 0, 0), [0, 0, 0, 0, 0, -1], atol=1e-15)


def test_global_cmt_tohoku_2011() -> None:
    """Event 201103110546A: 1e22 N m; plane 203/10/88, M0 = 5.31e22 N m, Mw 9.1."""
    published = np.array([1.730, -0.281, -1.450, 2.120, 4.550, -0.657]) * 1e22
    tensor = moment.from_rtp(published)
    plane = moment.double_couple(203, 10, 88, 5.31e22)
    # Angles are published to a degree, and the tensor is nearly a double couple.
    assert np.abs(tensor - plane).max() < 0.03 * 5.31e22
    assert abs(moment.scalar_moment(tensor) / 5.31e22 - 1) < 0.005
    assert round(moment.magnitude_from_moment(5.31e22), 1) == 9.1


def test_from_rtp_agrees_with_vectors() -> None:
    """An independent way: n^T M n is the same number in whichever frame it is computed."""
    rtp = rng.normal(size=(3, 3))
    rtp += rtp.T
    azimuth = rng.uniform(0, 360)
    components = (rtp[0, 0], rtp[1, 1], rtp[2, 2], rtp[0, 1], rtp[0, 2], rtp[1, 2])
    tensor = moment.as_matrix(moment.from_rtp(components, azimuth))
    for up, south, east in rng.normal(size=(5, 3)):
        a = np.radians(azimuth)
        along_y = -south * np.cos(a) + east * np.sin(a)
        along_x = south * np.sin(a) + east * np.cos(a)
        here, there = np.array([along_x, along_y, -up]), np.array([up, south, east])
        np.testing.assert_allclose(here @ tensor @ here, there @ rtp @ there, rtol=1e-12)


def test_strikes_turn_with_the_grid() -> None:
    strike, dip, rake = random_mechanisms(50)
    for azimuth in rng.uniform(-180, 360, 5):
        turned = moment.double_couple(strike, dip, rake, azimuth=azimuth)
        np.testing.assert_allclose(
            turned, moment.double_couple(strike - azimuth, dip, rake), atol=1e-14
        )
    # y along the fault of a vertical strike-slip source
    along = moment.double_couple(37, 90, 0, azimuth=37)
    np.testing.assert_allclose(along, [0, 0, 0, 1, 0, 0], atol=1e-15)


def test_from_ned_turns_like_a_double_couple() -> None:
    xx, yy, zz, xy, xz, yz = moment.double_couple(33, 62, -71, 2.0)
    np.testing.assert_allclose(
        moment.from_ned((yy, xx, zz, xy, yz, xz), azimuth=51.0),
        moment.double_couple(33, 62, -71, 2.0, azimuth=51.0),
        atol=1e-14,
    )


def test_opening_stretches_along_the_normal() -> None:
    strike, dip, _ = random_mechanisms(30)
    lam, mu, potency = rng.uniform(1e9, 5e10, (3, 30))
    matrix = moment.as_matrix(moment.opening(strike, dip, potency, lam, mu))
    north, east, down = moment.fault_normal(strike, dip).T
    normal = np.stack([east, north, down], axis=-1)
    pull = np.einsum("nij,nj->ni", matrix, normal)
    np.testing.assert_allclose(pull, (potency * (lam + 2 * mu))[:, None] * normal, rtol=1e-12)
    trace = np.trace(matrix, axis1=1, axis2=2)
    np.testing.assert_allclose(trace, potency * (3 * lam + 2 * mu), rtol=1e-12)


def test_the_normal_points_into_the_hanging_wall() -> None:
    # Strike north, dip 30 east: the hanging wall is above, its normal points east and up.
    np.testing.assert_allclose(moment.fault_normal(0, 30), [0, 0.5, -np.sqrt(0.75)], atol=1e-15)


def test_explosion() -> None:
    np.testing.assert_array_equal(moment.explosion(3e15), [3e15, 3e15, 3e15, 0, 0, 0])
    assert moment.scalar_moment(moment.explosion(2.0)) == pytest.approx(np.sqrt(6.0))


def test_magnitudes() -> None:
    assert moment.moment_from_magnitude(4.0) == pytest.approx(10**15.1)
    assert moment.magnitude_from_moment(10**18.1) == pytest.approx(6.0)
    for magnitude in rng.uniform(-2, 9.5, 20):
        m0 = moment.moment_from_magnitude(magnitude)
        assert moment.magnitude_from_moment(m0) == pytest.approx(magnitude)


@pytest.mark.parametrize("m0", [0.0, -1e15, float("nan")])
def test_no_magnitude_without_moment(m0: float) -> None:
    with pytest.raises(InputError, match="must be positive"):
        moment.magnitude_from_moment(m0)
