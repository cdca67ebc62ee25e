"""Streams of a GPU: the one that launches go to, and others for work that may overlap."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from groundswell.backends.base import Launch

MOST_URGENT = -5  # priority of a stream; devices take the nearest that they have


class Lanes:
    """The stream that launches go to, and streams beside it for branches that may overlap.

    Attributes:
        current: where launches go now.
        launched: kernels so far.
    """

    def __init__(self, cupy: Any, main: Any) -> None:
        self._cupy = cupy
        self._main = self.current = main
        self.launched = 0
        self._beside: list[Any] = []
        self._urgent = cupy.cuda.Stream(non_blocking=True, priority=MOST_URGENT)
        self._forget()

    def _forget(self) -> None:
        self._awaited: Any = None  # event for which the urgent stream has yet to wait
        self._apart = False  # whether it holds what the main stream has not waited for

    @contextmanager
    def afresh(self) -> Iterator[None]:
        """Both streams wait for nothing from before in it, nor afterwards for anything from in it.

        What a graph captures can wait for nothing else.
        """
        kept = self._awaited, self._apart
        self._forget()
        try:
            yield
        finally:
            self._awaited, self._apart = kept

    # A stream waits for another's work, where there is any, since graphs are slower for each edge.

    def aside(self, launches: Sequence[Launch]) -> None:
        """Enqueue launches in the urgent stream, behind all that the main stream holds."""
        self._awaited = self._mark(self._main)
        self.further_aside(launches)

    def further_aside(self, launches: Sequence[Launch]) -> None:
        """Enqueue launches in the urgent stream, where `aside` ended."""
        if not launches:
            return
        if self._awaited is not None:
            self._urgent.wait_event(self._awaited)
        self._awaited, self._apart = None, True
        self._in(self._urgent, launches)

    def rejoin(self, launches: Sequence[Launch]) -> None:
        """Enqueue launches in the urgent stream, and let the main stream wait for them."""
        self.further_aside(launches)
        if self._apart:
            self._main.wait_event(self._mark(self._urgent))
        self._apart = False

    def run(self, branches: Sequence[Sequence[Launch]]) -> None:
        """Enqueue the branches, the first in the main stream; what follows waits for all.

        Raises:
            RuntimeError: a branch has branches of its own.
        """
        if self.current is not self._main:
            raise RuntimeError("branches that run together cannot branch again")
        first, *others = branches
        while len(self._beside) < len(others):
            self._beside.append(self._cupy.cuda.Stream(non_blocking=True))
        begin = self._mark(self._main)
        ends = [self._aside(*pair, begin) for pair in zip(self._beside, others, strict=False)]
        for launch in first:
            launch()
        for end in ends:
            self._main.wait_event(end)

    def _aside(self, stream: Any, branch: Sequence[Launch], begin: Any) -> Any:
        stream.wait_event(begin)
        self._in(stream, branch)
        return self._mark(stream)

    def _in(self, stream: Any, launches: Sequence[Launch]) -> None:
        self.current = stream
        try:
            for launch in launches:
                launch()
        finally:
            self.current = self._main

    def _mark(self, stream: Any) -> Any:
        event = self._cupy.cuda.Event(disable_timing=True)
        event.record(stream)
        return event
