"""Workers as processes on this machine, each with a GPU or some of the cores."""

from __future__ import annotations

import os
import selectors
import shlex
import signal
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from groundswell.ensembles.executors.forked import ForkedWorker, ForkServer
from groundswell.ensembles.lines import END, decode, encode
from groundswell.ensembles.rows import Row
from groundswell.ensembles.worker import Assignment, Outcome, State
from groundswell.errors import InputError, install, quoted
from groundswell.processes import find_mpiexec, without_launcher

END_SECONDS = 20.0  # for a worker to end after its last run
PROGRAM = (sys.executable, "-m", "groundswell.ensembles.worker_process")


@dataclass(frozen=True)
class Place:
    """Where a worker runs.

    Args:
        environment: variables of its processes, such as the GPU that it sees.
        turn: the file whose lock workers of one GPU take in turn; None if there is only one.
        ranks: number of processes.
        launcher: command that starts them; by default mpiexec if there are several.
    """

    environment: Mapping[str, str] = field(default_factory=dict)
    turn: Path | None = None
    ranks: int = 1
    launcher: str = ""

    @property
    def can_be_forked(self) -> bool:
        """Whether its worker is a single process that needs no launcher."""
        return self.ranks == 1 and not self.launcher

    def command(self) -> list[str]:
        """The command of the worker.

        Raises:
            InputError: there is no mpiexec, or the launcher is no command.
        """
        if self.launcher:
            return [*_words(self.launcher), *PROGRAM]
        if self.ranks == 1:
            return [*PROGRAM]
        mpiexec = find_mpiexec()
        if mpiexec is None:
            raise InputError(
                f"ranks_per_run = {self.ranks} needs mpiexec, which was not found; "
                f"{install('mpi')}, or give the launcher"
            )
        return [mpiexec, "-n", str(self.ranks), *PROGRAM]


def _words(launcher: str) -> list[str]:
    """The program and the arguments of a launcher."""
    try:
        return shlex.split(launcher)
    except ValueError as error:
        raise InputError(f"launcher = {quoted(launcher)}: {str(error).lower()}") from None


def _started(place: Place, errors: IO[bytes]) -> subprocess.Popen[bytes]:
    """Start a worker as a program; raises InputError if there is no such launcher."""
    command = place.command()
    try:
        return subprocess.Popen(
            command,
            env=without_launcher(os.environ) | dict(place.environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,  # Ctrl-C in the terminal reaches the parent alone
        )
    except OSError as error:
        raise InputError(
            f"{command[0]} cannot be started: {error.strerror}; check the launcher, and PATH"
        ) from None


def _last_words(text: str) -> str:
    """The line of an output that says best why a program has ended; empty without one.

    An error of Python is its last line. A launcher adds a banner between rules, or prints one alone
    and says at its beginning what is wrong.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    before = [*takewhile(_has_words, lines)]
    return before[-1] if before else next(filter(_has_words, lines), "")


def _has_words(line: str) -> bool:
    return any(map(str.isalnum, line))


@dataclass
class _Process:
    """A worker's process."""

    place: Place
    process: subprocess.Popen[bytes] | ForkedWorker
    errors: IO[bytes]
    row: Row | None = None
    is_canceled: bool = False

    @classmethod
    def start(cls, place: Place, assignment: Assignment, server: ForkServer | None) -> _Process:
        """Start the process, and send it the data that all runs share."""
        errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed when the worker ends
        if server is not None and server.is_alive and place.can_be_forked:
            process: subprocess.Popen[bytes] | ForkedWorker
            process = server.start(place.environment, errors)
        else:
            process = _started(place, errors)
        started = cls(place, process, errors)
        started.send((assignment, place.turn))
        return started

    def send(self, content: object) -> None:
        """Send an object; a worker that has died is noticed when its output ends."""
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):
            self.process.stdin.write(encode(content))
            self.process.stdin.flush()

    def receive(self) -> Outcome | None:
        """The next outcome; None if the worker has ended."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        return decode(line) if line.endswith(b"\n") else None

    def last_words(self) -> str:
        """How the process ended, with what it said of it on standard error."""
        code = self.process.wait()
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        self.errors.seek(0)
        said = _last_words(self.errors.read().decode(errors="replace"))
        return f"the worker ended with {how}" + (f": {said[:200]}" if said else "")

    def ask_to_end(self) -> None:
        """Let the process end after its current run, or now if it has none."""
        self.send(END)
        with suppress(OSError):
            self.process.stdin.close()  # type: ignore[union-attr]

    def end(self) -> None:
        """Wait until the process has ended; `ask_to_end` must have been called."""
        try:
            self.process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()  # type: ignore[union-attr]
        self.errors.close()


class LocalWorkers:
    """An `Executor` with processes on this machine, which keep what their runs share.

    Args:
        places: where the workers run, one for each.
        server: starts them, if they have one rank; by default, each imports what it needs.
    """

    def __init__(
        self, assignment: Assignment, places: Sequence[Place], server: ForkServer | None = None
    ) -> None:
        self._assignment, self._server = assignment, server
        self._vacant = deque(places)  # places without a process
        self._idle: deque[_Process] = deque()
        self._busy = selectors.DefaultSelector()

    @property
    def free(self) -> int:
        """Number of workers without a run."""
        return len(self._vacant) + len(self._idle)

    def submit(self, row: Row) -> None:
        """Give a run to a worker that has none."""
        if not self.free:
            raise RuntimeError("all workers are busy; poll until one is free")
        worker = self._idle.popleft() if self._idle else self._start()
        worker.row = row
        worker.send(row)
        self._busy.register(worker.process.stdout, selectors.EVENT_READ, worker)  # type: ignore

    def _start(self) -> _Process:
        return _Process.start(self._vacant.popleft(), self._assignment, self._server)

    def poll(self, seconds: float) -> Sequence[Outcome]:
        """Outcomes of the runs that have ended; see `Executor`."""
        if not self._busy.get_map():
            return []
        return [self._take(key.data) for key, _ in self._busy.select(seconds)]

    def _take(self, worker: _Process) -> Outcome:
        """The outcome of a worker's run; a worker that ends is replaced by the next run."""
        self._busy.unregister(worker.process.stdout)  # type: ignore[arg-type]
        assert worker.row is not None
        name, outcome = worker.row.name, worker.receive()
        if outcome is None:
            state: State = "stopped" if worker.is_canceled else "crashed"
            outcome = Outcome(name, state, worker.last_words(), is_healthy=False)
        if outcome.is_healthy and outcome.state != "stopped":
            self._idle.append(worker)
        else:
            worker.ask_to_end()
            worker.end()
            self._vacant.append(worker.place)
        return outcome

    def cancel(self) -> None:
        """Ask all runs to stop. MPI launchers forward SIGUSR1, but not SIGTERM."""
        for worker in self._working():
            worker.is_canceled = True
            worker.process.send_signal(signal.SIGUSR1)

    def _working(self) -> list[_Process]:
        return [key.data for key in self._busy.get_map().values()]

    def __enter__(self) -> Self:
        while self._vacant:  # all at once, since their imports take seconds
            self._idle.append(self._start())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            self.cancel()
        workers = [*self._idle, *self._working()]
        for worker in workers:  # all at once, since each takes a while to close its device
            worker.ask_to_end()
        for worker in workers:
            worker.end()
        self._busy.close()
