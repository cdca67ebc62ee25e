"""A program for several ranks that speak to each other outside any exchange.

    mpiexec -n 2 python communicator_program.py words|parts|missed|late|unknown|begun
    mpiexec -n 6 python communicator_program.py hosts

Every rank prints lines that begin with its number.
"""

from __future__ import annotations

import os
import pickle
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any
from unittest.mock import patch

import numpy as np

from groundswell.errors import CaseError, GroundswellError, InputError, Problem, RunFailed
from groundswell.exchange import Domain, collective_message, processes
from groundswell.exchange.collective_message import CollectiveMessage
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.deadline import Deadline
from groundswell.exchange.mpi_communicator import get_communicator


@dataclass(frozen=True)
class Frozen(ZeroDivisionError):
    """Nobody may set attributes of it."""

    reason: str


def say(job: Communicator, *words: Any) -> None:
    """One line in one go: the ranks' outputs are mixed."""
    sys.stdout.write(" ".join(["rank", str(job.rank), *map(str, words)]) + "\n")
    sys.stdout.flush()


def refuse(job: Communicator, rank: int, error: Exception) -> Callable[[], str]:
    """What fails on one rank only."""

    def act() -> str:
        if job.rank == rank:
            raise error
        return f"done by {job.rank}"

    return act


def attempt(job: Communicator, act: Callable[[], Any]) -> str:
    """What comes of it, on one line."""
    try:
        return f"returned {job.collective_try(act)}"
    except (GroundswellError, ZeroDivisionError) as error:
        text = str(error).replace("\n", "|")
        return f"raised {type(error).__name__}: {text}"


def twice(job: Communicator, act: Callable[[], Any]) -> Any:
    """What comes of it the second time, if the first one is given up."""
    attempt(job, act)
    return job.collective_try(act)


def words(job: Communicator) -> None:
    """Everything that ranks can say to each other."""
    say(job, "share", job.allgather({"rank": job.rank, "long": "x" * 100_000})[-1]["rank"])
    say(job, "gather", job.gather(job.rank * 10))
    say(job, "tell", job.bcast(f"said by {job.rank}"))
    say(job, "same host", job.same_host == list(range(job.size)))  # type: ignore[attr-defined]
    job.require_alive()
    say(job, "agree", attempt(job, refuse(job, -1, InputError("never"))))
    error: GroundswellError = InputError("file 'x.bin' has 3 bytes; 4 are needed: give another")
    say(job, "input", attempt(job, refuse(job, 1, error)))
    error = CaseError([Problem("grid.size", "1 m", "at least 1 km")], "case.toml")
    say(job, "case", attempt(job, refuse(job, 1, error)))
    say(job, "mistake", attempt(job, refuse(job, 1, ZeroDivisionError("by 0"))))
    mistake = refuse(job, 1, ZeroDivisionError("by 0"))
    say(job, "nested", attempt(job, lambda: job.collective_try(mistake)))
    say(job, "afterwards", attempt(job, refuse(job, -1, InputError("never"))))
    frozen = refuse(job, 1, Frozen("by 0"))
    say(job, "frozen", attempt(job, lambda: job.collective_try(frozen)))
    for known in (InputError("refused"), ZeroDivisionError("by 0")):
        same = refuse(job, 1, known)  # one object, as a module may have, or a cache
        for act in (same, same, partial(twice, job, same)):
            say(job, f"same{type(known).__name__}", attempt(job, act))
    for turn in range(300):
        assert job.allgather(turn) == [turn] * job.size


def parts(job: Communicator) -> None:
    """Messages of many parts; one of a whole number of them."""
    exact = CollectiveMessage("allgather", bytes(1000))
    for collective_message.PART in (len(pickle.dumps(exact, pickle.HIGHEST_PROTOCOL)), 500):
        assert job.allgather(exact.value) == [exact.value] * job.size
        for size in (0, 100, 100_000):
            mine = np.full(size, job.rank)
            for heard in (job.allgather(mine), job.gather(mine)):
                for rank, values in enumerate(heard):
                    assert np.array_equal(values, np.full(size, rank))
            assert len(job.bcast(mine)) == size
    say(job, "parts arrived")


def hosts() -> None:
    """Ranks that seem to be in containers, in a copy of the machine, and on another machine."""
    rank, stat = int(os.environ["OMPI_COMM_WORLD_RANK"]), processes._stat
    if rank in (1, 3):
        processes._namespace = lambda kind: f"{kind} of a container"
    if rank == 4:
        processes._stat = lambda number: (stat(number)[0], stat(number)[1] + 1)
    if rank == 5:
        os.environ[processes.HOST] = "another"
    job = get_communicator()
    say(job, job.same_host, job.same_machine)
    job.require_alive()


def unknown(kept: tuple[str, ...]) -> None:
    """Ranks whose launcher says nothing but what is kept."""
    for name in [n for n in os.environ if n.startswith(("OMPI_", "PMIX_", "PMI_", "PRTE_"))]:
        if name not in kept:
            del os.environ[name]
    domain = Domain((8, 8))
    say(domain.comm, "of", domain.size)


def missed(job: Communicator) -> None:
    """What is told in a call that another rank has given up is never taken for the next call's."""
    with patch.object(Deadline, "pause", side_effect=KeyboardInterrupt):
        try:
            if job.rank == 1:
                time.sleep(0.5)
            job.gather(f"old {job.rank}")
        except KeyboardInterrupt:
            assert job.first
    say(job, "interrupted", job.gather(f"new {job.rank}"))
    begun = time.monotonic()
    if job.rank == 1:
        time.sleep(1.5)
    for word in ("old", "new"):
        try:
            say(job, "heard", job.allgather(word))
        except RunFailed as error:
            say(job, "raised", error)
    assert time.monotonic() - begun < 5


def late(job: Communicator) -> None:
    """Rank 1 sleeps longer than the time-out of the others."""
    begun = time.monotonic()
    if job.rank == 1:
        time.sleep(20)
    try:
        job.allgather(None)
    except RunFailed as error:
        say(job, f"after {time.monotonic() - begun:.1f} s:", error)
        job.abort(3)


if __name__ == "__main__":
    if sys.argv[1] == "hosts":
        hosts()
    elif sys.argv[1] == "begun":
        import_module("mpi4py.MPI")
        unknown(())
    elif sys.argv[1] == "unknown":
        names = tuple(name for name in os.environ if "SIZE" not in name)
        unknown(names)
    else:
        {"words": words, "parts": parts, "missed": missed, "late": late}[sys.argv[1]](
            get_communicator()
        )
