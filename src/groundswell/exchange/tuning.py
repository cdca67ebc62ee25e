"""Measures the transports and other options of an exchange, and selects the fastest.

The time of a candidate is the maximum over ranks, because the slowest rank determines the time of a
step; the median over repetitions is taken. Tuning ends after about a second: when steps take long,
exchanges matter little. Results are cached on disk, by machine and problem.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import product
from math import inf
from pathlib import Path

from groundswell.backends import Backend
from groundswell.backends.base import in_order
from groundswell.backends.cache import KernelCache, default_folder
from groundswell.backends.source import digest
from groundswell.errors import GroundswellError, known_to_all
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.connect import BY_MEMORY, TRANSPORTS, mpi_version, usual
from groundswell.exchange.gather_scatter.pattern import ROUTES
from groundswell.exchange.gather_scatter.transfers import Connection
from groundswell.exchange.messages import Operation
from groundswell.exchange.probing import find_obstacles
from groundswell.version import __version__

REPEATS = 5
REPEAT_SECONDS = 0.02  # shortest duration of a repeat
CUTOFF = 1.5  # candidates slower than the best by this factor are not repeated
CANDIDATE_SECONDS = 0.5  # longest duration of the repeats of a candidate
TUNING_SECONDS = 1.0  # after which only candidates like the first one are measured
LATE = "not measured, because the others took long"

Timer = Callable[[int], float]  # exchanges n times; returns this rank's time, s


@dataclass(frozen=True)
class Choice(Connection):
    """The options of an exchange that affect only its speed (except lossy codecs).

    Args:
        transport, route, codec: see `Connection`; `route` applies only to gather-scatter.
        aggregate: whether all fields share one message per neighbour.
        overlap: whether the exchange overlaps with the update of interior points.
    """

    aggregate: bool = True
    overlap: bool = True


@dataclass(frozen=True)
class Measurement:
    """Time of an exchange, s; or None and the reason why it does not work."""

    choice: Choice
    seconds: float | None
    reason: str = ""

    def __str__(self) -> str:
        route = "" if self.choice.route == "pairwise" else f" {self.choice.route}"
        separate = "" if self.choice.aggregate else " without aggregation"
        result = self.reason if self.seconds is None else f"{self.seconds * 1e6:.3g} us"
        return f"{self.choice.transport}{route}{separate}: {result}"


@dataclass(frozen=True)
class Tuning:
    """The measurements of all candidates, fastest first."""

    measurements: tuple[Measurement, ...]
    cached: bool = False  # whether they are from an earlier run

    @property
    def best(self) -> Choice:
        """The fastest candidate."""
        return self.measurements[0].choice

    def __str__(self) -> str:
        measured = ", ".join(str(m) for m in self.measurements if m.seconds is not None)
        return measured + " (measured earlier)" * self.cached


# --- candidates -----------------------------------------------------------------------------------


def halo_candidates(
    backend: Backend,
    comm: Communicator,
    *,
    transport: str = "auto",
    overlap: bool | str = "auto",
    codecs: Sequence[str] = ("none",),
    aggregates: Sequence[bool] = (True, False),
) -> list[Choice]:
    """All choices for ghost layers that the user's options allow.

    Args:
        transport, overlap: the user's options; "auto" for all.
        codecs: the allowed codecs. On one host, only the first is a candidate: other codecs help on
            slow links, but memory is faster than their kernels.
        aggregates: the allowed values of `Choice.aggregate`.
    """
    overlaps = (True, False) if overlap == "auto" else (bool(overlap),)
    transports = _transports(backend, comm) if transport == "auto" else [transport]
    if usual(comm) == "peer":
        codecs = codecs[:1]
    return [
        Choice(name, codec=codec, aggregate=aggregate, overlap=overlapped)
        for aggregate, name, overlapped, codec in product(aggregates, transports, overlaps, codecs)
    ]


def for_any_arrays(choices: Sequence[Choice]) -> list[Choice]:
    """The choices whose exchanges are not tied to their arrays, unlike those with "direct"."""
    return [choice for choice in choices if "direct" not in choice.transport.split("+")]


def gather_scatter_candidates(
    backend: Backend, comm: Communicator, asked: Connection
) -> list[Choice]:
    """All choices for gather-scatter; transport or route may be "fastest"."""
    names = _transports(backend, comm) if asked.transport == "fastest" else [asked.transport]
    is_open = asked.route == "fastest"
    return [
        Choice(name, route, asked.codec)
        for route in (ROUTES if is_open else [asked.route])
        for name in names  # "alltoall" is one MPI call and needs no transport
        if not is_open or route != "alltoall" or name in ("auto", "mpi")
    ]


def _transports(backend: Backend, comm: Communicator) -> list[str]:
    """All transports that may connect these ranks; on several hosts, also pairs of them."""
    names = [*TRANSPORTS[backend.name]]
    if usual(comm) == "peer":
        return names
    far = [name for name in names if name not in BY_MEMORY]
    return [*(f"{a}+{b}" for b in far for a in names if a in BY_MEMORY), *far]


def _usable(backend: Backend, comm: Communicator, choices: Sequence[Choice]) -> Sequence[Choice]:
    """The choices with transports that work between all ranks; collective."""
    # With two transports, only the one between hosts can be tested between all ranks.
    names = [choice.transport.split("+")[-1] for choice in choices]
    obstacles = find_obstacles(backend, comm, sorted(set(names)))
    pairs = zip(choices, names, strict=True)
    return [choice for choice, name in pairs if not obstacles[name]]


# --- measurements ---------------------------------------------------------------------------------


def tune(
    comm: Communicator,
    choices: Sequence[Choice],
    timer_of: Callable[[Choice], Timer],
    cache: Path | None = None,
) -> Tuning:
    """Measure the choices, unless the result is cached; collective.

    When the time is up, choices with another transport or route than the first one, or other
    messages, are left out.

    Args:
        timer_of: prepares the measurement of a choice; raises GroundswellError if it does not work.
        cache: see `cache_file`.

    Raises:
        GroundswellError: the error of the first choice, if none works.
    """
    if cached := _measured_earlier(comm, choices, cache):
        return cached
    found, best, begun = list[Measurement](), inf, time.monotonic()
    for choice in choices:
        is_late = comm.bcast(time.monotonic() - begun > TUNING_SECONDS)
        if is_late and best < inf and not _is_alike(choice, choices[0]):
            found.append(Measurement(choice, None, LATE))
            continue
        found.append(_measure(comm, choice, timer_of, best))
        best = min(best, inf if found[-1].seconds is None else found[-1].seconds)
    if best == inf:
        timer_of(choices[0])
    tuning = Tuning(tuple(sorted(found, key=lambda m: (m.seconds is None, m.seconds))))
    if cache and comm.first:
        _save(cache, tuning)
    return tuning


def _is_alike(choice: Choice, other: Choice) -> bool:
    """Whether two choices send the same messages in the same way, codecs aside."""
    return replace(choice, overlap=other.overlap, codec=other.codec) == other


def _measure(
    comm: Communicator, choice: Choice, timer_of: Callable[[Choice], Timer], best: float
) -> Measurement:
    try:
        timer = comm.collective_try(partial(timer_of, choice))
    except GroundswellError as error:
        if not known_to_all(error):
            raise
        return Measurement(choice, None, str(error))
    return Measurement(choice, _seconds(comm, timer, best))


def _seconds(comm: Communicator, timer: Timer, best: float) -> float:
    """Time of one exchange, s; only a rough value if it is much slower than the best."""
    timer(1)  # warm up
    once = max(comm.allgather(timer(1)))
    if once > CUTOFF * best:
        return once
    count = max(1, min(1000, int(REPEAT_SECONDS / max(once, 1e-9))))
    repeats = min(REPEATS, int(CANDIDATE_SECONDS / max(count * once, 1e-9)))
    if not repeats:
        return once
    return statistics.median(max(comm.allgather(timer(count))) / count for _ in range(repeats))


def fastest(
    backend: Backend,
    comm: Communicator,
    problem: Iterable[object],
    choices: Sequence[Choice],
    make: Callable[[Choice], Sequence[Operation]],
    *,
    in_graph: bool = False,
) -> Tuning:
    """Measure operations with each choice that works here; collective.

    Args:
        problem: everything on which the speed depends; part of the key of the cache.
        make: creates the operations, which are closed after the measurements.
        in_graph: whether the device may run them as a graph.

    Raises:
        GroundswellError: no choice works here.
    """
    made: list[Operation] = []

    def timer_of(choice: Choice) -> Timer:
        operations = make(choice)
        made.extend(operations)
        run = in_order([launch for each in operations for launch in each.launches])
        allowed = in_graph and all(each.in_graph for each in operations)
        graph = backend.capture(run, in_graph=allowed)
        return lambda count: backend.measure_seconds(lambda: graph.replay(count))

    cache = cache_file(comm, backend, problem)
    earlier = _measured_earlier(comm, choices, cache)
    if earlier and _usable(backend, comm, [earlier.best]):
        return earlier  # which saves the start of all other transports
    tuning = tune(comm, _usable(backend, comm, choices) or choices, timer_of, cache)
    for operation in made:
        operation.close()
    return tuning


# --- the cache ------------------------------------------------------------------------------------


def cache_file(comm: Communicator, backend: Backend, problem: Iterable[object]) -> Path:
    """The cache file of a problem on the machines of these ranks; collective."""
    devices = [*comm.allgather(backend.device), repr(comm.allgather(comm.same_host))]
    library = mpi_version() if comm.size > 1 else ""
    key = digest(__version__, *devices, library, *map(repr, problem))
    return default_folder() / f"tuning-{key}.json"


def _measured_earlier(
    comm: Communicator, choices: Sequence[Choice], cache: Path | None
) -> Tuning | None:
    """The cached tuning if its best choice is one of these; collective."""
    found: Tuning | None = comm.bcast(_load(cache) if cache and comm.first else None)
    return found if found and found.best in choices else None


def _load(path: Path) -> Tuning | None:
    """The cached tuning; None if it does not exist or is not readable."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        rows = json.loads(path.read_text(encoding="utf-8"))["measurements"]
        measured = (Measurement(Choice(**m["choice"]), m["seconds"], m["reason"]) for m in rows)
        return Tuning(tuple(measured), cached=True) if rows else None
    return None


def _save(path: Path, tuning: Tuning) -> None:
    """Write a tuning; it is not an error if the cache is not writable."""
    text = json.dumps(asdict(tuning), indent=1)
    with suppress(OSError, GroundswellError):
        path.unlink(missing_ok=True)  # it is unreadable or has other choices
        KernelCache(path.parent).get(path.name, lambda out: out.write_text(text, "utf-8"))
