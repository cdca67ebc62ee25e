"""Standard Rupture Format (SRF): slip on a fault as point sources with slip-rate functions.

Versions 1.0 and 2.0 after R. W. Graves, "Standard Rupture Format", SCEC (2006, 2014). Files are in
degrees, km, cm, cm^2, cm/s and g/cm^3, values here in SI units. Lines with # are comments.

    version                                     1.0 or 2.0
    PLANE planes                                optional; two lines per plane:
        elon elat nstk ndip len wid
        stk dip dtop shyp dhyp
    POINTS points                               one or more blocks; for each point:
        lon lat dep stk dip area tinit dt       in 2.0 also vs and den, -1 where unknown
        rake slip1 nt1 slip2 nt2 slip3 nt3
        the nt1 + nt2 + nt3 slip rates          on any number of lines
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import TextIO

import numpy as np

from groundswell.arrays import Floats, Integers
from groundswell.errors import InputError, counted
from groundswell.formats.atomic import atomic_write
from groundswell.formats.text import line_of_number, parse_numbers, read_text
from groundswell.seismology.formats.srf_content import COLUMN_COUNTS, COLUMNS, Plane, Srf

_SLIP_COLUMNS = 7  # numbers on the second line
_KEYWORD = re.compile(r"^[ \t]*(PLANE|POINTS)[ \t]+(\S+)[ \t]*$", re.MULTILINE)
_COMMENT = re.compile(r"^[ \t]*#.*$", re.MULTILINE)
_PLANE_UNITS = np.array([1, 1, 1, 1, 1e3, 1e3, 1, 1, 1e3, 1e3, 1e3])  # as in Plane
_TRUNCATED = "the file is truncated; copy it again, or correct its counts"


def read_srf(path: Path | str) -> Srf:
    """Read a rupture in SRF 1.0 or 2.0.

    Raises:
        InputError: the file is missing, truncated, malformed or unphysical; names line or point.
    """
    text = _COMMENT.sub("", read_text(path, "a rupture in SRF"))
    head, *sections = _sections(text)
    version = _version(head, path)
    planes = _planes(sections, path)
    blocks = [_read_points(s, version, path) for s in sections if s.keyword == "POINTS"]
    if not blocks:
        raise InputError(f"{path}: no POINTS block; an SRF file needs at least one")
    _check_planes(planes, sum(len(block.head) for block in blocks), path)
    try:
        return _assemble(blocks, tuple(planes), version)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def write_srf(path: Path | str, rupture: Srf) -> None:
    """Write a rupture in its version, with nine digits per number."""
    with atomic_write(path) as temporary, temporary.open("w", encoding="ascii") as file:
        file.write(f"{rupture.version}\n")
        _write_planes(file, rupture.planes)
        _write_points(file, rupture)


# --- reading -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Section:
    """A keyword, its count, and the text that follows from line `line` of the file."""

    keyword: str
    count: str
    text: str
    line: int


@dataclass(frozen=True)
class _Points:
    """Numbers of a POINTS block: two lines per point, (n, columns + 7), and all slip rates."""

    head: Floats
    rates: Floats


def _sections(text: str) -> Iterator[_Section]:
    """The text before the first keyword, then the section of each keyword."""
    matches = list(_KEYWORD.finditer(text))
    ends = [match.start() for match in matches] + [len(text)]
    yield _Section("", "", text[: ends[0]], 1)
    for match, end in zip(matches, ends[1:], strict=True):
        line = 1 + text.count("\n", 0, match.end())
        yield _Section(match[1], match[2], text[match.end() : end], line)


def _version(head: _Section, path: Path | str) -> str:
    words = head.text.split()
    if not words or words[0] not in COLUMN_COUNTS:
        first = repr(words[0][:20]) if words else "nothing"
        raise InputError(f"{path}: an SRF file starts with its version, 1.0 or 2.0; found {first}")
    if len(words) > 1:
        where = f"{path}, line {line_of_number(head.text, 1)}"
        raise InputError(f"{where}: expected PLANE n or POINTS n, found {words[1][:20]!r}")
    return words[0]


def _count(section: _Section, path: Path | str) -> int:
    if not (section.count.isascii() and section.count.isdigit() and len(section.count) < 19):
        problem = f"{section.keyword} {section.count[:20]}: the count must be a whole number"
    elif int(section.count) == 0:
        problem = f"{section.keyword} 0: there must be at least one"
    else:
        return int(section.count)
    raise InputError(f"{path}, line {section.line}: {problem}")


def _planes(sections: Iterable[_Section], path: Path | str) -> list[Plane]:
    return [plane for s in sections if s.keyword == "PLANE" for plane in _read_planes(s, path)]


def _read_planes(section: _Section, path: Path | str) -> list[Plane]:
    count = _count(section, path)
    values = parse_numbers(section.text, path, section.line)
    if values.size != count * _PLANE_UNITS.size:
        raise InputError(
            f"{path}, line {section.line}: PLANE {count} needs {_PLANE_UNITS.size} numbers "
            f"per plane, {count * _PLANE_UNITS.size} in all; found {values.size}"
        )
    rows = values.reshape(count, -1)
    subfaults = rows[:, 2:4]
    if not ((subfaults >= 1) & (subfaults == np.floor(subfaults))).all():
        raise InputError(
            f"{path}, line {section.line}: a plane's nstk and ndip must be whole and positive;"
            f" found {subfaults.tolist()}"
        )
    return [_plane(row) for row in rows]


def _plane(row: Floats) -> Plane:
    values = (row * _PLANE_UNITS).tolist()
    values[2:4] = map(int, values[2:4])
    return Plane(*values)


def _check_planes(planes: list[Plane], points: int, path: Path | str) -> None:
    announced = sum(plane.strike_count * plane.dip_count for plane in planes)
    if planes and announced != points:
        raise InputError(
            f"{path}: PLANE announces {counted(announced, 'subfault')}, POINTS has {points}; "
            "correct the counts, or remove the PLANE block, which is optional"
        )


class _MalformedError(Exception):
    """A POINTS block that cannot be divided into points.

    Args:
        at: index of the number at which the division fails.
        problem: the reason.
    """

    def __init__(self, at: int, problem: str) -> None:
        super().__init__(problem)
        self.at = at


def _read_points(section: _Section, version: str, path: Path | str) -> _Points:
    values = parse_numbers(section.text, path, section.line)
    count, columns = _count(section, path), COLUMN_COUNTS[version]
    try:
        starts = _point_starts(values, count, columns)
    except _MalformedError as error:
        if problem := _wrong_version(values, count, version):
            raise InputError(f"{path}: {problem}") from None
        line = line_of_number(section.text, error.at, section.line)
        raise InputError(f"{path}, line {line}: {error}") from None
    places = starts[:, None] + np.arange(columns + _SLIP_COLUMNS)
    is_rate = np.ones(values.size, dtype=bool)
    is_rate[places] = False
    return _Points(values[places], values[is_rate])


def _wrong_version(values: Floats, count: int, version: str) -> str:
    """A message if the block has the columns of the other SRF version; otherwise empty."""
    (other,) = set(COLUMN_COUNTS) - {version}
    try:
        _point_starts(values, count, COLUMN_COUNTS[other])
    except _MalformedError:
        return ""
    without = "without" if other == "1.0" else "with"
    return (
        f"its version is {version}, but its points have the columns of {other} "
        f"({COLUMN_COUNTS[other]} numbers on their first line, {without} vs and density); write "
        f"{other} on the first line of the file, or give the columns of {version}"
    )


def _point_starts(values: Floats, count: int, columns: int) -> Integers:
    """Index of the first number of each point, (count,); the block must have no other numbers.

    The length of a point depends on its own counts, so points are visited one after another.
    """
    width = columns + _SLIP_COLUMNS
    if count * width > values.size:
        needed = f"POINTS {count} needs {count * width} numbers, found {values.size}"
        raise _MalformedError(values.size, f"{needed}: {_TRUNCATED}")
    starts = np.empty(count, np.int64)
    at = 0
    for point in range(count):
        starts[point] = at
        at = _next_point(values, at, width, f"point {point + 1} of {count}")
    if at < values.size:
        problem = f"POINTS {count} is followed by more numbers than its points have"
        raise _MalformedError(at, problem)
    return starts


def _next_point(values: Floats, at: int, width: int, name: str) -> int:
    """Index of the first number after a point.

    Args:
        at: index of the first number of the point.
        width: count of numbers of the point without its slip rates.
        name: the point, for messages.

    Raises:
        _MalformedError: the block ends within the point, or its counts are not counts.
    """
    if at + width > values.size:
        raise _MalformedError(values.size, f"it ends within {name}: {_TRUNCATED}")
    counts = values[at + width - _SLIP_COLUMNS + 2 : at + width : 2].tolist()
    if not all(number >= 0 and number.is_integer() for number in counts):
        raise _MalformedError(at, f"{name}: {counts} are not counts of samples")
    following = at + width + sum(int(number) for number in counts)
    if following > values.size:
        missing = following - values.size
        raise _MalformedError(at, f"{name} lacks {missing} of its samples: {_TRUNCATED}")
    return following


def _assemble(blocks: list[_Points], planes: tuple[Plane, ...], version: str) -> Srf:
    head = np.concatenate([block.head for block in blocks])
    first, second = np.split(head, [COLUMN_COUNTS[version]], axis=1)
    point = {name: np.full(len(head), np.nan) for name in ("vs", "density")}
    for column, values in zip(COLUMNS, first.T, strict=False):
        point[column.name] = values * column.scale
        if column.name in ("vs", "density"):
            point[column.name][values == -1] = np.nan
    return Srf(
        **point,
        rake=second[:, 0],
        slip=second[:, 1::2] * 1e-2,
        counts=second[:, 2::2].astype(np.int64),
        rates=np.concatenate([block.rates for block in blocks]) * 1e-2,
        planes=planes,
        version=version,
    )


# --- writing -----------------------------------------------------------------------------------


def _write_planes(file: TextIO, planes: tuple[Plane, ...]) -> None:
    if planes:
        file.write(f"PLANE {len(planes)}\n")
    for plane in planes:
        values = [f"{value:.10g}" for value in np.array(astuple(plane)) / _PLANE_UNITS]
        file.write(f"{' '.join(values[:6])}\n{' '.join(values[6:])}\n")


def _write_points(file: TextIO, rupture: Srf) -> None:
    columns = COLUMNS[: COLUMN_COUNTS[rupture.version]]
    first = np.stack([getattr(rupture, each.name) / each.scale for each in columns], axis=1)
    file.write(f"POINTS {len(rupture)}\n")
    for point, values in enumerate(np.where(np.isnan(first), -1, first).tolist()):
        file.write(" ".join(f"{value:.10g}" for value in values) + "\n")
        slip, counts = rupture.slip[point].tolist(), rupture.counts[point].tolist()
        pairs = [f"{s * 1e2:.9g} {n}" for s, n in zip(slip, counts, strict=True)]
        file.write(f"{rupture.rake[point]:.9g} {' '.join(pairs)}\n")
        for component in range(3):
            file.write(_six_a_line(rupture.rate(point, component) * 1e2))


def _six_a_line(values: Floats) -> str:
    rows, rest = divmod(values.size, 6)
    template = (" %.8e" * 6 + "\n") * rows + (" %.8e" * rest + "\n" if rest else "")
    return template % tuple(values.tolist())
