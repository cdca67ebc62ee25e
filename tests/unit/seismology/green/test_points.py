"""Points of files, and stations that cannot share a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from green_tensors import POSITIONS, STRIKE, make_subfaults, make_tensor

from groundswell.errors import InputError
from groundswell.grids.geography import Geography
from groundswell.seismology.formats.fault_series import open_history
from groundswell.seismology.green.estimates import green_warnings
from groundswell.seismology.green.frames import read_frame, write_frame
from groundswell.seismology.green.outputs import require_same_times
from groundswell.seismology.green.point_files import read_planes
from groundswell.seismology.green.points import GreenSurvey, PointForce, StrainPoints
from groundswell.seismology.sources.point_sources import PointSource, SourceContext

CENTER = (-117.9, 34.0)


def context(geography: Geography | None = None) -> SourceContext:
    def one(x: object, y: object, z: object) -> np.ndarray:
        return np.ones(np.shape(x))

    return SourceContext(geography, 0.01, 1.0, (1.0, 1.0, 1.0), one, one, one)


def test_the_history_of_a_rupture_has_planes_along_the_grid(tmp_path: Path) -> None:
    with open_history(tmp_path / "rupture.nc", make_subfaults(), {}, None) as writer:
        zeros = np.zeros((1, len(POSITIONS)))
        names = ("slip_strike", "slip_updip", "work", "released")
        writer.append(np.zeros(1), dict.fromkeys(names, zeros))
    found = read_planes(tmp_path / "rupture.nc", context(Geography.from_center(CENTER, (1e4, 1e4))))
    assert np.array_equal(found.positions, POSITIONS)
    assert found.strike is not None and found.strike.tolist() == [STRIKE] * 3
    assert found.azimuth == 0


def test_tables_may_have_longitudes_and_latitudes(tmp_path: Path) -> None:
    frame = Geography.from_center(CENTER, (1e4, 8e3), azimuth=20.0)
    longitude, latitude = frame.to_lonlat(*POSITIONS[:, :2].T)
    table = np.column_stack([longitude, latitude, POSITIONS[:, 2]])
    header = "longitude,latitude,depth"
    np.savetxt(tmp_path / "points.csv", table, "%.12f", ",", header=header, comments="")
    found = read_planes(tmp_path / "points.csv", context(frame))
    assert found.positions == pytest.approx(POSITIONS, abs=1e-3)
    assert found.azimuth == pytest.approx(frame.true_azimuth)


def test_a_map_is_kept_as_text() -> None:
    frame = Geography.from_center(CENTER, (1e4, 8e3), azimuth=20.0)
    assert read_frame(write_frame(frame)) == frame


def test_stations_with_other_times_are_refused() -> None:
    tensors = [make_tensor(), make_tensor().assign_attrs(station="PAS")]
    times = [tensor["time"].values for tensor in tensors]
    require_same_times(times, tensors)
    with pytest.raises(InputError, match=r"GS\.USC and GS\.PAS have samples at different times"):
        require_same_times([times[0], times[1] + 0.005], tensors)


def test_samples_that_are_too_rare_are_named() -> None:
    pulse = np.exp(-0.5 * ((np.arange(200) * 0.01 - 1) / 0.1) ** 2)
    source = PointSource((0.0, 0.0, 0.0), None, np.array([1.0, 0, 0]), 0.0, 0.01, pulse)
    ones = np.ones(1)
    points = StrainPoints(np.zeros((1, 3)), ("xx",), np.ones((1, 1, 6)), ones, ones)
    survey = GreenSurvey(PointForce("S", "", 0, 1.0, source), points)
    assert not [*green_warnings(survey, 0.05)]
    (warning,) = green_warnings(survey, 0.3)
    assert "samples of strain every 0.3 s do not resolve" in warning
