"""Reproduces the tables and figures of documents on this machine: `groundswell reproduce`.

The benchmarks of solvers name the documents and measure their items. This package runs them, sets
the measurements beside the published values, and writes the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from groundswell.bench import benchmark
from groundswell.bench.limits import describe
from groundswell.errors import InputError
from groundswell.exchange.mpi_communicator import get_communicator
from groundswell.reproduction.comparison import Run, Section, compare
from groundswell.reproduction.comparison import failed_here as failed_here
from groundswell.reproduction.merging import read_runs
from groundswell.reproduction.pages import Reproduction
from groundswell.reproduction.pages import write_pages as write_pages
from groundswell.reproduction.runs import Options as Options
from groundswell.reproduction.runs import choose, run_documents


def reproduce(
    names: Sequence[str] = (),
    options: Options = Options(),  # noqa: B008, it is immutable
    *,
    merge: Sequence[str | Path] = (),
    is_measured: bool = True,
) -> Reproduction | None:
    """Reproduce documents: measure their items, and set them beside the published values.

    All ranks must call it.

    Args:
        names: names of the benchmarks whose documents are reproduced; by default all.
        options: where and how it is measured.
        merge: measurements made elsewhere: files, patterns or folders.
        is_measured: whether items are measured here; otherwise, only merged runs are shown.

    Returns:
        The reproduction at rank 0, None on other ranks.

    Raises:
        InputError: a name or a file is invalid.
        BackendError: the backend is unknown or missing.
    """
    if not is_measured and not merge:
        raise InputError("there is nothing to show: leave out --no-run, or give files to --merge")
    job, chosen = get_communicator(), choose(names)
    elsewhere = [Run(run, is_here=False) for run in read_runs(merge, chosen)]
    here = [Run(run) for run in run_documents(chosen, options, job)] if is_measured else []
    if not job.first:
        return None
    sections = [compare(name, benchmark(name), [*here, *elsewhere]) for name in chosen]
    return _drawn(Reproduction(sections), options)


def _drawn(found: Reproduction, options: Options) -> Reproduction:
    """Draw the pictures of all runs, if there is a folder for them."""
    if options.folder is None:
        return found
    pictures = {
        section.subject: [
            picture
            for number, run in enumerate(section.runs)
            for picture in _draw(section, run, options.folder / f"{section.subject}_{number}.png")
        ]
        for section in found.sections
    }
    return replace(found, pictures=pictures)


def _draw(section: Section, run: Run, path: Path) -> list[tuple[Path, str]]:
    """The pictures of a run and their captions; none if it has no rows to draw."""
    draw = benchmark(section.subject).draw
    if draw is None or "failure" in run.measured:
        return []
    path.unlink(missing_ok=True)
    try:
        draw(run.measured, path)
    except Exception as error:  # a picture that cannot be drawn must not cost the page
        run.measured.get("notes", []).append(f"picture: {describe(error)}")
    return [(path, f"{section.document.name}: {run.name}")] if path.exists() else []


__all__ = ["Options", "Reproduction", "failed_here", "reproduce", "write_pages"]
