"""The focus of a map of pressures, and its widths."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xarray
from scipy.ndimage import uniform_filter

from groundswell.backends import host_threads
from groundswell.solvers.ultrasound.focus import HALF, edges_of, find_focus
from groundswell.solvers.ultrasound.transducers import Line


def gaussian(size: tuple[int, int, int], at: tuple[float, ...], sigma: tuple[float, ...]) -> Any:
    """A profile (z, y, x) on points 0.1 mm apart."""
    axes = [1e-4 * np.arange(n) for n in size]
    squares = [((x - c) / s) ** 2 for x, c, s in zip(axes, at, sigma, strict=True)]
    values = np.exp(-(squares[2][:, None, None] + squares[1][:, None] + squares[0]) / 2)
    coordinates = dict(zip("xyz", axes, strict=True))
    return xarray.DataArray(4e5 * values, coordinates, dims=("z", "y", "x"))


def test_the_widths_of_a_gaussian_are_those_of_the_formula() -> None:
    sigma = (0.5e-3, 0.8e-3, 2e-3)
    focus = find_focus(gaussian((60, 80, 150), (3e-3, 4e-3, 7e-3), sigma))
    assert focus.pressure == pytest.approx(4e5)
    assert focus.position == pytest.approx({"x": 3e-3, "y": 4e-3, "z": 7e-3})
    for axis, width in zip("xyz", sigma, strict=True):
        exact = 2 * width * np.sqrt(-2 * np.log(HALF))
        assert focus.widths[axis] == pytest.approx(exact, rel=2e-3)


def test_edges_are_interpolated_and_only_those_next_to_the_peak_count() -> None:
    x = np.arange(7.0)
    values = np.array([0.0, 1.0, 0.0, 0.4, 1.0, 0.8, 0.0])  # a second lobe before the peak at 4
    low, high = edges_of(x, values, 4)
    assert low == pytest.approx(3 + (HALF - 0.4) / 0.6)
    assert high == pytest.approx(5 + (0.8 - HALF) / 0.8)


def test_a_lobe_that_leaves_the_region_has_no_width() -> None:
    focus = find_focus(gaussian((60, 1, 1), (1e-3, 0, 0), (2e-3, 1, 1)))
    assert list(focus.position) == ["x"]
    assert np.isnan(focus.edges["x"][0]) and np.isfinite(focus.edges["x"][1])
    assert np.isnan(focus.widths["x"])


def test_the_focus_is_not_in_bone() -> None:
    pressure = gaussian((60, 60, 1), (4e-3, 3e-3, 0), (5e-4, 5e-4, 1))
    pressure[:, 10:15, 10:15] = 9e5
    speed = xarray.full_like(pressure, 1500.0)
    speed[:, 5:20, 5:20] = 2500.0
    assert find_focus(pressure).pressure == 9e5
    focus = find_focus(pressure, speed)
    assert focus.position == pytest.approx({"x": 4e-3, "y": 3e-3})
    assert find_focus(pressure, xarray.full_like(speed, 2500.0)).pressure == 9e5


def test_peaks_of_standing_waves_are_not_the_focus() -> None:
    """Beside a wall, the peaks of a standing wave are higher than a wider focus elsewhere."""
    pressure = gaussian((120, 60, 1), (8e-3, 3e-3, 0), (1e-3, 5e-4, 1))
    x = pressure["x"].values
    wave = np.abs(np.cos(np.pi * (x - 1e-3) / 4e-4)) * (np.abs(x - 1e-3) < 1e-3)
    pressure[0, 25:36] += 4.5e5 * wave
    assert find_focus(pressure).position["x"] < 3e-3
    focus = find_focus(pressure, points_per_wavelength=8)
    assert focus.position == pytest.approx({"x": 8e-3, "y": 3e-3})
    assert focus.pressure == pytest.approx(4e5)


def test_slabs_of_planes_do_not_move_the_focus(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mean squares of all points at once have their largest value at the same place."""
    rng, width = np.random.default_rng(3), 5
    pressure = gaussian((30, 28, 61), (1e-3, 2e-3, 4e-3), (5e-4, 4e-4, 1e-3))
    pressure += 4e4 * rng.random(pressure.shape)
    pressure[3, 3, 3] = 6e5  # a single point
    soft = rng.random(pressure.shape) < 0.8
    squares = uniform_filter(np.where(soft, pressure.values**2, 0.0), width, mode="nearest")
    shares = uniform_filter(soft.astype(float), width, mode="nearest")
    means = np.where(soft, squares / np.maximum(shares, 1e-9), 0.0)
    middle = np.unravel_index(np.argmax(means), means.shape)
    near = tuple(slice(n - 2, n + 3) for n in middle)
    expected = np.where(soft, pressure, 0.0)[near].max()
    for threads in (1, 3):
        monkeypatch.setattr(host_threads, "default_threads", lambda count=threads: count)
        focus = find_focus(pressure, xarray.where(soft, 1500.0, 3000.0) + 0 * pressure, 2.0 * width)
        assert focus.pressure == expected < 6e5


def test_points_beside_a_transducer_are_not_the_focus() -> None:
    """One peak is on a line, the other one 9 points beside it."""
    pressure = gaussian((120, 60, 1), (8e-3, 3e-3, 0), (1e-3, 5e-4, 1))
    pressure[0, 40, 10] = pressure[0, 40, 19] = 9e5
    line = Line((1e-3, 2e-3, 0), (1e-3, 4.4e-3, 0))
    away = find_focus(pressure, surfaces=[line], points_per_wavelength=2)
    assert away.position == pytest.approx({"x": 1.9e-3, "y": 4e-3})
    focus = find_focus(pressure, surfaces=[line], points_per_wavelength=10)
    assert focus.position == pytest.approx({"x": 8e-3, "y": 3e-3})
    everywhere = find_focus(pressure, surfaces=[line], points_per_wavelength=1000)
    assert everywhere.pressure == pytest.approx(9e5)
