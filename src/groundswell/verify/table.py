"""The table of `groundswell verify`, printed row by row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from rich.text import Text

from groundswell.console import open_console
from groundswell.verify import Check, Row

HEADS = ("problem", "found", "exact", "allowed", "")
WIDTHS = (58, 16, 16, 16, 7)
COLOURS = {"passed": "green", "failed": "bold red", "skipped": "yellow"}


class VerificationTable:
    """Prints rows as soon as they are known."""

    def __init__(self) -> None:
        self._console, self._problem = open_console(), ""
        self._counts = Counter[str]()

    def begin(self, problem: str) -> None:
        """Print the name of the next problem."""
        if not self._problem:
            self._console.print(_line(HEADS), style="bold", soft_wrap=True)
        if problem != self._problem:
            self._console.print(Text(problem, "dim"), soft_wrap=True)
        self._problem = problem

    def add(self, row: Row) -> None:
        """Print a row."""
        self.begin(row.problem)
        self._counts[row.status] += 1
        status = Text(row.status.upper() if row.status == "failed" else row.status)
        status.stylize(COLOURS[row.status])
        text = f"  {row.message}  " if row.check is None else _line(_cells(row.check))
        self._console.print(Text(text) + status, soft_wrap=True)
        if row.check and row.check.note:
            self._console.print(Text(f"    {row.check.note}", "dim"), soft_wrap=True)

    def end(self) -> None:
        """Print the number of rows by status."""
        counts = [f"{self._counts[status]} {status}" for status in COLOURS if self._counts[status]]
        self._console.print(", ".join(counts))


def _cells(check: Check) -> tuple[str, ...]:
    exact = "" if check.reference is None else f"{check.reference:.4g} {check.unit}"
    return f"  {check.name}", f"{check.value:.4g} {check.unit}", exact, check.tolerance


def _line(cells: Iterable[str]) -> str:
    """Align cells in columns; a cell that is too long shifts the following ones."""
    return "".join(f"{cell.ljust(width)} " for cell, width in zip(cells, WIDTHS, strict=False))
