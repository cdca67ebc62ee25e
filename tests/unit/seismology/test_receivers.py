"""Receivers of a case: those of a file in the region, and their codes in output files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from damage import count_refused
from earthquake_setups import GEOGRAPHY, case
from seismogram_files import EVENT
from variants import long_variants

from groundswell.errors import InputError
from groundswell.seismology.formats.sac_mseed import to_obspy, write_mseed, write_sac
from groundswell.seismology.formats.seismograms import (
    PRESSURE,
    SeismogramWriter,
    read_seismograms,
)
from groundswell.seismology.receivers import PlacedReceivers, place_receivers, skipped_receivers

HEAD = "network,station,longitude,latitude\n"
INSIDE, OUTSIDE = "CI,IN,-117.9,33.9\n", "CI,FAR,-117.8,33.9\nCI,WEST,10,50\nCI,POLE,-117.9,-90\n"


def placed(path: Path, text: str, formats: tuple[str, ...] = (), **keys: Any) -> PlacedReceivers:
    path.write_text(text)
    section = {"file": path, **keys}
    output = {"seismograms": {"formats": ["hdf5", *formats]}}
    return place_receivers(
        case(grid={"geography": GEOGRAPHY}, receiver=[], receivers=section, output=output)
    )


def test_stations_outside_are_skipped_on_request(tmp_path: Path) -> None:
    path = tmp_path / "stations.csv"
    found = placed(path, HEAD + INSIDE + OUTSIDE, outside="skip")
    assert [station.name for station in found.stations] == ["IN"]
    assert found.skipped == ("CI.FAR", "CI.WEST", "CI.POLE")
    (quantity,) = skipped_receivers(found.skipped, "")
    assert quantity.value == 3
    assert quantity.text == "3 stations of the file, outside the region: CI.FAR, CI.WEST, CI.POLE"
    with pytest.raises(InputError, match=r"line 3: station CI.FAR: longitude = -117.8: lies out"):
        placed(path, HEAD + INSIDE + OUTSIDE)
    with pytest.raises(InputError, match=r"stations.csv: all 3 stations lie outside the region"):
        placed(path, HEAD + OUTSIDE, outside="skip")


def test_mistakes_are_not_skipped(tmp_path: Path) -> None:
    path, head = tmp_path / "stations.csv", "station,x,y,depth\n"
    assert placed(path, f"{head}A,1,1,0\nB,1,1,9e9\n", outside="skip").skipped == ("B",)
    with pytest.raises(InputError, match=r"line 2: station A: depth = -1.0: lies above the"):
        placed(path, f"{head}A,1,1,-1\nB,1,1,1\n", outside="skip")


def test_at_most_ten_problems_are_listed(tmp_path: Path) -> None:
    rows = "".join(f"CI,LONGNAME{n},-117.9,33.9\n" for n in range(30))
    with pytest.raises(InputError) as caught:
        placed(tmp_path / "stations.csv", HEAD + rows, ("sac",))
    lines = str(caught.value).splitlines()
    assert len(lines) == 12 and lines[-1] == "  20 more: not listed here"
    assert lines[1].startswith("  line 2: station CI.LONGNAME0: name = LONGNAME0: must")


def test_output_has_the_codes_and_elevations_of_the_inventory(tmp_path: Path) -> None:
    """The channels of an inventory select the traces of a run that they are compared with."""
    core = pytest.importorskip("obspy.core.inventory")
    obspy = pytest.importorskip("obspy")
    codes = {"OLI": ("00", "HH"), "PAS": ("", "BH"), "NEW": ("10", "")}
    stations = [
        core.Station(
            name,
            latitude=33.9,
            longitude=-117.9,
            elevation=100.0,
            channels=[
                core.Channel(f"{code}{c}", location, 33.9, -117.9, 100.0, 0.0, sample_rate=100.0)
                for c in "ENZ"
                if code
            ],
        )
        for name, (location, code) in codes.items()
    ]
    path = tmp_path / "stations.xml"
    inventory = core.Inventory([core.Network("CI", stations=stations)], source="test")
    inventory.write(str(path), format="STATIONXML")
    section = {"grid": {"geography": GEOGRAPHY}, "receiver": [], "receivers": {"file": path}}
    receivers = place_receivers(case(**section)).stations
    block = np.random.default_rng(1).standard_normal((30, 3, 3))
    with SeismogramWriter(tmp_path / "s.h5", receivers, 0.5, attrs=EVENT) as writer:
        writer.append(block)
    array = read_seismograms(tmp_path / "s.h5")
    assert array["elevation"].values.tolist() == [100.0] * 3
    stream = obspy.read(str(write_mseed([array], tmp_path / "s.mseed")))
    expected = inventory.get_contents()["channels"]
    assert len(expected) == 6 and all(len(stream.select(id=name)) == 1 for name in expected)
    assert len(stream.select(id="CI.NEW..MHZ")) == 1  # 2 Hz, as the inventory has no channels
    written = write_sac(array, tmp_path / "sac")
    assert "CI.OLI.00.HHZ.sac" in [path.name for path in written]
    (trace,) = obspy.read(str(tmp_path / "sac" / "CI.OLI.00.HHZ.sac"))
    assert (trace.id, float(trace.stats.sac.stel)) == ("CI.OLI.00.HHZ", 100.0)


def test_pressure_has_the_band_code_of_the_station(tmp_path: Path) -> None:
    pytest.importorskip("obspy")
    node = {"name": "N", "x": 1.0, "y": 1.0, "channel": "CH", "location": "01"}
    receivers = place_receivers(case(receiver=[node])).stations
    with SeismogramWriter(tmp_path / "p.h5", receivers, 0.5, PRESSURE) as writer:
        writer.append(np.zeros((4, 1, 1)))
    (trace,) = to_obspy(read_seismograms(tmp_path / "p.h5", PRESSURE))
    assert trace.id == ".N.01.CDH"


@pytest.mark.parametrize("count", [60, *long_variants([300])])
@pytest.mark.parametrize("kind", ["csv", "specfem"])
def test_mutants_of_tables(tmp_path: Path, kind: str, count: int) -> None:
    """Short texts, so that a mutant is often still a list of stations."""
    head = "Net,Sta,Lon,Lat (deg),depth(km),elevation"
    csv = f"{head}\nCI,OLI,-117.9,33.9,0.1,80\nCI,B,-117.9,33.9,0,\n"
    text = csv if kind == "csv" else "OLI CI 33.9 -117.9 80.0 10.0\nPAS CI 33.9 -117.9 0 0\n"

    def read(path: Path) -> None:
        section = {"file": path, "outside": "skip"}
        made = case(grid={"geography": GEOGRAPHY}, receiver=[], receivers=section)
        found = place_receivers(made)
        assert found.stations and np.isfinite([each.position for each in found.stations]).all()

    sound, seeds = text.encode(), range(count)
    refused = count_refused(read, tmp_path / "mutant.csv", sound, seeds, words=0.6, lines=12)
    assert refused > count / 4
