"""Output to terminals, and plain text where there is none."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, TextIO

from groundswell.processes import launcher_variables

if TYPE_CHECKING:
    from rich.console import Console

ENDLESS = 100_000  # characters: lines of plain text are not wrapped


def is_terminal(stream: TextIO) -> bool:
    """Whether a stream is a terminal.

    Launchers give their processes pseudo-terminals even if the output goes to a file. What they
    start therefore never counts as having one.
    """
    return stream.isatty() and not launcher_variables()


def open_console(stream: TextIO | None = None) -> Console:
    """A console for a stream, by default standard output; plain text if it is no terminal."""
    from rich.console import Console

    stream = stream or sys.stdout
    if is_terminal(stream) or "FORCE_COLOR" in os.environ:
        return Console(file=stream, highlight=False)
    width = None if os.environ.get("COLUMNS") else ENDLESS
    return Console(file=stream, highlight=False, force_terminal=False, width=width)


def print_lines(content: object) -> None:
    """Print a table or text to standard output, without spaces at the ends of lines."""
    console = open_console()
    with console.capture() as captured:
        console.print(content)
    lines = [line.rstrip() for line in captured.get().split("\n")]
    console.file.write("\n".join(lines))
    console.file.flush()
