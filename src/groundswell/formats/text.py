"""Text files: plain text, numbers, JSON, and tables of comma-separated values."""

from __future__ import annotations

import csv
import json
import re
import warnings
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from groundswell.arrays import Floats
from groundswell.errors import InputError, reason_of
from groundswell.formats.atomic import atomic_write

_TOKEN = re.compile(r"\S+")
_FORTRAN_EXPONENT = re.compile(r"(?<=[0-9.])[dD](?=[+-]?[0-9])")  # of double precision


def read_text(path: Path | str, what: str) -> str:
    """Read a text file (ASCII or UTF-8).

    Args:
        what: the expected content, for messages.

    Raises:
        InputError: the file is missing, unreadable or not text.
    """
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not a text file (byte {error.start}); expected {what}") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot read {what}: {reason_of(error)}") from None


def parse_numbers(text: str, source: Path | str, line: int = 1) -> Floats:
    """All numbers of a whitespace-separated text, (n,), also with Fortran's exponents (1.5D+03).

    Args:
        source: name of the file, for messages.
        line: number of the first line.

    Raises:
        InputError: a token is not a finite number; names its line.
    """
    if not text.strip():
        return np.empty(0)
    values = _numbers(text)
    if not np.isfinite(values).all():
        values = _numbers(_FORTRAN_EXPONENT.sub("e", text))
    if not np.isfinite(values).all():
        raise InputError(f"{source}, {_first_bad_token(text, line)}")
    return values


def parse_number(text: str) -> float:
    """A number, also with Fortran's exponent (1.5D+03).

    Raises:
        ValueError: the text is not a number.
    """
    return float(_FORTRAN_EXPONENT.sub("e", text))


def _numbers(text: str) -> Floats:
    """All numbers of a whitespace-separated text, (n,); NaN if there is anything else."""
    try:
        with warnings.catch_warnings():
            # NumPy < 2.3 warns and stops reading where later versions raise ValueError.
            warnings.simplefilter("error", DeprecationWarning)
            return np.fromstring(text, sep=" ")
    except (ValueError, DeprecationWarning):
        return np.array([np.nan])


def write_json(path: Path, content: object) -> Path:
    """Write an indented JSON file and return its path.

    Raises:
        RunFailed: the disk is full.
    """
    with atomic_write(path) as part:
        part.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    return path


def write_table(path: Path, columns: Mapping[str, ArrayLike]) -> Path:
    """Write a header and columns of numbers with nine digits, and return the path.

    Raises:
        RunFailed: the disk is full.
    """
    rows = np.column_stack([np.asarray(column) for column in columns.values()])
    with atomic_write(path) as part:
        np.savetxt(part, rows, "%.9g", ",", header=",".join(columns), comments="")
    return path


def read_table(path: Path) -> dict[str, Floats]:
    """Read the columns of a table of `write_table`, by name.

    Raises:
        InputError: the file is missing or damaged.
    """
    names, _, body = read_text(path, "a table of numbers").partition("\n")
    columns = names.split(",")
    values = parse_numbers(body.replace(",", " "), path, line=2)
    if not values.size or values.size % len(columns):
        raise InputError(f"{path} is damaged: its rows are incomplete; run the case again")
    return dict(zip(columns, values.reshape(-1, len(columns)).T, strict=True))


def read_rows(path: Path | str, what: str) -> list[tuple[int, list[str]]]:
    """Number and cells of each line of comma-separated values.

    Empty lines and lines that start with # are skipped.

    Raises:
        InputError: the file is missing, unreadable, not text or not of such values.
    """
    text = read_text(path, what)
    # Comments become empty lines, which csv skips, so that line numbers stay those of the file.
    lines = ("" if line.lstrip().startswith("#") else line for line in text.split("\n"))
    reader = csv.reader(lines, skipinitialspace=True, strict=True)
    try:
        rows = [(reader.line_num, [cell.strip() for cell in row]) for row in reader]
    except csv.Error as error:
        raise InputError(f"{path}, line {reader.line_num}: {error}") from None
    return [(line, row) for line, row in rows if any(row)]


def read_json(path: Path) -> Any:
    """Read a JSON file.

    Raises:
        InputError: the file is missing or damaged.
    """
    try:
        return json.loads(read_text(path, "JSON"))
    except ValueError as error:
        raise InputError(f"{path} is damaged ({error}); run the case again") from error


def line_of_number(text: str, index: int, line: int = 1) -> int:
    """The line of number `index` of `text`; the last line if there are fewer numbers."""
    token = next(islice(_TOKEN.finditer(text), index, None), None)
    return line + text.rstrip().count("\n", 0, token.start() if token else len(text))


def _first_bad_token(text: str, line: int) -> str:
    for number, content in enumerate(text.split("\n"), start=line):
        for token in content.split():
            if not is_finite_number(token):
                return f"line {number}: {token[:40]!r} is not a finite number"
    return f"line {line} and following: not plain decimal numbers"


def is_finite_number(token: str) -> bool:
    try:
        return bool(np.isfinite(parse_number(token))) and "_" not in token
    except ValueError:
        return False
