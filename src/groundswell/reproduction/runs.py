"""Runs the benchmarks of documents, each table within a time limit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from groundswell.backends import Backend
from groundswell.bench import (
    Benchmark,
    Recorder,
    Selection,
    Session,
    begin_measured,
    benchmark,
    file_of,
    measure,
    open_machine,
    subjects,
)
from groundswell.bench.limits import Limits, describe
from groundswell.bench.rows import Measured
from groundswell.bench.session import Progress
from groundswell.errors import InputError, did_you_mean, listed, quoted
from groundswell.exchange.communicator import Communicator, SerialCommunicator
from groundswell.exchange.waiting import timeout_of

TABLE_SECONDS = 20.0  # limit of a table with small sizes
QUICK_SECONDS = 230.0  # of all tables with small sizes; pictures and the start take the rest of 300
LONGEST = 7 * 86400.0  # s that other ranks wait for what one rank measures


@dataclass(frozen=True)
class Options:
    """How documents are reproduced.

    Args:
        backend: "cpu" or "cuda"; None for the GPU if there is one.
        quick: small sizes, within TABLE_SECONDS a table and QUICK_SECONDS in all.
        folder: where measurements are written, as they are made; None for nowhere.
        progress: called at rank 0 with what is measured next.
    """

    backend: str | None = None
    quick: bool = False
    folder: Path | None = None
    progress: Progress = lambda what: None

    @property
    def selection(self) -> Selection:
        """The sizes to measure."""
        return Selection(quick=self.quick)


def documented() -> list[str]:
    """Names of the benchmarks that reproduce a document."""
    return [name for name in subjects() if benchmark(name).document is not None]


def choose(names: Sequence[str]) -> list[str]:
    """The chosen benchmarks; without names, all that reproduce a document.

    Raises:
        InputError: a name has no document.
    """
    known = documented()
    for name in names:
        if name not in known:
            raise InputError(
                f"there is no document for {quoted(name)}; use {listed(known)}"
                f"{did_you_mean(name, known)}"
            )
    return [name for name in known if not names or name in names]


def run_documents(names: Sequence[str], options: Options, job: Communicator) -> list[Measured]:
    """Measure what documents show; all ranks call it.

    On several ranks, rank 0 first measures the tables for one rank while the others wait.

    Returns:
        Measurements as of `bench.measure`, at rank 0 those of both parts. One that could not begin
        has a `failure`.
    """
    machine, found = open_machine(options.backend, job), list[Measured]()
    share = QUICK_SECONDS / (2 if job.size > 1 else 1)
    if job.first:
        found += _measured(names, options, machine, SerialCommunicator(), _limits(options, share))
    if job.size > 1:
        with timeout_of(LONGEST):
            job.allgather(None)
        found += _measured(names, options, machine, job, _limits(options, share))
    return found


def _limits(options: Options, seconds: float) -> Limits:
    return Limits(TABLE_SECONDS, seconds) if options.quick else Limits()


def _measured(
    names: Sequence[str], options: Options, machine: Backend, job: Communicator, limits: Limits
) -> Iterator[Measured]:
    for name in names:
        every = benchmark(name)
        part = _documented_part(every, job.size)
        if not part.tables:
            continue
        session = Session(machine, job, options.selection.sizes_of(name, part, machine.name))
        session.measured |= begin_measured(every, options.selection)
        session.measured |= {table.name: [] for table in every.tables if table not in part.tables}
        session.limits = limits
        yield _run(name, part, session, options)


def _documented_part(every: Benchmark, ranks: int) -> Benchmark:
    """The tables that the document needs and that are measured on this number of ranks."""
    wanted = every.document.tables if every.document else []
    tables = [table for table in every.tables if table.name in wanted and table.fits(ranks)]
    return replace(every, tables=tables)


def _run(name: str, part: Benchmark, session: Session, options: Options) -> Measured:
    recorder, ranks = Recorder(), session.comm.size
    if session.comm.first:
        on_ranks = f" on {ranks} ranks" * (ranks > 1)
        session.progress = lambda table: options.progress(f"{name}{on_ranks}: {table}")
        recorder = Recorder(file_of(name, options.folder, ranks))
    try:
        return measure(part, session, subject=name, recorder=recorder)
    except Exception as error:  # one document must not end the others
        return _failed(name, session, describe(error))


def _failed(name: str, session: Session, failure: str) -> dict[str, Any]:
    about = {"subject": name, "backend": session.backend.name, "ranks": session.comm.size}
    about |= {"devices": [session.backend.device], "failure": failure, "notes": []}
    return {**session.measured, **about}
