"""Launches as objects: kernels, calls of the host, and groups of them in streams.

Calling an object enqueues its work. Its attributes say what it is, so that a step can be listed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from groundswell.arrays import DeviceArray
from groundswell.errors import counted

if TYPE_CHECKING:
    from groundswell.backends.source import Source

Launch = Callable[[], None]
KernelArgument = DeviceArray | int | np.integer
KernelArguments = dict[str, KernelArgument]  # by the names of the kernel's parameters


@dataclass(frozen=True)
class Cells:
    """Extent of a FOR_CELLS kernel: (nx, ny, nz) points.

    Args:
        band: rows of a band, for kernels that include bands.h.
    """

    nx: int
    ny: int
    nz: int
    band: int = 0

    def __str__(self) -> str:
        return f"{self.nx} x {self.ny} x {self.nz} cells"


@dataclass(frozen=True)
class Items:
    """Extent of a FOR_ITEMS kernel: `count` list entries."""

    count: int

    def __str__(self) -> str:
        return counted(self.count, "item")


@dataclass(frozen=True)
class Blocks:
    """Extent of a FOR_BLOCKS kernel: `count` blocks of `threads` threads each.

    Args:
        shared_bytes: dynamic shared memory of each block, see DYNAMIC_SHARED in portable.h.
        work: what the blocks do together, for listings, such as "1,024 bytes".
    """

    count: int
    threads: int
    shared_bytes: int = 0
    work: str = ""

    def __str__(self) -> str:
        blocks = f"{counted(self.count, 'block')} x {counted(self.threads, 'thread')}"
        return f"{blocks}, {self.work}" if self.work else blocks


Extent = Cells | Items | Blocks


class KernelLaunch:
    """A kernel with its extent and arguments. Each backend has a subclass, which enqueues it.

    A call of a class with slots costs no more than a call of a closure.

    Attributes:
        source: the source of the kernel.
        name: the name of the kernel.
        extent: its extent.
        arguments: arrays and integers, in the order of the kernel's parameters.
    """

    __slots__ = ("_converted", "arguments", "extent", "name", "source")

    def __init__(
        self, source: Source, name: str, extent: Extent, arguments: tuple[KernelArgument, ...]
    ) -> None:
        self.source, self.name, self.extent = source, name, extent
        self._set(arguments)

    def _set(self, arguments: tuple[KernelArgument, ...]) -> None:
        self.arguments = arguments
        self._converted = tuple(self._convert(argument) for argument in arguments)

    @staticmethod
    def _convert(argument: KernelArgument) -> object:
        """An argument as the kernel takes it."""
        return argument

    def with_arrays(self, arrays: Mapping[int, DeviceArray]) -> KernelLaunch:
        """The same launch with other arrays in place of some, given by the `id` of those."""
        other = copy(self)
        other._set(tuple(arrays.get(id(argument), argument) for argument in self.arguments))
        return other

    def __call__(self) -> None:
        raise NotImplementedError


class HostCall:
    """A named function that the host calls, such as a copy or a transform by a library.

    Args:
        function: called with `arguments`.
        extent: how much it does, as text.
        reads: arrays that it reads.
        writes: arrays that it writes.
    """

    __slots__ = ("_arguments", "_function", "extent", "name", "reads", "writes")

    def __init__(
        self,
        name: str,
        function: Callable[..., object],
        *arguments: object,
        extent: str = "",
        reads: Sequence[DeviceArray] = (),
        writes: Sequence[DeviceArray] = (),
    ) -> None:
        self.name, self.extent, self.reads, self.writes = name, extent, reads, writes
        self._function, self._arguments = function, arguments

    def __call__(self) -> None:
        self._function(*self._arguments)


class Graph(Protocol):
    """A captured sequence of launches."""

    def replay(self, times: int) -> None:
        """Enqueue the sequence `times` times."""
        ...


class Replay:
    """Replays of a graph.

    Args:
        graph: the graph, see `Backend.capture`.
        launches: the launches that it has captured.
        times: how often it is replayed.

    Attributes:
        launches: those of all replays.
    """

    __slots__ = ("_graph", "_times", "launches")

    def __init__(self, graph: Graph, launches: Sequence[Launch], times: int = 1) -> None:
        self._graph, self._times, self.launches = graph, times, [*launches] * times

    def __call__(self) -> None:
        self._graph.replay(self._times)


class Forked:
    """Launches in the forked stream; see `fork`, `continue_fork` and `join` of a backend.

    Args:
        enqueue: called with the launches.
        joins: whether later launches wait for the forked stream.
    """

    __slots__ = ("_enqueue", "joins", "launches")

    def __init__(
        self,
        enqueue: Callable[[Sequence[Launch]], None],
        launches: Sequence[Launch],
        *,
        joins: bool = False,
    ) -> None:
        self._enqueue, self.launches, self.joins = enqueue, launches, joins

    def __call__(self) -> None:
        self._enqueue(self.launches)


class Concurrent:
    """Branches that may run concurrently; see `concurrently` of a backend.

    Args:
        enqueue: called with the branches.
        branches: the launches of each branch. The first branch runs in the main stream.
    """

    __slots__ = ("_enqueue", "branches")

    def __init__(
        self,
        enqueue: Callable[[Sequence[Sequence[Launch]]], None],
        branches: Sequence[Sequence[Launch]],
    ) -> None:
        self._enqueue, self.branches = enqueue, branches

    def __call__(self) -> None:
        self._enqueue(self.branches)
