"""What a run records: the samples of each output section, how often they come, what they take."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from groundswell.grids.cartesian import Triple
from groundswell.run.ring import ring_slots

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


def recorded(setup: Setup) -> dict[str, Samples]:
    """The samples of every output section that the case asks for."""
    size = np.dtype(setup.dtype).itemsize
    return {
        name: Samples(shape, fields, setup.every(name), size)
        for name, shape, fields in _sections(setup)
    }


def _sections(setup: Setup) -> Iterator[tuple[str, tuple[int, ...], int]]:
    output, region = setup.case.output, setup.grid.region
    if setup.receivers:
        yield "seismograms", (len(setup.receivers), 3), 1
    if output.surface:
        nx, ny, _ = strided(region, output.surface.stride)
        yield "surface", (3, ny, nx), 1
    if output.volumes:
        shape = strided(region, output.volumes.stride)[::-1]
        yield "volumes", shape, len(output.volumes.fields)


def strided(cells: Triple, stride: int) -> Triple:
    """How many of (nx, ny, nz) cells remain if every `stride`-th is taken, from the first on."""
    nx, ny, nz = (-(-n // stride) for n in cells)
    return nx, ny, nz
