"""Tables of ruptures and sites: CSV and TOML, with all problems of a file at once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from groundswell.errors import CaseError, InputError
from groundswell.grids.geography import Geography
from groundswell.seismology.hazard.ruptures import Rupture, Ruptures
from groundswell.seismology.hazard.tables import grid_sites, read_ruptures, read_sites

HEAD = "name,magnitude,rate,rake,longitude,latitude,depth,strike,dip,length,width\n"
ROW = "A,6.5,1e-3,180,-122,38,2000,30,90,20000,12000\n"
FRAME = Geography.from_point((-122.0, 38.0), (0.0, 0.0))


def write(folder: Path, text: str, name: str = "ruptures.csv") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_ruptures_with_and_without_a_surface(tmp_path: Path) -> None:
    path = write(tmp_path, f"# a comment\n{HEAD}{ROW}B,7,2e-4,,,,,,,,\n")
    first, second = read_ruptures(path, FRAME)
    assert (first.name, first.magnitude, first.rate, first.rake) == ("A", 6.5, 1e-3, 180.0)
    surface = first.surface
    assert surface is not None and surface.strike == pytest.approx(30)
    assert surface.panels[0, :2].mean(axis=0) == pytest.approx([0, 0, 2000], abs=1e-3)
    assert (second.rake, second.surface) == (None, None)


def test_the_same_in_toml_with_units(tmp_path: Path) -> None:
    text = """[[rupture]]
    name = "A"
    magnitude = 6.5
    rate = 1e-3
    rake = 180
    longitude = -122
    latitude = 38
    depth = "2 km"
    strike = 30
    dip = 90
    length = "20 km"
    width = "12 km"
    """
    (found,) = read_ruptures(write(tmp_path, text, "ruptures.toml"), FRAME)
    (wanted,) = read_ruptures(write(tmp_path, HEAD + ROW), FRAME)
    assert found.surface and wanted.surface
    assert np.array_equal(found.surface.panels, wanted.surface.panels)


def test_every_problem_of_a_table_is_listed(tmp_path: Path) -> None:
    rows = "A,x,1e-3\nB,6,-1\nC,6,\nD,99,1\n"
    with pytest.raises(CaseError) as caught:
        read_ruptures(write(tmp_path, f"name,magnitude,rate\n{rows}"), None)
    text = str(caught.value)
    for line, key in (
        (2, 'magnitude = "x"'),
        (3, "rate = -1"),
        (4, "rate: is required"),
        (5, "magn"),
    ):
        assert f"line {line}: {key}" in text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "first line must name the columns"),
        ("name,name\n", "once each"),
        ("name,magnitude,rate\nA,6\n", "line 2: 2 cells; the header has 3"),
        (
            "name,magnitude,rate,strik\nA,6,1,3\n",
            r'"strik" is not a column .*did you mean "strike"',
        ),
        (HEAD + "A,6,1,,,,,30,,,\n", "  line 2: give all of strike, dip, length, width, depth"),
    ],
)
def test_tables_that_are_refused(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        read_ruptures(write(tmp_path, text), FRAME)


@pytest.mark.parametrize("text", ["rupture = 3", "a = 1", "[[rupture]]\nname = 'A'\n[x]", "[rup"])
def test_toml_that_is_no_table_of_ruptures(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match=r"must have tables \[\[rupture\]\]|is not TOML"):
        read_ruptures(write(tmp_path, text, "ruptures.toml"), None)


def test_frames_do_not_mix(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="but the sites x and y"):
        read_ruptures(write(tmp_path, HEAD + ROW), None)
    by_metres = HEAD.replace("longitude,latitude", "x,y") + ROW
    with pytest.raises(InputError, match="has x and y, but the sites have longitude"):
        read_ruptures(write(tmp_path, by_metres), FRAME)
    assert read_ruptures(write(tmp_path, by_metres), None)[0].surface


def test_names_of_ruptures_differ() -> None:
    twice = [Rupture("A", 6.0, 1.0), Rupture("A", 7.0, 1.0)]
    with pytest.raises(InputError, match='must differ in name; repeated: "A"'):
        Ruptures(twice)
    with pytest.raises(InputError, match="no ruptures"):
        Ruptures([])


# --- sites --------------------------------------------------------------------------------------


def test_sites(tmp_path: Path) -> None:
    text = "network,station,longitude,latitude,vs30,z1\nCI,ABC,-122,38,400,50\nCI,DEF,-121,38,,\n"
    sites = read_sites(write(tmp_path, text, "sites.csv"), 760.0)
    assert list(sites.names) == ["CI.ABC", "CI.DEF"] and sites.is_geographic
    assert sites.vs30.tolist() == [400, 760] and sites.z1[0] == 50 and np.isnan(sites.z1[1])
    apart = np.linalg.norm(sites.positions[1] - sites.positions[0])
    assert apart == pytest.approx(111.32e3 * np.cos(np.radians(38)), rel=2e-3)
    assert sites.index("CI.DEF") == 1
    with pytest.raises(InputError, match=r'no site is called "CI.DEG" \(did you mean "CI.DEF"'):
        sites.index("CI.DEG")


def test_sites_around_the_date_line(tmp_path: Path) -> None:
    text = "name,longitude,latitude\nA,179.9,-17\nB,-179.9,-17\n"
    sites = read_sites(write(tmp_path, text, "sites.csv"), 760.0)
    apart = np.linalg.norm(sites.positions[1] - sites.positions[0])
    assert apart == pytest.approx(0.2 * 111.32e3 * np.cos(np.radians(17)), rel=2e-3)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("name,x,y\n", "there are no sites"),
        ("name,x,y\nA,0,0\nA,1,1\n", "two sites are called A"),
        ("name,x\nA,0\n", "give either x and y"),
        ("name,x,y,longitude,latitude\nA,0,0,,\nB,,,1,1\n", "some sites have x and y"),
    ],
)
def test_sites_that_are_refused(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        read_sites(write(tmp_path, text, "sites.csv"), 760.0)


def test_a_grid_of_sites_goes_row_by_row() -> None:
    sites = grid_sites(np.array([0.0, 1, 2]), np.array([5.0, 6]), is_geographic=False, vs30=500)
    assert sites.grid == (2, 3) and len(sites) == 6
    assert sites.horizontal[1].tolist() == [1, 5] and sites.names[3] == "1-0"


def test_names_of_sites_lead_to_no_other_folder(tmp_path: Path) -> None:
    text = "name,x,y\nCI.ABC-1,0,0\n../../etc,1,1\na/b,2,2\na_b,3,3\nÅl,4,4\n.x,5,5\n"
    sites = read_sites(write(tmp_path, text, "sites.csv"), 760.0)
    names = [sites.file_name(name) for name in sites.names]
    assert names == ["CI.ABC-1", "_._.._etc-1", "a_b-2", "a_b", "Ål", "_x-5"]
    assert len(set(names)) == len(names)
