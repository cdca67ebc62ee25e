"""What a run records: the samples of each output section, how often they come, what they take."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from groundswell.grids.cartesian import Part, Triple
from groundswell.outputs.ring_buffer import ring_slots

if TYPE_CHECKING:
    from groundswell.solvers.earthquake.setup import Setup


@dataclass(frozen=True)
class Samples:
    """The samples of an output section.

    Args:
        shape: of a sample of one field.
        fields: how many fields are sampled alike.
        every: steps between samples.
        itemsize: bytes of a value.
    """

    shape: tuple[int, ...]
    fields: int
    every: int
    itemsize: int

    @property
    def size(self) -> int:
        """Bytes of a sample of all fields."""
        return prod(self.shape) * self.fields * self.itemsize

    @property
    def slots(self) -> int:
        """Samples of each field that are kept on the device."""
        return ring_slots(self.size, self.every)


def recorded(setup: Setup, part: Part | None = None) -> dict[str, Samples]:
    """The samples of every output section that the case asks for.

    Args:
        part: of the grid, to which all receivers are then said to belong; by default all of it.
    """
    size = np.dtype(setup.dtype).itemsize
    return {
        name: Samples(shape, fields, setup.sampling_stride(name), size)
        for name, shape, fields in _sections(setup, part or Part.whole(setup.grid))
    }


def _sections(setup: Setup, part: Part) -> Iterator[tuple[str, tuple[int, ...], int]]:
    output = setup.case.output
    if setup.receivers:
        yield "seismograms", (len(setup.receivers), 3), 1
    if output.surface:
        nx, ny, _ = taken(part, output.surface.stride).count
        at_top = part.start[2] == 0
        yield "surface", (3, ny * at_top, nx * at_top), 1
    if output.volumes:
        shape = taken(part, output.volumes.stride).count[::-1]
        yield "volumes", shape, len(output.volumes.fields)


def strided(cells: Triple, stride: int) -> Triple:
    """How many of (nx, ny, nz) cells remain if every `stride`-th is taken, from the first on."""
    nx, ny, nz = (-(-n // stride) for n in cells)
    return nx, ny, nz


@dataclass(frozen=True)
class Taken:
    """The cells of a part of the grid that are recorded if every `stride`-th of the region is.

    Args:
        first: the first of them (i, j, k), counted in the part's region.
        count: how many (nx, ny, nz).
        place: where they belong in what all parts record (z, y, x).
    """

    first: Triple
    count: Triple
    place: tuple[slice, slice, slice]


def taken(part: Part, stride: int) -> Taken:
    """The recorded cells of a part."""
    firsts = [-start % stride for start in part.region_start]
    counts = [max(0, -(-(n - f) // stride)) for n, f in zip(part.region, firsts, strict=True)]
    begins = [(s + f) // stride for s, f in zip(part.region_start, firsts, strict=True)]
    x, y, z = (slice(b, b + n) for b, n in zip(begins, counts, strict=True))
    (fx, fy, fz), (nx, ny, nz) = firsts, counts
    return Taken((fx, fy, fz), (nx, ny, nz), (z, y, x))
