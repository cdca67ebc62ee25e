"""Tables of stations: CSV with a header line, and the STATIONS files of SPECFEM."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from groundswell.errors import CaseProblem, InputError, counted, did_you_mean
from groundswell.formats.text import parse_number, read_rows
from groundswell.seismology.formats.station_rows import StationRow
from groundswell.seismology.media.material import unit_factor

# The keys of a receiver, and what their columns are usually called.
_HEADS = {
    "network": ("network", "net", "networkcode"),
    "name": ("station", "name", "sta", "code", "stationcode", "stationname"),
    "location": ("location", "loc", "locationcode"),
    "channel": ("channel", "cha", "chan", "channelcode"),
    "longitude": ("longitude", "lon", "long", "lng", "stlo"),
    "latitude": ("latitude", "lat", "stla"),
    "x": ("x",),
    "y": ("y",),
    "depth": ("depth", "burial", "stdp"),
    "elevation": ("elevation", "elev", "height", "altitude", "stel"),
    "kind": ("kind",),
}
_KEYS = {head: key for key, heads in _HEADS.items() for head in heads}
_UNUSED = {"site", "sitename", "description", "comment", "start", "starttime", "end", "endtime"}
_TEXTS = ("network", "name", "location", "channel", "kind")
_ANGLES = ("longitude", "latitude")
_DEGREES = ("", "deg", "degree", "degrees", "°", "degreese", "degreesn")
_TITLE = re.compile(r"(?P<name>[^(\[]*?)\s*[(\[](?P<unit>.*)[)\]]")
COLUMNS = (
    "network, station, longitude and latitude (or x and y), depth, elevation, location, channel, "
    "kind"
)
_SPECFEM = ("name", "network", "latitude", "longitude", "elevation", "depth")
_SPECFEM_NAMES = "name, network, latitude (or y), longitude (or x), elevation, burial"

Rows = tuple[list[StationRow], list[CaseProblem]]


class _Column(NamedTuple):
    """The key of a receiver, and the factor to SI units; no key if it is not read."""

    key: str
    factor: float


def read_csv(path: Path) -> Rows:
    """The stations of a table, and lines that have too few or too many cells.

    Raises:
        InputError: the header has unknown or repeated columns.
    """
    rows = read_rows(path, "a list of stations")
    columns = [_column(title, path) for title in rows[0][1]]
    keys = [column.key for column in columns if column.key]
    if repeated := [key for key in dict.fromkeys(keys) if keys.count(key) > 1]:
        raise InputError(f"{path}: several columns give {repeated[0]}; keep one of them")
    found, problems = [], []
    for line, cells in rows[1:]:
        if len(cells) != len(columns):
            width = counted(len(cells), "cell")
            problems.append(CaseProblem(f"line {line}", width, f"the header has {len(columns)}"))
        else:
            found.append(StationRow(f"line {line}", _content(columns, cells)))
    return found, problems


def read_specfem(text: str, geographic: bool) -> Rows:
    """The stations of a STATIONS file, and lines that do not have six columns.

    Elevations and burials are in metres.

    Args:
        geographic: whether columns three and four are latitude and longitude, or y and x.
    """
    keys = _SPECFEM if geographic else ("name", "network", "y", "x", "elevation", "depth")
    columns = [_Column(key, 1.0) for key in keys]
    found, problems = [], []
    for line, row in enumerate(text.splitlines(), 1):
        cells = row.partition("#")[0].split()
        if cells and len(cells) != len(columns):
            width = counted(len(cells), "column")
            allowed = f"STATIONS files have six: {_SPECFEM_NAMES}; a CSV file has commas"
            problems.append(CaseProblem(f"line {line}", width, allowed))
        elif cells:
            found.append(StationRow(f"line {line}", _content(columns, cells)))
    return found, problems


def _column(title: str, path: Path) -> _Column:
    """The meaning of the title of a column, such as `depth (km)`.

    Raises:
        InputError: it has none, or its unit is unknown.
    """
    match = _TITLE.fullmatch(title)
    name, unit = (match["name"], match["unit"].strip()) if match else (title, "")
    word = re.sub(r"[\s_-]", "", name.lower())
    if word in _UNUSED:
        return _Column("", 1.0)
    if word not in _KEYS:
        near = did_you_mean(word, _KEYS)
        raise InputError(
            f'{path}: a column is called "{title[:40]}"{near}; allowed are {COLUMNS}, with units '
            "as in depth(km); remove others"
        )
    return _Column(_KEYS[word], _factor(_KEYS[word], unit, f'{path}, column "{title[:40]}"'))


def _factor(key: str, unit: str, where: str) -> float:
    if key in _ANGLES and unit.lower().replace("_", "") in _DEGREES:
        return 1.0
    if key in (*_TEXTS, *_ANGLES) and unit:
        allowed = "in degrees" if key in _ANGLES else "without a unit"
        raise InputError(f"{where}: {key} must be {allowed}")
    return unit_factor(unit, "m", where)


def _content(columns: Sequence[_Column], cells: Sequence[str]) -> dict[str, Any]:
    """The keys of a receiver; empty codes, and empty elevations, are left out."""
    content: dict[str, Any] = {"name": ""}
    for column, cell in zip(columns, cells, strict=True):
        if column.key in _TEXTS:
            content |= {column.key: cell} if cell else {}
        elif column.key and (cell or column.key != "elevation"):
            content[column.key] = _number(cell, column.factor)
    if len(content.get("channel", "")) == 3:
        content["channel"] = content["channel"][
            :2
        ]  # of HHZ or HH?, the codes that components share
    return content


def _number(cell: str, factor: float) -> float | str:
    try:
        return parse_number(cell) * factor
    except ValueError:
        return cell
