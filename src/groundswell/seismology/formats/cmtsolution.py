"""The order of what CMTSOLUTION files contain, which ObsPy does not check."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice, takewhile
from pathlib import Path

from groundswell.errors import InputError
from groundswell.formats.text import is_finite_number

FORMAT = "CMTSOLUTION"  # ObsPy's name
# How the lines after that of the hypocentre begin, in lower case.
_LABELS = ("event", "time", "half", "lat", "lon", "dep", "mrr", "mtt", "mpp", "mrt", "mrp", "mtp")
_CATALOGUE, _NUMBERS = 5, 11  # characters of its name; numbers of the hypocentre after them


def require_order(path: Path | str) -> None:
    """Check that the lines of each event are in order, because ObsPy does not read their labels.

    Raises:
        InputError: a line or a number of a hypocentre is missing, or a line is not in its place.
    """
    lines = iter(enumerate(Path(path).read_text("latin-1").splitlines(), 1))
    for number, first in lines:
        if first.strip():
            _require_numbers(first, f"{path}, line {number}")
            _require_labels([*islice(lines, len(_LABELS))], path)


def _require_numbers(line: str, where: str) -> None:
    found = len([*takewhile(is_finite_number, line[_CATALOGUE:].split())])
    if found < _NUMBERS:
        raise InputError(
            f"{where} has {found} numbers; give {_NUMBERS}: year, month, day, hour, minute, "
            "second, latitude, longitude, depth and two magnitudes"
        )


def _require_labels(lines: Sequence[tuple[int, str]], path: Path | str) -> None:
    for (number, line), label in zip(lines, _LABELS, strict=False):
        if not line.strip().lower().startswith(label):
            raise InputError(
                f'{path}, line {number}: "{line.strip()}" must begin with "{label}"; the lines of '
                "an event must be in the order of Global CMT"
            )
