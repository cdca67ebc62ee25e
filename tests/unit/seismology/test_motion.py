"""Displacement, acceleration, radial and transverse components, and round intervals."""

from __future__ import annotations

import numpy as np
import pytest
import xarray

from groundswell.errors import InputError
from groundswell.seismology.formats.seismograms import ACCELERATION, DISPLACEMENT, VELOCITY
from groundswell.seismology.motion import (
    as_quantity,
    at_interval,
    noise_level,
    radial_transverse,
    round_interval,
    without_noise,
)

rng = np.random.default_rng(4242)
EVENT = {"event_x": 300.0, "event_y": -200.0, "azimuth": 35.0, "interval": 0.01}


def velocity(values: np.ndarray, interval: float = 0.01, start: float = 0.0) -> xarray.DataArray:
    """Velocity (station, component, time) at random places."""
    stations = [f"S{n}" for n in range(len(values))]
    coords = {
        "station": stations,
        "component": ["E", "N", "Z"],
        "time": start + interval * np.arange(values.shape[-1]),
        "x": ("station", rng.uniform(-1e3, 1e3, len(stations))),
        "y": ("station", rng.uniform(-1e3, 1e3, len(stations))),
    }
    dims = ("station", "component", "time")
    return xarray.DataArray(values, coords, dims, "velocity", {**EVENT, "units": "m s-1"})


def pulses(time: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Displacement, velocity and acceleration of Gaussians, (1, 3, n)."""
    width = np.array([0.05, 0.1, 0.2])[None, :, None]
    u = (time - 2.0) / width
    bell = np.exp(-(u**2) / 2)
    return bell, -u / width * bell, (u**2 - 1) / width**2 * bell


def test_quantities_are_derivatives_and_integrals() -> None:
    time = 0.01 * np.arange(401)
    displacement, motion, acceleration = pulses(time)
    array = velocity(motion)
    for quantity, expected in ((DISPLACEMENT, displacement), (ACCELERATION, acceleration)):
        found = as_quantity(array, quantity)
        assert found.name == quantity.name and found.attrs["units"] == quantity.units
        scale = np.abs(expected).max(axis=-1, keepdims=True)
        assert np.abs(found.values - expected).max() < 2e-6 * scale.max()
    assert as_quantity(array, VELOCITY) is array


def test_many_stations_are_converted_like_each() -> None:
    array = velocity(rng.normal(size=(37, 3, 40)))
    whole, coarse = as_quantity(array, DISPLACEMENT), at_interval(array, 0.025)
    for n in (0, 15, 16, 36):
        one = array[n : n + 1]
        assert np.allclose(whole[n], as_quantity(one, DISPLACEMENT)[0], rtol=0, atol=1e-12)
        assert np.allclose(coarse[n], at_interval(one, 0.025)[0], rtol=0, atol=1e-9)
    assert as_quantity(array[:0], DISPLACEMENT).shape == (0, 3, 40)


@pytest.mark.parametrize("samples", range(2, 8))
def test_few_samples_of_a_line_have_its_slope(samples: int) -> None:
    slope = rng.normal(size=(2, 3, 1))
    array = velocity(slope * 0.01 * np.arange(samples))
    found = as_quantity(array, ACCELERATION).values
    assert np.allclose(found, np.broadcast_to(slope, found.shape))


def test_radial_and_transverse_are_those_of_obspy() -> None:
    rotate = pytest.importorskip("obspy.signal.rotate").rotate_ne_rt
    array = velocity(rng.normal(size=(4, 3, 20)))
    found = radial_transverse(array)
    assert found["component"].values.tolist() == ["R", "T", "Z"]
    for n in range(4):
        along, across = array["x"].values[n] - 300.0, array["y"].values[n] + 200.0
        east = np.cos(np.radians(35)) * along + np.sin(np.radians(35)) * across
        north = np.cos(np.radians(35)) * across - np.sin(np.radians(35)) * along
        back = np.degrees(np.arctan2(-east, -north)) % 360
        e, n_, z = array.values[n]
        assert np.allclose(found.values[n], [*rotate(n_, e, back), z])
        assert found["azimuth"].values[n] == pytest.approx((back + 180) % 360)


def test_components_need_an_epicentre_and_are_north_there() -> None:
    array = velocity(rng.normal(size=(1, 3, 5)))
    with pytest.raises(InputError, match="no epicentre"):
        radial_transverse(array.drop_attrs())
    at = array.assign_coords(x=("station", [300.0]), y=("station", [-200.0]))
    assert np.allclose(radial_transverse(at).values, array.values[:, [1, 0, 2]])


@pytest.mark.parametrize(
    ("interval", "expected"),
    [
        *((0.0041387, 0.004), (0.0097312, 0.008), (0.01234567, 0.01), (0.0026789, 0.0025)),
        *((0.02, 0.02), (0.03, 0.03), (0.0125, 0.0125), (1 / 128, 1 / 128), (1 / 3, 1 / 3)),
        *((12.3456789, 10.0), (5e-7 * (1 + 1e-12), 5e-7)),
    ],
)
def test_intervals_are_rounded_down(interval: float, expected: float) -> None:
    assert round_interval(interval) == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("interval", [0.004, 0.008, 0.02])
def test_resampled_waves_keep_what_the_interval_can_represent(interval: float) -> None:
    own, start = 0.0041387, -0.7301
    time = start + own * np.arange(3000)
    kept, lost = 0.3 / interval / 2, 1.3 / interval / 2  # Hz, below and above the Nyquist frequency
    slow = np.sin(2 * np.pi * kept * time + 1.0)
    has_alias = lost < 0.5 / own
    wave = slow + has_alias * np.sin(2 * np.pi * lost * time)
    found = at_interval(velocity(wave * np.ones((1, 3, 1)), own, start), interval)
    new = found["time"].values
    assert np.allclose(new / interval, np.round(new / interval), atol=1e-6) and 0.0 in new
    assert new[0] - interval < start <= new[0] and new[-1] <= time[-1] < new[-1] + interval
    assert found.attrs["interval"] == interval
    middle = slice(len(new) // 5, -len(new) // 5)
    expected = np.sin(2 * np.pi * kept * new + 1.0)
    assert np.abs(found.values - expected)[..., middle].max() < 1e-3


def test_samples_at_the_interval_are_not_touched() -> None:
    array = velocity(rng.normal(size=(1, 3, 30)), 0.02, -0.1)
    assert at_interval(array, 0.02) is array


def test_rounding_errors_of_the_largest_trace_are_zero() -> None:
    values = rng.normal(size=(2, 3, 50)).astype("f4") * np.array([1, 1e-7, 0.1], "f4")[:, None]
    array = velocity(values)
    assert noise_level(array) == pytest.approx(32 * 2.0**-23 * np.abs(values).max())
    assert (np.abs(without_noise(array)).max("time").values > 0).tolist() == [
        [True, False, True]
    ] * 2
    assert noise_level(array[:0]) == 0.0
