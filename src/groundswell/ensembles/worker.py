"""A worker executes runs one after the other in one process, and keeps what they share."""

from __future__ import annotations

import fcntl
import gc
import json
import os
import shutil
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from groundswell import registry
from groundswell.backends import start_backend
from groundswell.case import Case
from groundswell.ensembles.base_case import BaseCase
from groundswell.ensembles.datasets import ResultReader, split_summary
from groundswell.ensembles.plan import Plan
from groundswell.ensembles.rows import Row, Settings
from groundswell.ensembles.store import COMPLETE, FAILED, Store
from groundswell.errors import (
    BackendError,
    DiskFull,
    GroundswellError,
    InputError,
    Interrupted,
    NoSpace,
    RunFailed,
    Unstable,
)
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.devices import open_device
from groundswell.exchange.mpi_communicator import get_communicator
from groundswell.formats.zarr_library import require_zarr
from groundswell.simulation import checkpoint
from groundswell.simulation.folder_lock import FolderLocked
from groundswell.simulation.kept_parts import KeptParts
from groundswell.simulation.preparation import case_digest
from groundswell.simulation.result import Result
from groundswell.simulation.run import run
from groundswell.simulation.session import RunSession

State = Literal["complete", "failed", "elsewhere", "stopped", "disk full", "unusable", "crashed"]


@dataclass(frozen=True)
class Outcome:
    """The outcome of a run that was submitted to an executor.

    Args:
        name: name of the run.
        state: "complete" and "failed" runs are in the store. "elsewhere" means that another process
            executes the run, "stopped" that a signal has ended it, and "crashed" that the worker
            has died. "disk full" and "unusable" (the store or the device) affect all runs.
        message: error message.
        seconds: wall time.
        is_healthy: whether the process can execute further runs.
    """

    name: str
    state: State
    message: str = ""
    seconds: float = 0.0
    is_healthy: bool = True


@dataclass(frozen=True)
class Assignment:
    """The data that all runs of an ensemble share.

    Args:
        base: the base case.
        store: path of the store.
        results: names of the results to keep; None for all.
    """

    base: BaseCase
    store: Path
    results: tuple[str, ...] | None = None

    @classmethod
    def of(cls, plan: Plan) -> Assignment:
        """The assignment of a plan; raises InputError if its case cannot be read."""
        kept = None if plan.results is None else tuple(plan.results)
        return cls(BaseCase.of(plan), plan.store, kept)

    @property
    def backend(self) -> str:
        """The backend of the runs."""
        return str(self.base.backend or self.base.document.get("run", {}).get("backend", "cpu"))

    def import_modules(self) -> None:
        """Import what runs need.

        Raises:
            InputError: the solver cannot be imported.
        """
        info = registry.find(str(self.base.document.get("solver")))
        parts = [info.prepare, info.solver, info.check, info.cost]
        if self.backend == "cpu":  # a GPU would wait for the modules that read and write results
            require_zarr()
            parts += info.results.values()
        for part in parts:
            info.resolve(part)


@dataclass
class Worker:
    """Executes runs of an ensemble; on several ranks, all of them call it together.

    Args:
        turn: a file whose lock gives the device to one process at a time, for its time steps.
            Meanwhile, the others set up their runs and write results.
        kept: parts of set-ups that runs share.
    """

    assignment: Assignment
    turn: Path | None = None
    kept: KeptParts = field(default_factory=KeptParts)
    _session: RunSession = field(init=False)
    _reader: ResultReader = field(init=False)
    _store: Store = field(init=False)
    _job: Communicator = field(init=False)
    _is_used: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self._session = RunSession(self._turn, self.kept, measures=False)
        self._reader = ResultReader(self.assignment.results)
        self._store, self._job = Store(self.assignment.store), get_communicator()

    def warm_up(self) -> None:
        """Import the modules that runs need and open the device, before the first run.

        If something is missing, the first run reports it.
        """
        backend = self.assignment.backend
        with suppress(InputError):
            if self._job.size == 1:
                start_backend(backend)
            self.assignment.import_modules()
            if self._job.size == 1:
                self._session.backend(backend, lambda: open_device(backend, self._job))

    def run(self, row: Row) -> Outcome:
        """Execute a run and write its results to the store."""
        begun = time.perf_counter()
        try:
            with self._claim(row.name):
                if self._exists(row.name):
                    return Outcome(row.name, "complete")
                outcome = self._run_claimed(row, begun)
        except FolderLocked:
            return Outcome(row.name, "elsewhere")
        except DiskFull as error:
            return Outcome(row.name, "disk full", str(error))
        except InputError as error:
            return Outcome(row.name, "unusable", str(error))
        self._collect()
        return outcome

    def _collect(self) -> None:
        """Free the memory of the solver before the next run allocates its own.

        After the first run, the remaining objects are modules and shared data. They are frozen, so
        that later collections skip them.
        """
        gc.collect()
        if not self._is_used:
            gc.freeze()
        self._is_used = True

    @contextmanager
    def _claim(self, name: str) -> Iterator[None]:
        """Claim a run for all ranks."""
        on_first = self._store.claimed(name) if self._job.first else nullcontext()
        self._job.collective_try(on_first.__enter__)
        try:
            yield
        finally:
            on_first.__exit__(None, None, None)

    def _exists(self, name: str) -> bool:
        """Whether another process has completed the run before this one claimed it."""
        return bool(self._job.bcast(self._job.first and self._store.attributes(name) is not None))

    def _run_claimed(self, row: Row, begun: float) -> Outcome:
        started = datetime.now(UTC).isoformat(timespec="milliseconds")
        try:
            case = self._job.collective_try(lambda: self.assignment.base.case(row.settings))
            digest = case_digest(case)
        except InputError as error:  # a file has disappeared since the plan was checked
            return Outcome(row.name, "failed", str(error))
        record = _Record(row, case, digest, started, begun)
        scratch = self._store.scratch(row.name, digest)
        try:
            result = run(case, folder=scratch, resume="auto", session=self._session)
            self._job.collective_try(lambda: self._write(record, result))
        except Interrupted as error:
            return record.outcome("stopped", error)
        except (DiskFull, NoSpace) as error:
            if not (scratch / checkpoint.NAME).exists():
                self._remove(scratch)
            return record.outcome("disk full", error)
        except BackendError as error:
            return record.outcome("unusable", error)
        except GroundswellError as error:
            return self._failed(record, scratch, error)
        self._remove(scratch)
        return record.outcome("complete")

    def _write(self, record: _Record, result: Result) -> None:
        """Write the results of a run; on rank 0."""
        if self._job.first:
            summary, log = split_summary(result.summary)
            attributes = record.attributes(COMPLETE, summary=summary)
            datasets = self._reader.read(result)
            self._store.write(record.row.name, attributes, record.log(log), datasets)

    def _failed(self, record: _Record, scratch: Path, error: GroundswellError) -> Outcome:
        """Write the message of a failed run."""
        message = str(error).replace(str(scratch), record.row.name)
        attributes = record.attributes(FAILED, message=message)

        def write() -> None:
            if self._job.first:
                self._store.write(record.row.name, attributes, record.log({}))

        try:
            self._job.collective_try(write)
        finally:
            self._remove(scratch)
        # The process is usable after an unstable run; other errors may be due to a failed device.
        is_healthy = isinstance(error, Unstable) or not isinstance(error, RunFailed)
        return record.outcome("failed", message, is_healthy=is_healthy)

    def _remove(self, folder: Path) -> None:
        if self._job.first:
            shutil.rmtree(folder, ignore_errors=True)

    def _turn(self) -> AbstractContextManager[object]:
        return nullcontext() if self.turn is None else _file_lock(self.turn)


@dataclass(frozen=True)
class _Record:
    """A run that has started, and its entries in the store."""

    row: Row
    case: Case
    digest: str
    started: str
    begun: float

    def attributes(self, status: str, **more: object) -> dict[str, object]:
        """The attributes of its group."""
        return run_attributes(status, self.row.settings, self.case, self.digest) | more

    def log(self, more: Mapping[str, Any]) -> dict[str, object]:
        """Its entry in the log."""
        seconds = time.perf_counter() - self.begun
        here = {"host": socket.gethostname(), "process": os.getpid()}
        return {"started": self.started, "seconds": seconds, **here, "run": dict(more)}

    def outcome(self, state: State, message: object = "", *, is_healthy: bool = True) -> Outcome:
        """The outcome of the run."""
        seconds = time.perf_counter() - self.begun
        return Outcome(self.row.name, state, str(message), seconds, is_healthy)


def run_attributes(status: str, settings: Settings, case: Case, digest: str) -> dict[str, object]:
    """Attributes of the group of a run, without its summary or error message."""
    content = json.loads(case.canonical(without=("run",)))
    return {"status": status, "digest": digest, "settings": dict(settings), "case": content}


@contextmanager
def _file_lock(path: Path) -> Iterator[None]:
    """Wait for the lock of a file, and hold it within the block."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
