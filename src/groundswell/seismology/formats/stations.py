"""Lists of stations: CSV with a header line, or FDSN StationXML (files that end in .xml)."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from groundswell.errors import InputError
from groundswell.formats.text import read_text

COLUMNS = ("network", "station", "longitude", "latitude", "x", "y", "depth")
_CODE = re.compile(r"[A-Za-z0-9_-]{1,32}")


@dataclass(frozen=True)
class Station:
    """The codes and the position of a station.

    The position is a longitude and latitude (degrees) or x and y (m), and a depth (m).
    """

    network: str
    station: str
    longitude: float | None = None
    latitude: float | None = None
    x: float | None = None
    y: float | None = None
    depth: float = 0.0

    @property
    def name(self) -> str:
        """network.station, or the station code without a network."""
        return f"{self.network}.{self.station}" if self.network else self.station


def read_stations(path: Path | str) -> list[Station]:
    """Read a list of stations.

    CSV files have the columns network, station, longitude and latitude (degrees) or x and y (m),
    and optionally depth (m, 0 at the surface); lines that start with # are comments. StationXML
    gives the coordinates of each station and the depth of its channels; if a station moved, its
    last position is used.

    Raises:
        InputError: the file, a line or a station is invalid.
    """
    stations = _read_xml(path) if str(path).lower().endswith(".xml") else _read_csv(path)
    if not stations:
        raise InputError(f"{path}: the file has no stations")
    return stations


def _read_csv(path: Path | str) -> list[Station]:
    text = read_text(path, "a list of stations")
    # Comments become empty lines, which csv skips, so that line numbers stay those of the file.
    lines = ("" if line.lstrip().startswith("#") else line for line in text.split("\n"))
    reader = csv.reader(lines, skipinitialspace=True, strict=True)
    try:
        rows = [(reader.line_num, row) for row in reader if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise InputError(f"{path}, line {reader.line_num}: {error}") from None
    if not rows:
        return []
    header = _header(rows[0][1], path)
    return _distinct(((f"line {n}", _from_row(header, row, n, path)) for n, row in rows[1:]), path)


def _header(row: list[str], path: Path | str) -> list[str]:
    header = [cell.strip().lower() for cell in row]
    unknown = [name for name in header if name not in COLUMNS]
    if unknown or len(set(header)) < len(header):
        raise InputError(f"{path}: columns {header}; allowed, once each: {', '.join(COLUMNS)}")
    pairs = [pair for pair in ({"longitude", "latitude"}, {"x", "y"}) if pair & set(header)]
    missing = {"network", "station"} - set(header)
    if missing or len(pairs) != 1 or not pairs[0] <= set(header):
        raise InputError(
            f"{path}: columns {header}; needed: network, station, and either longitude, latitude"
            " or x, y"
        )
    return header


def _from_row(header: list[str], row: list[str], line: int, path: Path | str) -> Station:
    if len(row) != len(header):
        raise InputError(f"{path}, line {line}: {len(row)} cells; the header has {len(header)}")
    cells = {name: cell.strip() for name, cell in zip(header, row, strict=True)}
    network, code = cells.pop("network"), cells.pop("station")
    position = {name: _number(name, cell, f"{path}, line {line}") for name, cell in cells.items()}
    return Station(network, code, **position)


def _number(name: str, cell: str, where: str) -> float:
    try:
        return float(cell)
    except ValueError:
        unit = "degrees" if name in ("longitude", "latitude") else "m"
        raise InputError(f"{where}: {name} = {cell!r}; it must be a number, in {unit}") from None


def _read_xml(path: Path | str) -> list[Station]:
    try:
        from obspy import read_inventory
    except ImportError:
        raise InputError(
            f"{path}: reading StationXML needs ObsPy; pip install 'groundswell[seismology]'"
        ) from None
    read_text(path, "StationXML")  # checks that the file exists
    try:
        inventory = read_inventory(str(path), format="STATIONXML")
    except Exception as error:  # ObsPy and lxml raise many types
        raise InputError(f"{path}: not valid StationXML: {error}") from None
    latest = {
        (network.code, station.code): station
        for network in inventory
        for station in sorted(network, key=lambda epoch: str(epoch.start_date or ""))
    }
    return _distinct(
        (
            (".".join(codes), _from_xml(codes[0], station, path))
            for codes, station in latest.items()
        ),
        path,
    )


def _from_xml(network: str, station: Any, path: Path | str) -> Station:
    depths = {float(channel.depth or 0.0) for channel in station} or {0.0}
    if len(depths) > 1:
        raise InputError(
            f"{path}: {network}.{station.code} has channels at depths {sorted(depths)} m;"
            " list the sensors one by one in a CSV file"
        )
    return Station(
        network, station.code, float(station.longitude), float(station.latitude), depth=depths.pop()
    )


def _distinct(stations: Iterable[tuple[str, Station]], path: Path | str) -> list[Station]:
    """Check pairs of location (for messages) and station, and that names are unique."""
    seen: dict[str, str] = {}
    checked = []
    for where, station in stations:
        problem = next(_problems(station), None)
        if station.name in seen:
            problem = f"{station.name} again, as in {seen[station.name]}; names must differ"
        if problem:
            raise InputError(f"{path}, {where}: {problem}")
        seen[station.name] = where
        checked.append(station)
    return checked


def _problems(station: Station) -> Iterator[str]:
    for name, code in (("network", station.network), ("station", station.station)):
        empty_allowed = name == "network"
        if not (_CODE.fullmatch(code) or (empty_allowed and not code)):
            yield f"{name} = {code!r}; codes are 1 to 32 letters, digits, - and _"
    for name, limit in (("longitude", 360.0), ("latitude", 90.0), ("x", math.inf), ("y", math.inf)):
        value = getattr(station, name)
        if value is not None and not (math.isfinite(value) and abs(value) <= limit):
            allowed = f"{-limit:g} to {limit:g}" if math.isfinite(limit) else "a finite number"
            yield f"{name} = {value}; allowed: {allowed}"
    if not (math.isfinite(station.depth) and station.depth >= 0):
        yield f"depth = {station.depth} m; it must be 0 (surface) or positive (down)"
