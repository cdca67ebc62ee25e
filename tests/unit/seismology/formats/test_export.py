"""Seismograms in formats other than HDF5: quantities, components and intervals."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray
from seismogram_files import EVENT, noise, write

from groundswell.errors import CaseError, InputError
from groundswell.seismology.case.outputs import SeismogramOutput
from groundswell.seismology.formats.export import (
    export_quantities,
    export_seismograms,
    require_exportable,
)
from groundswell.seismology.formats.seismograms import ACCELERATION, read_seismograms
from groundswell.seismology.formats.traces import read_velocity
from groundswell.seismology.motion import as_quantity, at_interval, radial_transverse
from groundswell.seismology.time_steps import TimeStep

ATTRS = {**EVENT, "event_x": 0.0, "event_y": 500.0}
KINDS = ("velocity", "displacement", "acceleration")


@pytest.fixture
def array(tmp_path: Path) -> xarray.DataArray:
    return read_seismograms(write(tmp_path / "s.h5", noise(200), interval=0.0123, attrs=ATTRS))


def test_every_quantity_is_written_at_a_round_interval(
    array: xarray.DataArray, tmp_path: Path
) -> None:
    obspy = pytest.importorskip("obspy")
    formats = ("hdf5", "sac", "mseed", "text", "segy")
    section = SeismogramOutput(
        formats=formats, quantities=KINDS, components="ZRT", export_interval=0.02
    )
    files = export_seismograms([array], section, tmp_path)
    names = {path.relative_to(tmp_path).as_posix() for path in files}
    assert len(files) == len(names) == 3 * 3 * 3 + 3 + 3 * 3 + 3
    assert {"seismograms.mseed", "displacement.mseed", "velocity.segy"} <= names
    wanted = at_interval(radial_transverse(as_quantity(array, ACCELERATION)), 0.02)
    first = wanted.sel(station="CI.OLI")
    (trace,) = obspy.read(str(tmp_path / "sac" / "CI.OLI..BNT.sac"))
    assert np.array_equal(trace.data, first.sel(component="T").values)
    assert trace.stats.delta == pytest.approx(0.02) and trace.stats.sac.idep == 8
    assert trace.stats.sac.cmpaz == pytest.approx((float(first["azimuth"]) + 90) % 360, abs=1e-4)
    text = tmp_path / "text" / "CI.OLI.acceleration.txt"
    assert np.allclose(np.loadtxt(text), np.column_stack([wanted["time"], first.values.T]))
    head = text.read_text().splitlines()
    assert head[0] == "# acceleration at CI.OLI, m/s^2" and head[3] == "# time_s R T Z"
    assert head[1] == "# time 0: 2014-03-29T04:09:42.970000Z" and "depth 0" in head[2]
    channels = {each.stats.channel for each in obspy.read(str(tmp_path / "displacement.mseed"))}
    assert channels == {"BXR", "BXT", "BXZ"}


def test_other_quantities_are_not_read_as_velocity(array: xarray.DataArray, tmp_path: Path) -> None:
    pytest.importorskip("obspy")
    section = SeismogramOutput(formats=("sac",), quantities=KINDS[::-1], export_interval=0.0123)
    export_seismograms([array], section, tmp_path)
    found = read_velocity(tmp_path / "sac").sortby("station")
    assert np.array_equal(found.values, array.sortby("station").values)
    export_seismograms(
        [array],
        SeismogramOutput(formats=("mseed",), quantities=("acceleration",)),
        tmp_path / "other",
    )
    with pytest.raises(InputError, match="no seismograms with the components E, N and Z"):
        read_velocity(tmp_path / "other" / "acceleration.mseed")


def test_an_interval_with_many_digits_becomes_round(
    array: xarray.DataArray, tmp_path: Path
) -> None:
    odd = array.assign_coords(time=0.0041387 * np.arange(200))
    export_seismograms([odd], SeismogramOutput(formats=("text",)), tmp_path)
    rows = np.loadtxt(tmp_path / "text" / "Q1.velocity.txt")
    assert np.allclose(rows[:, 0], 0.004 * np.arange(len(rows))) and len(rows) == 206


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"formats": ["hdf5", "gse2"]}, "formats"),
        ({"quantities": ["velocity", "velocity"]}, "quantities"),
        ({"quantities": []}, "quantities"),
        ({"components": "XYZ"}, "components"),
        ({"export_interval": 0}, "export_interval"),
        ({"shot": 0}, "shot"),
        ({"formats": ["segy"], "export_interval": 1.5e-6}, "whole number of microseconds"),
    ],
)
def test_wrong_keys_are_named(keys: dict[str, object], message: str) -> None:
    with pytest.raises(CaseError, match=message):
        SeismogramOutput(**keys)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (
            {"formats": ["text"], "export_interval": 2},
            "interval = 2 s gives only one sample",
        ),
        ({"formats": ["segy"], "export_interval": 0.05}, "export_interval: SEG-Y needs"),
        ({"formats": ["segy"], "export_interval": 1e-5}, "at most 32767 samples"),
    ],
)
def test_what_a_format_cannot_hold_is_refused_before_a_run(
    keys: dict[str, object], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        require_exportable(SeismogramOutput(**keys), TimeStep(0.005, 2), 200)


def test_check_shows_the_interval_of_files() -> None:
    section = SeismogramOutput(formats=("hdf5", "sac", "text"))
    [found] = export_quantities(section, 0.0123456, "Grid")
    assert found.value == 0.01 and found.text == "sac, text every 0.01 s"
    assert not [*export_quantities(SeismogramOutput(), 0.01, "Grid")]
