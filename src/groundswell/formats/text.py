"""Reading of text files and of the numbers in them."""

from __future__ import annotations

import re
import warnings
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groundswell.errors import InputError

_TOKEN = re.compile(r"\S+")


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
        raise InputError(f"{path}: cannot read {what}: {error}") from None


def parse_numbers(text: str, source: Path | str, line: int = 1) -> NDArray[np.float64]:
    """All numbers of a whitespace-separated text, (n,).

    Args:
        source: name of the file, for messages.
        line: number of the first line.

    Raises:
        InputError: a token is not a finite number; names its line.
    """
    if not text.strip():
        return np.empty(0)
    try:
        with warnings.catch_warnings():
            # NumPy < 2.3 warns and stops reading where later versions raise ValueError.
            warnings.simplefilter("error", DeprecationWarning)
            values = np.fromstring(text, sep=" ")
    except (ValueError, DeprecationWarning):
        values = np.array([np.nan])
    if not np.isfinite(values).all():
        raise InputError(f"{source}, {_first_bad_token(text, line)}")
    return values


def line_of_number(text: str, index: int, line: int = 1) -> int:
    """The line of number `index` of `text`; the last line if there are fewer numbers."""
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
