"""Launches of kernels/implicit_steps.h."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from groundswell.arrays import DeviceArray, Floats, Integers
from groundswell.backends import Backend, Blocks, Items, Launch, Source
from groundswell.backends.launch import KernelArgument
from groundswell.backends.source import precision
from groundswell.solvers.poisson.time_scheme import KEPT

KERNELS = Path(__file__).with_name("kernels")
LANES, MAX_BLOCKS = 256, 256  # of sums; the same on all machines, so that their bits are


def step_source(dtype: str) -> Source:
    """The kernels for a system of a type."""
    constants = {**precision(dtype), "KEPT": KEPT, "MAX_THREADS_PER_BLOCK": LANES}
    return Source(KERNELS / "implicit_steps.h", constants)


class StepKernels:
    """Makes launches for a system of a type."""

    def __init__(self, backend: Backend, dtype: str) -> None:
        self._backend, self._module = backend, backend.compile(step_source(dtype))

    def on_items(self, name: str, count: int, **arguments: KernelArgument) -> list[Launch]:
        """Launches for so many values."""
        launch = self._module.launch(name, Items(count), **arguments, count=count)
        return [launch] if count else []

    def on_blocks(
        self, name: str, count: int, numbers: int, found: str, **arguments: KernelArgument
    ) -> tuple[list[Launch], DeviceArray]:
        """Launches that also find numbers of each block, (blocks, numbers), called `found`."""
        blocks = max(1, min(MAX_BLOCKS, -(-count // LANES)))
        target = self._backend.zeros((blocks, numbers), "f8")
        given = {**arguments, found: target, "count": count, "blocks": blocks}
        return [self._module.launch(name, Blocks(blocks, LANES), **given)], target

    def on_pieces(self, name: str, blocks: int, **arguments: KernelArgument) -> list[Launch]:
        """Launches for so many blocks, whose pieces are among the arguments."""
        launch = self._module.launch(name, Blocks(blocks, LANES), **arguments, blocks=blocks)
        return [launch] if blocks else []


@dataclass
class Choice:
    """The numbers that the host chooses for a solution; see kernels/implicit_steps.h."""

    base: Sequence[float] = ()
    guess: Sequence[float] = ()
    to_system: float = 1.0
    from_system: float = 1.0
    to_square: float = 1.0
    to_residual: float = 1.0
    from_residual: float = 1.0

    @property
    def numbers(self) -> Floats:
        """All numbers, in the order of the struct of kernels."""
        factors = np.zeros((2, KEPT))
        for row, given in zip(factors, (self.base, self.guess), strict=True):
            row[: len(given)] = given
        scales = self.to_system, self.from_system, self.to_square
        return np.array([*factors.ravel(), *scales, self.to_residual, self.from_residual])


class Combination:
    """Linear combinations of vectors.

    Args:
        vectors: (vectors, values).
        target: (values,).
    """

    def __init__(
        self, kernels: StepKernels, backend: Backend, vectors: DeviceArray, target: DeviceArray
    ) -> None:
        terms, pitch = vectors.shape
        self._backend, self._factors = backend, backend.zeros((terms,), "f8")
        arguments = {"vectors": vectors, "pitch": pitch, "factors": self._factors, "terms": terms}
        self._launches = kernels.on_items("combine_vectors", pitch, **arguments, target=target)

    def run(self, factors: Sequence[float]) -> None:
        """Combine the first vectors by these factors."""
        whole = np.zeros(self._factors.shape)
        whole[: len(factors)] = factors
        self._backend.assign(self._factors, whole)
        for launch in self._launches:
            launch()


class SparseUpload:
    """Writes some values of a device array.

    Args:
        indices: of these values in the array, each once.
        target: (values,).
    """

    def __init__(
        self, kernels: StepKernels, backend: Backend, indices: Integers, target: DeviceArray
    ) -> None:
        self._backend, self._values = backend, backend.zeros((len(indices),), "f8")
        places = backend.to_device(indices.astype(np.int64))
        given = {"values": self._values, "indices": places, "target": target}
        self._launches = kernels.on_items("put_values", len(indices), **given)

    def run(self, values: Floats) -> None:
        """Copy the values to the device, and from there to their places."""
        if not len(values):
            return
        self._backend.assign(self._values, values)
        for launch in self._launches:
            launch()
