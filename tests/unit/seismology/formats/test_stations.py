"""Lists of stations as CSV and StationXML."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from groundswell.errors import InputError
from groundswell.seismology.case.receivers import Receiver
from groundswell.seismology.formats.stations import read_stations

QUICK = settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])


def csv(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "stations.csv"
    path.write_bytes(text.encode())
    return path


def test_longitude_and_latitude(tmp_path: Path) -> None:
    text = "network,station,longitude,latitude\nCI,OLI,-117.92,33.95\n,PAS,-118.17,34.15\n"
    oli, pas = read_stations(csv(tmp_path, text))
    assert oli == Receiver(network="CI", name="OLI", longitude=-117.92, latitude=33.95)
    assert (oli.code, pas.code, pas.depth) == ("CI.OLI", "PAS", 0.0)


def test_columns_in_any_order_with_comments_and_a_byte_order_mark(tmp_path: Path) -> None:
    text = "\ufeff# borehole\r\n depth, Y ,x,STATION,network\r\n\r\n 150, 2e3,1e3, A1 ,XX\r\n"
    assert read_stations(csv(tmp_path, text)) == [
        Receiver(network="XX", name="A1", x=1e3, y=2e3, depth=150.0)
    ]


def test_kinds_of_instruments(tmp_path: Path) -> None:
    text = "station,x,y,depth,kind\nH1,1,2,10,hydrophone\nN1,1,2,300,ocean-bottom-node\n"
    assert [r.kind for r in read_stations(csv(tmp_path, text))] == [
        "hydrophone",
        "ocean-bottom-node",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no stations"),
        ("network,station,x,y\n", "no stations"),
        ("network,x,y\nA,1,2\n", 'line 2: station = "": must not be empty'),
        ("network,station,x\nA,B,2\n", "line 2: give either x and y, or longitude and latitude"),
        ("network,station,x,latitude\nA,B,2,3\n", "give either x and y, or longitude and latitude"),
        ("network,station,x,y,elevation\n", "allowed, once each"),
        ("network,station,x,y,x\n", "allowed, once each"),
        ("network,station,x,y\nA,B,1\n", "line 2: 3 cells; the header has 4"),
        ("# c\nnetwork,station,x,y\n# c\nA,B,1,2\n\nA,C,east,2\n", "line 6: .*east"),
        ("network,station,x,y\nA,B,1,nan\n", "line 2: y = nan: "),
        ("network,station,x,y\nA,B,1,\n", 'line 2: y = "": '),
        ("network,station,x,y,depth\nA,B,1,2,deep\n", 'line 2: depth = "deep"'),
        (
            "network,station,longitude,latitude\nA,B,1,91\n",
            "line 2: latitude = 91.0: must be at most 90",
        ),
        ("network,station,longitude,latitude\nA,B,1e9,1\n", "line 2: longitude = 1000000000.0"),
        ("network,station,x,y\nA,,1,2\n", 'line 2: station = ""'),
        ("network,station,x,y\nA,B/../C,1,2\n", 'line 2: station = "B/../C"'),
        (
            "network,station,x,y\nA,B,1,2\nC,B,1,2\nA,B,3,4\n",
            "line 4: A.B: is a duplicate of line 2",
        ),
        ('network,station,x,y\nA,"B,1,2\n', "line"),
        ("station,x,y,kind\nB,1,2,geophone\n", 'line 2: kind = "geophone": must be "seismometer"'),
    ],
)
def test_bad_lists_are_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_stations(csv(tmp_path, text))


@QUICK
@given(raw=st.binary(max_size=120), suffix=st.sampled_from([".csv", ".xml"]))
def test_any_bytes_are_read_or_refused(tmp_path: Path, raw: bytes, suffix: str) -> None:
    path = tmp_path / f"stations{suffix}"
    for content in (raw, b"network,station,x,y\nA,B,1,2\n" + raw):
        path.write_bytes(content)
        try:
            read_stations(path)
        except InputError as error:
            assert str(path) in str(error)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    for name in ("none.csv", "none.xml"):
        with pytest.raises(InputError, match="cannot read"):
            read_stations(tmp_path / name)


# --- StationXML ----------------------------------------------------------------------------------


def inventory(tmp_path: Path, *stations: object) -> Path:
    core = pytest.importorskip("obspy.core.inventory")
    path = tmp_path / "stations.xml"
    network = core.Network("CI", stations=list(stations))
    core.Inventory([network], source="test").write(str(path), format="STATIONXML")
    return path


def station(code: str, latitude: float, *depths: float, year: int = 2000) -> object:
    obspy = pytest.importorskip("obspy")
    core = pytest.importorskip("obspy.core.inventory")
    channels = [
        core.Channel(f"BH{n}", "", latitude, -118.0, elevation=10.0, depth=depth)
        for n, depth in enumerate(depths)
    ]
    start = obspy.UTCDateTime(year, 1, 1)
    return core.Station(code, latitude, -118.0, 10.0, channels=channels, start_date=start)


def test_station_xml(tmp_path: Path) -> None:
    path = inventory(tmp_path, station("OLI", 33.9), station("DEEP", 34.0, 120.0, 120.0))
    assert read_stations(path) == [
        Receiver(network="CI", name="OLI", longitude=-118.0, latitude=33.9),
        Receiver(network="CI", name="DEEP", longitude=-118.0, latitude=34.0, depth=120.0),
    ]


def test_a_station_that_moved_stands_at_its_last_place(tmp_path: Path) -> None:
    path = inventory(tmp_path, station("OLI", 34.5, year=2020), station("OLI", 33.9, year=1999))
    assert [found.latitude for found in read_stations(path)] == [34.5]


def test_sensors_at_several_depths_need_a_choice(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"CI.ARR has channels at depths \[0.0, 80.0\]"):
        read_stations(inventory(tmp_path, station("ARR", 34.0, 0.0, 80.0)))
