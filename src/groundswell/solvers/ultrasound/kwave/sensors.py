"""What is sampled: time series and statistics at places, and the layout of their datasets.

Datasets of a list of points have the axes (1, samples, points), or (1, 1, points) without time.
Those of cuboids are groups with a dataset for each cuboid, (samples, z, y, x) or (z, y, x).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from groundswell.arrays import Integers
from groundswell.grids.cartesian import Part
from groundswell.outputs.recording import BoxSelection, Frame, PointSelection, Selection
from groundswell.outputs.ring_buffer import ring_slots
from groundswell.solvers.ultrasound.kwave.datasets import FLOAT, LONG, Layout

INDEX, CORNERS = "sensor_mask_index", "sensor_mask_corners"
STATISTICS = ("max", "min", "rms")
EVERYWHERE = ("max", "min")  # statistics that are also available at all grid points
FRAME = Frame({}, {})  # k-Wave's files have no coordinates


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
    points: Integers | None = None
    ending: str = ""

    def series_shape(self, samples: int) -> tuple[int, ...]:
        """Shape of the dataset of a time series."""
        return (samples, *self.shape) if self.points is None else (1, samples, len(self.points))

    def series_index(self, numbers: range) -> tuple[object, ...]:
        """Index of some samples in this dataset."""
        part = slice(numbers.start, numbers.stop)
        return (part,) if self.points is None else (0, part)

    def select(self, part: Part, fields: int) -> Selection:
        """The points that a rank has, in its arrays (nz, ny, nx) of a part of the grid."""
        if self.points is None:
            return self._box(part)
        index = np.stack(np.unravel_index(self.points, part.grid.shape))
        cells = (index - np.reshape(part.start[::-1], (3, 1))).T
        mine = np.flatnonzero(((cells >= 0) & (cells < part.shape)).all(axis=1))
        cells = np.broadcast_to(cells[mine], (fields, len(mine), 3))
        return PointSelection((len(self.points),), (len(mine),), (mine,), FRAME, cells)

    def _box(self, part: Part) -> BoxSelection:
        """The common points of a box and a part."""
        start, first = np.array(part.start[::-1]), np.array(self.first)
        low = np.maximum(first, start)
        high = np.minimum(first + self.shape, start + part.shape)
        nz, ny, nx = (int(n) for n in np.maximum(high - low, 0))
        z, y, x = (int(n) for n in low - first)
        place = slice(z, z + nz), slice(y, y + ny), slice(x, x + nx)
        k, j, i = (int(n) for n in low - start)
        return BoxSelection(self.shape, (nz, ny, nx), place, FRAME, (k, j, i), (1, 1, 1))


def sensor_points(points: Integers) -> Place:
    """The place of a list of points, given by their indices in the flattened field."""
    return Place((1, 1, len(points)), points=points)


def cuboids(first: Integers, last: Integers) -> tuple[Place, ...]:
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
    values: Integers
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

    def device_bytes(self, part: Part) -> int:
        """Device memory of the ring buffer and the statistics of a part of the grid, bytes."""
        count = prod(self.place.select(part, 1).count) * len(self.fields) * FLOAT.itemsize
        slots = ring_slots(self.sample_bytes, 1) if "raw" in self.kinds else 0
        sums = "rms" in self.kinds  # in double precision
        return count * (slots + len(self.kinds - {"raw"}) + sums)

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
