"""Comparisons as tables: text, CSV and JSON."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from groundswell.formats.atomic import atomic_write
from groundswell.formats.text import write_json
from groundswell.seismology.comparison.measures import MEASURES, Row

TABLE, JSON = "comparison.csv", "comparison.json"
_SMALL = 1e-3  # smaller numbers have an exponent
_HEADER = ("station", "component", "window (s)", "shift (s)", "correlation", "misfit", "ratio")


def text_table(rows: Sequence[Row]) -> str:
    """An aligned table of all rows, and their medians."""
    lines = [_HEADER, *map(_cells, rows), ("median", "", "", *_numbers(medians(rows)))]
    widths = [max(len(line[n]) for line in lines) for n in range(len(_HEADER))]
    return "\n".join(_line(cells, widths) for cells in lines)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    """Words to the left and numbers to the right of their columns."""
    words = [cell.ljust(width) for cell, width in zip(cells[:2], widths[:2], strict=True)]
    numbers = [cell.rjust(width) for cell, width in zip(cells[2:], widths[2:], strict=True)]
    return "  ".join([*words, *numbers]).rstrip()


def _cells(row: Row) -> tuple[str, ...]:
    values = {name: getattr(row, name) for name in MEASURES}
    return row.station, row.component, f"{row.start:.4g} to {row.end:.4g}", *_numbers(values)


def _numbers(values: Mapping[str, float]) -> tuple[str, ...]:
    """Shift, correlation, misfit and ratio; - where they have no meaning."""
    return signed(values["shift"]), *(plain(values[name]) for name in MEASURES[1:])


def signed(seconds: float) -> str:
    """A time shift with its sign, in ms."""
    return f"{round(seconds, 3) + 0.0:+.3f}" if isfinite(seconds) else "-"


def plain(value: float) -> str:
    """A number with three decimals, or with an exponent if it is very small or large."""
    if not isfinite(value):
        return "-"
    return f"{value:.3f}" if value == 0 or _SMALL <= abs(value) < 1 / _SMALL else f"{value:.1e}"


def medians(rows: Sequence[Row]) -> dict[str, float]:
    """The median of each measure over the rows in which it has a meaning; NaN without any."""
    found = {}
    for name in MEASURES:
        values = [value for row in rows if isfinite(value := getattr(row, name))]
        found[name] = float(np.median(values)) if values else float("nan")
    return found


def write_tables(rows: Sequence[Row], content: Mapping[str, Any], folder: Path) -> list[Path]:
    """Write `comparison.csv` and `comparison.json`.

    Args:
        content: of the JSON file.

    Raises:
        RunFailed: the disk is full.
    """
    path = folder / TABLE
    with atomic_write(path) as part, part.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(_csv_rows(rows))
    return [path, write_json(folder / JSON, content)]


def _csv_rows(rows: Sequence[Row]) -> Iterator[list[object]]:
    yield [*("station", "component", "start (s)", "end (s)", "shift (s)"), *MEASURES[1:]]
    for row in rows:
        values = row.as_dict().values()
        yield [f"{v:.6g}" if isinstance(v, float) else v for v in values]
