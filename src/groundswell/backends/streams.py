"""CUDA streams of a backend, and the fork and join of work between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING

from groundswell.backends.launch import Launch

if TYPE_CHECKING:
    from cupy import cuda

HIGHEST_PRIORITY = -5  # of a stream; a device clamps it to its own range


class Streams:
    """The main stream, a high-priority stream for forked work, and streams for branches.

    The fork and join of two streams are events. We record as few as possible, because every edge
    makes a CUDA graph slower: a stream waits for the other one only if there is work to wait for.

    Attributes:
        current: stream that launches go to now.
        launch_count: number of kernels launched so far.
    """

    def __init__(self, cupy: ModuleType, main: cuda.Stream) -> None:
        self._cupy = cupy
        self._main = self.current = main
        self.launch_count = 0
        self._branches: list[cuda.Stream] = []
        self._forked = cupy.cuda.Stream(non_blocking=True, priority=HIGHEST_PRIORITY)
        self._reset()

    def _reset(self) -> None:
        self._fork_event: cuda.Event | None = None  # the forked stream has yet to wait for it
        self._needs_join = False  # whether the main stream has yet to wait for forked work

    @contextmanager
    def isolated(self) -> Iterator[None]:
        """Context in which no stream waits for work from outside, nor later for work from inside.

        A graph capture needs this, since a captured stream must not wait for uncaptured work.
        """
        saved = self._fork_event, self._needs_join
        self._reset()
        try:
            yield
        finally:
            self._fork_event, self._needs_join = saved

    def fork(self, launches: Sequence[Launch]) -> None:
        """Enqueue launches in the forked stream, after all work in the main stream."""
        self._fork_event = self._record(self._main)
        self.continue_fork(launches)

    def continue_fork(self, launches: Sequence[Launch]) -> None:
        """Enqueue launches in the forked stream, after its earlier work."""
        if not launches:
            return
        if self._fork_event is not None:
            self._forked.wait_event(self._fork_event)
        self._fork_event, self._needs_join = None, True
        self._enqueue(self._forked, launches)

    def join(self, launches: Sequence[Launch]) -> None:
        """Enqueue launches in the forked stream, then let the main stream wait for that stream."""
        self.continue_fork(launches)
        if self._needs_join:
            self._main.wait_event(self._record(self._forked))
        self._needs_join = False

    def run_concurrently(self, branches: Sequence[Sequence[Launch]]) -> None:
        """Enqueue each branch in a stream of its own; later launches wait for all of them.

        The first branch runs in the main stream.

        Raises:
            RuntimeError: a branch contains branches itself.
        """
        if self.current is not self._main:
            raise RuntimeError("concurrent branches cannot contain concurrent branches")
        first, *others = branches
        while len(self._branches) < len(others):
            self._branches.append(self._cupy.cuda.Stream(non_blocking=True))
        start = self._record(self._main)
        ends = [self._branch(*pair, start) for pair in zip(self._branches, others, strict=False)]
        for launch in first:
            launch()
        for end in ends:
            self._main.wait_event(end)

    def _branch(
        self, stream: cuda.Stream, launches: Sequence[Launch], start: cuda.Event
    ) -> cuda.Event:
        stream.wait_event(start)
        self._enqueue(stream, launches)
        return self._record(stream)

    def _enqueue(self, stream: cuda.Stream, launches: Sequence[Launch]) -> None:
        self.current = stream
        try:
            for launch in launches:
                launch()
        finally:
            self.current = self._main

    def _record(self, stream: cuda.Stream) -> cuda.Event:
        event = self._cupy.cuda.Event(disable_timing=True)
        event.record(stream)
        return event
