"""Plain-text tables of measurements, printed row by row as they are measured."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from groundswell.bench.rows import Measured as Measured
from groundswell.bench.rows import Row as Row

KIB, MIB = 1 << 10, 1 << 20
GAP = "  "  # between columns
ABOVE = "> 100 %"
NOTE = (
    f"{ABOVE}: faster than what it is compared with, because caches hold part of the data or other "
    "programs disturbed a measurement"
)


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Args:
        head: the heading.
        value: key of rows, or function of a row; the cell is empty if there is no value, or None.
        form: the text of a value: a format such as "{:.3g} GB/s", or a function of the value.
        width: minimum width in characters.
        unit: the unit of the text, in that of the value: 1e9 for GB/s and bytes/s.
    """

    head: str
    value: str | Callable[[Row], Any]
    form: str | Callable[[Any], str] = "{}"
    width: int = 0
    unit: float = 1

    def cell(self, row: Row) -> str:
        """The text for a row."""
        value = row.get(self.value) if isinstance(self.value, str) else self.value(row)
        if value is None:
            return ""
        value = value if self.unit == 1 else value / self.unit
        return self.form.format(value) if isinstance(self.form, str) else self.form(value)

    @property
    def room(self) -> int:
        """Width in characters."""
        return max(self.width, len(self.head))


@dataclass(frozen=True)
class Spread:
    """Shows consecutive rows side by side in one line if their other columns are equal.

    Args:
        key: key of rows; each of its values has a column of its own.
        names: function that returns these values from the measurements so far.
        cell: function that returns the text for a row.
        width: minimum width of a column in characters.
        after: columns to the right, filled from the first row of the line.
    """

    key: str
    names: Callable[[Measured], Sequence[str]]
    cell: Callable[[Row], str]
    width: int = 10
    after: Sequence[Column] = ()

    def columns(self, measured: Measured) -> list[Column]:
        """The columns of the values, and the columns after them."""
        names = [Column(name, self.cell, width=self.width) for name in self.names(measured)]
        return [*names, *self.after]


@dataclass(frozen=True)
class Table:
    """A table of a benchmark.

    Args:
        name: key of its rows in the file.
        title: the title, or a function of the measurements so far.
        columns: columns of each row.
        measure: measures the rows; all ranks call it and get the same rows.
        spread: shows rows side by side; None for one row per line.
        ranks: number of ranks for which it is measured: "one", "several" or "any".
        seconds: time limit with a `Rig`; measurements beyond it are skipped.
        others: rows of other codes or machines to show below; they are not recorded.
    """

    name: str
    title: str | Callable[[Measured], str]
    columns: Sequence[Column]
    measure: Callable[[Any], Iterable[Row]]
    spread: Spread | None = None
    ranks: str = "any"
    seconds: float = 0.0
    others: Callable[[Measured], Iterable[Row]] = lambda measured: ()

    def fits(self, ranks: int) -> bool:
        """Whether it is measured on this number of ranks."""
        return fit(self.ranks, ranks)

    def heading(self, measured: Measured) -> str:
        """The title."""
        return self.title if isinstance(self.title, str) else self.title(measured)


def fit(wanted: str, ranks: int) -> bool:
    """Whether something for "one", "several" or "any" number of ranks is for this number."""
    return {"any": True, "one": ranks == 1, "several": ranks > 1}[wanted]


class Printer:
    """Prints the rows of a table as they are measured, and the title before the first."""

    def __init__(self, table: Table, measured: Measured) -> None:
        self._table, self._measured = table, measured
        self._empty, self._is_above = True, False
        self._line: tuple[list[str], dict[str, Row]] = ([], {})

    def add(self, row: Row) -> None:
        """Print a row, or keep it until its line is complete."""
        if self._empty:
            self._begin()
        self._empty = False
        cells = [column.cell(row) for column in self._table.columns]
        if self._table.spread is None:
            self._print(cells)
            return
        known, side_by_side = self._line
        if known != cells:
            self._flush()
            self._line = known, side_by_side = cells, {}
        side_by_side[str(row[self._table.spread.key])] = row

    def end(self) -> None:
        """Print the last line, and the rows of other codes."""
        self._flush()
        if not self._empty:
            for row in self._table.others(self._measured):
                self._print([column.cell(row) for column in self._table.columns])
        if self._is_above:
            say(NOTE)

    def _begin(self) -> None:
        spread = self._table.spread
        more = spread.columns(self._measured) if spread else []
        self._columns = [*self._table.columns, *more]
        say(f"\n{self._table.heading(self._measured)}")
        self._print([column.head for column in self._columns])
        self._print(["-" * column.room for column in self._columns])

    def _flush(self) -> None:
        labels, rows = self._line
        spread = self._table.spread
        if spread is None or not rows:
            return
        names = [spread.cell(rows[n]) if n in rows else "" for n in spread.names(self._measured)]
        first = next(iter(rows.values()))
        self._print([*labels, *names, *(column.cell(first) for column in spread.after)])
        self._line = ([], {})

    def _print(self, cells: Sequence[str]) -> None:
        self._is_above |= any(ABOVE in cell for cell in cells)
        pairs = zip(cells, self._columns, strict=True)
        say(GAP.join(cell.ljust(column.room) for cell, column in pairs).rstrip())


def show(tables: Iterable[Table], measured: Measured) -> None:
    """Print measured tables."""
    for table in tables:
        printer = Printer(table, measured)
        for row in measured.get(table.name, ()):
            printer.add(row)
        printer.end()


def say(text: str) -> None:
    """Print text and flush."""
    print(text, flush=True)


def time_of(seconds: float) -> str:
    """A time with its unit."""
    return f"{_short(1e3 * seconds)} ms" if seconds >= 0.9995e-3 else f"{_short(1e6 * seconds)} us"


def size_of(count: int) -> str:
    """A number of bytes with its unit."""
    return f"{_short(count / MIB)} MiB" if count >= MIB else f"{_short(count / KIB)} KiB"


def _short(value: float) -> str:
    """A number with three digits, or all those before the point."""
    return f"{value:.3g}" if value < 999.5 else f"{value:,.0f}"


def amount(value: float) -> str:
    """A number with four digits that count, and without an exponent if it is large."""
    return f"{float(f'{value:.4g}'):,.0f}" if abs(value) >= 999.95 else f"{value:.4g}"


def percent(share: float, digits: int = 0) -> str:
    """A fraction in per cent."""
    return f"{100 * share:.{digits}f} %"


def fraction(share: float, digits: int = 0) -> str:
    """A fraction of what is possible in per cent; ABOVE if measurements disturb it."""
    return percent(share, digits) if round(100 * share, digits) <= 100 else ABOVE


def yes_or_no(value: bool) -> str:
    """A truth value in words."""
    return "yes" if value else "no"


def field(name: str, width: int = 0, head: str | None = None) -> Column:
    """A column with the value of one key of a row, as it is."""
    return Column(name if head is None else head, name, width=width)


def times(head: str, key: str, unit: float = 1) -> Column:
    """A column with a ratio, or with values over another one, `unit`."""
    return Column(head, key, "{:.2f}x", 7, unit)


def milliseconds(head: str, key: str = "seconds", width: int = 0) -> Column:
    """A column with times in ms."""
    return Column(head, key, "{:.4g}", width, 1e-3)
