"""The `groundswell` command in forks of this process: quick, and safe from hangs and crashes."""

from __future__ import annotations

import os
import resource
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from groundswell.cli import main


@dataclass
class Ended:
    """How a command ended: its exit code, minus the signal that ended it; what it printed."""

    code: int
    error: str
    out: str = ""


def run_forked(
    *arguments: str | Path, seconds: float = 60, memory: float = 4e9, call: Any = main
) -> Ended:
    """Run a command with limits of time and memory (bytes).

    This process must not have used OpenMP: its threads do not live in forks.
    """
    with TemporaryFile() as out, TemporaryFile() as error:
        child = os.fork()
        if child == 0:
            _become(lambda: call([*map(str, arguments)]), out.fileno(), error.fileno(), memory)
        code = _wait(child, seconds)
        texts = [_content(file) for file in (out, error)]
    return Ended(code, texts[1], texts[0])


def _become(command: Callable[[], int], out: int, error: int, memory: float) -> None:
    """Run the command in place of this process."""
    code = 70
    try:
        os.dup2(out, 1)
        os.dup2(error, 2)
        sys.stdout, sys.stderr = (open(n, "w", encoding="utf-8", errors="replace") for n in (1, 2))  # noqa: PTH123, SIM115
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + int(memory),) * 2)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        code = command()
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


def _wait(child: int, seconds: float) -> int:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return -signal.SIGALRM  # it took too long


def _content(file: Any) -> str:
    file.seek(0)
    return str(file.read().decode(errors="replace"))
