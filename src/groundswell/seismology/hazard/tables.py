"""Tables of ruptures and of sites: CSV files with a header line, and TOML files."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, TypeVar

import numpy as np
from pydantic import Field

from groundswell.arrays import Floats
from groundswell.case import read_document
from groundswell.case.common import Section
from groundswell.case.problems import WHOLE, Violation
from groundswell.case.units import Angle, Length, NonNegative, Number, Positive, Speed
from groundswell.errors import (
    CaseError,
    CaseProblem,
    InputError,
    counted,
    did_you_mean,
    listed,
    quoted,
)
from groundswell.formats.text import parse_number, read_rows
from groundswell.grids.geography import Geography
from groundswell.seismology.case.grid import Latitude, Longitude
from groundswell.seismology.hazard.ruptures import Rupture
from groundswell.seismology.hazard.sites import Sites, names_of_grid, plane
from groundswell.seismology.hazard.surfaces import Surface

_SHAPE = ("strike", "dip", "length", "width", "depth")
_PAIRS = ("x", "y"), ("longitude", "latitude")
_CODES = ("network", "station", "rupture", "site")  # columns that together are the name

Row = TypeVar("Row", bound=Section)


class _Place(Section):
    """Horizontal position by one of the pairs x, y and longitude, latitude."""

    x: Length | None = None
    y: Length | None = None
    longitude: Longitude | None = None
    latitude: Latitude | None = None

    @property
    def pair(self) -> tuple[str, ...]:
        """The keys of the position."""
        return tuple(name for pair in _PAIRS for name in pair if getattr(self, name) is not None)

    @property
    def horizontal(self) -> list[float]:
        """The position."""
        return [getattr(self, name) for name in self.pair]


class RuptureRow(_Place):
    """A rupture: its rate, and a rectangle if it has one.

    The position and `depth` are those of the centre of the top edge.
    """

    name: Annotated[str, Field(min_length=1)]
    magnitude: Annotated[Number, Field(ge=-6, le=10.5)]
    rate: Annotated[Number, NonNegative]
    rake: Annotated[Angle, Field(ge=-360, le=360)] | None = None
    strike: Annotated[Angle, Field(ge=-360, le=360)] | None = None
    dip: Annotated[Angle, Field(gt=0, le=90)] | None = None
    length: Annotated[Length, Positive] | None = None
    width: Annotated[Length, Positive] | None = None
    depth: Annotated[Length, NonNegative] | None = None

    def violations(self) -> Iterator[Violation]:
        """An incomplete rectangle."""
        given = [name for name in _SHAPE if getattr(self, name) is not None]
        if (given or self.pair) and not (given == list(_SHAPE) and self.pair in _PAIRS):
            yield (), f"give all of {', '.join(_SHAPE)} with x and y or longitude and latitude"

    def surface(self, frame: Geography | None) -> Surface | None:
        """The rectangle, in the frame of the sites, m."""
        if self.strike is None:
            return None
        top = _in_frame(self, frame)
        assert self.dip and self.length and self.width and self.depth is not None
        return Surface.rectangle(
            (*top, self.depth), self.strike, self.dip, (self.length, self.width)
        )


class SiteRow(_Place):
    """A site. The default of Vs30 is that of the case."""

    name: Annotated[str, Field(min_length=1)]
    vs30: Annotated[Speed, Positive] | None = None
    z1: Annotated[Length, NonNegative] | None = None

    def violations(self) -> Iterator[Violation]:
        """No position, or two."""
        if self.pair not in _PAIRS:
            yield (), "give either x and y, or longitude and latitude"


def read_ruptures(path: Path, frame: Geography | None) -> list[Rupture]:
    """Ruptures of a table; see `RuptureRow` for its columns.

    Args:
        path: a CSV file, whose numbers are in SI units, or a TOML file with tables `[[rupture]]`.
        frame: the frame of the sites, if they have longitudes and latitudes.

    Raises:
        CaseError: the file cannot be read, or rows are invalid; lists all of them.
    """
    rows = _read(path, "rupture", RuptureRow)
    return [
        Rupture(row.name, row.magnitude, row.rate, row.rake, row.surface(frame)) for row in rows
    ]


def read_sites(path: Path, vs30: float) -> Sites:
    """Sites of a table: name or network and station, a position, and perhaps vs30 and z1.

    Args:
        path: a CSV file, whose numbers are in SI units, or a TOML file with tables `[[site]]`.
        vs30: Vs30 of sites without their own, m/s.

    Raises:
        CaseError: the file cannot be read, or rows are invalid; lists all of them.
    """
    rows = _read(path, "site", SiteRow)
    if not rows:
        raise InputError(f"{path}: there are no sites")
    if len({row.pair for row in rows}) > 1:
        raise InputError(f"{path}: some sites have x and y, others longitude and latitude")
    names = [row.name for row in rows]
    if len(set(names)) < len(names):
        twice = next(name for n, name in enumerate(names) if name in names[:n])
        raise InputError(f"{path}: two sites are called {twice}; names must differ")
    return Sites(
        names,
        np.array([row.horizontal for row in rows], float),
        rows[0].pair == _PAIRS[1],
        np.array([vs30 if row.vs30 is None else row.vs30 for row in rows]),
        np.array([np.nan if row.z1 is None else row.z1 for row in rows]),
    )


def _in_frame(row: RuptureRow, frame: Geography | None) -> tuple[float, float]:
    if row.pair == _PAIRS[1]:
        x, y = plane(frame, np.array([row.horizontal]))[0]
    elif frame is not None:
        raise InputError(
            f"rupture {row.name} has x and y, but the sites have longitude and latitude; give both "
            "the same way"
        )
    else:
        x, y = row.horizontal
    return float(x), float(y)


def _read(path: Path, key: str, kind: type[Row]) -> list[Row]:
    known = {*kind.model_fields, *_CODES}
    rows = _toml(path, key) if path.suffix.lower() == ".toml" else _csv(path, key, known)
    found: list[Row] = []
    problems: list[CaseProblem] = []
    for where, content in rows:
        try:
            found.append(kind(**content))
        except CaseError as error:
            problems += [_at(where, problem) for problem in error.problems]
        except TypeError:
            problems.append(CaseProblem(where, "", "must be a table"))
    if problems:
        raise CaseError(problems, str(path))
    return found


def _at(where: str, problem: CaseProblem) -> CaseProblem:
    """A problem of a key of a row, or of the whole row."""
    key = where if problem.key == WHOLE else f"{where}: {problem.key}"
    return replace(problem, key=key)


def _toml(path: Path, key: str) -> Iterator[tuple[str, Any]]:
    content = read_document(path)
    entries = content.pop(key, None)
    if content or not isinstance(entries, list):
        raise InputError(f"{path}: must have tables [[{key}]], and nothing else")
    yield from ((f"{key}[{n}]", entry) for n, entry in enumerate(entries))


def _csv(path: Path, key: str, known: Collection[str]) -> Iterator[tuple[str, dict[str, object]]]:
    rows = read_rows(path, f"a list of {key}s")
    header = [name.lower() for name in rows[0][1]] if rows else []
    if not rows or len(set(header)) < len(header):
        raise InputError(f"{path}: the first line must name the columns, once each")
    if unknown := [name for name in header if name not in known]:
        near = did_you_mean(unknown[0], known)
        raise InputError(
            f"{path}: {quoted(unknown[0])} is not a column of {key}s{near}; columns are "
            f"{listed(sorted(known))}"
        )
    for line, cells in rows[1:]:
        if len(cells) != len(header):
            width = counted(len(cells), "cell")
            raise InputError(f"{path}, line {line}: {width}; the header has {len(header)}")
        yield f"line {line}", dict(_content(header, cells))


def _content(header: Sequence[str], cells: Sequence[str]) -> Iterator[tuple[str, object]]:
    """Yield keys and values of a row without its empty cells."""
    texts = {name: cell for name, cell in zip(header, cells, strict=True) if cell}
    codes = [texts.pop(name) for name in _CODES if name in texts]
    if codes:
        yield "name", ".".join(codes)
    for name, cell in texts.items():
        yield name, cell if name == "name" else _number(cell)


def _number(cell: str) -> float | str:
    try:
        return parse_number(cell)
    except ValueError:
        return cell


def grid_sites(x: Floats, y: Floats, *, is_geographic: bool, vs30: float) -> Sites:
    """Sites at all pairs of x (nx,) and y (ny,), or of longitude and latitude, row by row."""
    across, up = np.meshgrid(x, y)
    points = np.column_stack([across.ravel(), up.ravel()])
    count, grid = len(points), (len(y), len(x))
    unknown = np.full(count, np.nan)
    return Sites(names_of_grid(grid), points, is_geographic, np.full(count, vs30), unknown, grid)
