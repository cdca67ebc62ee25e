"""Earlier runs in a results folder: which one a new run continues, and what it may replace."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

from groundswell.errors import InputError, quoted
from groundswell.simulation import checkpoint, summary
from groundswell.simulation.checkpoint import Progress


def progress_to_resume(
    folder: Path, digest: str, *, resume: bool, overwrite: bool
) -> Progress | None:
    """The progress of the run to continue; None to start from the beginning.

    Without `resume` and `overwrite`, only results of the same case may be replaced.

    Args:
        folder: the results folder.
        digest: digest of the case.
        resume: continue the unfinished run.
        overwrite: replace all results and unfinished runs.

    Raises:
        InputError: there is no run to continue, results or an unfinished run must not be replaced,
            or both `resume` and `overwrite` are set.
    """
    if resume and overwrite:
        raise InputError(
            "resume continues a run, but overwrite starts from the beginning; give one of them"
        )
    if resume:
        return _progress_to_resume(folder / checkpoint.NAME, digest)
    if not overwrite:
        _require_no_checkpoint(folder / checkpoint.NAME, digest)
        _require_same_results(folder, digest)
    return None


def _progress_to_resume(path: Path, digest: str) -> Progress:
    progress = checkpoint.read_progress(path, digest)
    if progress.lengths is None:
        raise InputError(
            f"{path} was written by Simulation.checkpoint, so there are no results to continue; in "
            "Python, use Simulation(case, restart=...)"
        )
    return progress


def _require_no_checkpoint(path: Path, digest: str) -> None:
    if checkpoint.belongs(path, digest):
        raise InputError(
            f"{path} belongs to an unfinished run of this case; continue it with --resume (in "
            "Python: resume=True), or start again with --overwrite (overwrite=True)"
        )
    if path.exists():
        raise InputError(
            f"{path} belongs to an unfinished run of another case, or is damaged; choose another "
            "folder, or start with --overwrite (in Python: overwrite=True)"
        )


def _require_same_results(folder: Path, digest: str) -> None:
    """Raise InputError if the folder holds results of another case."""
    if not (folder / summary.NAME).exists():
        return
    found: dict[str, Any] = {}
    with suppress(InputError):
        found = summary.read_summary(folder)
    case = found.get("case")
    if not isinstance(case, dict) or case.get("digest") != digest:
        raise InputError(
            f"{folder} holds the results of another case, or of this case before it was changed"
            f"{_described(found)}; choose another folder, or replace them with --overwrite (in "
            "Python: overwrite=True)"
        )


def _described(content: dict[str, Any]) -> str:
    """Title and time of a run as text for a message."""
    title, started = content.get("title"), content.get("started")
    known = [quoted(title)] if isinstance(title, str) and title else []
    if isinstance(started, str):
        known.append(f"run of {started[:16].replace('T', ' ')} UTC")
    return f" ({', '.join(known)})" if known else ""
