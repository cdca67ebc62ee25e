"""Timing of launches on one rank, and of exchanges between ranks.

Measurements of several ranks have time limits, and survive transports that fail.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from statistics import median
from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike

from groundswell.arrays import DeviceArray
from groundswell.backends import Backend, Graph, Launch
from groundswell.backends.base import in_order
from groundswell.bench.rows import Row
from groundswell.exchange.mpi_communicator import MpiCommunicator
from groundswell.exchange.waiting import timeout_of, timeout_seconds

Result = TypeVar("Result")

REPEATS = 5
REPEAT_SECONDS = 0.02  # much longer than the clock's resolution and the ranks' start-up skew
FEWEST, MOST = 2, 2000  # exchanges per repeat
LONGEST_SILENCE = 30.0  # s that a rank waits for another one during a measurement
FASTEST = {"cuda": "direct", "cpu": "peer"}  # the transport that is usually fastest, by backend
IN_STEP = 4  # exchanges that synchronize the ranks before the clock starts
ALONE_SECONDS, MOST_ALONE = 0.1, 1000  # of a measurement on one rank, and its most repetitions


def alone(backend: Backend, launches: Sequence[Launch]) -> float:
    """Seconds for launches on this rank only: the median of REPEATS after a warm-up."""
    graph = backend.capture(in_order(launches))
    graph.replay(1)
    one = backend.measure_seconds(lambda: graph.replay(1))
    times = int(np.clip(ALONE_SECONDS / one, 1, MOST_ALONE))
    found = [backend.measure_seconds(lambda: graph.replay(times)) for _ in range(REPEATS)]
    return median(found) / times


class Rig:
    """The ranks that measure together, and their clock.

    Measurements are grouped in parts, each with a time limit. If a transport fails on any rank, all
    ranks skip it for the rest of the part.

    Args:
        backend: the backend that is measured.
        job: all ranks of the job.
        transports: names of the transports to measure.

    Attributes:
        comm: a communicator for the measurements. It differs from the job's own, so that a rank
            that gives up cannot disturb later collective operations.
        part: name of the part that is measured.
        notes: what was not measured, and why.
        remembered: cached measurements.
    """

    def __init__(self, backend: Backend, job: MpiCommunicator, transports: Sequence[str]) -> None:
        self.backend, self.notes = backend, list[str]()
        self.comm = MpiCommunicator(job.mpi_comm)
        self._job, self._every = job, list(transports)
        self.remembered: dict[Any, Any] = {}
        self._held: list[object] = []  # failed exchanges are never freed: late messages may arrive
        self.begin("", 0.0)

    def begin(self, part: str, seconds: float) -> None:
        """Start a part of the measurements."""
        self.part, self._end = part, time.monotonic() + seconds
        self._lost: set[str] = set()

    @property
    def transports(self) -> list[str]:
        """All transports that have not failed in this part."""
        return [name for name in self._every if name not in self._lost]

    def attempt(self, what: str, act: Callable[[], Result]) -> Result | None:
        """Call `act` on all ranks; None, with a note, if it fails on a rank or time is up."""
        if self._job.bcast(time.monotonic() > self._end):
            self._note("the rest was skipped: time limit reached")
            return None
        result, error = None, None
        try:
            with timeout_of(min(timeout_seconds(), LONGEST_SILENCE)):
                result = act()
        except Exception as failure:  # a transport that fails must not end the measurements
            error = f"{type(failure).__name__}: {failure}"
        with timeout_of(max(timeout_seconds(), 3 * LONGEST_SILENCE)):  # others may time out first
            errors = [e for e in self._job.allgather(error) if e is not None]
        if errors:
            self._note(f"{what}: {errors[0]}")
            self._lost.add(what)
            self.comm = MpiCommunicator(self._job.mpi_comm)
        return None if errors else result

    def _note(self, text: str) -> None:
        note = f"{self.part}: {text}"
        self.notes += [note] if note not in self.notes else []

    def exchange(self, transport: str, make: Callable[[], object]) -> Row | None:
        """Time of an `Exchange` that `make` returns, and the most bytes that a rank sends."""
        return self.attempt(transport, lambda: self._exchange(transport, make))

    def _exchange(self, transport: str, make: Callable[[], Any]) -> Row:
        halo = make()
        with self.holding(halo):
            seconds = self.seconds(in_order(halo.launches), in_graph=halo.in_graph)
            halo.check()
            sent = max(self.comm.allgather(halo.bytes))
            row = {"transport": transport, "path": halo.path, "in_graph": halo.in_graph}
            halo.close()
        return {**row, "seconds": seconds, "sent": sent}

    @contextmanager
    def holding(self, what: object) -> Iterator[None]:
        """Keep a reference to an exchange during the block, and permanently if the block fails."""
        self._held.append(what)
        yield
        self._held.pop()

    # --- the clock --------------------------------------------------------------------------------

    def seconds(self, launch: Callable[[], None], *, in_graph: bool) -> float:
        """Time of one call on the slowest rank, s: the median of REPEATS measurements."""
        graph = self.backend.capture(launch, in_graph=in_graph)
        times = self._enough(graph)
        spent = [self._once(graph, times) for _ in range(REPEATS)]
        return float(np.median(np.max(self.comm.allgather(spent), axis=0)))

    def _enough(self, graph: Graph) -> int:
        """Number of calls in a measurement; the same on all ranks."""
        self._once(graph, 1)
        one = max(self.comm.allgather(self._once(graph, FEWEST)))
        return int(np.clip(REPEAT_SECONDS / one, FEWEST, MOST))

    def _once(self, graph: Graph, times: int) -> float:
        graph.replay(min(IN_STEP, times))
        begin = self.backend.record_event()
        graph.replay(times)
        end = self.backend.record_event()
        end.wait()
        return end.seconds_since(begin) / times

    def filled(self, shape: tuple[int, ...], dtype: DTypeLike) -> DeviceArray:
        """An array whose pages are all mapped; memory that was never written may not be."""
        array = self.backend.zeros(shape, dtype)
        self.backend.assign(array, np.ones((), dtype))
        return array


# --- some of the ranks ----------------------------------------------------------------------------


def counts(ranks: int) -> list[int]:
    """Powers of two below the number of ranks, and this number."""
    return [*(2**n for n in range((ranks - 1).bit_length())), ranks]


def on_some(rig: Rig, count: int, seconds: float, measure: Callable[[Rig], Any]) -> Any:
    """The measurement of the first `count` ranks while the others wait; all ranks get it.

    Args:
        seconds: time limit.
        measure: called with the rig of these ranks.
    """
    job = rig.comm
    comm = job.mpi_comm.Split(int(job.rank >= count), job.rank)
    found = None
    if job.rank < count:
        some = Rig(rig.backend, MpiCommunicator(comm), rig.transports)
        some.begin(rig.part, seconds)
        found = measure(some)
        rig.notes += [note for note in some.notes if note not in rig.notes]
    with timeout_of(max(timeout_seconds(), seconds)):
        return job.bcast(found)
