"""Earth models that vary with depth, in the formats of TauP: `.nd` and `.tvel`.

Crotwell, Owens & Ritsema (1999), Seism. Res. Lett. 70, 154-160. Lines have a depth (km), vp and vs
(km/s), density (g/cm^3) and, in `.nd` files, Qp and Qs; a depth that occurs twice is a
discontinuity. Models are read as far as the outer core, which has no Q in many of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

from groundswell.errors import InputError, counted
from groundswell.formats.text import parse_number, read_text

SUFFIXES = (".nd", ".tvel")

_COLUMNS = ("top", "vp", "vs", "rho", "qp", "qs")
_TO_SI = (1e3, 1e3, 1e3, 1e3, 1.0, 1.0)
_TVEL_TITLES = 2  # lines at the start of a .tvel file
_COMMENT = re.compile(r"(#|//).*")
_CORE = 500e3  # m; a fluid below this depth is the outer core
_NAME = re.compile(r"[A-Za-z][\w-]*")  # of a discontinuity, such as mantle


def read_earth_model(path: Path) -> list[tuple[int, dict[str, float]]]:
    """Number and content of each line with values, in SI units: top, vp, vs, rho, qp and qs.

    Raises:
        InputError: the file is unreadable, or a line is neither numbers nor a name.
    """
    rows = (
        (number, _parse(words, f"{path}, line {number}"))
        for number, words in _lines_of_numbers(path)
    )
    return list(takewhile(lambda row: row[1]["vs"] != 0 or row[1]["top"] < _CORE, rows))


def _lines_of_numbers(path: Path) -> Iterator[tuple[int, list[str]]]:
    text = read_text(path, "an Earth model")
    lines = enumerate(text.splitlines(), 1)
    is_tvel = path.suffix.lower() == ".tvel"
    for number, line in lines:
        words = _COMMENT.sub("", line).split()
        is_title = is_tvel and number <= _TVEL_TITLES
        is_name = not is_tvel and len(words) == 1 and _NAME.fullmatch(words[0])
        if words and not is_title and not is_name:
            yield number, words


def _parse(words: list[str], where: str) -> dict[str, float]:
    if len(words) not in (3, 4, 6):
        raise InputError(
            f"{where}: {counted(len(words), 'value')}; give depth, vp, vs and, if known, density, "
            "Qp and Qs"
        )
    try:
        values = [parse_number(word) for word in words]
    except ValueError as error:
        raise InputError(f"{where}: {error}") from None
    return {n: v * si for n, v, si in zip(_COLUMNS, values, _TO_SI, strict=False)}
