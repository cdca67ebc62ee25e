"""The program of a fork server: it imports what workers need once, and forks the workers.

Its standard input has one line: the assignment and the first row. The socket whose descriptor is
its argument carries requests in JSON, each of which has an answer:

    {"start": {"OMP_NUM_THREADS": "2"}}   start a worker with these variables; its standard input,
                                          output and error travel with the request -> process ID
    {"exit": 1234}                        -> exit code of a worker, negative after a signal; null
                                          while it runs

The server opens no device and starts no threads, since neither survives a fork. If a module that it
imports has done so, it starts workers as new programs.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import socket
import subprocess
import sys
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from groundswell.backends.host_threads import end_threads
from groundswell.ensembles import worker_process
from groundswell.ensembles.lines import decode
from groundswell.ensembles.rows import Row
from groundswell.ensembles.worker import Assignment
from groundswell.simulation.kept_parts import KeptParts
from groundswell.simulation.preparation import prepare

LONGEST = 2**16  # of a request, bytes
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1)  # meant for workers
ITSELF = Path("/proc/self")


def main() -> None:
    """Fork workers until the socket closes."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    requests = socket.socket(fileno=int(sys.argv[1]))
    line = sys.stdin.buffer.readline()
    if not line:
        return
    kept = prepared(*decode(line))
    end_threads()
    gc.collect()
    gc.freeze()  # workers share the memory of objects that no collection touches
    while answer_next(requests, kept):
        pass


def prepared(assignment: Assignment, row: Row) -> KeptParts:
    """Import what runs need, and build the parts of the first one that others may share.

    If something is missing, the first run reports it.
    """
    kept = KeptParts()
    with suppress(Exception), kept.used():
        assignment.import_modules()
        prepare(assignment.base.case(row.settings))
    return kept


def answer_next(requests: socket.socket, kept: KeptParts) -> bool:
    """Answer a request; False if the client has closed the socket."""
    message, descriptors, _, _ = socket.recv_fds(requests, LONGEST, 3)
    if not message:
        return False
    match json.loads(message):
        case {"start": environment}:
            started = _fork if can_fork() else _spawn
            found: int | None = started(environment, descriptors, requests, kept)
        case {"exit": number}:
            found = exit_code(number)
    for descriptor in descriptors:
        os.close(descriptor)
    requests.send(json.dumps(found).encode())
    return True


def can_fork() -> bool:
    """Whether this process has one thread, and no connection to the driver of a GPU."""
    try:
        opened = [path.readlink() for path in (ITSELF / "fd").iterdir() if path.is_symlink()]
        threads = len(list((ITSELF / "task").iterdir()))
    except OSError:
        return False
    return threads == 1 and not any(path.name.startswith("nvidia") for path in opened)


def exit_code(number: int) -> int | None:
    """Exit code of a worker; None while it runs."""
    ended, status = os.waitpid(number, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if ended else None


def _spawn(environment: Mapping[str, str], descriptors: Sequence[int], *_: object) -> int:
    """Start a worker as a new program; returns its process ID."""
    stdin, stdout, stderr = descriptors
    program, variables = [sys.executable, "-m", worker_process.__name__], os.environ | environment
    return subprocess.Popen(program, env=variables, stdin=stdin, stdout=stdout, stderr=stderr).pid


def _fork(
    environment: Mapping[str, str],
    descriptors: Sequence[int],
    requests: socket.socket,
    kept: KeptParts,
) -> int:
    """Start a worker with these standard streams; returns its process ID."""
    number = os.fork()
    if not number:
        requests.close()
        _work(environment, descriptors, kept)
    return number


def _work(environment: Mapping[str, str], descriptors: Sequence[int], kept: KeptParts) -> NoReturn:
    """The new process: a worker, which ends without the clean-up of the server that it copies."""
    code = 1
    try:
        for target, descriptor in enumerate(descriptors):
            os.dup2(descriptor, target)
            os.close(descriptor)
        for number in SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        os.environ.update(environment)
        sys.stdin = os.fdopen(0, closefd=False)
        worker_process.main(kept)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    main()
