"""Finite-source parameters (FSP): the slip models of the database SRCMOD and of the USGS.

Mai & Thingbaijam (2014), Seism. Res. Lett. 85, 1348-1357. Lines with % are the header: pairs such
as `Dx = 2.0 km`, a velocity-density structure, and the names of the columns, of which LAT, LON, Z
and SLIP are needed. In models of several segments, each has a header of its own. Files are in
degrees, km, km/s, g/cm^3, m and s. Rows are the centres of subfaults or, if a line of the header
says so, the centres of their top edges, as in most files of SRCMOD.

    % Loc  : LAT = 34.0 LON = -118.0 DEP = 8.0
    % Mech : STRK = 30 DIP = 60 RAKE = 90 Htop = 1 km
    % Rupt : HypX = 5 km HypZ = 4 km avTr = 1.0 s avVr = 2.7 km/s
    % Invs : Dx = 2 km Dz = 2 km
    % LAT LON X==EW Y==NS Z SLIP RAKE TRUP RISE
    34.0 -118.0 0.0 0.0 5.0 1.2 90 0.5 1.0
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from groundswell.arrays import Floats
from groundswell.errors import InputError, counted, listed
from groundswell.formats.text import parse_numbers, read_text

_PAIR = re.compile(r"\b([A-Za-z]\w*)\s*=+\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)(?![\w.])")
_SEGMENT = re.compile(r"\bSEGMENT\s*#", re.IGNORECASE)
_TOP_EDGES = re.compile(r"\bgiven for (the )?top[- ]cent(er|re)\b", re.IGNORECASE)
_TABLE = re.compile(r"(Data|NoS|PHImx|Rmin)\s*:", re.IGNORECASE)
_FUNCTION = re.compile(r"SVF\s*:([^(]*)", re.IGNORECASE)
_RENAMED = {  # numbers of lines whose names mean something else in other lines
    "invs": {"LEN": "WINDOW"},
    "loc": {name: f"HYPOCENTRE_{name}" for name in ("LAT", "LON", "DEP")},
}
_NEEDED = ("LAT", "LON", "Z")
_UNKNOWN = 999.0  # what the database writes for an unknown number


@dataclass(frozen=True)
class FspSegment:
    """The rows of a segment.

    Args:
        header: numbers of the header, by name in upper case; those of the segment replace those of
            the file. `WINDOW` is the length of time windows, s; `HYPOCENTRE_LAT`, `_LON` (degrees)
            and `_DEP` (km) are the position of the hypocentre.
        columns: names of the columns, in upper case.
        values: (rows, columns).
        at_top: whether rows are the centres of the top edges of subfaults, not of the subfaults.
    """

    header: dict[str, float]
    columns: tuple[str, ...]
    values: Floats
    at_top: bool = False

    def __len__(self) -> int:
        return len(self.values)

    def number(self, *names: str) -> float | None:
        """The first number of the header that is known; None without."""
        known = (self.header[name] for name in names if name in self.header)
        return next((number for number in known if abs(number) != _UNKNOWN), None)

    def required(self, name: str) -> Floats:
        """The values of a column that there is."""
        return self.values[:, self.columns.index(name)]

    def column(self, *names: str) -> Floats | None:
        """The values of the first of these columns; None if there is none."""
        found = next((name for name in names if name in self.columns), None)
        return self.required(found) if found else None


@dataclass(frozen=True)
class Fsp:
    """A slip model.

    Args:
        segments: at least one, with one row or more each.
        structure: rows of depth (km), P and S speed (km/s) and density (g/cm^3); empty if unknown.
        function: name of the slip-velocity function; empty if unknown.
    """

    segments: tuple[FspSegment, ...]
    structure: Floats
    function: str = ""


@dataclass
class _Lines:
    """What has been read of a file so far."""

    path: Path
    shared: dict[str, float] = field(default_factory=dict)
    own: dict[str, float] = field(default_factory=dict)
    columns: tuple[str, ...] = ()
    rows: list[str] = field(default_factory=list)
    first: int = 0
    structure: list[list[float]] = field(default_factory=list)
    in_structure: bool = False
    in_table: bool = False  # of the data of the inversion
    at_top: bool = False
    function: str = ""
    is_shared: bool = True  # whether numbers of the header belong to all segments
    segments: list[FspSegment] = field(default_factory=list)

    def header(self, text: str) -> None:
        """Read a line with %."""
        self.end_of_rows()
        words = text.split()
        if {"LAT", "LON"} <= {word.upper() for word in words} and not _PAIR.search(text):
            self.columns = tuple(word.upper() for word in words)
            return
        self.in_table = bool(_TABLE.match(text))
        self.at_top |= bool(_TOP_EDGES.search(text))
        if found := _FUNCTION.match(text):
            self.function = found[1].strip()
        self.in_structure |= "VELOCITY" in text.upper() and "DENSITY" in text.upper()
        if self.in_structure and _are_numbers(words):
            self.structure.append([float(word) for word in words[:4]])
            return
        if _SEGMENT.search(text):
            self.own, self.is_shared = {}, False
        self._pairs(text)

    def _pairs(self, text: str) -> None:
        renamed = _RENAMED.get(text.partition(":")[0].strip().lower(), {})
        for name, value in _PAIR.findall(text):
            key = renamed.get(name.upper(), name.upper())
            if not np.isfinite(float(value)):
                raise InputError(f"{self.path}: {name} = {value} in the header is too large")
            (self.shared if self.is_shared else self.own)[key] = float(value)

    def row(self, text: str, line: int) -> None:
        """Keep a line with numbers; those of the data of the inversion may lack their %."""
        if self.in_table and not self.columns:
            return
        if not self.columns:
            raise InputError(
                f"{self.path}, line {line}: numbers without the names of their columns; the line "
                "before them must be % LAT LON X==EW Y==NS Z SLIP ..."
            )
        if len(text.split()) != len(self.columns):
            found = counted(len(text.split()), "number")
            raise InputError(
                f"{self.path}, line {line}: {found}; the columns are {' '.join(self.columns)}"
            )
        self.first = self.first if self.rows else line
        self.rows.append(text)

    def end_of_rows(self) -> None:
        """Make a segment of the rows, if there are any."""
        if not self.rows:
            return
        values = parse_numbers("\n".join(self.rows), self.path, self.first)
        table = values.reshape(-1, len(self.columns))
        header = {**_of_subfaults(self.shared, self.own, len(table)), **self.own}
        segment = FspSegment(header, self.columns, table, self.at_top)
        _require_complete(segment, self.first, self.path)
        self.segments.append(segment)
        self.rows, self.own, self.is_shared = [], {}, False


def read_fsp(path: Path) -> Fsp:
    """Read a slip model.

    Raises:
        InputError: the file is missing, truncated or malformed, or lacks a column.
    """
    lines = _Lines(path)
    for number, line in enumerate(read_text(path, "a slip model in FSP").splitlines(), 1):
        text = line.strip()
        if text.startswith("%"):
            lines.header(text.lstrip("%").strip())
        elif text or lines.rows:
            lines.row(text, number) if text else lines.end_of_rows()
    lines.end_of_rows()
    if not lines.segments:
        raise InputError(f"{path}: the file has no subfaults; lines without % give them")
    return Fsp(tuple(lines.segments), np.array(lines.structure).reshape(-1, 4), lines.function)


def _of_subfaults(
    shared: Mapping[str, float], own: Mapping[str, float], count: int
) -> dict[str, float]:
    """The shared numbers for a segment, without sizes of subfaults that do not fit its own size."""
    length, width = own.get("LEN"), own.get("WID")
    sides = shared.get("DX"), shared.get("DZ")
    if not (length and width and all(sides)) or {"DX", "DZ"} <= own.keys():
        return dict(shared)
    fits = round(length * width / (sides[0] * sides[1])) == count  # type: ignore[operator]
    return {name: of for name, of in shared.items() if fits or name not in ("DX", "DZ")}


def _are_numbers(words: Sequence[str]) -> bool:
    try:
        return len(words) >= 4 and bool(np.isfinite([float(word) for word in words]).all())
    except ValueError:
        return False


def _require_complete(segment: FspSegment, line: int, path: Path) -> None:
    where = f"{path}, line {line}"
    missing = [name for name in _NEEDED if name not in segment.columns]
    if "SLIP" not in segment.columns and not window_columns(segment):
        missing.append("SLIP")
    if missing:
        raise InputError(f"{where}: there is no column {listed(missing)}; add it")
    expected = segment.number("NSBFS")
    if expected is not None and expected != len(segment):
        raise InputError(
            f"{where}: Nsbfs = {expected:g} subfaults, but {counted(len(segment), 'row')}; the "
            "file is truncated: copy it again, or correct the number"
        )


def window_columns(segment: FspSegment) -> list[tuple[int, str]]:
    """Numbers from 0 and names of the columns with the slip of a time window."""
    return [*_windows(segment.columns)]


def _windows(columns: Sequence[str]) -> Iterator[tuple[int, str]]:
    for name in columns:
        if match := re.fullmatch(r"TW(\d+)", name):
            yield int(match[1]) - 1, name
