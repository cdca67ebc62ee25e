"""Measures of seismograms as a dataset, its files and findings."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray

from groundswell.backends.cpu import CpuBackend
from groundswell.errors import CaseError, InputError
from groundswell.seismology.case.intensity import MEASURES, IntensityOutput
from groundswell.seismology.formats.intensity import read_intensity, write_intensity
from groundswell.seismology.intensity.measures import arias_intensity
from groundswell.seismology.intensity.motion import acceleration
from groundswell.seismology.intensity.rotation import rotated_peaks, rotd
from groundswell.seismology.intensity.seismograms import measure
from groundswell.seismology.recording.intensity import ReceiverIntensity

H, SAMPLES = 0.02, 300
FEW: dict[str, Any] = {"periods": ["0.5 s", 1.5]}


@pytest.fixture(scope="module")
def cpu() -> CpuBackend:
    return CpuBackend()


@pytest.fixture(scope="module")
def seismograms() -> xarray.DataArray:
    """Random motion at two stations; the second is weaker."""
    rng = np.random.default_rng(8)
    motion = np.cumsum(rng.normal(size=(2, 3, SAMPLES)), axis=-1) * [[[3e-3]], [[1e-3]]]
    coords = {
        "station": ["GS.A", "GS.B"],
        "network": ("station", ["GS", "GS"]),
        "code": ("station", ["A", "B"]),
        "x": ("station", [1.5, 2.5]),
        "component": ["E", "N", "Z"],
        "time": 1.0 + H * np.arange(SAMPLES),
    }
    attrs = {"units": "m s-1", "long_name": "particle velocity", "title": "Random"}
    dims = ("station", "component", "time")
    return xarray.DataArray(motion, coords, dims, "velocity", attrs)


@pytest.fixture(scope="module")
def measures(seismograms: xarray.DataArray, cpu: CpuBackend) -> xarray.Dataset:
    return measure(seismograms, IntensityOutput(**FEW), cpu, oversampling=1)


def test_each_measure_is_of_its_station_and_component(
    seismograms: xarray.DataArray, measures: xarray.Dataset
) -> None:
    velocity = seismograms.values
    ground = acceleration(velocity, H)
    assert np.allclose(measures.pga, np.abs(ground).max(axis=-1), rtol=1e-12)
    assert np.allclose(measures.pgv, np.abs(velocity).max(axis=-1), rtol=1e-12)
    assert np.allclose(measures.arias, arias_intensity(ground, H), rtol=1e-12)
    turned = rotated_peaks(ground[:, :2])
    assert np.allclose(measures.pga_rotd100, rotd(turned, 100), rtol=1e-12)
    assert measures.psa.dims == ("station", "component", "period")
    assert list(measures.period) == [0.5, 1.5] and measures.attrs["damping"] == 0.05
    both = measures.psa.sel(component=["E", "N"])
    assert (measures.rotd100 >= both.max("component") * (1 - 1e-12)).all()
    assert (measures.rotd50 <= measures.rotd100).all()
    assert (measures.d5_75 < measures.d5_95).all() and (measures.d5_95 < H * SAMPLES).all()
    assert set(measures) >= {name.replace("-", "_") for name in MEASURES}


def test_a_spline_finds_more_than_the_samples(
    seismograms: xarray.DataArray, measures: xarray.Dataset, cpu: CpuBackend
) -> None:
    dense = measure(seismograms, IntensityOutput(**FEW), cpu)
    assert (dense.pgv >= measures.pgv * (1 - 1e-12)).all()
    assert (dense.pgv < 1.5 * measures.pgv).all()


def test_only_what_is_asked_for(seismograms: xarray.DataArray, cpu: CpuBackend) -> None:
    section = IntensityOutput(measures=["pgv", "rotd50", "d5-95"], **FEW)
    assert set(measure(seismograms, section, cpu)) == {"pgv", "pgv_rotd50", "rotd50", "d5_95"}
    found = measure(seismograms, IntensityOutput(measures=["cav"]), cpu)
    assert set(found) == {"cav"} and "period" not in found.coords


def test_files_hold_all_of_it(measures: xarray.Dataset, tmp_path: Path) -> None:
    binary, table = write_intensity(tmp_path, measures)
    found = read_intensity(binary)
    xarray.testing.assert_allclose(found.drop_attrs(), measures.drop_attrs())
    assert found.psa.units == "m s-2" and "RotD50" in found.pgv_rotd50.long_name
    with table.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["code"] for row in rows] == ["A", "B"]
    wanted = measures.psa.sel(component="N", period=1.5)
    assert float(rows[1]["psa_n 1.5 s (m/s^2)"]) == pytest.approx(float(wanted[1]), rel=1e-5)
    assert float(rows[0]["d5_95_z (s)"]) == pytest.approx(float(measures.d5_95[0, 2]), rel=1e-5)


def test_findings_list_the_strongest_stations_first(
    seismograms: xarray.DataArray, cpu: CpuBackend, tmp_path: Path
) -> None:
    records = ReceiverIntensity(IntensityOutput(**FEW), cpu)
    records.write(tmp_path, seismograms)
    assert [each.label for each in records.findings] == ["GS.A", "GS.B"]
    assert all(word in records.findings[0].text for word in ("PGA", "PGV", "PSA", " s"))
    only = ReceiverIntensity(IntensityOutput(measures=["d5-75"]), cpu)
    only.write(tmp_path, seismograms)
    assert not only.findings
    assert records.write(tmp_path, seismograms[..., :1]) == []


def test_one_sample_has_no_acceleration(seismograms: xarray.DataArray, cpu: CpuBackend) -> None:
    with pytest.raises(InputError, match="two samples"):
        measure(seismograms[..., :1], IntensityOutput(), cpu)


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({"periods": []}, "must not be empty"),
        ({"periods": [1, 0.5, 1]}, "periods"),
        ({"periods": [0]}, "periods"),
        ({"damping": 1}, "damping"),
        ({"measures": ["sa"]}, "measures"),
        ({"maps": ["pga"]}, "maps"),
        ({"angles": 1}, "angles"),
        ({"interval": 0.06, "periods": [1]}, r"at most 1/20 of the shortest period, 1 s"),
    ],
)
def test_invalid_sections(section: dict[str, Any], message: str) -> None:
    with pytest.raises(CaseError, match=message):
        IntensityOutput(**section)
