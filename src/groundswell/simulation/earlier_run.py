"""Earlier runs in a results folder: which one a new run continues, and what it may replace."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Literal

from groundswell.errors import InputError, quoted
from groundswell.simulation import checkpoint, summary
from groundswell.simulation.checkpoint import Progress

Resume = bool | Literal["auto"]
AUTO: Resume = "auto"


def is_complete(folder: Path, digest: str) -> bool:
    """Whether a folder holds the complete results of a case, and no run to continue."""
    found = _case_of(folder)
    return found.get("digest") == digest and not (folder / checkpoint.NAME).exists()


def progress_to_resume(
    folder: Path, digest: str, *, resume: Resume, overwrite: bool
) -> Progress | None:
    """The progress of the run to continue; None to start from the beginning.

    Without `resume` and `overwrite`, only results of the same case may be replaced.

    Args:
        folder: the results folder.
        digest: digest of the case.
        resume: continue the unfinished run; "auto" if there is one.
        overwrite: replace all results and unfinished runs.

    Raises:
        InputError: there is no run to continue, results or an unfinished run must not be replaced,
            or both `resume` and `overwrite` are set.
    """
    if resume not in (True, False, AUTO):
        raise InputError(f'resume = {resume!r}: give True, False or "auto"')
    if resume and overwrite:
        raise InputError(
            "resume continues a run, but overwrite starts from the beginning; give one of them"
        )
    path = folder / checkpoint.NAME
    if resume is True or (resume == AUTO and checkpoint.belongs(path, digest)):
        return _progress_to_resume(path, digest)
    if not overwrite:
        _require_no_checkpoint(path, digest)
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
    if _case_of(folder).get("digest") != digest:
        raise InputError(
            f"{folder} holds the results of another case, or of this case with other values, data, "
            f"backend, precision or version{_described(_summary(folder))}; choose another folder, "
            "or replace them with --overwrite (in Python: overwrite=True)"
        )


def _summary(folder: Path) -> dict[str, object]:
    """The summary in a folder; empty if there is none that can be read."""
    with suppress(InputError):
        return summary.read_summary(folder)
    return {}


def _case_of(folder: Path) -> dict[str, object]:
    """The section `case` of the summary in a folder."""
    case = _summary(folder).get("case")
    return case if isinstance(case, dict) else {}


def _described(content: dict[str, object]) -> str:
    """Title, time and backend of a run as text for a message."""
    title, started, backend = (content.get(key) for key in ("title", "started", "backend"))
    known = [quoted(title)] if isinstance(title, str) and title else []
    if isinstance(started, str):
        known.append(f"run of {started[:16].replace('T', ' ')} UTC")
    if isinstance(backend, str):
        known.append(f"backend {quoted(backend)}")
    return f" ({', '.join(known)})" if known else ""
