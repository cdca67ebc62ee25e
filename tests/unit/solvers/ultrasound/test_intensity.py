"""Intensity of plane waves: from amplitudes and phases, and from time series of runs."""

from __future__ import annotations

from math import pi, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from numpy.testing import assert_allclose

import groundswell as gs
from groundswell.errors import InputError
from groundswell.solvers.ultrasound.intensity import instantaneous_intensity, mean_intensity

pytestmark = pytest.mark.each_value

H, K, RHO_C = 1e-4, 4e3, 1.5e6  # 16 points per wavelength

# --- amplitudes and phases ------------------------------------------------------------------------


def plane_wave(direction: tuple[float, float]) -> xr.Dataset:
    """A wave of 1 kPa along a direction in the plane z = 0, as recorded on a staggered grid."""
    x, y = H * np.arange(30), H * np.arange(34)
    kx, ky = K * direction[0], K * direction[1]

    def recorded(
        name: str, amplitude: float, x: np.ndarray, y: np.ndarray, dims: tuple[str, str, str]
    ) -> dict[str, tuple[tuple[str, str, str], np.ndarray]]:
        angle = -(kx * x + ky * y[:, None])[None] + (np.pi if amplitude < 0 else 0)
        phase = (np.degrees(angle) + 180) % 360 - 180
        return {
            f"{name}_amplitude": (dims, np.full(phase.shape, abs(amplitude))),
            f"{name}_phase": (dims, phase),
        }

    xs, ys = x + H / 2, y + H / 2
    variables = (
        recorded("p", 1e3, x, y, ("z", "y", "x"))
        | recorded("ux", 1e3 / RHO_C * direction[0], xs, y, ("z", "y", "x_ux"))
        | recorded("uy", 1e3 / RHO_C * direction[1], x, ys, ("z", "y_uy", "x"))
    )
    return xr.Dataset(variables, {"x": x, "y": y, "z": [0.0], "x_ux": xs, "y_uy": ys})


@pytest.mark.parametrize("direction", [(1.0, 0.0), (-0.6, 0.8)])
def test_a_plane_wave_has_half_its_pressure_squared_over_the_impedance(
    direction: tuple[float, float],
) -> None:
    found = mean_intensity(plane_wave(direction))
    assert found["ix"].dims == ("z", "y", "x") and found["iy"].units == "W m-2"
    for name, share in zip(("ix", "iy"), direction, strict=True):
        values = found[name].values[:, 8:-7, 8:-7]
        assert_allclose(values, share * 1e6 / (2 * RHO_C), rtol=1e-4, atol=1e-9)
    assert np.isnan(found["ix"].values[..., :8]).all()
    assert np.isnan(found["ix"].values[..., -7:]).all()
    assert np.isfinite(found["ix"].values[..., 8:-7]).all()


def test_missing_variables_are_named() -> None:
    with pytest.raises(InputError, match="lacks ux_phase; record p and velocities"):
        mean_intensity(plane_wave((1.0, 0.0)).drop_vars("ux_phase"))
    with pytest.raises(InputError, match="lacks velocities"):
        mean_intensity(plane_wave((1.0, 0.0))[["p_amplitude", "p_phase"]])


# --- time series ----------------------------------------------------------------------------------

N, SIGMA, STEPS, MIDDLE = 96, 3.0, 160, 40  # points, width of the pulse in points, steps, point
DT = 0.25 * H / 1500
BOX = {"kind": "box", "low": [0, 0, 0], "high": [1, 1, 1]}
ON_LINE = {"start": [6e-3, 3e-4, 0], "end": [7e-3, 3e-4, 0], "points": 9, "method": "cubic"}
PLACES: dict[str, Any] = {
    "all.nc": {"kind": "all"},
    "stride.nc": {**BOX, "stride": 2},
    "images.vtkhdf": BOX,
    "along.nc": {"kind": "plane", "normal": "y", "at": 3e-4},
    "across.nc": {"kind": "plane", "normal": "x", "at": 6e-3},
    "points.nc": {"kind": "points", "positions": [[6.5e-3, 3e-4, 0]], "method": "cubic"},
    "line.nc": {"kind": "line", **ON_LINE},
}


def run(
    pressure: np.ndarray, records: dict[str, dict[str, Any]], folder: Path | None = None
) -> dict[str, xr.Dataset]:
    """Records of p, ux and uy in water from a pressure along x, on a periodic grid."""
    result = gs.ultrasound.simulate(
        {"speed": 1500.0, "density": 1000.0},
        initial={"kind": "array", "values": np.tile(pressure, (16, 1)), "smooth": False},
        points=(N, 16),
        spacing=H,
        duration=STEPS * DT,
        time={"step": DT},
        boundary={"width": 0},
        precision="double",
        folder=folder,
        records=[{"fields": ["p", "ux", "uy"], "file": file} | of for file, of in records.items()],
    )
    return {name: dataset.load() for name, dataset in result.records.items()}


@pytest.fixture(scope="module")
def pulses() -> dict[str, xr.Dataset]:
    """Records of two pulses of half a pascal that move apart."""
    pulse = np.exp(-(((np.arange(N) - MIDDLE) / SIGMA) ** 2) / 2)
    sparse = {"sparse.nc": {"where": {"kind": "all"}, "every": 4}}
    return run(pulse, {file: {"where": where} for file, where in PLACES.items()} | sparse)


def energy() -> float:
    """The integral of p^2 / (rho c) over a pulse, J/m^2."""
    return float(0.25 / RHO_C * sqrt(pi) * SIGMA * H / 1500)


@pytest.mark.parametrize("file", ["all.nc", "images.vtkhdf", "along.nc", "line.nc", "points.nc"])
def test_a_pulse_has_its_squared_pressure_over_the_impedance(
    pulses: dict[str, xr.Dataset], file: str
) -> None:
    exact = energy() / ((STEPS - 1) * DT)
    found = mean_intensity(pulses[file])["ix"]
    passed = found.where((found["x"] > 6e-3) & (found["x"] < 7e-3), drop=True)
    assert passed.size and found.units == "W m-2"
    assert_allclose(passed, exact, rtol=1e-3)


def test_intensity_points_away_from_the_middle(pulses: dict[str, xr.Dataset]) -> None:
    found = mean_intensity(pulses["all.nc"])
    at = found["ix"].values[0, 3]
    assert at[MIDDLE + 20] == pytest.approx(-at[MIDDLE - 20], rel=1e-6)
    assert abs(at[MIDDLE]) < 1e-6 * np.nanmax(at)
    assert np.nanmax(np.abs(found["iy"])) < 1e-9 * np.nanmax(at)


def test_the_intensity_of_a_pulse_follows_its_pressure(pulses: dict[str, xr.Dataset]) -> None:
    given = pulses["all.nc"]
    found = instantaneous_intensity(given)["ix"]
    assert found.dims == ("time", "z", "y", "x") and found.sizes["time"] == STEPS - 1
    right = slice(MIDDLE + 15, N - 7)
    exact = given["p"][:-1] ** 2 / RHO_C
    early = {"time": slice(3, 120), "x": right}  # later, the other pulse arrives from the left
    difference = abs(found - exact).isel(early).max()
    assert difference < 1e-3 * exact.isel(early).max()


def test_strides_and_sparse_samples_give_the_same(pulses: dict[str, xr.Dataset]) -> None:
    every = instantaneous_intensity(pulses["all.nc"])["ix"]
    for file in ("stride.nc", "sparse.nc"):
        found = instantaneous_intensity(pulses[file])["ix"]
        shared = every.sel(time=found["time"], y=found["y"], x=found["x"])
        assert np.isfinite(found).any()
        assert np.abs(found - shared).max() < 2e-3 * every.max()


def test_a_plane_across_its_velocity_has_no_intensity(pulses: dict[str, xr.Dataset]) -> None:
    assert np.isnan(mean_intensity(pulses["across.nc"])["ix"]).all()


def test_a_standing_wave_has_no_mean_intensity() -> None:
    """Over whole periods: 8 points per wavelength and a Courant number of 1/4 are 32 steps."""
    record = {"where": {"kind": "all"}, "from": STEPS - 129}
    recorded = run(np.cos(2 * pi / 8 * np.arange(N)), {"a.nc": record})["a.nc"]
    mean = mean_intensity(recorded)["ix"].values[..., 8:-7]
    assert np.abs(mean).max() < 1e-4 / (2 * RHO_C)
    assert abs(instantaneous_intensity(recorded)["ix"]).max() > 0.2 / RHO_C


def test_files_have_the_time_step(pulses: dict[str, xr.Dataset], tmp_path: Path) -> None:
    for dataset in pulses.values():
        assert dataset.attrs["time_step"] == pytest.approx(DT)
    records = run(np.ones(N), {"a.nc": {"where": PLACES["points.nc"]}}, tmp_path)
    opened = xr.load_dataset(tmp_path / "a.nc", engine="h5netcdf")
    xr.testing.assert_identical(mean_intensity(opened), mean_intensity(records["a.nc"]))


def test_series_without_a_time_step_are_refused(pulses: dict[str, xr.Dataset]) -> None:
    given = pulses["points.nc"]
    anonymous = given.drop_attrs()
    with pytest.raises(InputError, match="give time_step, in s"):
        mean_intensity(anonymous)
    xr.testing.assert_equal(mean_intensity(anonymous, time_step=DT), mean_intensity(given))
    with pytest.raises(InputError, match="lacks velocities"):
        mean_intensity(given[["p"]])
