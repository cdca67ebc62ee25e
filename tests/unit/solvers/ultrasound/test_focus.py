"""The focus of a map of pressures, and its widths."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xarray
from numpy.testing import assert_array_equal
from scipy.ndimage import uniform_filter

from groundswell.backends import host_threads
from groundswell.solvers.ultrasound.behind_bone import behind_bone
from groundswell.solvers.ultrasound.focus import HALF, edges_of, find_focus
from groundswell.solvers.ultrasound.transducers import AnnularArray, Arc, Line


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


def skull(bone: tuple[int, int], peaks: dict[int, float]) -> Any:
    """Pressure with peaks at points of the line y = 3 mm, and the sound speed, with bone in x."""
    pressure = gaussian((80, 60, 1), (0, 0, 0), (1, 1, 1)) * 0 + 1e3
    for x, value in peaks.items():
        pressure[:, 29:32, x - 1 : x + 2] = value
    speed = xarray.full_like(pressure, 1500.0)
    speed[:, :, slice(*bone)] = 2500.0
    return pressure, speed


def arc(apex: float, radius: float, side: float = 1.0, y: float = 3e-3) -> Arc:
    return Arc((apex, y, 0.0), radius, 1.5e-3, (apex + side * radius, y, 0.0))


def test_the_focus_is_behind_the_bone_through_which_transducers_aim() -> None:
    """Standing waves between transducers and bone may be stronger."""
    pressure, speed = skull((30, 35), {20: 9e5, 50: 4e5})
    for surfaces in ([arc(1e-3, 5e-3)], [arc(1e-3, 5e-3, y=3e-3 + n * 2e-7) for n in range(3)]):
        focus = find_focus(pressure, speed, surfaces=surfaces)
        assert focus.pressure == 4e5 and 4.9e-3 <= focus.position["x"] <= 5.1e-3
    for surfaces in (
        [],
        [Line((1e-3, 2e-3, 0), (1e-3, 4e-3, 0))],  # which aims nowhere
        [arc(1e-3, 1.5e-3)],  # in front of the bone
        [arc(1e-3, 2.2e-3)],  # inside it
        [arc(3e-3, 2e-3, -1.0, 3e-3)],  # away from it
        [arc(1e-3, 5e-3, y=3e-3 + n * 1e-5) for n in range(9)],  # at too many points
    ):
        assert find_focus(pressure, speed, surfaces=surfaces).pressure == 9e5


def test_opposite_transducers_have_their_focus_between_their_bones() -> None:
    pressure, speed = skull((20, 25), {10: 9e5, 40: 4e5, 70: 8e5})
    speed[:, :, 55:60] = 2500.0
    both = [arc(0.2e-3, 3.8e-3), arc(7.8e-3, 3.8e-3, -1.0)]
    assert find_focus(pressure, speed, surfaces=both).pressure == 4e5
    assert find_focus(pressure, speed, surfaces=both[:1]).pressure == 8e5


def test_points_behind_bone_along_an_oblique_axis() -> None:
    """Against the distances of all points along the axis of an annular array."""
    like = gaussian((30, 26, 22), (0, 0, 0), (1, 1, 1))
    way = np.array([2.0, -1.0, 1.5]) / np.linalg.norm([2.0, -1.0, 1.5])
    apex, radius = np.array([0.3e-3, 2.2e-3, 0.2e-3]), 2.4e-3
    array = AnnularArray(tuple(apex), radius, ((0, 4e-4), (6e-4, 9e-4)), tuple(apex + way))
    x, y, z = np.meshgrid(*(like[axis] for axis in "xyz"), indexing="ij")
    along = (way @ np.stack([x, y, z]).reshape(3, -1) - way @ apex).reshape(x.shape).T
    soft = ~((along > 1.2e-3) & (along < 1.6e-3))
    found = behind_bone(array.elements, soft, like)
    sure = np.abs(along - 1.6e-3) > 1.5e-4  # steps along the axis, and the nearest points
    assert_array_equal((found)[sure], (soft & (along > 1.6e-3))[sure])
