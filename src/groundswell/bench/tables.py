"""Tables of measurements in plain text, as wide as they need to be."""

from __future__ import annotations

import sys

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

WIDTH = 200  # columns, as far as they are needed
KIB, MIB = 1 << 10, 1 << 20


def table_of(title: str, *columns: str) -> Table:
    """An empty table."""
    return Table(*columns, title=escape(title), box=box.SIMPLE_HEAD, title_justify="left")


def _console() -> Console:
    """Plain text, wide: mpiexec gives ranks a terminal that knows neither width nor colours."""
    return Console(file=sys.stdout, highlight=False, width=WIDTH, force_terminal=False)


def print_table(table: Table) -> None:
    """Print it if it has rows."""
    if table.row_count:
        _console().print(table)


def say(text: str) -> None:
    """Print a line or several."""
    _console().print(escape(text), soft_wrap=True)


def time_of(seconds: float) -> str:
    """A time in words."""
    return f"{1e6 * seconds:.3g} us" if seconds < 1e-3 else f"{1e3 * seconds:.3g} ms"


def size_of(count: int) -> str:
    """Bytes in words."""
    return f"{count / MIB:.3g} MiB" if count >= MIB else f"{count / KIB:.3g} KiB"
