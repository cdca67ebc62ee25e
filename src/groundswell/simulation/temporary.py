"""Runs of cases built in Python, whose files are deleted together with the result by default."""

from __future__ import annotations

from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from weakref import finalize

from groundswell.case import Case
from groundswell.exchange.mpi_communicator import get_communicator
from groundswell.simulation.result import Result
from groundswell.simulation.run import run


def run_built(
    case: Case,
    folder: str | Path | None = None,
    *,
    overwrite: bool = False,
    quiet: bool = True,
) -> Result:
    """Run a case to its end; all ranks must call it.

    Args:
        folder: the results folder. By default, a temporary folder on rank 0's host, which is
            deleted together with rank 0's result. The run then writes no checkpoints.
        overwrite: replace results of another case in that folder.
        quiet: show no progress.

    Raises what `run` raises.
    """
    if folder is not None:
        return run(case, folder=folder, overwrite=overwrite, quiet=quiet)
    job = get_communicator()
    scratch = job.collective_try(lambda: mkdtemp(prefix="groundswell-") if job.first else "")
    try:
        result = run(case, folder=job.bcast(scratch), quiet=quiet, temporary=True)
    except BaseException:
        _remove(scratch)
        raise
    finalize(result, _remove, scratch)
    return result


def _remove(scratch: str) -> None:
    if scratch:
        rmtree(scratch, ignore_errors=True)
