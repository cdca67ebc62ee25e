"""Lists of stations: CSV, STATIONS of SPECFEM, StationXML and other inventories of ObsPy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from groundswell.errors import CaseError, CaseProblem, InputError
from groundswell.formats.text import read_text
from groundswell.seismology.case.receivers import Receiver, ReceiverFile
from groundswell.seismology.formats.station_inventory import is_inventory, read_inventory
from groundswell.seismology.formats.station_rows import StationRow
from groundswell.seismology.formats.station_tables import read_csv, read_specfem

_SHOWN = 10  # number of problems that a message lists


class ListedStation(NamedTuple):
    """A station of a file, and its place there, for messages."""

    where: str
    receiver: Receiver


def read_stations(section: ReceiverFile, *, geographic: bool) -> list[ListedStation]:
    """Read the stations of a file.

    Args:
        section: the file, and which channels of an inventory count.
        geographic: whether the case has a geography: the columns of SPECFEM's files are then
            latitude and longitude, otherwise y and x.

    Raises:
        InputError: the file cannot be read, or has no stations.
        CaseError: stations are invalid; lists up to ten problems.
    """
    rows, problems = _read(section, geographic)
    if not rows and not problems:
        raise InputError(f"{section.file}: the file has no stations")
    stations: list[ListedStation] = []
    for row in rows:
        try:
            stations.append(ListedStation(row.where, Receiver(**row.content)))
        except CaseError as error:
            problems += [_in_file(problem, row.where) for problem in error.problems]
    reject_stations([*problems, *_duplicates(stations)], str(section.file))
    return stations


def reject_stations(problems: Sequence[CaseProblem], file: str) -> None:
    """Raise an error for the problems of a file, if there are any.

    Raises:
        CaseError: there are; lists up to ten.
    """
    more = len(problems) - _SHOWN
    last = [CaseProblem(f"{more:,} more", "", "not listed here")] if more > 0 else []
    if problems:
        raise CaseError([*problems[:_SHOWN], *last], file)


def _read(section: ReceiverFile, geographic: bool) -> tuple[list[StationRow], list[CaseProblem]]:
    path = section.file
    if is_inventory(path):
        return read_inventory(path, section.channels)
    if section.channels is not None:
        raise InputError(
            f"{path}: receivers.channels is for StationXML and other inventories; leave it out, or "
            "give a column channel"
        )
    text = read_text(path, "a list of stations")
    first = next((line for line in text.splitlines() if _is_row(line)), "")
    return read_csv(path) if "," in first else read_specfem(text, geographic)


def _is_row(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _in_file(problem: CaseProblem, where: str) -> CaseProblem:
    """A problem of a section, reported for a line of a file."""
    key = "station" if problem.key == "name" else problem.key
    return replace(problem, key=f"{where}: {key}" if problem.value else where)


def _duplicates(stations: Iterable[ListedStation]) -> list[CaseProblem]:
    """Stations with the codes of an earlier one."""
    found: dict[str, str] = {}
    return [
        CaseProblem(f"{where}: {each.code}", "", f"is a duplicate of {first}; names must differ")
        for where, each in stations
        if (first := found.setdefault(each.code, where)) != where
    ]
