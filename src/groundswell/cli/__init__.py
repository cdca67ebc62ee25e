"""The `groundswell` command: error handling and exit codes; `app` has the commands themselves.

Exit codes: 0, 1 (the run or a check failed), 2 (bad input or usage) or 130 (interrupted).
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from groundswell.errors import GroundswellError, Interrupted, known_to_all

if TYPE_CHECKING:
    from groundswell.exchange.communicator import Communicator

DEBUG = "--debug"  # allowed anywhere, so we remove it before the command line is parsed

OPTIONAL = {"--resume": "--resume=yes"}  # options whose value may be omitted

# Commands of all ranks, besides those of solvers.
ON_ALL_RANKS = {"run", "bench", "reproduce", "info"}

APART = {"ensemble"}  # commands of processes that share no job, however they were started

BUG = (
    "{kind}: {error}\n"
    "This is a bug in Groundswell. Please report it with the case; --debug shows where it happened."
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line `arguments` (by default the process's); returns the exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    debug = DEBUG in words
    try:
        plain = [word for word in words if word != DEBUG]
        with _quiet_unless_first(plain) as taking_part, warnings.catch_warnings():
            if not debug:  # warnings of libraries; Groundswell prints its own
                warnings.simplefilter("ignore")
            return _run(plain) if taking_part else 0
    except KeyboardInterrupt:  # typer catches it only while a command runs
        print("interrupted", file=sys.stderr)
        return Interrupted.exit_code
    except Exception as error:
        if debug:
            import traceback

            traceback.print_exc()
        return _explain(error, words)


def _shared(words: Sequence[str]) -> bool:
    """Whether all ranks take part in a command; rank 0 runs the others alone."""
    from groundswell import registry

    return bool({*ON_ALL_RANKS, *registry.commands_of_all_ranks()}.intersection(words[:1]))


@contextmanager
def _quiet_unless_first(words: Sequence[str]) -> Iterator[bool]:
    """Silence all ranks but rank 0; yields whether this rank takes part in the command."""
    job = None if APART.intersection(words[:1]) else _job()
    if job is None or job.first:
        yield True
        return
    with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
        yield _shared(words)


@cache
def _command() -> Any:
    """The command line, built once; Typer would build it again for each use."""
    from typer.main import get_command

    from groundswell.cli.app import app

    return get_command(app)


def _run(words: list[str]) -> int:
    omitted = {} if APART.intersection(words[:1]) else OPTIONAL
    try:
        _command()([omitted.get(word, word) for word in words], prog_name="groundswell")
    except SystemExit as end:
        if end.code == Interrupted.exit_code:
            print("interrupted", file=sys.stderr)
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def _explain(error: Exception, words: Sequence[str]) -> int:
    """Print the message of an error; returns the exit code."""
    if isinstance(error, OSError):
        from groundswell.formats.atomic import resource_error

        error = resource_error(error) or error
    code = error.exit_code if isinstance(error, GroundswellError) else 1
    everywhere = isinstance(error, GroundswellError) and known_to_all(error)
    job = None if APART.intersection(words[:1]) else _job()
    _say(_words(error), code, job, everywhere=everywhere or not _shared(words))
    return code


def _words(error: Exception) -> str:
    if isinstance(error, GroundswellError):
        return str(error)
    if isinstance(error, MemoryError):
        return f"out of memory ({error}); use a smaller case"
    return BUG.format(kind=type(error).__name__, error=error)


def _say(text: str, code: int, job: Communicator | None, *, everywhere: bool) -> None:
    """Print an error once; abort the job if the other ranks do not know of the error."""
    if job is None:
        print(f"groundswell: {text}", file=sys.stderr)
    elif not everywhere:
        print(f"groundswell, rank {job.rank}: {text}", file=sys.stderr, flush=True)
        job.abort(code)
    elif job.speaks:
        print(f"groundswell: {text}", file=sys.stderr, flush=True)


def _job() -> Communicator | None:
    """The job of several ranks to which this process belongs, or None."""
    from groundswell.processes import started_ranks

    if started_ranks() == 1:
        return None  # a single process does not import MPI
    from groundswell.exchange.mpi_communicator import get_communicator

    try:
        job = get_communicator()
    except GroundswellError:
        return None
    return job if job.size > 1 else None
