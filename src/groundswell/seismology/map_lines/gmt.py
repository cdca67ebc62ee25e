"""Lines in text files of the Generic Mapping Tools: points, and `>` between lines."""

from __future__ import annotations

import math
from pathlib import Path

from groundswell.errors import InputError
from groundswell.formats.text import read_text
from groundswell.seismology.map_lines.lines import Lines, as_line, to_degrees

_COMMENTS = ("#", "%", "!")


def read_gmt(path: Path) -> Lines:
    """The lines of a file, degrees: a longitude and a latitude in each row.

    Columns may be separated by blanks, tabs or commas. A row `> text` or a row of NaN begins the
    next line; rows that begin with # are comments.

    Raises:
        InputError: the file is missing, or a row has no two numbers.
    """
    points: list[list[tuple[float, float]]] = [[]]
    for number, row in enumerate(read_text(path, "points of lines").split("\n"), start=1):
        content = row.strip()
        if not content or content.startswith(_COMMENTS):
            continue
        pair = None if content.startswith(">") else _pair(content, path, number)
        if pair is None:
            points.append([])
        else:
            points[-1].append(pair)
    return to_degrees([as_line(each, path) for each in points if each], None, path)


def _pair(row: str, path: Path, number: int) -> tuple[float, float] | None:
    """Longitude and latitude; None if these are NaN."""
    try:
        longitude, latitude = map(float, row.replace(",", " ").split()[:2])
    except ValueError:
        raise InputError(
            f"{path}, line {number}: expected longitude and latitude, not {row[:40]!r}"
        ) from None
    return None if math.isnan(longitude) or math.isnan(latitude) else (longitude, latitude)
