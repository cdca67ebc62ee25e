"""Lists of stations: CSV with a header line, or FDSN StationXML (files that end in .xml)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from groundswell.errors import CaseError, CaseProblem, InputError, counted, install
from groundswell.formats.damage import read_errors_reported
from groundswell.formats.text import parse_number, read_rows, read_text
from groundswell.seismology.case.receivers import Receiver

COLUMNS = ("network", "station", "longitude", "latitude", "x", "y", "depth", "kind")
Content = dict[str, Any]
StationRows = list[tuple[str, Content]]  # place in the file, for messages, and content


def read_stations(path: Path | str) -> list[Receiver]:
    """Read a list of stations.

    CSV files have the columns network, station, longitude and latitude (degrees) or x and y (m),
    and optionally depth (m, 0 at the surface) and kind (of the instrument, as in a case); lines
    that start with # are comments. StationXML gives the coordinates of each station and the depth
    of its channels; if a station moved, its last position is used.

    Raises:
        CaseError: the file cannot be read, or stations are invalid; lists all of them.
    """
    rows = _read_xml(path) if str(path).lower().endswith(".xml") else _read_csv(path)
    if not rows:
        raise InputError(f"{path}: the file has no stations")
    stations: list[Receiver] = []
    found: dict[str, str] = {}
    problems: list[CaseProblem] = []
    for where, content in rows:
        try:
            stations.append(station := Receiver(**content))
        except CaseError as error:
            problems += [_in_file(problem, where) for problem in error.problems]
            continue
        if (first := found.setdefault(station.code, where)) != where:
            allowed = f"is a duplicate of {first}; names must differ"
            problems.append(CaseProblem(f"{where}: {station.code}", "", allowed))
    if problems:
        raise CaseError(problems, str(path))
    return stations


def _in_file(problem: CaseProblem, where: str) -> CaseProblem:
    """A problem of a section, reported for a line of a file."""
    key = "station" if problem.key == "name" else problem.key
    return replace(problem, key=f"{where}: {key}" if problem.value else where)


def _read_csv(path: Path | str) -> StationRows:
    rows = read_rows(path, "a list of stations")
    if not rows:
        return []
    header = [name.lower() for name in rows[0][1]]
    unknown = [name for name in header if name not in COLUMNS]
    if unknown or len(set(header)) < len(header):
        raise InputError(f"{path}: columns {header}; allowed, once each: {', '.join(COLUMNS)}")
    found = []
    for line, row in rows[1:]:
        if len(row) != len(header):
            width = counted(len(row), "cell")
            raise InputError(f"{path}, line {line}: {width}; the header has {len(header)}")
        cells = dict(zip(header, row, strict=True))
        codes = {"name": cells.pop("station", ""), "network": cells.pop("network", "")}
        found.append((f"line {line}", {**codes, **{k: _number(v) for k, v in cells.items()}}))
    return found


def _number(cell: str) -> float | str:
    try:
        return parse_number(cell)
    except ValueError:
        return cell


def _read_xml(path: Path | str) -> StationRows:
    try:
        from obspy import read_inventory
    except ImportError:
        raise InputError(
            f"{path}: reading StationXML needs ObsPy; {install('seismology')}"
        ) from None
    read_text(path, "StationXML")  # checks that the file exists
    with read_errors_reported(path, "StationXML"):
        inventory = read_inventory(str(path), format="STATIONXML")
    latest = {
        (network.code, station.code): station
        for network in inventory
        for station in sorted(network, key=lambda epoch: str(epoch.start_date or ""))
    }
    return [(".".join(codes), _from_xml(codes, at, path)) for codes, at in latest.items()]


def _from_xml(codes: tuple[str, str], station: Any, path: Path | str) -> Content:
    depths = {float(channel.depth or 0.0) for channel in station} or {0.0}
    if len(depths) > 1:
        raise InputError(
            f"{path}: {'.'.join(codes)} has channels at depths {sorted(depths)} m;"
            " list the sensors one by one in a CSV file"
        )
    place = {"longitude": float(station.longitude), "latitude": float(station.latitude)}
    return {"network": codes[0], "name": codes[1], **place, "depth": depths.pop()}
