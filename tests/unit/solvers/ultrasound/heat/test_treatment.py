"""Thermal dose, the heating rate of a run, and the command `heat`."""

from __future__ import annotations

import shutil
from math import log
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import xarray
from dispatched_arrays import DispatchingBackend
from heat_cases import MEDIA, treated_on
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import quad
from typer.testing import CliRunner
from ultrasound_cases import ARC

import groundswell as gs
from groundswell.backends import open_backend
from groundswell.backends.cpu import CpuBackend
from groundswell.cli.app import app
from groundswell.errors import InputError
from groundswell.solvers.ultrasound.heat import picture
from groundswell.solvers.ultrasound.heat.dose import dose_of
from groundswell.solvers.ultrasound.heat.tissue import BONE, Tissue
from groundswell.solvers.ultrasound.heat.treatment import Exposure, treat

H, FREQUENCY, DENSITY, SPEED = 0.25e-3, 1e6, 1000.0, 1500.0

# --- the dose -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("temperature", "minutes"),
    [(43.0, 10.0), (44.0, 20.0), (46.0, 80.0), (42.0, 2.5), (37.0, 10 / 4**6)],
)
def test_the_dose_of_a_constant_temperature_is_exact(temperature: float, minutes: float) -> None:
    assert dose_of(temperature, temperature, 600.0) == pytest.approx(minutes, rel=1e-13)


@pytest.mark.parametrize("ends", [(38.0, 42.0), (43.0, 50.0), (40.0, 46.0), (47.0, 41.0)])
def test_the_dose_of_a_ramp_is_exact(ends: tuple[float, float]) -> None:
    first, last = ends

    def rate(time: float) -> float:
        temperature = first + (last - first) * time
        return float((0.5 if temperature > 43 else 0.25) ** (43 - temperature))

    crossing = [(43 - first) / (last - first)]
    exact = quad(rate, 0, 1, points=[c for c in crossing if 0 < c < 1])[0]
    assert dose_of(first, last, 120.0) == pytest.approx(2 * exact, rel=1e-9)
    closed = (2 ** (50 - 43) - 1) / (7 * log(2))
    assert dose_of(43.0, 50.0, 60.0) == pytest.approx(closed, rel=1e-13)


def test_doses_of_arrays_are_those_of_their_values() -> None:
    random = np.random.default_rng(2)
    before, after = random.uniform(37, 60, (2, 3, 4, 5))
    found = dose_of(before, after, 1.5)
    each = [dose_of(a, b, 1.5) for a, b in zip(before.flat, after.flat, strict=True)]
    assert_allclose(found.ravel(), each, rtol=1e-13)


class _Ramp:
    """A temperature that rises with the heating, and stays without."""

    def __init__(self) -> None:
        self.rise = np.zeros((1, 2, 2))

    def advance(self, seconds: float, heating: float) -> np.ndarray:
        self.rise = self.rise + seconds * heating * np.array([[0.0, 1.0], [2.0, 4.0]])
        return self.rise


def test_a_treatment_adds_the_doses_of_its_steps() -> None:
    found = treat(_Ramp(), Exposure(on=4.0, off=60.0, duty=0.5), open_backend("cpu"))
    assert_allclose(found.largest[0], 37 + np.array([[0, 2], [4, 8]]))
    assert found.times[-1] == pytest.approx(64.0) and found.hottest[-1] == pytest.approx(45.0)
    ramp, rest = dose_of(37.0, 45.0, 4.0), dose_of(45.0, 45.0, 60.0)
    assert found.dose[0, 1, 1] == pytest.approx(ramp + rest, rel=1e-12)


@pytest.mark.parametrize("medium", MEDIA)
def test_the_device_is_reached_only_through_its_arrays(medium: str) -> None:
    """All operations dispatch to the library of the arrays, such as CuPy, and change no bit."""
    found, wanted = (treated_on(kind(), medium) for kind in (DispatchingBackend, CpuBackend))
    assert wanted.largest.max() > 50 and wanted.dose.max() > 240
    for one, other in zip(found, wanted, strict=True):
        assert_array_equal(one, other)


# --- results of runs ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def beam() -> Any:
    """A focused beam in absorbing tissue, with a layer of bone and the amplitudes at all points."""
    medium = {"speed": SPEED, "density": DENSITY, "absorption": 2.0, "power": 1.1}
    medium["effects"] = ["absorption"]
    bone = {"kind": "layer", "axis": "x", "from": 11e-3, "speed": 2400.0, "absorption": 4.0}
    steady = {
        "fields": ["p"], "where": {"kind": "all"}, "from": "11 us", "file": "steady.nc",
        "what": ["amplitude", "phase"], "frequencies": [FREQUENCY],
    }  # fmt: skip
    source = {"shape": ARC, "pressure": 1e6, "signal": {"kind": "sine", "frequency": FREQUENCY}}
    return gs.ultrasound.simulate(
        {**medium, "shape": [bone]},
        [source],
        points=(56, 40),
        spacing=H,
        duration="15 us",
        records=[steady],
    )


def test_the_first_rise_is_the_heat_that_is_absorbed(beam: Any) -> None:
    """2 alpha p_rms^2 / (rho c), with alpha in Np/m from 2 dB/(MHz^1.1 cm) at 1 MHz."""
    seconds, still = 0.01, Tissue(conductivity=0.0)
    found = beam.heat(seconds, tissue=still, record="steady.nc")
    rise = (found.fields["temperature"] - 37.0)[0]
    square = beam.records["steady.nc"]["p_amplitude"][0, 0] ** 2 / 2
    decibels = xarray.where(rise["x"] < 11e-3, 2.0, 4.0)
    speed = xarray.where(rise["x"] < 11e-3, SPEED, 2400.0)
    alpha = decibels * 100 * log(10) / 20
    exact = seconds * 2 * alpha * square / (DENSITY * speed) / (DENSITY * 3600)
    assert_allclose(rise, exact.transpose("y", "x"), rtol=2e-4, atol=1e-12)
    maps = beam.heat(seconds, tissue=still).fields["temperature"] - 37.0
    of_maps, of_record = (
        float(field.sel(x=7e-3, y=5e-3, method="nearest")) for field in (maps[0], rise)
    )
    assert of_maps == pytest.approx(of_record, rel=0.1)


def test_bone_has_properties_of_its_own(beam: Any) -> None:
    still = Tissue(conductivity=0.0)
    plain = beam.heat(0.01, tissue=still).fields["temperature"][0] - 37
    other = beam.heat(0.01, tissue=still, bone=Tissue(0.0, 1800.0)).fields["temperature"][0] - 37
    ratio = (other / plain).transpose("y", "x")
    assert_allclose(ratio[:, plain["x"] < 10.9e-3], 1.0, rtol=1e-9)
    assert_allclose(ratio[:, plain["x"] > 11.1e-3], 2.0, rtol=1e-5)
    assert beam.heat(0.5, bone=BONE).peak_temperature > 37


def test_the_result_states_the_peak_the_lesion_and_its_limits(beam: Any) -> None:
    found = beam.heat(10.0, 20.0)
    hottest = found.fields["temperature_max"]
    assert found.peak_temperature == hottest.max().item() == found.fields["hottest"].max().item()
    assert hottest.sel(found.position, method="nearest").item() == found.peak_temperature
    lesion = (found.fields["dose"] >= 240).sum().item() * H**2
    assert found.lesion_size == pytest.approx(lesion) and lesion > 0
    assert found.fields["temperature"].max() < found.peak_temperature
    assert any("sides of the region" in text for text in found.warnings)


def test_bad_arguments_are_refused(beam: Any) -> None:
    for given in ({"off": -1.0}, {"duty": 2.0}, {"on": 0.0}, {"start": 310.0}, {"start": -1.0}):
        with pytest.raises(InputError, match="must be"):
            beam.heat(**{"on": 1.0, **given})
    for given in ({"off": 1e12}, {"step": 1e-9}):
        with pytest.raises(InputError, match="are more than 1,000,000 steps; give a longer step"):
            beam.heat(1.0, **given)
    with pytest.raises(InputError, match="give one value per point"):
        beam.heat(1.0, tissue=Tissue(conductivity=np.linspace(0, 1, 3)))
    with pytest.raises(InputError, match=r"is not a record of the run; use steady\.nc"):
        beam.heat(1.0, record="other.nc")
    with pytest.raises(InputError, match="perfusion must be a finite number"):
        Tissue(perfusion=-1.0)
    with pytest.raises(InputError, match="heat_capacity must be a finite number that is positive"):
        Tissue(heat_capacity=0.0)


def test_boiling_is_warned_of(beam: Any, tmp_path: Path) -> None:
    """As by a heat capacity in kJ/(kg K)."""
    found = beam.heat(10.0, tissue=Tissue(heat_capacity=3.6))
    assert found.peak_temperature > 100 and "exceeds 100 °C" in found.warnings[0]
    assert np.isinf(found.fields["dose"]).any() and not np.isnan(found.fields["dose"]).any()
    found.write(shutil.copytree(beam.folder, tmp_path / "results"))
    assert picture.heat_picture(tmp_path / "results") is not None
    assert not any("exceeds" in text for text in beam.heat(1.0, duty=0.01).warnings)


def test_a_map_with_a_pressure_that_is_not_finite_is_refused(beam: Any, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(beam.folder, tmp_path / "results"))
    with h5py.File(folder / "peak_pressure.nc", "r+") as file:
        file["p_max"][0, 0, 0] = np.nan
    with pytest.raises(InputError, match=r"peak_pressure\.nc: a pressure is not finite"):
        gs.Result(folder).heat(1.0)


def test_the_command_writes_a_file_and_a_picture(beam: Any, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(beam.folder, tmp_path / "results"))
    said = CliRunner().invoke(app, ["heat", str(folder), "--on", "10", "--off", "2", "--bone"])
    assert said.exit_code == 0, said.output
    assert "peak temperature" in said.output and "CEM43 or more" in said.output
    assert (folder / "heat.png").exists()
    assert {"heat.nc", "heat.png"} <= set(gs.Result(folder).summary["files"])
    with xarray.open_dataset(folder / "heat.nc", engine="h5netcdf") as written:
        expected = beam.heat(10.0, 2.0, bone=BONE).fields
        assert_allclose(written["dose"], expected["dose"])
        assert written["temperature_max"].attrs["units"] == "degC"


def test_the_picture_shows_temperatures(beam: Any, tmp_path: Path, monkeypatch: Any) -> None:
    bars = []
    monkeypatch.setattr(
        picture, "colour_bar", lambda axes, image, label: bars.append((image, label))
    )
    found = beam.heat(10.0, start=36.0)
    found.write(shutil.copytree(beam.folder, tmp_path / "results"))
    assert picture.heat_picture(tmp_path / "results") is not None
    ((image, label),) = bars
    assert image.get_clim() == pytest.approx((36.0, found.peak_temperature))
    assert label == "Largest temperature (°C)"


def test_a_medium_without_absorption_is_not_heated(tmp_path: Path) -> None:
    water = {"speed": SPEED, "density": DENSITY}
    ball = {"kind": "ball", "centre": [3e-3, 3e-3], "radius": "1 mm", "pressure": 500.0}
    result = gs.ultrasound.simulate(
        water, initial=ball, points=(24, 24), spacing=H, duration="1 us"
    )
    with pytest.raises(InputError, match="the medium absorbs no sound"):
        result.heat(1.0)


def test_the_angular_frequency_of_absorption_is_that_of_the_sources() -> None:
    """4 dB/(MHz^2 cm) is 4 * 2^2 dB/cm at 2 MHz."""
    medium: dict[str, Any] = {"speed": SPEED, "density": DENSITY, "absorption": 4.0, "power": 2}
    source = {"shape": ARC, "pressure": 1e5, "signal": {"kind": "sine", "frequency": FREQUENCY}}
    result = gs.ultrasound.simulate(medium, [source], points=(40, 40), spacing=H, duration="6 us")
    still = Tissue(conductivity=0.0)
    once, twice = (
        result.heat(0.01, tissue=still, frequency=f).peak_temperature - 37 for f in (1e6, 2e6)
    )
    assert twice == pytest.approx(4 * once) and once > 0
