"""StationXML and other inventories: the codes, places and depths of the channels that count."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from damage import count_refused
from variants import long_variants

from groundswell.errors import InputError
from groundswell.seismology.case.receivers import Receiver, ReceiverFile
from groundswell.seismology.formats.stations import read_stations

core = pytest.importorskip("obspy.core.inventory")
obspy = pytest.importorskip("obspy")

STATION = {"longitude": -118.0, "latitude": 34.0}


def read(path: Path, **keys: Any) -> list[Receiver]:
    section = ReceiverFile(file=path, **keys)
    return [found.receiver for found in read_stations(section, geographic=True)]


def channels(code: str, location: str = "", rate: float = 100.0, **more: Any) -> list[Any]:
    """The three channels of an instrument; the code is that of band and instrument."""
    content = {**STATION, "elevation": 10.0, "depth": 0.0, "sample_rate": rate, **more}
    return [core.Channel(f"{code}{component}", location, **content) for component in "ENZ"]


def station(code: str, *found: Any, year: int = 2000, **more: Any) -> Any:
    content = {**STATION, "elevation": 10.0, "start_date": obspy.UTCDateTime(year, 1, 1), **more}
    return core.Station(code, channels=[c for each in found for c in each], **content)


def inventory(folder: Path, *stations: Any, form: str = "STATIONXML") -> Path:
    path = folder / "stations.xml"
    network = core.Network("CI", stations=list(stations))
    core.Inventory([network], source="test").write(str(path), format=form, level="channel")
    return path


def test_codes_elevation_and_depth(tmp_path: Path) -> None:
    deep = channels("BH", "10", depth=120.0, elevation=-110.0)
    path = inventory(tmp_path, station("OLI"), station("DEEP", deep))
    place = {"network": "CI", **STATION, "elevation": 10.0}
    assert read(path) == [
        Receiver(name="OLI", **place),
        Receiver(name="DEEP", **place, depth=120.0, location="10", channel="BH"),
    ]


@pytest.mark.parametrize(
    ("pattern", "location", "channel"),
    [
        (None, "00", "HH"),  # high gain, the lowest location, the highest rate
        ("BH?", "00", "BH"),
        ("10.HH?", "10", "HH"),
        ("10.*", "10", "HH"),
        ("HN?", "20", "HN"),
        ("HL*", "00", "HL"),
    ],
)
def test_one_of_several_instruments(
    tmp_path: Path, pattern: str | None, location: str, channel: str
) -> None:
    found = [channels("LH", "00", 1.0), channels("BH", "00", 40.0), channels("HH", "10", 200.0)]
    found += [channels("HH", "00", 100.0), channels("HN", "20", 200.0), channels("HL", "00", 200.0)]
    (receiver,) = read(inventory(tmp_path, station("OLI", *found)), channels=pattern)
    assert (receiver.location, receiver.channel) == (location, channel)


def test_a_pattern_chooses_among_stations_too(tmp_path: Path) -> None:
    path = inventory(tmp_path, station("A", channels("HH")), station("B", channels("BH")))
    assert [found.name for found in read(path, channels="BH?")] == ["B"]
    with pytest.raises(InputError, match=r'no station has channels "LH\?"'):
        read(path, channels="LH?")


def test_accelerometers_do_not_lend_their_codes(tmp_path: Path) -> None:
    """Their records are in m/s^2, ours in m/s."""
    (receiver,) = read(inventory(tmp_path, station("OLI", channels("HN"))))
    assert receiver.channel == ""


def test_a_station_that_moved_stands_at_its_last_place(tmp_path: Path) -> None:
    later = station("OLI", year=2020, latitude=34.5)
    path = inventory(tmp_path, later, station("OLI", year=1999, latitude=33.9))
    assert [found.latitude for found in read(path)] == [34.5]


def test_a_sensor_that_moved_stands_at_its_last_place(tmp_path: Path) -> None:
    dates = [obspy.UTCDateTime(year, 1, 1) for year in (2015, 2001)]
    epochs = [
        channels("HH", latitude=latitude, start_date=date)
        for latitude, date in zip((34.01, 34.02), dates, strict=True)
    ]
    (receiver,) = read(inventory(tmp_path, station("OLI", *epochs)))
    assert receiver.latitude == 34.01


def test_sensors_at_several_depths_need_a_choice(tmp_path: Path) -> None:
    uneven = channels("HH")[:2] + channels("HH", depth=80.0)[2:]
    other = channels("BH", "10", depth=80.0)
    path = inventory(tmp_path, station("ARR", uneven, other))
    with pytest.raises(InputError, match=r"CI.ARR = sensors at depths \[0.0, 80.0\] m: list"):
        read(path)
    assert [found.depth for found in read(path, channels="10.BH?")] == [80.0]


def test_the_text_of_fdsn_web_services(tmp_path: Path) -> None:
    sensors = channels("HH", "00", azimuth=0.0, dip=0.0, start_date=obspy.UTCDateTime(2001, 1, 1))
    path = inventory(tmp_path, station("OLI", sensors), form="STATIONTXT")
    (receiver,) = read(path.rename(tmp_path / "stations.txt"))
    assert (receiver.code, receiver.location, receiver.channel) == ("CI.OLI", "00", "HH")


@pytest.mark.parametrize("count", [40, *long_variants([200])])
def test_mutants(tmp_path: Path, count: int) -> None:
    path = inventory(tmp_path, station("OLI", channels("HH", "00")), station("B", channels("BH")))
    mutant, seeds = tmp_path / "mutant.xml", range(count)
    refused = count_refused(read, mutant, path.read_bytes(), seeds, words=0.6, lines=12)
    assert refused > count / 4
