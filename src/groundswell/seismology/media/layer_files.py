"""Files of layers, or of values at depths: tables, and Earth models in TauP's formats."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from groundswell.errors import InputError, counted
from groundswell.formats.text import parse_number, read_text
from groundswell.seismology.formats.columns import parse_title, read_head
from groundswell.seismology.formats.earth_models import SUFFIXES, read_earth_model
from groundswell.seismology.media.layered import Layer
from groundswell.seismology.media.material import UNITS, unit_factor
from groundswell.seismology.media.plausibility import implausible
from groundswell.seismology.media.rules import Rules

COLUMNS = {"top": "m", "thickness": "m", **UNITS}

_SYNONYMS = {"depth": "top", "density": "rho"}
_EXAMPLE = '"depth(km) vp(km/s) vs(km/s) rho(g/cm^3)"'

Row = tuple[int, dict[str, float]]  # number and content of a line


def is_profile(path: Path) -> bool:
    """Whether a file has values at depths, between which the medium is linear."""
    return path.suffix.lower() in SUFFIXES


def read_layers(path: str | Path, rules: Rules | None = None) -> list[Layer]:
    """Read layers from a file.

    Files whose names end in `.nd` or `.tvel` are Earth models of TauP. Others have a header line
    and columns that are separated by commas or blanks: `top` (or `depth`) or `thickness`, `vp`,
    `vs`, `rho` and, if anelastic, `qp` and `qs`. Columns are in SI units, or in the unit in the
    header line, as in `vp[km/s]` or `vp(km/s)`; `vs` without a unit has that of `vp`. Empty lines
    and lines that start with `#` are skipped.

    Args:
        rules: rules for columns that the file lacks.

    Raises:
        InputError: the file is unreadable, or a line or column is invalid.
    """
    path, rules = Path(path), rules or Rules()
    rows = read_earth_model(path) if is_profile(path) else _read_columns(path)
    if not rows:
        raise InputError(f"{path} has no layers: give a header, then one line for each layer")
    _require_columns(path, rows, rules)
    for line, row in rows:
        _require_plausible(row, f"{path}, line {line}", is_profile(path))
    _add_tops(path, rows)
    return _complete([row for _, row in rows], rules)


def _require_columns(path: Path, rows: Sequence[Row], rules: Rules) -> None:
    given = set(rows[0][1])
    for line, row in rows:
        if set(row) != given:
            raise InputError(
                f"{path}, line {line} has {counted(len(row), 'value')} and the first line "
                f"{len(given)}; give the same everywhere"
            )
    needed = {"vp", *(n for n in ("vs", "rho") if getattr(rules, n) is None)}
    if "thickness" not in given:
        needed.add("top")
    if missing := sorted(needed - given):
        raise InputError(
            f"{path} lacks the columns {', '.join(missing)}; add them, or use medium.vs_rule and "
            "medium.rho_rule"
        )


def _require_plausible(row: dict[str, float], where: str, units_are_fixed: bool) -> None:
    for name in (n for n in ("vp", "vs", "rho") if n in row):
        if found := implausible(name, row[name]):
            allowed, meant = found
            raise InputError(
                f"{where}: {name} = {row[name]:g} {UNITS[name]} {allowed}; "
                + (
                    "the columns of this format are in km, km/s and g/cm^3"
                    if units_are_fixed
                    else f"if it is in {meant}, write {name}[{meant}] in the header"
                )
            )


def _add_tops(path: Path, rows: Sequence[Row]) -> None:
    """Replace the thickness of each layer by the depth of its top; the last may have any."""
    if "thickness" not in rows[0][1]:
        return
    top = 0.0
    for line, row in rows:
        if top != row.setdefault("top", top):
            raise InputError(f"{path} has tops and thicknesses; give one of both columns")
        thickness = row.pop("thickness")
        if not thickness > 0 and line != rows[-1][0]:
            raise InputError(
                f"{path}, line {line}: a layer has the thickness {thickness:g} m; it must be "
                "positive, except in the last line"
            )
        top += thickness


def _complete(rows: Sequence[dict[str, float]], rules: Rules) -> list[Layer]:
    """Layers with all properties, also those by rules."""
    table = {name: np.array([row[name] for row in rows]) for name in rows[0] if name != "top"}
    derived = {"vs": rules.vs, "rho": rules.rho, "qp": rules.q, "qs": rules.q}
    given = {name: values for name, values in table.items() if derived.get(name) is None}
    found = rules.complete(rules.at_nodes(given)).given()
    columns = {name: values.tolist() for name, values in found.items()}
    return [
        Layer(row["top"], **{name: values[n] for name, values in columns.items()})
        for n, row in enumerate(rows)
    ]


# --- columns --------------------------------------------------------------------------------------


def _read_columns(path: Path) -> list[Row]:
    """The lines of a table, in SI units."""
    lines = read_text(path, "a table of layers").splitlines()
    head = read_head(lines)
    if not head.cells:
        return []
    if not head.titles:
        raise InputError(f"{path} has no header line with the names of columns, such as {_EXAMPLE}")
    columns = _read_header(head.titles, path)
    separator = "," if head.has_commas else None
    return [
        (n, _read_row(line.split(separator), columns, f"{path}, line {n}"))
        for n, line in enumerate(lines, 1)
        if n >= head.line and line.strip() and not line.strip().startswith("#")
    ]


def _read_header(titles: Sequence[str], path: Path) -> list[tuple[str, float]]:
    """Name of each column, and its factor to SI units."""
    found: dict[str, str] = {}
    for title in titles:
        name, unit = parse_title(title)
        name = _SYNONYMS.get(name, name)
        if name not in COLUMNS or name in found:
            raise InputError(
                f"{path}: column {title!r} is unknown or repeated; columns are "
                f"{', '.join(COLUMNS)}, each with an optional unit as in vp[km/s]"
            )
        found[name] = unit
    if "vs" in found and not found["vs"]:
        found["vs"] = found.get("vp", "")
    return [(n, unit_factor(u, COLUMNS[n], f"{path}, column {n}")) for n, u in found.items()]


def _read_row(
    cells: Sequence[str], columns: Sequence[tuple[str, float]], where: str
) -> dict[str, float]:
    if len(cells) != len(columns):
        raise InputError(
            f"{where}: {counted(len(cells), 'value')} for {counted(len(columns), 'column')}"
        )
    values = {}
    for (name, factor), text in zip(columns, cells, strict=True):
        try:
            values[name] = parse_number(text) * factor
        except ValueError:
            raise InputError(f"{where}: {name} = {text.strip()!r} is not a number") from None
    return values
