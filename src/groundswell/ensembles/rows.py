"""Rows of a plan: the settings of each run, from tables, lists and their products."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from groundswell.errors import InputError, counted, quoted
from groundswell.formats.text import read_rows

Settings = Mapping[str, object]  # values by path of a key of the case, such as "source.0.depth"
NAME = "name"  # the column with the names of runs
LONGEST_NAME = 100  # characters, so that file names in the store are valid everywhere
MOST_RUNS = 1_000_000  # of a plan
RESERVED = ("log", "zarr.json")  # entries of the store that are not runs
_VALID_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass(frozen=True)
class Row:
    """One run of an ensemble.

    Args:
        name: name of the run, and of its group in the store.
        settings: values that replace those of the base case.
    """

    name: str
    settings: Settings


def read_csv(path: Path) -> list[Settings]:
    """Settings by row of a table whose header contains the paths of keys.

    A cell that is a valid TOML value (a number, a list, true or false) is read as one; any other
    cell is text. An empty cell leaves its key unchanged.

    Raises:
        InputError: the file cannot be read, or its rows and header have different lengths.
    """
    rows = read_rows(path, "a table of runs")
    if len(rows) < 2:
        raise InputError(f"{path}: a table of runs needs a header and at least one row")
    (_, header), *body = rows
    _require_distinct(header, path)
    for line, cells in body:
        if len(cells) != len(header):
            found, wanted = counted(len(cells), "cell"), counted(len(header), "column")
            raise InputError(f"{path}, line {line}: {found} for {wanted}")
    return [_settings(header, cells) for _, cells in body]


def _settings(header: Sequence[str], cells: Sequence[str]) -> Settings:
    """The settings of a line; a name is always text."""
    given = [(path, cell) for path, cell in zip(header, cells, strict=True) if cell]
    return {path: cell if path == NAME else _value(cell) for path, cell in given}


def _require_distinct(header: Sequence[str], path: Path) -> None:
    for n, name in enumerate(header):
        if not name or name in header[:n]:
            raise InputError(
                f"{path}: column {n + 1} of the header is {quoted(name)}; give each column the "
                "path of another key, such as source.0.depth"
            )


def _value(cell: str) -> object:
    """The TOML value that a cell holds, or its text."""
    try:
        return tomllib.loads(f"value = {cell}")["value"]
    except tomllib.TOMLDecodeError:
        return cell


def zipped(columns: Mapping[str, Sequence[object]]) -> list[Settings]:
    """One row for each position in lists of equal lengths.

    Raises:
        InputError: the lengths differ.
    """
    lengths = {key: len(values) for key, values in columns.items()}
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{key} {n}" for key, n in lengths.items())
        raise InputError(f"columns: the lists must have equal lengths, but have: {shown}")
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def combinations(lists: Mapping[str, Sequence[object]]) -> list[Settings]:
    """One row for each combination of the entries of lists; the last list varies fastest.

    Raises:
        InputError: there are too many.
    """
    _require_few(lists.values())
    return [dict(zip(lists, values, strict=True)) for values in product(*lists.values())]


def combined(parts: Sequence[Sequence[Settings]]) -> list[Row]:
    """One row for each combination of rows of several tables, which set different keys.

    Names of rows are joined. A row without a name contributes its number. If no table has names,
    runs are called run-0001 and so on.

    Raises:
        InputError: two tables set the same key, or there are too many combinations.
    """
    _require_different_keys(parts)
    _require_few(parts)
    is_named = any(NAME in settings for part in parts for settings in part)
    rows = []
    for number, chosen in enumerate(product(*map(_numbered, parts)), start=1):
        given = {key: value for _, settings in chosen for key, value in settings.items()}
        given.pop(NAME, None)
        joined = "-".join(name for name, _ in chosen if name)
        rows.append(Row(joined if is_named else f"run-{number:04d}", given))
    return rows


def _require_few(parts: Iterable[Sequence[object]]) -> None:
    """Raise `InputError` before so many combinations are built that the memory is exhausted."""
    count = math.prod(map(len, parts))
    if count > MOST_RUNS:
        raise InputError(
            f"the plan has {count:,} runs; at most {MOST_RUNS:,} are possible, so make several "
            "plans of fewer"
        )


def _numbered(part: Sequence[Settings]) -> list[tuple[str, Settings]]:
    """Rows with their names, or numbers if there are several rows."""
    numbers = [f"{n:04d}" if len(part) > 1 else "" for n in range(1, len(part) + 1)]
    named = zip(numbers, part, strict=True)
    return [(str(settings.get(NAME, number)), settings) for number, settings in named]


def _require_different_keys(parts: Sequence[Sequence[Settings]]) -> None:
    seen: set[str] = set()
    for part in parts:
        keys = {key for settings in part for key in settings} - {NAME}
        if both := sorted(keys & seen):
            raise InputError(f"{both[0]} is set by two of table, columns, product and sample")
        seen |= keys


def name_problems(rows: Sequence[Row]) -> Iterable[tuple[str, str]]:
    """Names of rows that are invalid as names of runs, each with the reason."""
    seen: set[str] = set()
    for row in rows:
        if not _VALID_NAME.fullmatch(row.name) or len(row.name) > LONGEST_NAME:
            yield (
                row.name,
                (
                    f"is not a valid name of a run; use at most {LONGEST_NAME} letters, digits, "
                    "'.', '_' and '-', and begin with a letter or a digit"
                ),
            )
        elif row.name in RESERVED:
            yield row.name, "is the name of another entry of the store; choose another"
        elif row.name in seen:
            yield row.name, "is also the name of another row; give each row its own name"
        seen.add(row.name)


def settings_without_effect(
    settings: Iterable[str], rows: Sequence[Row]
) -> Iterable[tuple[str, str]]:
    """Paths of the base case whose values every row replaces, each with the reason."""
    for path in settings:
        if all(any(f"{path}.".startswith(f"{key}.") for key in row.settings) for row in rows):
            yield path, "is set by every row of the plan; leave it out, or change the plan"
