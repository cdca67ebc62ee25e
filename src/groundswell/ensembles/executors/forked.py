"""Starts workers through a fork server, which spares each of them the imports.

This module imports little, so that the server can start before anything else.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from select import select
from typing import IO, TYPE_CHECKING, Self

from groundswell.ensembles.lines import encode
from groundswell.processes import is_running, without_launcher

if TYPE_CHECKING:
    from groundswell.ensembles.rows import Row
    from groundswell.ensembles.worker import Assignment

PROGRAM = (sys.executable, "-m", "groundswell.ensembles.fork_server")
LONGEST = 2**10  # of an answer, bytes
POLL_SECONDS = 0.005  # between questions whether a worker has ended
# Threads do not survive a fork, and those of BLAS start when NumPy is imported.
WITHOUT_THREADS = {"OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


class ForkServer:
    """A process that imports what workers need, and forks them; ended by `close`.

    Its imports take about a second, so it is useful to start it early.
    """

    def __init__(self) -> None:
        self._starting: deque[ForkedWorker] = deque()  # whose process IDs have not been read
        self._requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [*PROGRAM, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                env=without_launcher(os.environ) | WITHOUT_THREADS,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C in the terminal reaches the parent alone
            )

    def prepare(self, assignment: Assignment, row: Row) -> None:
        """Tell it what the workers will run; `row` is one of their runs."""
        assert self._process.stdin is not None
        with suppress(OSError), self._process.stdin as stdin:
            stdin.write(encode((assignment, row)))

    def start(self, environment: Mapping[str, str], errors: IO[bytes]) -> ForkedWorker:
        """Start a worker as soon as the imports are complete; does not wait for them.

        Args:
            environment: variables that the worker has besides those of this process.
            errors: file for its standard error.
        """
        (stdin, write), (read, stdout) = os.pipe(), os.pipe()
        worker = ForkedWorker(self, os.fdopen(write, "wb"), os.fdopen(read, "rb"))
        try:
            self._send({"start": dict(environment)}, stdin, stdout, errors.fileno())
        finally:
            os.close(stdin)
            os.close(stdout)
        self._starting.append(worker)
        return worker

    def read_process_ids(self, *, wait: bool = True) -> None:
        """Read the process IDs of workers that have started; by default, wait for all of them."""
        while self._starting and (wait or select([self._requests], [], [], 0)[0]):
            self._starting.popleft().pid = self._receive()

    def exit_code(self, pid: int) -> int | None:
        """The exit code of a worker; None while it runs, or if the server has died."""
        self.read_process_ids()
        self._send({"exit": pid})
        return self._receive()

    @property
    def is_alive(self) -> bool:
        """Whether it still runs."""
        return self._process.poll() is None

    def _send(self, request: Mapping[str, object], *descriptors: int) -> None:
        """Send a request; a server that has died is noticed when it does not answer."""
        with suppress(OSError):
            socket.send_fds(self._requests, [json.dumps(request).encode()], descriptors)

    def _receive(self) -> int | None:
        """The answer to a request; None if the server has died."""
        try:
            found: int | None = json.loads(self._requests.recv(LONGEST) or "null")
        except OSError:
            return None
        return found

    def kill(self) -> None:
        """End the server; workers that run are not affected, and others do not start."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """End the server, and close its streams."""
        self.kill()
        self._requests.close()
        with suppress(OSError):
            self._process.stdin.close()  # type: ignore[union-attr]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *of_error: object) -> None:
        self.close()


_current: ContextVar[ForkServer | None] = ContextVar("fork_server", default=None)


@contextmanager
def fork_server() -> Iterator[ForkServer]:
    """A server within the block: that of an outer block, or a new one."""
    if (outer := _current.get()) is not None:
        yield outer
        return
    with ForkServer() as server:
        token = _current.set(server)
        try:
            yield server
        finally:
            _current.reset(token)


@dataclass
class ForkedWorker:
    """A worker that a server has started, with the interface of `subprocess.Popen`.

    Args:
        server: the server.
        stdin, stdout: its standard input and output.
        pid: the process ID, once the server has said it. No other process has it until `wait` has
            returned.
    """

    server: ForkServer
    stdin: IO[bytes]
    stdout: IO[bytes]
    pid: int | None = None
    _code: int | None = None

    def send_signal(self, number: int) -> None:
        """Send a signal unless the worker has ended; one that has not started yet never does."""
        self.server.read_process_ids(wait=False)
        if self.pid is None:
            self.server.kill()
        elif self._code is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        """End the worker at once."""
        self.send_signal(signal.SIGKILL)

    def wait(self, timeout: float | None = None) -> int:
        """Wait until the worker has ended; returns its exit code, negative after a signal.

        If the server has died, nobody knows the exit code, and -9 stands for it.

        Raises:
            subprocess.TimeoutExpired: it has not ended within so many seconds.
        """
        ends = None if timeout is None else time.monotonic() + timeout
        while (code := self._exit_code()) is None:
            if ends is not None and time.monotonic() > ends:
                raise subprocess.TimeoutExpired([*PROGRAM], timeout or 0.0)
            time.sleep(POLL_SECONDS)
        return code

    def _exit_code(self) -> int | None:
        self.server.read_process_ids()
        if self._code is None and self.pid is not None:
            self._code = self.server.exit_code(self.pid)
        if self._code is None and not self.server.is_alive and not self._is_running:
            self._code = -signal.SIGKILL
        return self._code

    @property
    def _is_running(self) -> bool:
        return self.pid is not None and is_running(self.pid)
