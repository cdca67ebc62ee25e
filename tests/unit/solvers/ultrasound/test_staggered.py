"""Velocities at the points and times of the pressure, against sine waves."""

from __future__ import annotations

from math import log2, pi

import numpy as np
import pytest
import xarray as xr
from numpy.testing import assert_allclose

from groundswell.errors import InputError
from groundswell.solvers.ultrasound.staggered import at_pressure_points, at_pressure_times

H, N = 1e-4, 40
X = H * np.arange(N)


def wave(x: np.ndarray, points: float) -> np.ndarray:
    """A wave of this many points per wavelength."""
    return np.sin(2 * pi / (points * H) * x + 0.4)


def recorded(points: float = 6.0, stride: int = 1, count: int = N) -> xr.Dataset:
    """The wave as p and as ux, half a cell further, at every `stride`-th point."""
    x = stride * X[:count]
    xs = x + H / 2
    variables = {"p": ("x", wave(x, points)), "ux": ("x_ux", wave(xs, points))}
    return xr.Dataset(variables, {"x": x, "x_ux": xs})


# --- points ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("points", "error"), [(3, 2e-4), (4, 1.3e-4), (6, 2e-5), (60, 6e-6)])
def test_velocities_move_with_the_promised_error(points: float, error: float) -> None:
    moved = at_pressure_points(recorded(points))
    assert moved["ux"].dims == ("x",) and set(moved.coords) == {"x"}
    assert_allclose(moved["ux"][8:-7], moved["p"][8:-7], rtol=0, atol=error)
    assert np.isnan(moved["ux"][:8]).all() and np.isnan(moved["ux"][-7:]).all()


@pytest.mark.full
def test_no_resolved_wave_has_a_larger_error() -> None:
    waves = [at_pressure_points(recorded(points)) for points in np.geomspace(3, 1000, 200)]
    assert max(float(abs(moved["ux"] - moved["p"]).max()) for moved in waves) < 2e-4


def test_a_record_with_a_stride_moves_by_less_than_half_its_spacing() -> None:
    moved = at_pressure_points(recorded(points=12, stride=3))  # 4 recorded points
    assert_allclose(moved["ux"][8:-7], moved["p"][8:-7], rtol=0, atol=1.3e-4)


def test_the_order_of_the_fields_does_not_matter() -> None:
    """The first field of a record has the coordinate x, whichever it is."""
    swapped = recorded().rename({"x": "x_p"}).rename({"x_ux": "x"})
    xr.testing.assert_allclose(at_pressure_points(swapped), at_pressure_points(recorded()))


def test_each_velocity_moves_along_its_own_axis() -> None:
    y = H * np.arange(24)
    field = wave(X, 6) * wave(y, 8)[:, None]
    across = wave(X + H / 2, 6) * wave(y, 8)[:, None]
    along = wave(X, 6) * wave(y + H / 2, 8)[:, None]
    variables = {
        "p": (("time", "y", "x"), field[None]),
        "ux": (("time", "y", "x_ux"), across[None]),
        "uy": (("time", "y_uy", "x"), along[None]),
    }
    places = {"time": [0.0], "x": X, "y": y, "x_ux": X + H / 2, "y_uy": y + H / 2}
    moved = at_pressure_points(xr.Dataset(variables, places))
    assert set(moved.coords) == {"time", "x", "y"}
    assert moved["ux"].dims == moved["uy"].dims == ("time", "y", "x")
    assert_allclose(moved["ux"][..., 8:-7], moved["p"][..., 8:-7], atol=1e-4)
    assert_allclose(moved["uy"][:, 8:-7], moved["p"][:, 8:-7], atol=1e-4)


def test_amplitudes_and_phases_move_as_complex_numbers() -> None:
    def travelling(name: str, dim: str, x: np.ndarray) -> dict[str, tuple[str, np.ndarray]]:
        phase = (np.degrees(-2 * pi / (6 * H) * x) + 180) % 360 - 180
        return {f"{name}_amplitude": (dim, 2 + 0 * x), f"{name}_phase": (dim, phase)}

    variables = travelling("p", "x", X) | travelling("ux", "x_ux", X + H / 2)
    moved = at_pressure_points(xr.Dataset(variables, {"x": X, "x_ux": X + H / 2}))
    assert_allclose(moved["ux_amplitude"][8:-7], 2, rtol=1e-4)
    turn = (moved["ux_phase"] - moved["p_phase"])[8:-7]
    assert_allclose((turn + 180) % 360 - 180, 0, atol=0.01)


def test_statistics_that_cannot_be_interpolated_stay() -> None:
    given = recorded().rename(p="p_mean", ux="ux_mean").assign(ux_max=("x_ux", np.ones(N)))
    moved = at_pressure_points(given)
    assert moved["ux_mean"].dims == ("x",) and moved["ux_max"].dims == ("x_ux",)
    assert_allclose(moved["x_ux"], X + H / 2)


def test_velocities_without_neighbours_are_nan() -> None:
    assert np.isnan(at_pressure_points(recorded(count=15))["ux"]).all()
    assert np.isfinite(at_pressure_points(recorded(count=16))["ux"]).sum() == 1
    assert np.isnan(at_pressure_points(recorded(count=1))["ux"]).all()
    plane = {"p": ("y", X), "ux": ("y", X)}
    assert np.isnan(at_pressure_points(xr.Dataset(plane, {"x": 0.0, "x_ux": H / 2}))["ux"]).all()
    points = {"p": ("point", X), "ux": ("point", X)}
    mask = xr.Dataset(points, {"x": ("point", X), "index": ("point", np.arange(N))})
    assert np.isnan(at_pressure_points(mask)["ux"]).all()


def test_interpolated_points_stay() -> None:
    points = {"p": ("point", X), "ux": ("point", 2 * X)}
    given = xr.Dataset(points, {"x": ("point", X)})
    xr.testing.assert_identical(at_pressure_points(given), given)


def test_single_precision_stays() -> None:
    assert at_pressure_points(recorded().astype("float32"))["ux"].dtype == np.float32


def test_a_record_without_pressure_is_refused() -> None:
    with pytest.raises(InputError, match="has no pressure"):
        at_pressure_points(recorded().drop_vars("p"))


# --- times ----------------------------------------------------------------------------------------


def error_in_time(samples: float, every: int = 1) -> np.ndarray:
    """Largest error at each time of sines of this many samples per period, by phase."""
    times = 1e-7 * np.arange(40)
    step, omega = 1e-7 / every, 2 * pi / (samples * 1e-7)
    phases = np.linspace(0, pi, 30)[:, None]
    early = np.sin(omega * (times - step / 2) + phases)
    series = xr.DataArray(early, dims=("point", "time"), coords={"time": times})
    found = at_pressure_times(series, step)
    assert found.dims == ("point", "time") and np.array_equal(found["time"], times[:-1])
    return np.asarray(abs(found.values - np.sin(omega * times[:-1] + phases)).max(axis=0))


@pytest.mark.parametrize("every", [1, 4])
def test_velocities_are_late_by_half_a_step(every: int) -> None:
    error = error_in_time(8, every)
    assert error[3:-3].max() < 1.4e-4 and error.max() < 2e-3
    assert error_in_time(16, every).max() < 1e-5


def test_the_order_in_time_is_eight() -> None:
    ratio = error_in_time(16)[3:-3].max() / error_in_time(32)[3:-3].max()
    assert log2(ratio) == pytest.approx(8, abs=0.1)


def test_short_series_are_refused() -> None:
    series = xr.DataArray(np.zeros(7), dims="time", coords={"time": np.arange(7.0)})
    with pytest.raises(InputError, match=r"has 7 samples; .* need 8 or more"):
        at_pressure_times(series, 1.0)
