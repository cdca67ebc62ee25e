"""Models in text files with columns, such as the output of UCVM."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from groundswell.arrays import Floats
from groundswell.errors import InputError, listed
from groundswell.exchange.communicator import Communicator
from groundswell.formats.damage import read_errors_reported
from groundswell.seismology.case.model_files import ColumnsSection
from groundswell.seismology.formats.columns import Head, parse_title, read_head
from groundswell.seismology.media.material import UNITS, unit_factor
from groundswell.seismology.media.model_grid import ModelGrid
from groundswell.seismology.media.point_files import PointTable
from groundswell.seismology.media.scattered import AXES, LONLAT_AXES, grid_of_points
from groundswell.seismology.media.text_columns import TextColumns

# Small, Gill, Maechling et al. (2017), Seism. Res. Lett. 88, 1539-1552: the columns of ucvm_query.
_UCVM = "lon lat depth - - - - - - - - - - - vp vs rho".split()
_SYNONYMS = {"longitude": "lon", "latitude": "lat", "density": "rho"}
_LENGTHS = ("x", "y", "depth", "elevation")
_NAMES = ("lon", "lat", *_LENGTHS, *UNITS)
_SKIPPED = "-"


def open_columns_model(section: ColumnsSection, comm: Communicator | None = None) -> ModelGrid:
    """Read a model with one line for each point of a grid; all ranks must call this.

    Raises:
        InputError: the file is unreadable, its columns have no names, or the points do not
            form a grid.
    """
    path = section.file
    head = _read_head(path)
    columns, units = _named_columns(path, _choose_titles(path, head, section.columns))
    _require_axes(path, set(columns), section.projection)
    text = TextColumns(path, head.line - 1, [*columns.values()], head.has_commas)
    return grid_of_points(_table(text, [*columns], units), units, section.projection, comm)


def _table(text: TextColumns, columns: Sequence[str], units: Mapping[str, str]) -> PointTable:
    """The points in columns with some names: coordinates in m or degrees, then properties."""
    horizontal = ("lon", "lat") if "lon" in columns else ("x", "y")
    values = [name for name in UNITS if name in columns]
    factors = {
        name: unit_factor(units[name], "m", f"{text.path}, column {name}")
        for name in _LENGTHS
        if name in columns
    }

    def arrange(numbers: Floats) -> list[Floats]:
        table = dict(zip(columns, numbers, strict=True))
        table |= {name: table[name] * factor for name, factor in factors.items()}
        depth = table["depth"] if "depth" in table else 0.0 - table["elevation"]
        return [*(table[name] for name in horizontal), depth, *(table[name] for name in values)]

    axes = LONLAT_AXES if "lon" in columns else AXES
    return PointTable(text, (*axes, *values), arrange)


def _read_head(path: Path) -> Head:
    with read_errors_reported(path, "columns", "correct it"), path.open(encoding="utf-8-sig") as f:
        head = read_head(f)
    if not head.cells:
        raise InputError(f"{path} has no points: give a header line, then one line for each point")
    return head


def _choose_titles(path: Path, head: Head, given: Sequence[str] | None) -> Sequence[str]:
    """The titles of the columns: those of the case, of UCVM, or of the header line."""
    if given is None and len(head.cells) == len(_UCVM) and not _is_number(head.cells[5]):
        return _UCVM
    titles = given or head.titles
    if len(titles) != len(head.cells):
        raise InputError(
            f"{path}, line {head.line}: {len(head.cells)} values for {len(titles)} names of "
            "columns; name all in a header line, or in medium.columns, such as "
            '["lon", "lat", "depth", "vp", "vs", "rho"], "-" for those to skip'
        )
    return titles


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _named_columns(path: Path, titles: Sequence[str]) -> tuple[dict[str, int], dict[str, str]]:
    """Number and unit of each column that is not skipped, by its name."""
    columns: dict[str, int] = {}
    units: dict[str, str] = {}
    for number, title in enumerate(titles):
        name, unit = parse_title(title)
        name = _SYNONYMS.get(name, name)
        if name == _SKIPPED:
            continue
        if name not in _NAMES or name in columns:
            raise InputError(
                f"{path}: column {title!r} is unknown or repeated; columns are "
                f'{listed(_NAMES)}, each with an optional unit as in vp(km/s), or "-"'
            )
        columns[name], units[name] = number, unit
    if units.get("vs") == "":
        units["vs"] = units.get("vp", "")
    return columns, units


def _require_axes(path: Path, names: set[str], projection: str | None) -> None:
    is_geographic = "lon" in names
    needed = {"lon", "lat", "vp"} if is_geographic else {"x", "y", "vp"}
    vertical = names & {"depth", "elevation"}
    if not needed <= names or len(vertical) != 1 or (is_geographic and {"x", "y"} & names):
        raise InputError(
            f"{path} has the columns {', '.join(sorted(names))}; it needs lon and lat, or x and y, "
            "depth or elevation, and vp"
        )
    if is_geographic and projection is not None:
        raise InputError(
            f"{path} is on longitude and latitude; leave medium.projection out, which is that of "
            "x and y"
        )
