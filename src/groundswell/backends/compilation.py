"""How many kernels are being compiled, for a progress line: a first run takes seconds longer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock

Report = Callable[[int, int], None]  # takes kernels compiled, and kernels begun


class Compilations:
    """Counts kernels that this process compiles; those found in the cache do not count."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._begun = self._done = 0
        self._report: Report | None = None

    @contextmanager
    def reported_to(self, report: Report) -> Iterator[None]:
        """Call `report` whenever a compilation begins or ends within the block."""
        with self._lock:
            self._begun = self._done = 0
            self._report = report
        try:
            yield
        finally:
            self._report = None

    @contextmanager
    def one(self) -> Iterator[None]:
        """One compilation, from any thread."""
        self._count(begun=1)
        try:
            yield
        finally:
            self._count(done=1)

    def _count(self, begun: int = 0, done: int = 0) -> None:
        with self._lock:
            self._begun += begun
            self._done += done
            if self._report:
                self._report(self._done, self._begun)


compilations = Compilations()
