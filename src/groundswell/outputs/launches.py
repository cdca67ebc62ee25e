"""The kernels of recorders and their launches in a rank's step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from groundswell.backends import Array, Backend, Cells, Items, Launch, Module, Source
from groundswell.backends.launch import Extent
from groundswell.backends.source import precision
from groundswell.outputs.recording import BoxSelection, PointSelection, Selection
from groundswell.outputs.ring_buffer import Ring

SOURCE = Path(__file__).parent / "kernels" / "record.h"

# Bits for the destinations of a value, as in kernels/record.h.
RAW = 1
WANTED = {"max": 2, "min": 4, "mean": 8, "rms": 16}


def recorder_source(dtype: str, *, harmonics: bool = False) -> Source:
    """The source of the kernels for a floating-point type, with or without harmonics."""
    return Source(SOURCE, {**precision(dtype), "HARMONICS": harmonics})


@dataclass(frozen=True)
class Targets:
    """Destinations of recorded values.

    Args:
        begin, every: first step and interval of samples.
        ring: ring buffer of all samples, if they are kept.
        statistics: running statistics, (fields, *count), by name.
        sums: sums of samples times basis functions, (terms, fields, *count), for harmonics.
        basis: the basis functions, (samples, terms), for harmonics.
    """

    begin: int
    every: int
    ring: Ring | None = None
    statistics: Mapping[str, Array] = field(default_factory=dict)
    sums: Array | None = None
    basis: Array | None = None

    @property
    def wanted(self) -> int:
        """All destinations as bits."""
        return RAW * (self.ring is not None) + sum(WANTED[name] for name in self.statistics)


class RecordLaunches:
    """Creates launches that record fields of one floating-point type.

    Args:
        clock: number of steps made, on the device.
    """

    def __init__(self, backend: Backend, dtype: str, clock: Array) -> None:
        self.backend, self._dtype, self.clock = backend, dtype, clock

    @cached_property
    def _module(self) -> Module:
        return self.backend.compile(recorder_source(self._dtype))

    @cached_property
    def _module_with_harmonics(self) -> Module:
        return self.backend.compile(recorder_source(self._dtype, harmonics=True))

    def record(
        self,
        arrays: Sequence[Array],
        selection: Selection,
        targets: Targets,
        shifts: Sequence[float] | None = None,
    ) -> list[Launch]:
        """Launches that record several fields; none if this rank has nothing to record.

        Args:
            arrays: the fields, with equal strides.
            shifts: offsets added to the values of each field.
        """
        if not prod(selection.count):
            return []
        addresses = np.array([self.backend.address(array) for array in arrays], np.int64)
        added = np.array(shifts or [0.0] * len(arrays), self._dtype)
        common = (*self._targets(targets), *map(self.backend.to_device, (addresses, added)))
        fitted = targets.sums is not None
        harmonics = self._harmonics(targets)
        when = (self.clock, targets.begin, targets.every, targets.ring.slots if targets.ring else 1)
        steps = [stride // arrays[0].itemsize for stride in arrays[0].strides]
        given = (*common, *harmonics, *when, targets.wanted)
        if isinstance(selection, BoxSelection):
            name, extent, where = self._box(selection, len(arrays), steps)
        else:
            assert isinstance(selection, PointSelection)
            name, extent, where = self._points(selection, len(arrays), steps)
        module = self._module_with_harmonics if fitted else self._module
        return [module.launch(name, extent, *given, *where)]

    def advance_clock(self, steps: int) -> Launch:
        """The launch that advances the clock, for solvers that do not advance it themselves."""
        return self._module.launch("advance_clock", Items(1), self.clock, steps)

    def _targets(self, targets: Targets) -> list[Array]:
        """Ring, maximum, minimum, sum and sum of squares; kernels ignore those not wanted."""
        nothing = self.backend.zeros((1,), self._dtype)
        ring = nothing if targets.ring is None else targets.ring.buffer
        return [ring, *(targets.statistics.get(name, nothing) for name in WANTED)]

    def _harmonics(self, targets: Targets) -> tuple[Any, ...]:
        """Sums, basis functions, and the numbers of terms and of samples."""
        if targets.sums is None or targets.basis is None:
            nothing = self.backend.zeros((1,), self._dtype)
            return nothing, nothing, 0, 0
        samples, terms = targets.basis.shape
        return targets.sums, targets.basis, terms, samples

    def _box(
        self, selection: BoxSelection, fields: int, steps: Sequence[int]
    ) -> tuple[str, Extent, tuple[Any, ...]]:
        """Kernel, extent and arguments for a box."""
        nz, ny, nx = selection.count
        start = int(np.dot(selection.first, steps))
        dz, dy, dx = (a * b for a, b in zip(selection.step, steps, strict=True))
        where = (start, dx, dy, dz, nx, ny, nz, fields)
        return "record_box", Cells(nx, ny, nz * fields), where

    def _points(
        self, selection: PointSelection, fields: int, steps: Sequence[int]
    ) -> tuple[str, Extent, tuple[Any, ...]]:
        """Kernel, extent and arguments for points."""
        places = selection.cells @ np.array(steps)
        weights = np.zeros(1) if selection.weights is None else selection.weights
        tables = (places.astype(np.int64), np.ascontiguousarray(weights, self._dtype))
        points = selection.count[0]
        taps, steps_of_taps = _three_axes(selection.taps, 1), _three_axes(steps, 0)
        sizes = (*taps, *steps_of_taps, points, points * fields)
        on_device = map(self.backend.to_device, tables)
        return "record_points", Items(points * fields), (*on_device, *sizes)


def _three_axes(values: Sequence[int], missing: int) -> tuple[int, ...]:
    """Values of three axes, of which arrays on elements lack the first."""
    return (*[missing] * (3 - len(values)), *values)
