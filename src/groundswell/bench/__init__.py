"""The tables of the methods' documents, measured on this machine beside the published figures.

A benchmark is a list of tables. Each row is printed and written to a file as soon as it is
measured, so nothing is lost when a benchmark is stopped.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from groundswell import registry
from groundswell.backends import Backend
from groundswell.bench.tables import Measured, Printer, Row, Table, say
from groundswell.errors import BackendError, InputError, did_you_mean, listed, quoted
from groundswell.exchange.devices import open_device
from groundswell.exchange.world import World, world
from groundswell.formats.atomic import atomic_write

if TYPE_CHECKING:
    from groundswell.bench.rig import Rig

# What Groundswell has benchmarks of besides solvers, which name theirs in their SolverInfo.
PARTS = {"exchange": "groundswell.bench.exchange:BENCHMARK"}

Progress = Callable[[str], None]


@dataclass
class Session:
    """A run of a benchmark, as its tables see it.

    Args:
        backend: what is measured.
        world: the ranks that measure together.
        sizes: of the problems, as the benchmark defines them.
        progress: called with the name of each table before it is measured.

    Attributes:
        measured: facts, and the rows of each table so far.
        rig: the ranks' common clock, where `prepare` has made one.
    """

    backend: Backend
    world: World
    sizes: Any
    progress: Progress = lambda what: None
    measured: dict[str, Any] = field(default_factory=dict)
    rig: Rig = field(init=False, repr=False)


@dataclass(frozen=True)
class Benchmark:
    """The tables and figures of a document, measured on this machine.

    Args:
        sizes: function `(backend name, full)`: how large the problems are.
        prepare: measures and names what holds for all tables; every rank calls it.
        tables: in the order in which they are measured.
        draw: draws what was measured to a file, if it can be drawn.
    """

    sizes: Callable[[str, bool], Any]
    prepare: Callable[[Session], dict[str, Any]]
    tables: Sequence[Table]
    draw: Callable[[dict[str, Any], Path], Any] | None = None

    def tables_of(self, subject: str, ranks: int) -> list[Table]:
        """Those that are measured on so many ranks.

        Raises:
            InputError: there are none.
        """
        found = [table for table in self.tables if table.fits(ranks)]
        if not found and ranks == 1:
            raise InputError(
                f"{subject!r} is measured between ranks and needs at least 2; start it with "
                f"`mpiexec -n 2 groundswell bench {subject}`"
            )
        if not found:
            raise InputError(
                f"{subject!r} is measured on one process, not on {ranks}; start it without mpiexec"
            )
        return found


class Recorder:
    """Prints rows, and writes them to a file, as they are measured.

    Args:
        path: of the file; none by default. It is replaced as a whole for each row.
        shown: whether rows are printed.
    """

    def __init__(self, path: Path | None = None, *, shown: bool = False) -> None:
        self._path, self._shown = path, shown
        self._printer: Printer | None = None

    def begin(self, measured: Measured) -> None:
        """Name what is measured on."""
        if self._shown:
            devices = ", ".join(dict.fromkeys(measured["devices"]))
            plural = "s" * (measured["ranks"] > 1)
            say(f"{measured['ranks']} rank{plural}, {measured['backend']} backend: {devices}")
            if measured.get("about"):
                say(measured["about"])
        self._write(measured)

    def start(self, table: Table, measured: Measured) -> None:
        """Begin a table."""
        self._printer = Printer(table, measured) if self._shown else None

    def add(self, row: Row, measured: Measured) -> None:
        """Record a row of it."""
        if self._printer:
            self._printer.add(row)
        self._write(measured)

    def finish(self) -> None:
        """End the table."""
        if self._printer:
            self._printer.end()

    def end(self, measured: Measured) -> None:
        """Name what was not measured, and how long the rest took."""
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
) -> dict[str, Any]:
    """Measure all tables of a benchmark that this number of ranks has; every rank must call it.

    Returns:
        Facts (`subject`, `backend`, `devices`, `ranks`, `versions`, `notes`, and the benchmark's
        own), the rows of each table under its name, and `seconds` that all took.

    Raises:
        InputError: there are no tables for so many ranks.
    """
    recorder, job, begun = recorder or Recorder(), session.world, time.monotonic()
    tables = benchmark.tables_of(subject, job.size)
    measured = session.measured
    measured |= {
        "subject": subject,
        "backend": session.backend.name,
        "devices": job.share(session.backend.device),
        "versions": session.backend.versions(),
        "ranks": job.size,
        "notes": [],
    }
    measured |= benchmark.prepare(session)
    recorder.begin(measured)
    for table in tables:
        _measure_table(table, session, recorder)
    measured["seconds"] = time.monotonic() - begun
    recorder.end(measured)
    return measured


def _measure_table(table: Table, session: Session, recorder: Recorder) -> None:
    session.progress(table.name)
    if table.seconds:
        session.rig.begin(table.name, table.seconds)
    rows = session.measured.setdefault(table.name, [])
    recorder.start(table, session.measured)
    for row in table.measure(session):
        rows.append(row)
        recorder.add(row, session.measured)
    recorder.finish()


def run_bench(
    subject: str,
    *,
    backend: str | None = None,
    output: str | Path | None = None,
    full: bool = False,
    shown: bool = False,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Measure one solver, or the exchange between ranks; see `measure` for what it returns.

    Every rank must call it; rank 0 writes.

    Args:
        subject: whose tables.
        backend: "cpu" or "cuda"; by default the GPU where there is one.
        output: folder for `bench_<subject>.json`, on several ranks `bench_<subject>_4_ranks.json`
            or so, and a picture; none by default.
        full: more sizes, which take several times as long.
        shown: whether rows are printed as they are measured.
        progress: called at rank 0 with the name of each table before it is measured.

    Raises:
        InputError: there are no tables of that subject, or not for so many ranks.
        BackendError: there is no such backend.
    """
    found, ranks = benchmark(subject), world()
    found.tables_of(subject, ranks.size)
    machine = open_device(backend, ranks) if backend else fastest(ranks)
    session = Session(machine, ranks, found.sizes(machine.name, full))
    if not ranks.first:
        return measure(found, session, subject=subject)
    session.progress = progress or session.progress
    path = _path(subject, output, ranks.size)
    recorder = Recorder(path, shown=shown)
    measured = measure(found, session, subject=subject, recorder=recorder)
    if path is not None and found.draw is not None:
        found.draw(measured, path.with_suffix(".png"))
    return measured


def _path(subject: str, output: str | Path | None, ranks: int) -> Path | None:
    """The file of a benchmark in a folder."""
    if output is None:
        return None
    return Path(output) / (f"bench_{subject}" + f"_{ranks}_ranks" * (ranks > 1) + ".json")


def subjects() -> list[str]:
    """What there are benchmarks of."""
    solvers = [info.name for info in registry.solvers() if info.has("benchmarks")]
    return [*solvers, *PARTS]


def benchmark(subject: str) -> Benchmark:
    """The benchmark of a solver, or of a part of Groundswell.

    Raises:
        InputError: there is none of that name.
    """
    known = subjects()
    if subject not in known:
        raise InputError(
            f"there is no benchmark of {quoted(subject)}; use {listed(known)}"
            f"{did_you_mean(subject, known)}"
        )
    found: Benchmark
    if subject not in PARTS:
        found = registry.find(subject).load("benchmarks")
    else:
        module, _, name = PARTS[subject].partition(":")
        found = getattr(import_module(module), name)
    return found


def fastest(ranks: World) -> Backend:
    """The GPU where there is one, else the CPU."""
    try:
        return open_device("cuda", ranks)
    except BackendError:
        return open_device("cpu", ranks)
