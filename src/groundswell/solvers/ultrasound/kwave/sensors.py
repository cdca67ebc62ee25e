"""Contents of an output file: time series, statistics and final fields, and their layout.

Datasets of a list of points have the axes (1, samples, points), or (1, 1, points) without time.
Those of cuboids are groups with a dataset for each cuboid, (samples, z, y, x) or (z, y, x).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundswell.backends import Array, Backend, Event
from groundswell.outputs.launches import RecordLaunches, Targets
from groundswell.outputs.recording import BoxSelection, Frame, PointSelection, Selection
from groundswell.outputs.ring_buffer import Ring
from groundswell.solvers.ultrasound.kwave.datasets import FLOAT, LONG, Layout

INDEX, CORNERS = "sensor_mask_index", "sensor_mask_corners"
STATISTICS = ("max", "min", "rms")
EVERYWHERE = ("max", "min")  # statistics that are also available at all grid points
FRAME = Frame({}, {})  # k-Wave's files have no coordinates

Write = Callable[[str, Any, NDArray[Any]], None]  # dataset, index and values


@dataclass(frozen=True)
class Place:
    """Points that are sampled together.

    Args:
        shape: shape of a sample of one field.
        first: index (z, y, x) of the first point of a box.
        points: indices of single points in the flattened field; None for a box.
        ending: ending of names of datasets: `_all` for the whole grid, `/1` for the first cuboid.
    """

    shape: tuple[int, ...]
    first: tuple[int, int, int] = (0, 0, 0)
    points: NDArray[np.int64] | None = None
    ending: str = ""

    def series_shape(self, samples: int) -> tuple[int, ...]:
        """Shape of the dataset of a time series."""
        return (samples, *self.shape) if self.points is None else (1, samples, len(self.points))

    def series_index(self, numbers: range) -> tuple[Any, ...]:
        """Index of some samples in this dataset."""
        part = slice(numbers.start, numbers.stop)
        return (part,) if self.points is None else (0, part)

    def select(self, arrays: Sequence[Array]) -> tuple[list[Array], Selection]:
        """Views of fields, and the selection of this place in them."""
        if self.points is None:
            box = self.shape, self.shape, (slice(None),) * 3, FRAME, self.first, (1, 1, 1)
            return list(arrays), BoxSelection(*box)
        count = (len(self.points),)
        cells = np.broadcast_to(self.points[:, None], (len(arrays), *count, 1))
        selection = PointSelection(count, count, (slice(None),), FRAME, cells, (1,))
        return [array.reshape(-1) for array in arrays], selection


def sensor_points(points: NDArray[np.int64]) -> Place:
    """The place of a list of points, given by their indices in the flattened field."""
    return Place((1, 1, len(points)), points=points)


def cuboids(first: NDArray[np.int64], last: NDArray[np.int64]) -> tuple[Place, ...]:
    """Places of cuboids, given by their first and last points (cuboids, xyz)."""
    found = []
    for number, (low, high) in enumerate(zip(first, last, strict=True), 1):
        nx, ny, nz = (int(n) for n in high - low + 1)
        x, y, z = map(int, low)
        found.append(Place((nz, ny, nx), (z, y, x), ending=f"/{number}"))
    return tuple(found)


@dataclass(frozen=True)
class SensorMask:
    """The points that are sampled.

    Args:
        name: name of the dataset in the file.
        values: the dataset, (points,) or (cuboids, 6); indices count from 1.
        places: the points, or each cuboid.
    """

    name: str
    values: NDArray[np.int64]
    places: tuple[Place, ...]

    @property
    def dataset(self) -> NDArray[np.uint64]:
        """The values as a dataset of a file."""
        values = self.values.reshape(1, -1, 6 if self.name == CORNERS else len(self.values))
        return values.astype(LONG)


@dataclass(frozen=True)
class Sampling:
    """Samples of some fields at one place.

    Args:
        fields: names of the fields.
        place: the points.
        kinds: "raw" for time series, "max", "min", "rms".
    """

    fields: tuple[str, ...]
    place: Place
    kinds: frozenset[str]

    def dataset(self, name: str, kind: str) -> str:
        """Name of the dataset of a field."""
        return f"{name}{'' if kind == 'raw' else f'_{kind}'}{self.place.ending}"

    def layout(self, samples: int) -> Layout:
        """The datasets for a number of samples."""
        shapes = {"raw": self.place.series_shape(samples)}
        return {
            self.dataset(name, kind): (shapes.get(kind, self.place.shape), FLOAT)
            for kind in sorted(self.kinds)
            for name in self.fields
        }

    @property
    def sample_bytes(self) -> int:
        """Size of one sample of the time series."""
        return ("raw" in self.kinds) * len(self.fields) * prod(self.place.shape) * FLOAT.itemsize


def plan_samplings(
    outputs: frozenset[str], mask: SensorMask, shape: tuple[int, int, int]
) -> Iterator[Sampling]:
    """The samplings that produce the requested outputs, such as "p_raw" and "u_max_all"."""
    axes = "xyz" if shape[0] > 1 else "xy"
    velocities = tuple(f"u{axis}" for axis in axes)
    centred = tuple(f"{name}_non_staggered" for name in velocities)
    families = {"p": ("p",), "u": velocities, "u_non_staggered": centred}
    for family, names in families.items():
        kinds = frozenset(k for k in ("raw", *STATISTICS) if f"{family}_{k}" in outputs)
        everywhere = frozenset(k for k in EVERYWHERE if f"{family}_{k}_all" in outputs)
        if kinds:
            yield from (Sampling(names, place, kinds) for place in mask.places)
        if everywhere:
            yield Sampling(names, Place(shape, ending="_all"), everywhere)


@dataclass
class Sampler:
    """A sampling on the device.

    Args:
        arrays: the recordable fields, by name.
        begin: step of the first sample, from 1.
        slots: number of samples that the ring buffer holds.

    Attributes:
        statistics: running statistics, (fields, *shape), by name.
        launches: launches that sample the fields after a step.
    """

    sampling: Sampling
    backend: Backend
    records: RecordLaunches
    arrays: Mapping[str, Array]
    begin: int
    slots: int
    statistics: dict[str, Array] = field(init=False)

    def __post_init__(self) -> None:
        fields = [self.arrays[name] for name in self.sampling.fields]
        views, selection = self.sampling.place.select(fields)
        shape = (len(fields), *selection.shape)
        raw = "raw" in self.sampling.kinds
        slots = self.slots if raw else 1
        self._ring = Ring(self.backend, shape, 1, slots, "float32", self.begin) if raw else None
        self.statistics = {
            kind: self.backend.zeros(shape, "float64" if kind == "rms" else "float32")
            for kind in sorted(self.sampling.kinds - {"raw"})
        }
        targets = Targets(self.begin, 1, self._ring, self.statistics)
        self.launches = self.records.record(views, selection, targets)

    def write_series(self, steps: range, after: Event | None, write: Write) -> None:
        """Write the samples of some steps, which are complete after the event `after`."""
        if self._ring is None or not (numbers := self._ring.numbers(steps.start, steps.stop)):
            return
        place = self.sampling.place
        block = self._ring.read(steps.start, steps.stop, after)
        for n, name in enumerate(self.sampling.fields):
            write(self.sampling.dataset(name, "raw"), place.series_index(numbers), block[:, n])

    def write_statistics(self, samples: int, write: Write) -> None:
        """Write statistics of a number of samples."""
        for kind, array in self.statistics.items():
            values = self.backend.to_host(array).reshape(-1, *self.sampling.place.shape)
            if kind == "rms":
                values = np.sqrt(values / samples)
            for name, found in zip(self.sampling.fields, values, strict=True):
                write(self.sampling.dataset(name, kind), (), found)
