"""A program for several ranks that make collective calls, right and wrong ones.

    mpiexec -n RANKS python communicator_program.py NAME

Every rank prints lines that begin with its number. NAME is that of a function below.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any
from unittest.mock import patch

import numpy as np

from groundswell import processes
from groundswell.errors import CaseError, CaseProblem, GroundswellError, InputError
from groundswell.exchange import Domain, mpi_communicator, rank_progress
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.mpi_communicator import MpiCommunicator, duplicate, get_communicator
from groundswell.exchange.waiting import Deadline


@dataclass(frozen=True)
class Frozen(ZeroDivisionError):
    """An exception that forbids setting its attributes."""

    reason: str


def say(job: Communicator, *words: Any) -> None:
    """Print a line with one call, because the outputs of ranks are mixed."""
    sys.stdout.write(" ".join(["rank", str(job.rank), *map(str, words)]) + "\n")
    sys.stdout.flush()


def refuse(job: Communicator, rank: int, error: Exception) -> Callable[[], str]:
    """A function that fails on one rank."""

    def act() -> str:
        if job.rank == rank:
            raise error
        return f"done by {job.rank}"

    return act


def outcome(act: Callable[[], Any]) -> str:
    """The result or the error of a function, on one line."""
    try:
        return f"returned {act()}"
    except (GroundswellError, ZeroDivisionError) as error:
        text = str(error).replace("\n", "|")
        return f"raised {type(error).__name__}: {text}"


def attempt(job: Communicator, act: Callable[[], Any]) -> str:
    return outcome(lambda: job.collective_try(act))


def twice(job: Communicator, act: Callable[[], Any]) -> Any:
    """The result of a second call, after a first one that may fail."""
    attempt(job, act)
    return job.collective_try(act)


# --- calls that succeed, and errors of single ranks -----------------------------------------------


def operations() -> None:
    job = world()
    value = {"rank": job.rank, "long": "x" * 100_000}
    say(job, "allgather", job.allgather(value)[-1]["rank"])
    say(job, "gather", job.gather(job.rank * 10))
    say(job, "bcast", job.bcast(f"from {job.rank}"))
    say(job, "same host", job.same_host == list(range(job.size)))
    job.require_alive()
    say(job, "success", attempt(job, refuse(job, -1, InputError("never"))))
    error: GroundswellError = InputError("file 'x.bin' has 3 bytes; 4 are needed: give another")
    say(job, "input", attempt(job, refuse(job, 1, error)))
    error = CaseError([CaseProblem("grid.size", "1 m", "at least 1 km")], "case.toml")
    say(job, "case", attempt(job, refuse(job, 1, error)))
    say(job, "mistake", attempt(job, refuse(job, 1, ZeroDivisionError("by 0"))))
    mistake = refuse(job, 1, ZeroDivisionError("by 0"))
    say(job, "nested", attempt(job, lambda: job.collective_try(mistake)))
    say(job, "afterwards", attempt(job, refuse(job, -1, InputError("never"))))
    frozen = refuse(job, 1, Frozen("by 0"))
    say(job, "frozen", attempt(job, lambda: job.collective_try(frozen)))
    for known in (InputError("refused"), ZeroDivisionError("by 0")):
        same = refuse(job, 1, known)  # one object, as a module or a cache may have
        for act in (same, same, partial(twice, job, same)):
            say(job, f"same{type(known).__name__}", attempt(job, act))
    for turn in range(300):
        assert job.allgather(turn) == [turn] * job.size


def random() -> None:
    """Random calls, compared with what one process computes from the same random numbers."""
    from mpi4py import MPI

    job = MpiCommunicator(MPI.COMM_WORLD)
    for mpi_communicator.CHUNK in (500, 2000, 2**30):
        rng = np.random.default_rng(mpi_communicator.CHUNK)
        for _ in range(10):
            check_objects(job, rng)
            check_integers(job, rng)
    say(job, "agrees")


def check_objects(job: Communicator, rng: np.random.Generator) -> None:
    lengths = rng.choice([0, 1, 20, 85, 300, 1000], job.size)
    values = [rng.bytes(n) for n in lengths]
    mine = values[job.rank]
    assert job.allgather(mine) == values
    assert job.gather(mine) == (values if job.first else [])
    assert job.bcast(mine) == values[0]


def check_integers(job: Communicator, rng: np.random.Generator) -> None:
    """Each rank sends to some ranks, which may include itself."""
    shape = (job.size, job.size)
    counts = rng.choice([0, 1, 7, 70], shape) * rng.integers(2)
    table = [[rng.integers(-(2**62), 2**62, n) for n in row] for row in counts]
    omitted = rng.integers(2, size=shape)
    parts = {
        to: part
        for to, part in enumerate(table[job.rank])
        if len(part) or not omitted[job.rank, to]
    }
    found = job.alltoallv(parts)
    expected = {n: row[job.rank] for n, row in enumerate(table) if len(row[job.rank])}
    assert list(found) == list(expected)
    for rank, part in expected.items():
        assert found[rank].dtype == np.int64 and np.array_equal(found[rank], part)


def communicators() -> None:
    """Parts of all ranks, in another order, and a Cartesian grid; calls do not mix."""
    from mpi4py import MPI

    whole = MPI.COMM_WORLD
    job = MpiCommunicator(whole)
    part = MpiCommunicator(whole.Split(whole.rank % 2, -whole.rank))
    grid = MpiCommunicator(whole.Create_cart((2, 2), (True, False)))
    for turn in range(20):
        ranks = [rank for rank in range(4) if rank % 2 == whole.rank % 2]
        assert part.allgather((whole.rank, turn)) == [(rank, turn) for rank in ranks[::-1]]
        assert job.allgather("x" * turn * 50) == ["x" * turn * 50] * 4
        assert grid.gather(grid.mpi_comm.coords) == (
            [[0, 0], [0, 1], [1, 0], [1, 1]] if grid.first else []
        )
    say(job, "sees", len(part.same_host), "and", len(grid.same_host))


def hosts() -> None:
    """Ranks that seem to be in containers, in a copy of the machine, and on another machine."""
    rank, stat = int(os.environ["OMPI_COMM_WORLD_RANK"]), processes._stat
    if rank in (1, 3):
        processes._namespace = lambda kind: f"{kind} of a container"
    if rank == 4:
        processes._stat = lambda number: (stat(number)[0], stat(number)[1] + 1)
    if rank == 5:
        os.environ[processes.HOST] = "another"
    job = world()
    say(job, job.same_host, job.same_machine)
    job.require_alive()


def unknown() -> None:
    """The launcher sets no number of ranks."""
    start_domain(tuple(name for name in os.environ if "SIZE" not in name))


def begun() -> None:
    """The launcher sets no variables, but the program has started MPI."""
    import_module("mpi4py.MPI")
    start_domain(())


def start_domain(kept: tuple[str, ...]) -> None:
    """A domain of ranks whose launcher sets only the variables that are kept."""
    for name in [n for n in os.environ if n.startswith(("OMPI_", "PMIX_", "PMI_", "PRTE_"))]:
        if name not in kept:
            del os.environ[name]
    domain = Domain((8, 8))
    say(domain.comm, "of", domain.size)


# --- calls that cannot succeed --------------------------------------------------------------------


def different() -> None:
    """Rank 1 makes another call than the others, then all make the same again."""
    job = world()
    say(job, "first", outcome(lambda: job.bcast("b") if job.rank == 1 else job.gather("g")))
    say(job, "second", outcome(lambda: job.allgather(job.rank)))


def failing_call() -> None:
    """Rank 1 fails before the call that the others make within the same function."""
    job = world()

    def act() -> None:
        if job.rank == 1:
            raise InputError("refused, " + "for many reasons, " * 20)
        job.allgather("x" * 1000)

    say(job, "first", attempt(job, act))
    say(job, "second", attempt(job, lambda: None))


def exit_early() -> None:
    """Rank 1 ends its program one call before the others."""
    job = world()
    job.allgather(None)
    if job.rank == 1:
        sys.exit(0)
    say(job, "first", outcome(lambda: job.allgather(None)))
    say(job, "second", outcome(lambda: job.gather(None)))


def late() -> None:
    """Rank 1 comes after the others have given up the first of two calls."""
    job = world()
    begun = time.monotonic()
    if job.rank == 1:
        time.sleep(1.5)
    say(job, "first", outcome(lambda: job.allgather(f"first {job.rank}")))
    say(job, "second", outcome(lambda: job.allgather(f"second {job.rank}")))
    assert time.monotonic() - begun < 5


def interrupted() -> None:
    """Rank 0 gives up a call in which it waits."""
    job = world()
    with patch.object(Deadline, "pause", side_effect=KeyboardInterrupt):
        if job.first:
            try:
                job.gather("old")
            except KeyboardInterrupt:
                say(job, "is interrupted")
    if not job.first:
        time.sleep(0.5)
    say(job, "second", outcome(lambda: job.gather("new")))


def stopped() -> None:
    """Rank 1 stops; the others end their programs without help."""
    job = world()
    begun = time.monotonic()
    if job.rank == 1:
        os.kill(os.getpid(), signal.SIGSTOP)
    try:
        job.allgather(None)
    except GroundswellError as error:
        say(job, f"after {time.monotonic() - begun:.1f} s:", error)


def stopped_in_call() -> None:
    """Rank 1 stops between the header and the content of a call."""
    job = world()
    begun = time.monotonic()
    if job.rank == 1:
        stop = partial(os.kill, os.getpid(), signal.SIGSTOP)
        job._gather_long = lambda *_, **__: stop()  # type: ignore[method-assign,assignment]
    say(job, outcome(lambda: job.allgather("x" * 1_000_000)))
    say(job, f"after {time.monotonic() - begun:.1f} s")


def killed() -> None:
    """Rank 1 is killed while the others wait for it."""
    job = world()
    if job.rank == 1:
        time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGKILL)
    say(job, outcome(lambda: job.allgather(None)))


def dead() -> None:
    """Rank 0 waits for a rank that it takes for dead, but not when its own program ends."""
    job = world()
    if job.first:
        alive = job._processes[1]
        job._processes[1] = alive._replace(start_time=0)
        say(job, "first", outcome(lambda: job.allgather(None)))
        job._processes[1] = alive
    else:
        time.sleep(2)
        say(job, "second", outcome(lambda: job.allgather(None)))


def undivided() -> None:
    """Rank 1 does not duplicate the communicator."""
    from mpi4py import MPI

    if MPI.COMM_WORLD.rank == 0:
        print(outcome(lambda: duplicate(MPI.COMM_WORLD)), flush=True)
    else:
        time.sleep(2)
        duplicate(MPI.COMM_WORLD)


def absent() -> None:
    """Rank 1 waits for rank 0, which needs it for a duplicate."""
    from mpi4py import MPI

    rank_progress.LAST_SECONDS = 0.5
    if MPI.COMM_WORLD.rank == 0:
        duplicate(MPI.COMM_WORLD)
    MPI.COMM_WORLD.Barrier()


def world() -> MpiCommunicator:
    job = get_communicator()
    assert isinstance(job, MpiCommunicator)
    return job


if __name__ == "__main__":
    globals()[sys.argv[1]]()
