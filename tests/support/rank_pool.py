"""Ranks that run one program after another, which saves their start."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Callable
from multiprocessing.connection import Connection, wait
from pathlib import Path

from gpu import turn_on_gpus
from ranks import start_on_ranks

SERVER = Path(__file__).with_name("rank_pool_program.py")
GRACE = 10  # s that other ranks have to say what they think of a failure
Answers = dict[int, tuple[str, str | None]]  # by rank what it printed, and how it failed


class RankPool:
    """So many ranks, started once.

    What a program changes in its process is there for the next one. Those that replace functions
    of the package, end MPI or leave ranks out of step need a start of their own: `run_on_ranks`.
    """

    def __init__(self, ranks: int, folder: Path) -> None:
        self.ranks = ranks
        self._errors = folder / "errors.txt"
        address = str(folder / "socket")
        with (
            socket.create_server(address, family=socket.AF_UNIX) as server,
            self._errors.open("w") as errors,
        ):
            server.settimeout(60)
            self._mpiexec = start_on_ranks(ranks, SERVER, address, errors=errors)
            accepted = [Connection(server.accept()[0].detach()) for _ in range(ranks)]
        self._connections = {connection.recv(): connection for connection in accepted}

    def run(self, program: Path, *arguments: str | Path, timeout: float = 240) -> str:
        """What rank 0 of a program prints; fails if any rank does. The pool then is of no use."""
        with turn_on_gpus(*arguments):
            for connection in self._connections.values():
                connection.send((str(program), [str(argument) for argument in arguments]))
            answers = self._answers(timeout)
        failures = [f"rank {rank}: {error}" for rank, (_, error) in answers.items() if error]
        if failures or len(answers) < self.ranks:
            self._mpiexec.kill()
            silent = sorted(self._connections.keys() - answers)
            failures.append(f"ranks that did not end: {silent}\n{self._errors.read_text()[-2000:]}")
            raise AssertionError("\n".join(failures))
        return answers[0][0]

    def _answers(self, timeout: float) -> Answers:
        """Of all ranks, or of those that answer in time; a failure leaves the others little."""
        answers: Answers = {}
        end = time.monotonic() + timeout
        while len(answers) < self.ranks:
            asked = {c: rank for rank, c in self._connections.items() if rank not in answers}
            ready = wait(list(asked), end - time.monotonic())
            if not ready:
                break
            for connection in ready:
                try:
                    answers[asked[connection]] = connection.recv()
                except EOFError:
                    answers[asked[connection]] = "", "it has died"
            if any(error for _, error in answers.values()):
                end = min(end, time.monotonic() + GRACE)
        return answers

    @property
    def usable(self) -> bool:
        """Whether its ranks still run."""
        return self._mpiexec.poll() is None

    def close(self) -> None:
        """End its ranks; fails if they do not end well."""
        if not self.usable:
            return
        for connection in self._connections.values():
            connection.close()
        try:
            code = self._mpiexec.wait(60)
        except subprocess.TimeoutExpired:
            self._mpiexec.kill()
            raise
        assert code == 0, self._errors.read_text()[-4000:]


class RankPools:
    """Pools by their number of ranks, each started when somebody first asks for so many."""

    MOST = 12  # ranks that wait at a time, each of which keeps its memory

    def __init__(self, make_folder: Callable[[], Path]) -> None:
        self._make_folder = make_folder
        self._pools: dict[int, RankPool] = {}

    def run(self, ranks: int, program: Path, *arguments: str | Path, timeout: float = 240) -> str:
        """What rank 0 of a program prints; fails if any rank does."""
        if ranks not in self._pools or not self._pools[ranks].usable:
            self._make_room(ranks)
            self._pools[ranks] = RankPool(ranks, self._make_folder())
        return self._pools[ranks].run(program, *arguments, timeout=timeout)

    def _make_room(self, ranks: int) -> None:
        self._pools.pop(ranks, None)
        while self._pools and sum(self._pools) + ranks > self.MOST:
            self._pools.pop(max(self._pools)).close()

    def close(self) -> None:
        """End all ranks; fails if they do not end well."""
        while self._pools:
            self._pools.popitem()[1].close()
