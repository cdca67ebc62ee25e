"""Progress of kernel compilation, which makes the first run some seconds longer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock

Report = Callable[[int, int], None]  # called with the numbers of finished and started compilations


class Compilations:
    """Counts the kernels that this process compiles. Kernels found in the cache do not count."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._started = self._finished = 0
        self._report: Report | None = None

    @contextmanager
    def reporting_to(self, report: Report) -> Iterator[None]:
        """Context in which `report` is called whenever a compilation starts or finishes."""
        with self._lock:
            self._started = self._finished = 0
            self._report = report
        try:
            yield
        finally:
            self._report = None

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Context of one compilation. Thread-safe."""
        self._count(started=1)
        try:
            yield
        finally:
            self._count(finished=1)

    def _count(self, started: int = 0, finished: int = 0) -> None:
        with self._lock:
            self._started += started
            self._finished += finished
            if self._report:
                self._report(self._finished, self._started)


compilations = Compilations()
