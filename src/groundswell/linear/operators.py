"""Vectors and operators that the solvers of this package work on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from groundswell.arrays import DeviceArray
from groundswell.backends import Backend, Items, Launch, Source
from groundswell.exchange.communicator import Communicator

HERE = Path(__file__).parent
C_TYPES = {"float32": "float", "float64": "double"}


class GraphPart(Protocol):
    """A part of an iteration, whose launches a graph may record."""

    @property
    def in_graph(self) -> bool:
        """Whether a graph may record its launches."""

    def check(self) -> None:
        """Raise RunFailed if an exchange has failed."""

    def close(self) -> None:
        """Release memory that is shared with other ranks; all ranks must call it."""


class LinearOperator(GraphPart, Protocol):
    """A linear operator from one array to another."""

    @property
    def launches(self) -> list[Launch]:
        """The launches that apply it."""


OperatorFactory = Callable[[DeviceArray, DeviceArray], LinearOperator]  # from source and target


@dataclass(frozen=True, eq=False)
class VectorLayout:
    """The layout of distributed vectors.

    Args:
        size: values on this rank.
        own: how many of these this rank owns, the first ones; others are copies.
        dtype: "float32" or "float64".
        components: of each vector.
        halo: makes the operation that copies other ranks' values into a vector; None if there are
            no copies.
    """

    backend: Backend
    comm: Communicator
    size: int
    own: int
    dtype: str
    components: int = 1
    halo: Callable[[DeviceArray], LinearOperator] | None = None

    def zeros(self) -> DeviceArray:
        """A vector of zeros, (size,), or (components, size) of several components."""
        shape = (self.size,) if self.components == 1 else (self.components, self.size)
        return self.backend.zeros(shape, self.dtype)


class Composite:
    """Base class of what consists of recordable parts.

    Attributes:
        parts: checked and closed together.
    """

    parts: Sequence[GraphPart] = ()

    @property
    def in_graph(self) -> bool:
        """Whether a graph may record all parts."""
        return all(part.in_graph for part in self.parts)

    def check(self) -> None:
        """Raise RunFailed if an exchange has failed."""
        for part in self.parts:
            part.check()

    def close(self) -> None:
        """Release memory that is shared with other ranks; all ranks must call it."""
        for part in self.parts:
            part.close()


def components_of(vector: DeviceArray) -> list[DeviceArray]:
    """The components of a vector, (values,) or (components, values), each (values,)."""
    return [vector] if vector.ndim == 1 else [vector[c] for c in range(len(vector))]


def by_component(arrays: Mapping[str, DeviceArray]) -> list[dict[str, DeviceArray]]:
    """The arrays of each component, by name."""
    each = zip(*map(components_of, arrays.values()), strict=True)
    return [dict(zip(arrays, of_one, strict=True)) for of_one in each]


def pitches(*arrays: DeviceArray) -> tuple[int, ...]:
    """Number of components, then the values per component of each array."""
    return 1 if arrays[0].ndim == 1 else len(arrays[0]), *(int(a.shape[-1]) for a in arrays)


def convert(backend: Backend, source: DeviceArray, target: DeviceArray, count: int) -> list[Launch]:
    """Launches that copy the first `count` values to an array that may have another type.

    They are those of each component if there are several.
    """
    if not count:
        return []
    module = backend.compile(convert_source(str(source.dtype), str(target.dtype)))
    pairs = zip(components_of(source), components_of(target), strict=True)
    return [module.launch("convert_values", Items(count), *pair, count) for pair in pairs]


def convert_source(source: str, target: str) -> Source:
    """The kernel that converts values from one type to another."""
    return Source(HERE / "convert.h", {"FROM": C_TYPES[source], "TO": C_TYPES[target]})
