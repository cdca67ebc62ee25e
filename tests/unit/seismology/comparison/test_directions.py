"""Observed components in any direction, rotated to E, N and Z by StationXML and headers of SAC."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from observed_motion import DATE, SITES, observed_stream, write_run

from groundswell.errors import InputError
from groundswell.seismology.comparison.compare import Comparison, compare

obspy = pytest.importorskip("obspy")
core = pytest.importorskip("obspy.core.inventory")

BAND = (0.1, 2.0)
LEVEL = {"1": (37.0, 0.0), "2": (127.0, 0.0), "Z": (0.0, -90.0)}
TILTED = {"1": (20.0, 30.0), "2": (130.0, 10.0), "3": (250.0, 50.0)}
TURNED = {"N": (3.0, 0.0), "E": (93.0, 0.0), "Z": (0.0, -90.0)}
Directions = Mapping[str, tuple[float, float]]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_run(tmp_path_factory.mktemp("directions") / "run")


def recorded(directions: Directions) -> Any:
    """The motion, 1.5 times as large, along other directions at all stations."""
    three, found = observed_stream(factor=1.5), obspy.Stream()
    for site in SITES:
        by_code = {trace.stats.channel[-1]: trace for trace in three.select(station=site.name)}
        for code, (azimuth, dip) in directions.items():
            a, d = np.radians([azimuth, dip])
            weights = {"E": np.sin(a) * np.cos(d), "N": np.cos(a) * np.cos(d), "Z": -np.sin(d)}
            trace = by_code["Z"].copy()
            trace.data = sum(weights[axis] * by_code[axis].data for axis in "ENZ")
            trace.stats.channel = f"HH{code}"
            found.append(trace)
    return found


def inventory(directions: Directions) -> Any:
    """An inventory in which the sensors were turned by 50 degrees a year before the records."""
    networks, turned = [], obspy.UTCDateTime(DATE) - 365 * 86400
    epochs = [(50.0, {"end_date": turned}), (0.0, {"start_date": turned})]
    for site in SITES:
        place = {"latitude": 34.0, "longitude": -118.0, "elevation": 0.0}
        channels = [
            core.Channel(
                f"HH{code}", "", azimuth=(a + more) % 360, dip=dip, depth=0.0, **place, **dates
            )
            for code, (a, dip) in directions.items()
            for more, dates in epochs
        ]
        station = core.Station(site.name, channels=channels, **place)
        networks.append(core.Network(site.network or "XX", stations=[station]))
    return core.Inventory(networks, source="test")


def require_same(found: Comparison, components: str) -> None:
    assert not found.warnings and len(found.pairs) == 3
    assert [row.component for row in found.rows] == [*components] * 3
    for row in found.rows:
        assert row.shift == pytest.approx(0, abs=1e-3)
        assert row.ratio == pytest.approx(1 / 1.5, rel=1e-3)
        assert row.correlation == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("directions", [LEVEL, TILTED, TURNED])
@pytest.mark.parametrize("components", ["ZNE", "ZRT"])
def test_components_are_rotated_by_an_inventory(
    run: Path, directions: Directions, components: str, tmp_path: Path
) -> None:
    path = tmp_path / "stations.xml"
    inventory(directions).write(str(path), format="STATIONXML")
    found = compare(run, recorded(directions), path, band=BAND, components=components)
    require_same(found, components)


def test_headers_of_sac_have_directions(run: Path, tmp_path: Path) -> None:
    for trace in recorded(LEVEL):
        azimuth, dip = LEVEL[trace.stats.channel[-1]]
        trace.stats.sac = {"cmpaz": azimuth, "cmpinc": dip + 90.0}
        trace.write(str(tmp_path / f"{trace.id}.sac"), format="SAC")
    require_same(compare(run, tmp_path, band=BAND), "ZNE")


def test_horizontal_components_alone_are_enough(run: Path) -> None:
    stream = recorded(LEVEL).select(channel="HH[12]")
    require_same(compare(run, stream, inventory(LEVEL), band=BAND), "NE")


def test_components_that_do_not_give_the_motion_are_left_out(run: Path) -> None:
    stream = recorded(LEVEL).select(channel="HH[1Z]")
    found = compare(run, stream, inventory(LEVEL), band=BAND)
    assert {row.component for row in found.rows} == {"Z"}
    assert found.warnings[0].startswith("GS.NEAR: channels HH1 are left out, because their")
    with pytest.raises(InputError, match=r"channels HH1, HH2, HH3 have no known direction"):
        compare(run, recorded(TILTED), inventory(LEVEL).select(channel="HHZ"), band=BAND)


def test_two_kinds_of_horizontal_components_need_a_choice(run: Path) -> None:
    stream = recorded(LEVEL).select(channel="HH[12]") + observed_stream().select(channel="HHN")
    with pytest.raises(InputError, match=r"record of component 1 besides N, E, R or T \(HH1\)"):
        compare(run, stream, inventory(LEVEL), band=BAND)


def test_an_inventory_must_be_one(run: Path, tmp_path: Path) -> None:
    (tmp_path / "stations.xml").write_text("<none/>")
    with pytest.raises(InputError, match=r"stations\.xml"):
        compare(run, recorded(LEVEL), tmp_path / "stations.xml")
    with pytest.raises(InputError, match="an inventory of the type int is unknown"):
        compare(run, recorded(LEVEL), 3)
