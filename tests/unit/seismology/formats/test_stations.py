"""Lists of stations as CSV and StationXML."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from groundswell.errors import InputError
from groundswell.seismology.case.receivers import Receiver, ReceiverFile
from groundswell.seismology.formats import stations

QUICK = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def read_stations(path: Path, geographic: bool = True, **keys: Any) -> list[Receiver]:
    section = ReceiverFile(file=path, **keys)
    return [found.receiver for found in stations.read_stations(section, geographic=geographic)]


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
        ("network,station,x,y,hight\n", 'called "hight" .did you mean "height"'),
        ("network,station,x,y,vs30\n", 'called "vs30"; allowed are network, station'),
        ("network,station,x,y,x\n", "several columns give x; keep one"),
        ("network,station,x,y,x(km)\n", "several columns give x; keep one"),
        ("network,station,x(s),y\n", "unit 's' does not convert to m"),
        ("network(km),station,x,y\n", "network must be without a unit"),
        ("network,station,lon(rad),lat\n", "longitude must be in degrees"),
        ("network,station,x,y\nA,B,1\n", "line 2 = 3 cells: the header has 4"),
        ("station,x,y,location\nB,1,2,100\n", 'line 2: location = "100": must be at most two'),
        ("station,x,y,channel\nB,1,2,hhz\n", 'line 2: channel = "hh": must be a band'),
        ("station,x,y,elevation\nB,1,2,high\n", 'line 2: elevation = "high"'),
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
        with pytest.raises(InputError, match="does not exist"):
            read_stations(tmp_path / name)


def test_usual_heads_and_units(tmp_path: Path) -> None:
    text = "Net, STA ,Lat [deg],Longitude (°), depth(km),Elev [m],Loc,Channel,site_name\n"
    text += "CI,OLI,33.95,-117.92,0.15,80,10,HHZ,Olinda\nCI,PAS,34.15,-118.17,0,,,,\n"
    assert read_stations(csv(tmp_path, text)) == [
        Receiver(
            network="CI",
            name="OLI",
            longitude=-117.92,
            latitude=33.95,
            depth=150.0,
            elevation=80.0,
            location="10",
            channel="HH",
        ),
        Receiver(network="CI", name="PAS", longitude=-118.17, latitude=34.15),
    ]


def test_stations_of_specfem(tmp_path: Path) -> None:
    path = tmp_path / "STATIONS"
    path.write_text("# name network\nOLI CI 33.95 -117.92 80.0 10.0\n\nPAS\tCI 34.15 -118.17 0 0\n")
    oli, pas = read_stations(path)
    place = {"longitude": -117.92, "latitude": 33.95}
    assert oli == Receiver(network="CI", name="OLI", **place, depth=10.0, elevation=80.0)
    assert (pas.code, pas.latitude) == ("CI.PAS", 34.15)
    assert read_stations(path, geographic=False)[0].horizontal == (-117.92, 33.95)


def test_channels_are_for_inventories(tmp_path: Path) -> None:
    path = csv(tmp_path, "station,x,y\nA,1,2\n")
    with pytest.raises(InputError, match=r"receivers.channels is for StationXML"):
        read_stations(path, channels="HH?")


def test_all_problems_of_a_file_in_one_message(tmp_path: Path) -> None:
    rows = ["A,A,1,2", "A,B,x,2", "A,C,1", "A,A,3,4", "A,,1,2", *(f"A,D{n},y,2" for n in range(9))]
    with pytest.raises(InputError) as caught:
        read_stations(csv(tmp_path, "\n".join(["network,station,x,y", *rows])))
    lines = str(caught.value).splitlines()
    assert len(lines) == 12 and lines[-1] == "  3 more: not listed here"
    assert lines[1:4:2] == ["  line 4 = 3 cells: the header has 4", lines[3]]
    with pytest.raises(InputError, match=r"line 1 = 5 columns: STATIONS files have six"):
        read_stations(csv(tmp_path, "OLI CI 33.95 -117.92 80.0\n"))
