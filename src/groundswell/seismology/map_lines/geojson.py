"""Lines in GeoJSON (RFC 7946): line strings and the outlines of polygons; points are left out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from groundswell.errors import InputError
from groundswell.formats.atomic import atomic_write
from groundswell.formats.text import read_text
from groundswell.seismology.map_lines.lines import Line, Lines, as_line, to_degrees

_DEPTH = {"LineString": 0, "MultiLineString": 1, "Polygon": 1, "MultiPolygon": 2}
_DIGITS = 6  # of degrees: 0.1 m


def read_geojson(path: Path) -> Lines:
    """The lines of a file, degrees; `crs` of earlier versions of the format is read, too.

    Raises:
        InputError: the file is missing, damaged, or not GeoJSON.
    """
    try:
        content = json.loads(read_text(path, "GeoJSON"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not GeoJSON: {error}") from None
    if not isinstance(content, dict) or not isinstance(content.get("type"), str):
        raise InputError(f'{path} is not GeoJSON: it has no "type"')
    lines = [as_line(points, path) for points in _strings(content, path)]
    return to_degrees(lines, _system(content), path)


def write_geojson(path: Path, lines: Lines) -> Path:
    """Write lines in degrees as one feature each.

    Raises:
        RunFailed: the disk is full.
    """
    features = [
        {"type": "Feature", "properties": {}, "geometry": _geometry(line)} for line in lines
    ]
    with atomic_write(path) as part:
        part.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    return path


def _geometry(line: Line) -> dict[str, Any]:
    return {"type": "LineString", "coordinates": line.round(_DIGITS).tolist()}


def _strings(item: object, path: Path) -> Iterator[object]:
    """Yield the points of each line of an object, whose parts may be missing (null)."""
    if item is None:
        return
    if not isinstance(item, dict):
        raise InputError(f"{path} is not GeoJSON: {str(item)[:40]!r} is no object")
    for key in ("features", "geometries"):
        for part in _listed(item.get(key), path):
            yield from _strings(part, path)
    if item.get("type") == "Feature":
        yield from _strings(item.get("geometry"), path)
    kind = item.get("type")
    if isinstance(kind, str) and kind in _DEPTH:
        yield from _unpacked(item.get("coordinates"), _DEPTH[kind], path)


def _unpacked(points: object, depth: int, path: Path) -> Iterator[object]:
    if depth == 0:
        yield points
        return
    for part in _listed(points, path):
        yield from _unpacked(part, depth - 1, path)


def _listed(value: object, path: Path) -> list[Any]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise InputError(f"{path} is not GeoJSON: {str(value)[:40]!r} is no list")
    return value


def _system(content: dict[str, Any]) -> str | None:
    """The coordinate system that a file names, as those of GeoJSON 2008 may; None is WGS 84."""
    crs = content.get("crs")
    named = crs.get("properties") if isinstance(crs, dict) else None
    name = named.get("name") if isinstance(named, dict) else None
    return name if isinstance(name, str) and "CRS84" not in name else None
