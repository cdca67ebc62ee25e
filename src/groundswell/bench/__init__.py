"""Benchmarks: measurements on this machine, in tables next to published figures.

A benchmark is a list of tables. Each row is printed and written to a file as soon as it is
measured, so an interrupted benchmark keeps its results.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import partial
from importlib import import_module
from math import inf
from pathlib import Path
from typing import Any

from groundswell import registry
from groundswell.backends import Backend
from groundswell.bench.rivals import find_rivals
from groundswell.bench.selection import Selection as Selection
from groundswell.bench.session import Benchmark as Benchmark
from groundswell.bench.session import Progress
from groundswell.bench.session import Session as Session
from groundswell.bench.tables import Measured, Printer, Row, Table, say
from groundswell.errors import BackendError, InputError, counted, did_you_mean, listed, quoted
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.devices import open_device
from groundswell.exchange.mpi_communicator import get_communicator
from groundswell.formats.atomic import atomic_write
from groundswell.version import __version__

MAIN_SIZES = Selection()
# Benchmarks of parts of Groundswell; a solver names its benchmark in its SolverInfo.
PARTS = {"exchange": "groundswell.bench.exchange:BENCHMARK"}


class Recorder:
    """Prints rows and writes them to a file as they are measured.

    Args:
        path: path of the file, which is rewritten for each row; by default none is written.
        shown: whether rows are printed.
    """

    def __init__(self, path: Path | None = None, *, shown: bool = False) -> None:
        self._path, self._shown = path, shown

    def begin(self, measured: Measured) -> None:
        """Print the number of ranks and the devices."""
        if self._shown:
            devices = ", ".join(dict.fromkeys(measured["devices"]))
            ranks = counted(measured["ranks"], "rank")
            say(f"{ranks}, {measured['backend']} backend: {devices}")
            if measured.get("about"):
                say(measured["about"])
        self._write(measured)

    def add(self, table: Table, found: Iterable[Row], measured: dict[str, Any]) -> None:
        """Record the rows of a table."""
        rows = measured.setdefault(table.name, [])
        printer = Printer(table, measured) if self._shown else None
        for row in found:
            rows.append(row)
            if printer:
                printer.add(row)
            self._write(measured)
        if printer:
            printer.end()

    def end(self, measured: Measured) -> None:
        """Print what was not measured, and the time that the measurements took."""
        if self._shown:
            say("")
            for note in measured["notes"]:
                say(f"not measured: {note}")
            say(f"measured in {measured['seconds']:.0f} s")
        self._write(measured)

    def _write(self, measured: Measured) -> None:
        if self._path is not None:
            with atomic_write(self._path) as part:
                part.write_text(json.dumps(measured, indent=2) + "\n", encoding="utf-8")


def measure(
    benchmark: Benchmark,
    session: Session,
    *,
    subject: str = "benchmark",
    recorder: Recorder | None = None,
) -> dict[str, object]:
    """Measure the tables of a benchmark for this number of ranks; all ranks must call it.

    Returns:
        Metadata (`subject`, `backend`, `devices`, `ranks`, `versions`, `date`, `notes`, and the
        benchmark's own), the rows of each table by its name, and the total time `seconds`.

    Raises:
        InputError: there are no tables for this number of ranks.
    """
    recorder, job, begun = recorder or Recorder(), session.comm, time.monotonic()
    tables = benchmark.tables_of(subject, job.size)
    measured = session.measured
    measured |= {
        "subject": subject,
        "backend": session.backend.name,
        "devices": job.allgather(session.backend.device),
        "versions": {"groundswell": __version__, **session.backend.versions()},
        "date": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        "ranks": job.size,
        "notes": [],
    }
    measured |= benchmark.prepare(session)
    measured["notes"] += benchmark.gaps
    recorder.begin(measured)
    for table in tables:
        session.progress(table.name)
        recorder.add(table, _rows(table, session), measured)
    failed = measured.get("failures", {})
    empty = [t.name for t in tables if not measured[t.name] and t.name not in failed]
    if empty and benchmark.restrict is not None:
        cure = "see --full, --degrees and --most-dofs"
        measured["notes"].append(f"{', '.join(empty)}: no problems of the chosen sizes; {cure}")
    measured["seconds"] = time.monotonic() - begun
    recorder.end(measured)
    return measured


def _rows(table: Table, session: Session) -> Iterable[Row]:
    """The rows of a table, which are measured one by one."""
    limits = session.limits
    if table.seconds:
        session.rig.begin(table.name, min(table.seconds, limits.left if limits else inf))
    if limits is None:
        return table.measure(session)
    return limits.rows(table.name, partial(table.measure, session), session.comm, session.measured)


def run_bench(
    subject: str,
    *,
    backend: str | None = None,
    output: str | Path | None = None,
    selection: Selection = MAIN_SIZES,
    shown: bool = False,
    progress: Progress | None = None,
) -> dict[str, object]:
    """Benchmark a solver, or the exchange between ranks. All ranks must call it; rank 0 writes.

    Args:
        subject: name of the solver, or "exchange".
        backend: "cpu" or "cuda"; by default the GPU if there is one.
        output: folder for a plot and `bench_<subject>.json`, or for example
            `bench_<subject>_4_ranks.json` on four ranks; by default no files are written.
        selection: which tables and sizes to measure.
        shown: whether rows are printed as they are measured.
        progress: called at rank 0 with the name of each table before it is measured.

    Returns:
        The results of `measure`.

    Raises:
        InputError: there is no benchmark of this subject, or none for this number of ranks, or
            nothing is selected.
        BackendError: the backend is unknown or missing.
    """
    every, ranks = benchmark(subject), get_communicator()
    found = selection.part_of(subject, every)
    found.tables_of(subject, ranks.size)
    machine = open_machine(backend, ranks)
    session = Session(machine, ranks, selection.sizes_of(subject, found, machine.name))
    session.measured |= begin_measured(every, selection)
    if not ranks.first:
        return measure(found, session, subject=subject)
    session.progress = progress or session.progress
    path = file_of(subject, output, ranks.size)
    recorder = Recorder(path, shown=shown)
    measured = measure(found, session, subject=subject, recorder=recorder)
    if path is not None and found.draw is not None:
        found.draw(measured, path.with_suffix(".png"))
    return measured


def begin_measured(every: Benchmark, selection: Selection) -> dict[str, Any]:
    """What measurements begin with: the kind of sizes, and empty tables.

    Tables that compare rows of others find none of those that are not measured.
    """
    left_out = [table.name for table in every.tables if not selection.has(table.name)]
    return {"scale": selection.name_of_sizes(every), **{name: [] for name in left_out}}


def open_machine(backend: str | None, ranks: Communicator) -> Backend:
    """The device of each rank.

    Args:
        backend: "cpu" or "cuda"; None for the GPU if there is one.
    """
    return open_device(backend, ranks) if backend else fastest(ranks)


def file_of(subject: str, output: str | Path | None, ranks: int) -> Path | None:
    """Path of a benchmark's file in a folder; None without a folder."""
    if output is None:
        return None
    return Path(output) / (f"bench_{subject}" + f"_{ranks}_ranks" * (ranks > 1) + ".json")


def subjects() -> list[str]:
    """Names of the solvers and parts of Groundswell that have a benchmark."""
    solvers = [info.name for info in registry.solvers() if info.has("benchmarks")]
    return [*solvers, *PARTS]


def benchmark(subject: str) -> Benchmark:
    """The benchmark of a solver or of a part of Groundswell, in a clone with its rivals.

    Raises:
        InputError: there is no benchmark of this name.
    """
    known = subjects()
    if subject not in known:
        raise InputError(
            f"there is no benchmark of {quoted(subject)}; use {listed(known)}"
            f"{did_you_mean(subject, known)}"
        )
    found, rivals = installed(subject), find_rivals(subject)
    return rivals.extend(found) if rivals else found


def installed(subject: str) -> Benchmark:
    """The benchmark of a subject without its rivals."""
    if subject not in PARTS:
        found: Benchmark = registry.find(subject).load("benchmarks")
        return found
    module, _, name = PARTS[subject].partition(":")
    return getattr(import_module(module), name)


def fastest(ranks: Communicator) -> Backend:
    """The GPU if there is one, otherwise the CPU."""
    try:
        return open_device("cuda", ranks)
    except BackendError:
        return open_device("cpu", ranks)
