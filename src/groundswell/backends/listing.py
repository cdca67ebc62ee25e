"""Lists of launches, for people and programs: stream, kernel, extent and arrays of each launch.

print(describe(launches, {"vx": vx, "vy": vy}))
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import groupby
from types import FunctionType, MethodType
from typing import TypeGuard

import numpy as np

from groundswell.arrays import DeviceArray
from groundswell.backends.launch import (
    Concurrent,
    Forked,
    HostCall,
    KernelArgument,
    KernelLaunch,
    Launch,
    Replay,
)
from groundswell.backends.signature import KernelParameter, signature

MAIN, FORKED = "main", "forked"
ACCESSES = {"writes": "writes", "reads": "reads", None: "gets"}  # in a line's order
HEADER = ("#", "stream", "launch", "extent", "bytes of arrays", "arrays")

Arrays = Mapping[str, DeviceArray]


@dataclass(frozen=True)
class ArrayArgument:
    """An array that a launch gets.

    Args:
        name: the caller's name of the array; "" if it has none.
        parameter: the kernel's name of it; "" if it is unknown.
        access: "reads" or "writes" (perhaps reads, too); None if it is unknown.
        address: of the first value.
        shape, dtype: of the array as it was passed.
        nbytes: bytes of its values.
    """

    name: str
    parameter: str
    access: str | None
    address: int
    shape: tuple[int, ...]
    dtype: str
    nbytes: int

    @property
    def label(self) -> str:
        """The name, or else the kernel's name."""
        return self.name or self.parameter or "?"

    @property
    def type(self) -> str:
        """Type and shape, such as "float32[4, 8]"."""
        return f"{self.dtype}{list(self.shape)}"

    def as_dict(self) -> dict[str, object]:
        """The argument as data for JSON, without its address."""
        return {key: value for key, value in asdict(self).items() if key != "address"}


@dataclass(frozen=True)
class Entry:
    """One line of a listing.

    Args:
        number: place in the order in which the host enqueues the launches, from 1.
        stream: "main", "forked", or "branch n".
        kind: "kernel", "call", or "wait": the stream waits for other streams.
        name: of the kernel or the function, or of the streams that a wait is for.
        extent: as text; "" if it is unknown.
    """

    number: int
    stream: str
    kind: str
    name: str
    extent: str = ""
    arrays: tuple[ArrayArgument, ...] = ()

    @property
    def nbytes(self) -> int:
        """Size of the arrays, each counted once. This is not the traffic of the launch."""
        return sum({(each.address, each.type): each.nbytes for each in self.arrays}.values())

    @property
    def cells(self) -> tuple[str, ...]:
        """The columns of the line, see HEADER."""
        name = f"wait for {self.name}" if self.kind == "wait" else self.name
        size = f"{self.nbytes:,}" if self.arrays else ""
        return str(self.number), self.stream, name, self.extent, size, _words(self.arrays)

    def as_dict(self) -> dict[str, object]:
        """The entry as data for JSON."""
        arrays = [each.as_dict() for each in self.arrays]
        return {**asdict(self), "arrays": arrays, "nbytes": self.nbytes}


@dataclass(frozen=True)
class Listing:
    """Launches as a table: `print` shows it, and iteration gives its entries.

    Args:
        of: what the launches do together, such as "1 step".
    """

    entries: tuple[Entry, ...]
    of: str = ""

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __str__(self) -> str:
        rows = [HEADER, *(entry.cells for entry in self.entries)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        table = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
        return "\n".join([f"launches of {self.of}:"] * bool(self.of) + table)

    def as_dict(self) -> dict[str, object]:
        """The listing as data for JSON."""
        return {"of": self.of, "launches": [entry.as_dict() for entry in self.entries]}


class InOrder:
    """Launches that one call enqueues in order; `print` lists them.

    Attributes:
        launches: the launches.
        section: the section of a step that they are, see `in_section`; "" if none.
    """

    __slots__ = ("launches", "section")

    def __init__(self, launches: Sequence[Launch], section: str = "") -> None:
        self.launches, self.section = launches, section

    def __call__(self) -> None:
        for launch in self.launches:
            launch()

    def __str__(self) -> str:
        return describe(self.launches)


def in_order(launches: Sequence[Launch]) -> InOrder:
    """One launch that calls all launches in order."""
    return InOrder(launches)


def in_section(name: str, launches: Sequence[Launch]) -> list[Launch]:
    """Launches as a named section of a step, such as a grid of multigrid; none without launches."""
    return [InOrder(launches, name)] if launches else []


def describe(launches: Launch | Iterable[Launch], names: Arrays | None = None) -> str:
    """A table with one line per launch, see `list_launches`."""
    return str(list_launches(launches, names))


def list_launches(
    launches: Launch | Iterable[Launch], names: Arrays | None = None, of: str = ""
) -> Listing:
    """List launches, those of groups included, in the order in which the host enqueues them.

    Args:
        launches: one launch or several.
        names: arrays by name. An argument bears a name if it starts with that array, or if it
            shares memory with that one only.
        of: what the launches do together, such as "1 step".
    """
    known = _Names(names or {})
    several = [launches] if callable(launches) else launches
    found = (pair for launch in several for pair in _walk(launch, MAIN))
    entries = (_entry(n, *pair, known) for n, pair in enumerate(found, start=1))
    return Listing(tuple(entries), of)


NAMED = (Concurrent, Forked, HostCall, InOrder, KernelLaunch, Replay)
LAUNCHES = (*NAMED, partial, FunctionType, MethodType)


@dataclass(frozen=True)
class _Wait:
    """The current stream waits for others."""

    streams: str


def _walk(launch: Launch, stream: str) -> Iterator[tuple[str, Launch | _Wait]]:
    """Streams and single launches of a launch, which may be a group."""
    match launch:
        case InOrder() | Replay():
            yield from _walk_all(launch.launches, stream)
        case Forked():
            yield from _walk_all(launch.launches, FORKED)
            if launch.joins:
                yield stream, _Wait(FORKED)
        case Concurrent():
            for n, branch in enumerate(launch.branches, start=1):
                yield from _walk_all(branch, f"branch {n}")
            yield stream, _Wait("branches")
        case partial() if _wraps_launch(launch):
            yield from _walk(launch.args[0], stream)  # the function wraps a launch
        case _:
            yield stream, launch


def _walk_all(launches: Sequence[Launch], stream: str) -> Iterator[tuple[str, Launch | _Wait]]:
    for launch in launches:
        yield from _walk(launch, stream)


def _entry(number: int, stream: str, launch: Launch | _Wait, names: _Names) -> Entry:
    match launch:
        case _Wait():
            return Entry(number, stream, "wait", launch.streams)
        case KernelLaunch():
            arrays = tuple(_kernel_arrays(launch, names))
            return Entry(number, stream, "kernel", launch.name, str(launch.extent), arrays)
        case HostCall():
            arrays = tuple(_call_arrays(launch, names))
            return Entry(number, stream, "call", launch.name, launch.extent, arrays)
        case _:
            return Entry(number, stream, "call", name_of(launch))


def _kernel_arrays(launch: KernelLaunch, names: _Names) -> Iterator[ArrayArgument]:
    pairs = zip(launch.arguments, _parameters(launch), strict=True)
    for argument, parameter in pairs:
        if _is_array(argument):
            yield names.describe(argument, parameter.name, parameter.access)


def _parameters(launch: KernelLaunch) -> Sequence[KernelParameter]:
    """The kernel's parameters; without names and access if they are unclear."""
    found, arguments = signature(launch.source.text(), launch.name), launch.arguments
    if found is not None and len(found) == len(arguments):
        pairs = zip(found, arguments, strict=True)
        if all(parameter.access or not _is_array(given) for parameter, given in pairs):
            return found
    return [KernelParameter("", None)] * len(arguments)


def _call_arrays(call: HostCall, names: _Names) -> Iterator[ArrayArgument]:
    for access, arrays in (("reads", call.reads), ("writes", call.writes)):
        for array in arrays:
            yield names.describe(array, "", access)


def name_of(launch: object) -> str:
    """The name of a single launch: of a kernel or a call, or the qualified name of a function."""
    match launch:
        case KernelLaunch() | HostCall():
            return launch.name
        case partial():
            return name_of(launch.args[0] if _wraps_launch(launch) else launch.func)
    name = getattr(launch, "__qualname__", type(launch).__qualname__)
    return str(name).replace(".<locals>", "")


def _wraps_launch(function: partial[None]) -> bool:
    return bool(function.args) and isinstance(function.args[0], LAUNCHES)


def _words(arrays: Sequence[ArrayArgument]) -> str:
    """Arrays by access, neighbours of the same type together."""
    by_access = {access: [a for a in arrays if a.access == access] for access in ACCESSES}
    return "; ".join(
        f"{word} {_of_types(by_access[access])}"
        for access, word in ACCESSES.items()
        if by_access[access]
    )


def _of_types(arrays: Sequence[ArrayArgument]) -> str:
    groups = groupby(arrays, key=lambda each: each.type)
    return ", ".join(f"{' '.join(each.label for each in group)} {of}" for of, group in groups)


class _Names:
    """Names of arrays, found by address."""

    def __init__(self, arrays: Arrays) -> None:
        self._spans = [(name, _span(array)) for name, array in arrays.items() if array.size]

    def describe(self, array: DeviceArray, parameter: str, access: str | None) -> ArrayArgument:
        """An array as the argument of a launch."""
        shape, dtype = tuple(map(int, array.shape)), str(array.dtype)
        size = int(array.size * array.itemsize)
        name = self._find(array) if array.size else ""
        return ArrayArgument(name, parameter, access, _address(array), shape, dtype, size)

    def _find(self, array: DeviceArray) -> str:
        first, last = _span(array)
        for name, span in self._spans:
            if span[0] == first:
                return name
        shared = [name for name, (low, high) in self._spans if low < last and first < high]
        return shared[0] if len(shared) == 1 else ""


def _is_array(argument: KernelArgument) -> TypeGuard[DeviceArray]:
    """Whether an argument of a kernel is an array; the others are integers."""
    return not isinstance(argument, (int, np.integer))


def _address(array: DeviceArray) -> int:
    """Address of the first value of a NumPy or CuPy array."""
    return int(array.data.ptr if hasattr(array.data, "ptr") else array.ctypes.data)


def _span(array: DeviceArray) -> tuple[int, int]:
    """Addresses of the first byte of an array, which is not empty, and after the last one."""
    reach = [(n - 1) * step for n, step in zip(array.shape, array.strides, strict=True)]
    first = _address(array) + sum(step for step in reach if step < 0)
    last = _address(array) + sum(step for step in reach if step > 0) + array.itemsize
    return first, last
