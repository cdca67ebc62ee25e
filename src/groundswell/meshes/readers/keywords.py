"""Files of keywords and lines of data, as Abaqus has them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from groundswell.arrays import Integers
from groundswell.errors import InputError


@dataclass(frozen=True, eq=False)
class Section:
    """A line with a keyword, and the lines of data that follow it.

    Args:
        keyword: in capitals.
        parameters: values by their names in capitals; "" for those without a value.
        lines: of data.
        line: number of the line with the keyword.
    """

    keyword: str
    parameters: dict[str, str]
    lines: list[str]
    line: int

    @cached_property
    def rows(self) -> list[list[str]]:
        """The values of each line."""
        return [[value.strip() for value in line.split(",")] for line in self.lines]

    @cached_property
    def integers(self) -> Integers:
        """All values, which are whole numbers; lines may go on in the next one."""
        values = ",".join(self.lines).split(",")
        return np.array([int(value) for value in values if value and not value.isspace()], np.int64)


def read_sections(path: Path) -> Iterator[Section]:
    """Yield the sections of a file.

    Raises:
        InputError: the file cannot be read, or is not of text.
    """
    try:
        text = path.read_text("latin-1")
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})") from None
    if "\0" in text:
        raise InputError("is not a text file of keywords; it is damaged, or of another format")
    section: Section | None = None
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("**") or not line.strip():
            continue
        if line.startswith("*"):
            if section is not None:
                yield section
            section = _keyword(line, number)
        elif section is not None:
            section.lines.append(line)
    if section is not None:
        yield section


def _keyword(line: str, number: int) -> Section:
    keyword, *given = (word.strip() for word in line[1:].split(","))
    pairs = (word.partition("=") for word in given if word)
    parameters = {name.strip().upper(): value.strip().strip('"') for name, _, value in pairs}
    return Section(keyword.upper(), parameters, [], number)
