"""Text files with columns of numbers, whose header line names them and their units.

Titles are as in `vp(km/s)` or `vp[km/s]`, separated by blanks or commas. The header line may be a
comment, which starts with `#`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

_TITLE = re.compile(r"\s*([^\s,\[(]+)\s*(?:[\[(]([^\])]*)[\])])?\s*,?")


class Head(NamedTuple):
    """The start of a text with columns.

    Args:
        titles: titles of the columns; none if there is no header line.
        cells: of the first line after it; none if there is none.
        line: number of that line.
        has_commas: whether commas separate the cells.
    """

    titles: list[str]
    cells: list[str]
    line: int
    has_commas: bool


def read_head(lines: Iterable[str]) -> Head:
    """The header line and the first line of numbers of a text; reads no further."""
    comment, titles = "", None
    for number, text in enumerate(lines, 1):
        line = text.strip().lstrip("\ufeff")
        if line.startswith("#"):
            comment = line.lstrip("#")
        elif line and titles is None and line[0].isalpha():
            titles = split_titles(line)
        elif line:
            has_commas = "," in line
            cells = [cell.strip() for cell in line.split("," if has_commas else None)]
            titles = split_titles(comment) if titles is None else titles
            return Head(titles, cells, number, has_commas)
    return Head(titles or [], [], 0, False)


def split_titles(line: str) -> list[str]:
    """The titles in a header line."""
    return [match[0].strip().rstrip(",").strip() for match in _TITLE.finditer(line)]


def parse_title(title: str) -> tuple[str, str]:
    """The name of a column in lower case, and its unit; "" for what is missing."""
    match = _TITLE.fullmatch(title)
    return (match[1].lower(), match[2] or "") if match else ("", "")
