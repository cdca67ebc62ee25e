"""Compilation in the background, and its progress: it makes the first run some seconds longer."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

from groundswell.backends.source import Source
from groundswell.backends.threads import available_cores

# Called with the numbers of finished and started compilations.
CompilationReport = Callable[[int, int], None]

Compiled = TypeVar("Compiled")
MOST_MODULES = 64  # more than a solver has


class Compilations:
    """Counts the kernels that this process compiles. Kernels found in the cache do not count."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._started = self._finished = 0
        self._report: CompilationReport | None = None

    @contextmanager
    def reporting_to(self, report: CompilationReport) -> Iterator[None]:
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


class LazyFunction:
    """A compiled function, which is loaded when it is first called.

    Args:
        load: waits for the compiler and returns the function.
    """

    def __init__(self, load: Callable[[], Callable[..., None]]) -> None:
        self._load = load

    @cached_property
    def loaded(self) -> Callable[..., None]:
        """The function; raises BackendError if its source does not compile."""
        return self._load()

    @property
    def is_loaded(self) -> bool:
        """Whether the function has been loaded."""
        return "loaded" in self.__dict__


class RecentModules:
    """The latest modules by their sources."""

    def __init__(self) -> None:
        self._modules: OrderedDict[Hashable, Any] = OrderedDict()

    def get(self, source: Source, make: Callable[[], Compiled]) -> Compiled:
        """The module of a source; `make` makes it if it is not among the latest."""
        key = source.key
        if key not in self._modules:
            self._modules[key] = make()
        self._modules.move_to_end(key)
        if len(self._modules) > MOST_MODULES:
            self._modules.popitem(last=False)
        found: Compiled = self._modules[key]
        return found


class CompilationQueue:
    """Compiles several sources in parallel while the host goes on setting up a solver."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(available_cores())
        self._building: list[Future[Path]] = []
        self._waiting: list[LazyFunction] = []

    def submit(self, build: Callable[[], Path]) -> Future[Path]:
        """Start `build` in another thread."""
        self._building = [b for b in self._building if not b.done() or b.exception()]
        self._building.append(self._pool.submit(build))
        return self._building[-1]

    def function(
        self, built: Future[Path], load: Callable[[], Callable[..., None]]
    ) -> LazyFunction:
        """A function of a library that may not be built yet."""
        function = LazyFunction(load)
        if built.done():
            function.loaded  # noqa: B018 - reports errors here, where the caller expects them
        else:
            self._waiting = [f for f in self._waiting if not f.is_loaded]
            self._waiting.append(function)
        return function

    def finish(self) -> None:
        """Wait for all libraries and load all functions.

        Raises:
            BackendError: a source does not compile.
        """
        while self._building:
            self._building.pop().result()
        while self._waiting:
            self._waiting.pop().loaded  # noqa: B018
