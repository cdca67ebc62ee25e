"""Columns of numbers in a text file, read in parts."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import TextIO

import numpy as np

from groundswell.arrays import Floats
from groundswell.errors import InputError
from groundswell.formats.damage import read_errors_reported

LINES = 2**17  # read at a time


@dataclass(frozen=True)
class TextColumns:
    """Some columns of numbers after the first lines of a text file.

    Args:
        path: the file.
        skip: number of lines before the numbers.
        columns: indices of the columns.
        has_commas: whether commas separate them.
    """

    path: Path
    skip: int
    columns: Sequence[int]
    has_commas: bool = False

    def parts(self) -> Iterator[Floats]:
        """Yield the numbers of some lines at a time, (columns, rows).

        Raises:
            InputError: the file is unreadable, or a line lacks a column or has something else
                there.
        """
        first = self.skip
        with (
            read_errors_reported(self.path, "columns of numbers", "correct it"),
            self.path.open(encoding="utf-8-sig") as file,
        ):
            for _ in islice(file, first):
                pass
            while (numbers := self._next(file, first)) is not None:
                first += LINES
                if numbers.size:
                    yield numbers

    def _next(self, file: TextIO, first: int) -> Floats | None:
        """The numbers of the next lines, of which the first has the number `first` + 1."""
        if not (line := next(file, "")):
            return None
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", ".*no data")  # empty lines, or comments
                return np.loadtxt(
                    chain([line], islice(file, LINES - 1)),
                    delimiter="," if self.has_commas else None,
                    usecols=self.columns,
                    ndmin=2,
                    unpack=True,
                )
        except ValueError as error:
            reason = str(error).rstrip(".")
            raise InputError(
                f"{self.path} cannot be read as columns of numbers: {reason}, where row 0 is line "
                f"{first + 1}; correct it"
            ) from None
