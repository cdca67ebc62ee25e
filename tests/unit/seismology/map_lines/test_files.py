"""Files of lines: each format against the same random lines, and mutants of each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from damage import count_refused

from groundswell.arrays import Floats
from groundswell.errors import InputError
from groundswell.grids.geography import from_lonlat
from groundswell.seismology.map_lines import files
from groundswell.seismology.map_lines.files import read_lines
from groundswell.seismology.map_lines.geojson import write_geojson

UTM = "EPSG:32611"


def random_lines(seed: int = 0) -> list[Floats]:
    """Lines of 2 to 9 points around 117 degrees west and 34 degrees north."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(2, 10, 5)
    return [np.array([-117.0, 34.0]) + rng.uniform(-1, 1, (n, 2)) for n in counts]


def as_geojson(lines: list[Floats]) -> str:
    """A collection of every kind of geometry that has lines."""
    a, b, c, d, e = (line.tolist() for line in lines)
    kinds = [("LineString", a), ("MultiLineString", [b]), ("Polygon", [c]), ("MultiPolygon", [[d]])]
    geometries: list[Any] = [{"type": kind, "coordinates": points} for kind, points in kinds]
    last = {"type": "LineString", "coordinates": e}
    more = {"type": "GeometryCollection", "geometries": [last]}
    point = {"type": "Point", "coordinates": [0, 0]}
    features = [
        {"type": "Feature", "properties": {"name": "x"}, "geometry": each}
        for each in (*geometries, None, point, more)
    ]
    return json.dumps({"type": "FeatureCollection", "features": features})


def as_gmt(lines: list[Floats]) -> str:
    """Segments as GMT writes them, with heights, comments and an empty one."""
    segments = ["\n".join(f"{x!r}\t{y!r}\t0.5" for x, y in line.tolist()) for line in lines]
    return "# faults\n> -Z1\n" + "\n> next\n".join(segments) + "\n>\n"


def as_kml(lines: list[Floats]) -> str:
    tags = ["LineString", "LinearRing", *["LineString"] * 3]
    places = [
        f"<Placemark><{tag}><coordinates>\n"
        + "\n".join(f"{x!r},{y!r},0" for x, y in line.tolist())
        + f"\n</coordinates></{tag}></Placemark>"
        for tag, line in zip(tags, lines, strict=True)
    ]
    head = '<?xml version="1.0"?><kml xmlns="http://www.opengis.net/kml/2.2"><Document>'
    return f"{head}{''.join(places)}<Point><coordinates>1,2</coordinates></Point></Document></kml>"


TEXTS = {".geojson": as_geojson, ".json": as_geojson, ".gmt": as_gmt, ".xy": as_gmt, ".kml": as_kml}


def write_shapefile(path: Path, lines: list[Floats]) -> Path:
    shapefile = pytest.importorskip("shapefile")
    with shapefile.Writer(str(path), shapefile.POLYLINE) as writer:
        writer.field("name")
        writer.line([line.tolist() for line in lines[:2]])
        writer.null()
        for line in lines[2:]:
            writer.line([line.tolist()])
        for _ in range(len(lines)):
            writer.record("a fault")
    return path


def require_equal(found: object, expected: list[Floats]) -> None:
    assert isinstance(found, list) and len(found) == len(expected)
    for line, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(line, other, rtol=0, atol=1e-9)


@pytest.mark.parametrize("suffix", TEXTS)
def test_formats_of_text(tmp_path: Path, suffix: str) -> None:
    path, lines = tmp_path / f"lines{suffix}", random_lines()
    path.write_text(TEXTS[suffix](lines))
    require_equal(read_lines(path), lines)


@pytest.mark.parametrize("suffix", TEXTS)
def test_mutants_of_text(tmp_path: Path, suffix: str) -> None:
    path, content = tmp_path / f"lines{suffix}", TEXTS[suffix](random_lines(1)).encode()
    refused = count_refused(read_lines, path, content, range(60))
    assert 5 < refused < 60


def test_shapefiles(tmp_path: Path) -> None:
    lines = random_lines(2)
    require_equal(read_lines(write_shapefile(tmp_path / "lines.shp", lines)), lines)


def test_shapefiles_in_a_projection(tmp_path: Path) -> None:
    from pyproj import CRS

    lines = random_lines(3)
    projected = [np.column_stack(from_lonlat(UTM, *line.T)) for line in lines]
    path = write_shapefile(tmp_path / "lines.shp", projected)
    (tmp_path / "lines.prj").write_text(CRS(UTM).to_wkt("WKT1_ESRI"))
    require_equal(read_lines(path), lines)


def test_mutants_of_shapefiles(tmp_path: Path) -> None:
    content = write_shapefile(tmp_path / "lines.shp", random_lines(4)).read_bytes()
    assert count_refused(read_lines, tmp_path / "other.shp", content, range(60)) > 5


def test_geojson_in_a_projection(tmp_path: Path) -> None:
    """The member `crs` of GeoJSON 2008."""
    lines, path = random_lines(5), tmp_path / "lines.geojson"
    projected = [np.column_stack(from_lonlat(UTM, *line.T)) for line in lines]
    content = json.loads(as_geojson(projected))
    content["crs"] = {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::32611"}}
    path.write_text(json.dumps(content))
    require_equal(read_lines(path), lines)


def test_lines_that_are_written_are_read(tmp_path: Path) -> None:
    lines = random_lines(6)
    path = write_geojson(tmp_path / "lines.geojson", lines)
    for found, line in zip(read_lines(path), lines, strict=True):
        np.testing.assert_allclose(found, line, rtol=0, atol=6e-7)  # 6 digits


def test_a_file_that_changes_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "lines.xy"
    for count in (2, 3):
        path.write_text("1 2\n" * count)
        assert len(read_lines(path)[0]) == count


WRONG = {
    "none.geojson": ('{"type": "FeatureCollection", "features": []}', "has no lines"),
    "bare.geojson": ('{"features": []}', 'has no "type"'),
    "text.geojson": ("hello", "is not GeoJSON"),
    "deep.geojson": ("[" * 100_000, "is not GeoJSON"),
    "short.geojson": ('{"type": "LineString", "coordinates": [[1], [2]]}', "pairs of numbers"),
    "metres.gmt": ("400000 3700000\n400001 3700000\n", "write degrees, in this order"),
    "words.txt": ("> fault\nlongitude latitude\n", "line 2: expected longitude and latitude"),
    "one.txt": ("> fault\n-117 34\n> fault\n-117 35\n", "has no lines"),
    "lines.kml": ("<kml><Document></kml>", "is not XML"),
    "lines.pdf": ("", "must be a file .geojson"),
    "lines.shp": ("", "lines.shp"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_files_are_refused(tmp_path: Path, name: str) -> None:
    content, message = WRONG[name]
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(InputError, match=message):
        read_lines(path)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere\.gmt: cannot read"):
        read_lines(tmp_path / "nowhere.gmt")


def test_names_need_cartopy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDSWELL_CACHE", str(tmp_path))
    monkeypatch.setitem(__import__("sys").modules, "cartopy.io.shapereader", None)
    with pytest.raises(InputError, match=r'"coastlines" needs cartopy; .*\[maps\]'):
        read_lines("coastlines")


@pytest.mark.parametrize("has_network", [True, False])
def test_names_are_downloaded_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_network: bool
) -> None:
    """cartopy has a function that downloads a shapefile and returns its path."""
    from types import SimpleNamespace
    from urllib.error import URLError

    lines, asked = random_lines(7), []
    path = write_shapefile(tmp_path / "coast.shp", lines) if has_network else tmp_path

    def natural_earth(**options: str) -> Path:
        asked.append(options)
        if not has_network:
            raise URLError("no route to host")
        return path

    reader = SimpleNamespace(natural_earth=natural_earth)
    monkeypatch.setitem(__import__("sys").modules, "cartopy.io.shapereader", reader)
    monkeypatch.setenv("GROUNDSWELL_CACHE", str(tmp_path / "cache"))
    for _ in range(2):
        files._named.cache_clear()
        if has_network:
            assert len(read_lines("borders")) == len(lines)
        else:
            with pytest.raises(InputError, match=r"cannot download them .*no route to host"):
                read_lines("borders")
    assert len(asked) == (1 if has_network else 2)
    assert asked[0]["name"] == "admin_0_boundary_lines_land"
    files._named.cache_clear()
