"""The `groundswell` command: what it does when all goes well is in `app`, and here when not.

It ends with 0, 1 (the run failed, or a check did), 2 (bad input or usage) or 130 (interrupted).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from groundswell.errors import GroundswellError, Interrupted

DEBUG = "--debug"  # may stand anywhere, so it is taken out before the command line is read

BUG = (
    "{kind}: {error}\n"
    "This is a bug in Groundswell. Please report it with the case; --debug shows where it happened."
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line `arguments` (by default the process's); returns the exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    debug = DEBUG in words
    try:
        return _run([word for word in words if word != DEBUG])
    except Exception as error:
        if debug:
            import traceback

            traceback.print_exc()
        return _explain(error)


def _run(words: list[str]) -> int:
    from groundswell.cli.app import app

    try:
        app(words, prog_name="groundswell")
    except SystemExit as end:
        if end.code == Interrupted.exit_code:
            print("interrupted", file=sys.stderr)
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def _explain(error: Exception) -> int:
    """Tell the user what went wrong; returns the exit code."""
    if isinstance(error, GroundswellError):
        print(f"groundswell: {error}", file=sys.stderr)
        return error.exit_code
    if isinstance(error, MemoryError):
        print(f"groundswell: out of memory ({error}); use a smaller case", file=sys.stderr)
    else:
        print(f"groundswell: {BUG.format(kind=type(error).__name__, error=error)}", file=sys.stderr)
    return 1
