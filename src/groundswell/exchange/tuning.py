"""Autotuning: measures the candidates for an exchange and chooses the fastest.

The time of a candidate is the median over repeats of the maximum over ranks, because a step takes
as long as its slowest rank. Results are cached on disk, by machine and problem.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import product
from math import inf
from pathlib import Path
from typing import Any

from groundswell import __version__
from groundswell.backends import Backend
from groundswell.backends.cache import KernelCache, default_folder
from groundswell.backends.source import digest
from groundswell.errors import GroundswellError, known_to_all
from groundswell.exchange import mpi_library
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.connect import TRANSPORTS, usual
from groundswell.exchange.gather_scatter.pattern import ROUTES
from groundswell.exchange.plan import Plan
from groundswell.exchange.probe import find_obstacles

REPEATS = 5
REPEAT_SECONDS = 0.02  # shortest duration of a repeat
CUTOFF = 1.5  # a candidate that takes this many times as long as the best is not repeated
WITHIN_HOST = ("direct", "peer")  # transports that need shared memory

Timer = Callable[[int], float]  # exchanges so many times; returns this rank's seconds


@dataclass(frozen=True)
class Choice:
    """The options of an exchange that affect only its speed, apart from codecs with loss.

    Args:
        transport: a name in TRANSPORTS.
        aggregate: whether all fields share one message per neighbour.
        overlap: whether the update of interior points hides the exchange.
        route: one of pattern.ROUTES.
        codec: compression of messages, see connect.connect.
    """

    transport: str
    aggregate: bool = True
    overlap: bool = True
    route: str = "pairwise"
    codec: str = "none"


@dataclass(frozen=True)
class Measurement:
    """Seconds of an exchange, or None and the reason why it does not work."""

    choice: Choice
    seconds: float | None
    reason: str = ""


@dataclass(frozen=True)
class Tuning:
    """The measurements of all candidates, fastest first.

    Args:
        cached: whether they were measured in an earlier run.
    """

    measurements: tuple[Measurement, ...]
    cached: bool = False

    @property
    def best(self) -> Choice:
        """The fastest candidate."""
        return self.measurements[0].choice


class TuningCache:
    """The file of one tuning in the cache folder.

    Args:
        key: identifies machine and problem.
    """

    def __init__(self, key: str, folder: Path | None = None) -> None:
        self._name = f"tuning-{key}.json"
        self._folder = folder or default_folder()

    @classmethod
    def of(cls, comm: Communicator, backend: Backend, problem: Iterable[Any]) -> TuningCache:
        """The cache for a problem on the machines of these ranks; all ranks must call it."""
        devices = [*comm.allgather(backend.device), repr(comm.allgather(comm.same_host))]
        library = mpi_library.version() if comm.size > 1 else ""
        return cls(digest(__version__, *devices, library, *map(repr, problem)))

    def load(self) -> Tuning | None:
        """The cached tuning; None if there is no readable one."""
        with suppress(OSError, ValueError, KeyError, TypeError):
            found = json.loads((self._folder / self._name).read_text(encoding="utf-8"))
            rows = found["measurements"]
            measured = (Measurement(Choice(**m["choice"]), m["seconds"], m["reason"]) for m in rows)
            return Tuning(tuple(measured), cached=True) if rows else None
        return None

    def save(self, tuning: Tuning) -> None:
        """Write a tuning; a cache that is not writable is no error."""
        text = json.dumps(asdict(tuning), indent=1)
        with suppress(OSError, GroundswellError):
            (self._folder / self._name).unlink(missing_ok=True)  # unreadable, or of other choices
            KernelCache(self._folder).get(self._name, lambda out: out.write_text(text, "utf-8"))


# --- candidates -----------------------------------------------------------------------------------


def halo_candidates(
    backend: Backend,
    comm: Communicator,
    *,
    transport: str = "auto",
    overlap: bool | str = "auto",
    codecs: Sequence[str] = ("none",),
) -> list[Choice]:
    """All options for ghost layers that the user leaves open.

    Args:
        transport, overlap: as the user asks; "auto" for all.
        codecs: all that may be used. On one host only the first is a candidate: other codecs help
            on slow links, but memory is faster than their kernels.
    """
    overlaps = (True, False) if overlap == "auto" else (bool(overlap),)
    transports = _transports(backend, comm) if transport == "auto" else [transport]
    if usual(backend, comm) == "peer":
        codecs = codecs[:1]
    options = product(overlaps, transports, (True, False), codecs)
    return [
        Choice(name, aggregate, hides, codec=codec) for hides, name, aggregate, codec in options
    ]


def gather_scatter_candidates(
    backend: Backend, comm: Communicator, *, transport: str, route: str, codec: str = "none"
) -> list[Choice]:
    """All options for gather-scatter that the user leaves open.

    Args:
        transport, route: as the user asks; "fastest" for all.
        codec: of all candidates.
    """
    names = _transports(backend, comm) if transport == "fastest" else [transport]
    routes = ROUTES if route == "fastest" else (route,)
    # MPI_Alltoallv does not depend on a transport.
    whole = [name for name in names if name in ("auto", "mpi")]
    names_of = {"alltoall": whole if route == "fastest" else names}
    return [Choice(name, route=r, codec=codec) for r in routes for name in names_of.get(r, names)]


def _transports(backend: Backend, comm: Communicator) -> list[str]:
    """All transports that may connect these ranks; on several hosts, pairs of them too."""
    names = [*TRANSPORTS[backend.name]]
    if usual(backend, comm) == "peer":
        return names
    near = [name for name in names if name in WITHIN_HOST]
    far = [name for name in names if name not in WITHIN_HOST]
    return [*(f"{a}+{b}" for b in far for a in near), *far]


def usable(backend: Backend, comm: Communicator, choices: Sequence[Choice]) -> Sequence[Choice]:
    """The choices whose transports work between all ranks; all choices if none does."""
    obstacles = find_obstacles(backend, comm, sorted({_far(choice) for choice in choices}))
    return [choice for choice in choices if not obstacles[_far(choice)]] or choices


def _far(choice: Choice) -> str:
    """The transport between hosts; those within a host cannot be probed if there are several."""
    return choice.transport.split("+")[-1]


# --- measurements ---------------------------------------------------------------------------------


def fastest(
    backend: Backend,
    comm: Communicator,
    problem: Iterable[object],
    make: Callable[[Choice], Plan],
    choices: Sequence[Choice],
) -> Choice:
    """The choice with the fastest plan.

    Args:
        problem: everything that the speed depends on, as part of the cache's key.
        make: makes a plan, which is closed after the measurements.

    Raises:
        GroundswellError: no transport works here.
    """
    plans: list[Plan] = []

    def timer_of(choice: Choice) -> Timer:
        plans.append(plan := make(choice))
        return lambda count: backend.measure_seconds(lambda: _repeat(plan, count))

    cache = TuningCache.of(comm, backend, problem)
    tuning = tune(comm, usable(backend, comm, choices), timer_of, cache)
    for plan in plans:
        plan.close()
    return tuning.best


def _repeat(plan: Plan, count: int) -> None:
    for _ in range(count):
        plan.run(())


def tune(
    comm: Communicator,
    choices: Sequence[Choice],
    timer_of: Callable[[Choice], Timer],
    cache: TuningCache | None = None,
) -> Tuning:
    """Measure the choices, unless the fastest is cached; all ranks must call it.

    Args:
        timer_of: prepares the measurement of a choice; raises GroundswellError if it does not work.

    Raises:
        GroundswellError: the error of the first choice, if none works.
    """
    cached: Tuning | None = comm.bcast(cache.load() if cache and comm.first else None)
    if cached and cached.best in choices:
        return cached
    found: list[Measurement] = []
    for choice in choices:
        best = min((m.seconds for m in found if m.seconds is not None), default=inf)
        found.append(_measure(comm, choice, timer_of, best))
    if all(m.seconds is None for m in found):
        timer_of(choices[0])
    tuning = Tuning(tuple(sorted(found, key=lambda m: (m.seconds is None, m.seconds))))
    if cache and comm.first:
        cache.save(tuning)
    return tuning


def _measure(
    comm: Communicator, choice: Choice, timer_of: Callable[[Choice], Timer], best: float
) -> Measurement:
    try:
        timer = comm.collective_try(lambda: timer_of(choice))
    except GroundswellError as error:
        if not known_to_all(error):
            raise
        return Measurement(choice, None, str(error))
    return Measurement(choice, _seconds(comm, timer, best))


def _seconds(comm: Communicator, timer: Timer, best: float) -> float:
    """Seconds of one exchange, roughly if it is much slower than the best."""
    timer(1)  # warm up
    once = max(comm.allgather(timer(1)))
    if once > CUTOFF * best:
        return once
    count = max(1, min(1000, int(REPEAT_SECONDS / max(once, 1e-9))))
    return statistics.median(max(comm.allgather(timer(count))) / count for _ in range(REPEATS))
