"""Text files: their text, the numbers in it, JSON, and tables of comma-separated values."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groundswell.errors import InputError
from groundswell.formats.atomic import whole

_TOKEN = re.compile(r"\S+")


def read_text(path: Path | str, what: str) -> str:
    """The text of a file (ASCII or UTF-8); `what` says in the message what was looked for.

    Raises InputError when the file is missing, unreadable or not text.
    """
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not a text file (byte {error.start}); expected {what}") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot read {what}: {error}") from None


def parse_numbers(text: str, source: Path | str, line: int = 1) -> NDArray[np.float64]:
    """All numbers of a whitespace-separated text whose first line is line `line` of `source`.

    Raises InputError naming the line of the first token that is not a finite number.
    """
    if not text.strip():
        return np.empty(0)
    try:
        with warnings.catch_warnings():
            # NumPy < 2.3 only warns, and stops reading, where later ones raise ValueError.
            warnings.simplefilter("error", DeprecationWarning)
            values = np.fromstring(text, sep=" ")
    except (ValueError, DeprecationWarning):
        values = np.array([np.nan])
    if not np.isfinite(values).all():
        raise InputError(f"{source}, {_first_bad_token(text, line)}")
    return values


def write_json(path: Path, content: Any) -> Path:
    """Write an indented JSON file; returns its path.

    Raises RunFailed when the disk is full.
    """
    with whole(path) as part:
        part.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    return path


def write_table(path: Path, columns: Mapping[str, ArrayLike]) -> Path:
    """Write columns of numbers, nine digits each, under a line with their names; returns the path.

    Raises RunFailed when the disk is full.
    """
    rows = np.column_stack([np.asarray(column) for column in columns.values()])
    with whole(path) as part:
        np.savetxt(part, rows, "%.9g", ",", header=",".join(columns), comments="")
    return path


def read_table(path: Path) -> dict[str, NDArray[np.float64]]:
    """The columns of a table that `write_table` has written, by name.

    Raises InputError when the file is missing or damaged.
    """
    names, _, body = read_text(path, "a table of numbers").partition("\n")
    columns = names.split(",")
    values = parse_numbers(body.replace(",", " "), path, line=2)
    if not values.size or values.size % len(columns):
        raise InputError(f"{path} is damaged: it has no whole rows; run the case again")
    return dict(zip(columns, values.reshape(-1, len(columns)).T, strict=True))


def read_json(path: Path) -> Any:
    """The content of a JSON file.

    Raises InputError when the file is missing or damaged.
    """
    try:
        return json.loads(read_text(path, "JSON"))
    except ValueError as error:
        raise InputError(f"{path} is damaged ({error}); run the case again") from error


def line_of_number(text: str, index: int, line: int = 1) -> int:
    """The line on which number `index` of `text` stands; the last line when there are fewer."""
    token = next(islice(_TOKEN.finditer(text), index, None), None)
    return line + text.rstrip().count("\n", 0, token.start() if token else len(text))


def _first_bad_token(text: str, line: int) -> str:
    for number, content in enumerate(text.split("\n"), start=line):
        for token in content.split():
            if not _is_finite_number(token):
                return f"line {number}: {token[:40]!r} is not a finite number"
    return f"line {line} and following: not plain decimal numbers"


def _is_finite_number(token: str) -> bool:
    try:
        return bool(np.isfinite(float(token))) and "_" not in token
    except ValueError:
        return False
