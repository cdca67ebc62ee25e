"""The kernels of recorders and their launches in a rank's step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from pathlib import Path

import numpy as np

from groundswell.arrays import DeviceArray, Integers
from groundswell.backends import Backend, Cells, Items, Launch, Module, Source
from groundswell.backends.launch import Extent, KernelArguments
from groundswell.backends.source import precision
from groundswell.outputs.recording import BoxSelection, PointSelection, Selection
from groundswell.outputs.ring_buffer import Ring

SOURCE = Path(__file__).parent / "kernels" / "record.h"

# Bits for the destinations of a value, as in kernels/record.h.
RAW = 1
WANTED = {"max": 2, "min": 4, "mean": 8, "rms": 16}
# The arrays from which statistics follow, as parameters of the kernels.
ARRAYS = {"max": "largest", "min": "smallest", "mean": "sum", "rms": "squares"}


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
    statistics: Mapping[str, DeviceArray] = field(default_factory=dict)
    sums: DeviceArray | None = None
    basis: DeviceArray | None = None

    @property
    def wanted(self) -> int:
        """All destinations as bits."""
        return RAW * (self.ring is not None) + sum(WANTED[name] for name in self.statistics)


class RecordLaunches:
    """Creates launches that record fields of one floating-point type.

    Args:
        clock: number of steps made, on the device.
    """

    def __init__(self, backend: Backend, dtype: str, clock: DeviceArray) -> None:
        self.backend, self._dtype, self.clock = backend, dtype, clock

    @cached_property
    def _module(self) -> Module:
        return self.backend.compile(recorder_source(self._dtype))

    @cached_property
    def _module_with_harmonics(self) -> Module:
        return self.backend.compile(recorder_source(self._dtype, harmonics=True))

    def record(
        self,
        arrays: Sequence[DeviceArray],
        selection: Selection,
        targets: Targets,
        shifts: Sequence[float] | None = None,
    ) -> list[Launch]:
        """Launches that record several fields; none if this rank has nothing to record.

        Args:
            arrays: the fields; only strides of their first axis may differ.
            shifts: offsets added to the values of each field.
        """
        if not prod(selection.count):
            return []
        added = np.array(shifts or [0.0] * len(arrays), self._dtype)
        given = {
            **self._targets(targets),
            **self._harmonics(targets),
            "shifts": self.backend.to_device(added),
            "clock": self.clock,
        }
        if isinstance(selection, BoxSelection):
            name, extent, where = self._box(selection, arrays)
        else:
            assert isinstance(selection, PointSelection)
            name, extent, where = self._points(selection, arrays)
        module = self._module if targets.sums is None else self._module_with_harmonics
        return [module.launch(name, extent, **given, **where)]

    def advance_clock(self, steps: int) -> Launch:
        """The launch that advances the clock, for solvers that do not advance it themselves."""
        return self._module.launch("advance_clock", Items(1), self.clock, steps)

    def _targets(self, targets: Targets) -> KernelArguments:
        """What is recorded, and when; kernels ignore arrays that are not wanted."""
        nothing = self.backend.zeros((1,), self._dtype)
        ring = targets.ring
        return {
            "ring": nothing if ring is None else ring.buffer,
            **{array: targets.statistics.get(name, nothing) for name, array in ARRAYS.items()},
            "begin": targets.begin,
            "every": targets.every,
            "slots": 1 if ring is None else ring.slots,
            "wanted": targets.wanted,
        }

    def _harmonics(self, targets: Targets) -> KernelArguments:
        """Sums, basis functions, and the numbers of terms and of samples."""
        if targets.sums is None or targets.basis is None:
            nothing = self.backend.zeros((1,), self._dtype)
            return {"sums": nothing, "basis": nothing, "terms": 0, "samples": 0}
        samples, terms = targets.basis.shape
        return {"sums": targets.sums, "basis": targets.basis, "terms": terms, "samples": samples}

    def _box(
        self, selection: BoxSelection, arrays: Sequence[DeviceArray]
    ) -> tuple[str, Extent, KernelArguments]:
        """Kernel, extent and arguments for a box."""
        nz, ny, nx = selection.count
        first = [np.dot(selection.first, array.strides) for array in arrays]
        steps = _steps(arrays) * np.array(selection.step)
        where: KernelArguments = {
            "addresses": self._addresses(arrays, first),
            "steps_z": self.backend.to_device(np.ascontiguousarray(steps[:, 0])),
            "step_y": int(steps[0, 1]),
            "step_x": int(steps[0, 2]),
            **_by_axis("n", selection.count),
            "fields": len(arrays),
        }
        return "record_box", Cells(nx, ny, nz * len(arrays)), where

    def _points(
        self, selection: PointSelection, arrays: Sequence[DeviceArray]
    ) -> tuple[str, Extent, KernelArguments]:
        """Kernel, extent and arguments for points."""
        steps = _steps(arrays)
        places = np.einsum("fpa,fa->fp", selection.cells, steps)
        weights = np.zeros(1) if selection.weights is None else selection.weights
        points, to_device = selection.count[0], self.backend.to_device
        where: KernelArguments = {
            "addresses": self._addresses(arrays, [0] * len(arrays)),
            "places": to_device(places.astype(np.int64)),
            "weights": to_device(np.ascontiguousarray(weights, self._dtype)),
            **_by_axis("n", _three_axes(selection.taps, 1)),
            **_by_axis("step_", _three_axes(steps[0].tolist(), 0)),
            "points": points,
            "items": points * len(arrays),
        }
        return "record_points", Items(points * len(arrays)), where

    def _addresses(self, arrays: Sequence[DeviceArray], first: Sequence[int]) -> DeviceArray:
        """Addresses of values that lie a number of bytes after the first value of each array."""
        found = [self.backend.address(a) + int(b) for a, b in zip(arrays, first, strict=True)]
        return self.backend.to_device(np.array(found, np.int64))


def _steps(arrays: Sequence[DeviceArray]) -> Integers:
    """Distances between neighbours along the axes of arrays, in values, (arrays, axes)."""
    return np.array([np.array(array.strides) // array.itemsize for array in arrays])


def _by_axis(prefix: str, values: Sequence[int]) -> dict[str, int]:
    """Arguments whose names end with z, y and x."""
    return {f"{prefix}{axis}": value for axis, value in zip("zyx", values, strict=True)}


def _three_axes(values: Sequence[int], missing: int) -> tuple[int, ...]:
    """Values of three axes, of which arrays on elements lack the first."""
    return (*[missing] * (3 - len(values)), *values)
