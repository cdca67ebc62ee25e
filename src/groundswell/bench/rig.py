"""What every measurement of exchanges shares: the clock, the time that is left, what went wrong."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import DTypeLike

from groundswell.backends import Array, Backend, Graph, Launch
from groundswell.backends.base import in_order
from groundswell.bench.tables import Row
from groundswell.exchange.patience import patience_of, patience_seconds
from groundswell.exchange.world import MpiWorld

Result = TypeVar("Result")

REPEATS = 5
REPEAT_SECONDS = 0.02  # dwarfs the clock, and the time by which one rank begins before another
FEWEST, MOST = 2, 2000  # exchanges of a repeat
LONGEST_SILENCE = 30.0  # s that a rank waits for another one while both measure
FASTEST = {"cuda": "direct", "cpu": "peer"}  # transports, by backend, as a rule
IN_STEP = 4  # exchanges that bring the ranks into step before the clock starts


class Timed(Protocol):
    """What can be timed: an `Exchange`, or what stands in the place of one."""

    @property
    def path(self) -> str:
        """The way that messages really take."""

    @property
    def in_graph(self) -> bool:
        """Whether a graph of launches may hold it."""

    @property
    def bytes(self) -> int:
        """Bytes that this rank sends to others each time."""

    @property
    def launches(self) -> list[Launch]:
        """All of it."""

    def check(self) -> None:
        """See that no wait was in vain."""

    def close(self) -> None:
        """Give back what it holds of other ranks."""


class Rig:
    """The ranks that measure together, and their clock.

    A part of the measurements has a limit of time, and a transport that fails in it on any rank is
    left out of the rest of it, on all ranks.

    Args:
        transports: to be measured.

    Attributes:
        world: of the ranks while they measure. One that gives up must not confuse what they agree
            on afterwards, so this is not the job's own.
        notes: what was not measured, and why.
        remembered: what need not be measured again.
    """

    def __init__(self, backend: Backend, job: MpiWorld, transports: Sequence[str]) -> None:
        self.backend, self.notes = backend, list[str]()
        self.world = MpiWorld(job.comm)
        self._job, self._every = job, list(transports)
        self.remembered: dict[Any, Any] = {}
        self._held: list[Any] = []  # what has failed is never freed: late messages may still come
        self.begin("", 0.0)

    def begin(self, part: str, seconds: float) -> None:
        """Start a part of the measurements."""
        self._part, self._end = part, time.monotonic() + seconds
        self._lost: set[str] = set()

    @property
    def transports(self) -> list[str]:
        """All ways that have not failed in this part."""
        return [name for name in self._every if name not in self._lost]

    def attempt(self, what: str, act: Callable[[], Result]) -> Result | None:
        """Do something on all ranks; None, with a note, if it fails on one or time is up."""
        if self._job.tell(time.monotonic() > self._end):
            self._note("the rest is left out: its time was up")
            return None
        result, error = None, None
        try:
            with patience_of(min(patience_seconds(), LONGEST_SILENCE)):
                result = act()
        except Exception as failure:  # a way that does not work must not end the measurements
            error = f"{type(failure).__name__}: {failure}"
        with patience_of(max(patience_seconds(), 3 * LONGEST_SILENCE)):  # others still wait in vain
            errors = [e for e in self._job.share(error) if e is not None]
        if errors:
            self._note(f"{what}: {errors[0]}")
            self._lost.add(what)
            self.world = MpiWorld(self._job.comm)
        return None if errors else result

    def _note(self, text: str) -> None:
        note = f"{self._part}: {text}"
        self.notes += [note] if note not in self.notes else []

    def exchange(self, transport: str, make: Callable[[], Timed]) -> Row | None:
        """Time of an exchange, and the most bytes that a rank sends."""
        return self.attempt(transport, lambda: self._exchange(transport, make))

    def _exchange(self, transport: str, make: Callable[[], Timed]) -> Row:
        halo = make()
        with self.holding(halo):
            seconds = self.seconds(in_order(halo.launches), in_graph=halo.in_graph)
            halo.check()
            sent = max(self.world.share(halo.bytes))
            row = {"transport": transport, "path": halo.path, "in_graph": halo.in_graph}
            halo.close()
        return {**row, "seconds": seconds, "sent": sent}

    @contextmanager
    def holding(self, what: Any) -> Iterator[None]:
        """Keep what exchanges as long as it does so; for ever, if it fails."""
        self._held.append(what)
        yield
        self._held.pop()

    # --- the clock --------------------------------------------------------------------------------

    def seconds(self, launch: Callable[[], None], *, in_graph: bool) -> float:
        """How long it takes on the slowest rank: the median of REPEATS."""
        graph = self.backend.capture(launch, in_graph=in_graph)
        times = self._enough(graph)
        spent = [self._once(graph, times) for _ in range(REPEATS)]
        return float(np.median(np.max(self.world.share(spent), axis=0)))

    def _enough(self, graph: Graph) -> int:
        """How many make a repeat; the same on all ranks."""
        self._once(graph, 1)
        one = max(self.world.share(self._once(graph, FEWEST)))
        return int(np.clip(REPEAT_SECONDS / one, FEWEST, MOST))

    def _once(self, graph: Graph, times: int) -> float:
        graph.replay(min(IN_STEP, times))
        begin = self.backend.mark()
        graph.replay(times)
        end = self.backend.mark()
        end.wait()
        return end.seconds_since(begin) / times

    def filled(self, shape: tuple[int, ...], dtype: DTypeLike) -> Array:
        """An array whose memory is really there: pages that nobody has written cost nothing."""
        array = self.backend.zeros(shape, dtype)
        self.backend.assign(array, np.ones((), dtype))
        return array
