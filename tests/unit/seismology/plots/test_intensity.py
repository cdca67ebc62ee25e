"""Pictures of response spectra and of maps of spectral acceleration."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.image import imread
from result_files import EVENT, POINTS, X, Y, write_stations
from variants import long_variants

from groundswell.backends.cpu import CpuBackend
from groundswell.formats.netcdf import Variable
from groundswell.seismology.case.intensity import IntensityOutput
from groundswell.seismology.formats.intensity import MAPS, write_intensity_maps
from groundswell.seismology.formats.seismograms import read_seismograms
from groundswell.seismology.plots.intensity_maps import intensity_maps
from groundswell.seismology.plots.response_spectra import response_spectra
from groundswell.seismology.recording.intensity import ReceiverIntensity

AWAY = np.hypot(*np.meshgrid(X - X.mean(), Y - Y.mean()))


def write_measures(folder: Path, count: int = 3, **section: Any) -> None:
    write_stations(folder, count=count)
    records = ReceiverIntensity(IntensityOutput(**section), CpuBackend())
    records.write(folder, read_seismograms(folder / "seismograms.h5"))


def coloured(path: Path) -> float:
    return float((np.ptp(imread(path)[..., :3], axis=2) > 0.2).mean())


@pytest.mark.parametrize("count", [1, 4, *long_variants([30])])
def test_spectra_of_any_number_of_stations(tmp_path: Path, count: int) -> None:
    write_measures(tmp_path, count, periods=[0.5, 1, 2])
    path = response_spectra(tmp_path)
    assert path and coloured(path) > 0.002


def test_spectra_without_components_or_with_one_period(tmp_path: Path) -> None:
    write_measures(tmp_path, measures=["rotd100"], periods=[4, 1])
    path = response_spectra(tmp_path)
    assert path and coloured(path) > 0.001
    write_measures(tmp_path, periods=[1])
    assert response_spectra(tmp_path) is None
    write_measures(tmp_path, measures=["pgv"])
    assert response_spectra(tmp_path) is None


@pytest.mark.parametrize(
    ("name", "count"), [("rotd50", 1), ("psa_vector", 3), *long_variants([("rotd50", 9)])]
)
def test_maps_of_any_number_of_periods(tmp_path: Path, name: str, count: int) -> None:
    values = np.stack([np.exp(-AWAY / (500 * (n + 1))) for n in range(count)])
    values[:, :3] = np.nan  # points beside a mesh
    maps = {name: Variable(("period", "y", "x"), values, attrs={"units": "m s-2"})}
    write_intensity_maps(tmp_path / MAPS, maps, np.arange(1.0, count + 1), POINTS, EVENT)
    path = intensity_maps(tmp_path)
    assert path and coloured(path) > 0.1


def test_maps_of_integrals(tmp_path: Path) -> None:
    values = np.stack([np.exp(-AWAY / 500), 0 * AWAY])
    maps = {name: Variable(("component", "y", "x"), values) for name in ("arias", "cav")}
    write_intensity_maps(tmp_path / MAPS, maps, np.array([1.0]), POINTS, EVENT)
    path = intensity_maps(tmp_path)
    assert path and coloured(path) > 0.1
