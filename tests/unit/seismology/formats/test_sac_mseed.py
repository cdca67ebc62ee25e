"""SAC and miniSEED files, and streams of ObsPy, made from seismograms."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import xarray
from seismogram_files import EVENT, Site, noise, write

from groundswell.errors import InputError
from groundswell.seismology.formats.sac_mseed import band_code, to_obspy, write_mseed, write_sac
from groundswell.seismology.formats.seismograms import read_seismograms


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def array(tmp_path: Path) -> xarray.DataArray:
    pytest.importorskip("obspy")
    return read_seismograms(write(tmp_path / "s.h5", noise(110)))[:, :, 50:]


@pytest.mark.parametrize(
    ("rate", "code"),
    [
        (4000, "F"),
        (1000, "F"),
        (250, "C"),
        (100, "H"),
        (1 / 0.0125, "H"),
        (79.9, "B"),
        (20, "B"),
        (10, "B"),
        (5, "M"),
        (1, "L"),
        (0.1, "V"),
    ],
)
def test_band_codes(rate: float, code: str) -> None:
    assert band_code(rate) == code


def test_obspy_gets_names_times_and_samples(array: xarray.DataArray) -> None:
    import obspy

    stream = to_obspy(array)
    assert [trace.id for trace in stream[:4]] == [
        "CI.OLI..BHE",
        "CI.OLI..BHN",
        "CI.OLI..BHZ",
        "CI.WLT..BHE",
    ]
    trace = stream.select(station="WLT", channel="BHN")[0]
    assert trace.stats.starttime == obspy.UTCDateTime(EVENT["origin_time"]) + 1.0
    assert trace.stats.sampling_rate == pytest.approx(50, rel=1e-12)
    assert trace.stats.coordinates.latitude == 34.0
    assert np.array_equal(trace.data, array.sel(station="CI.WLT", component="N"))


def test_a_decimated_slice_keeps_its_own_times(array: xarray.DataArray) -> None:
    part = array.sel(station=["CI.OLI"], component=["Z"])[:, :, 10::5]
    (trace,) = to_obspy(part)
    assert trace.stats.delta == pytest.approx(0.1, rel=1e-12)
    assert trace.stats.starttime == to_obspy(array)[0].stats.starttime + 0.2


def test_without_an_origin_time_the_epoch_begins_in_1970(tmp_path: Path) -> None:
    pytest.importorskip("obspy")
    array = read_seismograms(write(tmp_path / "s.h5", noise(), attrs={}))
    assert str(to_obspy(array)[0].stats.starttime) == "1970-01-01T00:00:00.000000Z"


def test_miniseed_returns_what_was_written(array: xarray.DataArray, tmp_path: Path) -> None:
    import obspy

    stream = obspy.read(str(write_mseed([array], tmp_path / "s.mseed")))
    assert len(stream) == 9
    for trace in stream:
        station = f"{trace.stats.network}.{trace.stats.station}".removeprefix(".")
        expected = array.sel(station=station, component=trace.stats.channel[-1])
        assert np.array_equal(trace.data, expected)
        assert trace.data.dtype == np.float32


def test_sac_headers_place_station_and_event(array: xarray.DataArray, tmp_path: Path) -> None:
    from obspy.geodetics import gps2dist_azimuth
    from obspy.io.sac import SACTrace

    paths = write_sac(array, tmp_path / "sac")
    assert len(paths) == len(names(tmp_path / "sac")) == 9
    sac = SACTrace.read(str(tmp_path / "sac" / "CI.WLT..BHN.sac"))
    assert np.array_equal(sac.data, array.sel(station="CI.WLT", component="N"))
    assert (sac.stla, sac.stlo, sac.stdp) == pytest.approx((34.0, -117.95, 12.0))
    assert (sac.evla, sac.evlo, sac.evdp) == pytest.approx((33.93, -117.93, 5.0))
    assert (sac.nzyear, sac.nzjday, sac.nzhour, sac.nzmin) == (2014, 88, 4, 9)
    assert (sac.nzsec, sac.nzmsec, sac.iztype) == (42, 970, "io")
    assert (sac.b, sac.o, sac.delta) == pytest.approx((1.0, 0.0, 0.02))
    assert (sac.cmpaz, sac.cmpinc, sac.idep, sac.mag) == (0, 90, "ivel", pytest.approx(5.1))
    metres = gps2dist_azimuth(33.93, -117.93, 34.0, -117.95)[0]
    assert sac.dist == pytest.approx(metres / 1e3, rel=1e-4)  # single-precision headers


@pytest.mark.parametrize(
    ("site", "message"),
    [
        (Site("CI", "TOOLONG", (0.0, 0.0, 0.0)), "station code 'TOOLONG' does not fit"),
        (Site("LONG", "A", (0.0, 0.0, 0.0)), "network code 'LONG' does not fit"),
        (Site("CI", "Å", (0.0, 0.0, 0.0)), "ASCII"),
    ],
)
def test_names_too_long_for_seed_are_refused(tmp_path: Path, site: Site, message: str) -> None:
    pytest.importorskip("obspy")
    array = read_seismograms(write(tmp_path / "s.h5", noise(stations=1), stations=[site]))
    with pytest.raises(InputError, match=message):
        write_mseed([array], tmp_path / "s.mseed")
    assert names(tmp_path) == ["s.h5"]


def test_an_origin_time_that_is_no_date_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("obspy")
    attrs = {"origin_time": "last spring"}
    array = read_seismograms(write(tmp_path / "s.h5", noise(), attrs=attrs))
    with pytest.raises(InputError, match="origin_time = 'last spring' is not a date"):
        to_obspy(array)


def test_a_single_sample_has_no_rate(array: xarray.DataArray) -> None:
    with pytest.raises(InputError, match="with 1 sample have no sampling interval"):
        to_obspy(array[:, :, :1])


def test_without_obspy_the_cure_is_told(
    array: xarray.DataArray, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "obspy", None)
    with pytest.raises(InputError, match=r"pip install -e '\.\[seismology\]'"):
        write_mseed([array], tmp_path / "s.mseed")
    assert not (tmp_path / "s.mseed").exists()
