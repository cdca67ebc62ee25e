"""The samples of each output section: their number, interval and size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from groundswell.grids.cartesian import Part, Triple
from groundswell.outputs.cartesian import CartesianDomain, strided, taken
from groundswell.outputs.recording import Frame, PointSelection, RecordableField, Recording
from groundswell.outputs.ring_buffer import ring_slots
from groundswell.seismology.sources.event import date_attributes
from groundswell.seismology.survey import Survey
from groundswell.solvers.earthquake.interpolation import STRESS_OFFSETS, VELOCITY_OFFSETS, Stencil

if TYPE_CHECKING:
    from groundswell.solvers.earthquake.setup import Setup

_VELOCITY = ("m s-1", "particle velocity along {}")
_STRESS = ("Pa", "stress {}")
_FIELDS = (
    *zip(("vx", "vy", "vz"), VELOCITY_OFFSETS, [_VELOCITY] * 3, ("x", "y", "z, down"), strict=True),
    *(
        (f"s{axes}", offset, _STRESS, axes)
        for axes, offset in zip(("xx", "yy", "zz", "xy", "xz", "yz"), STRESS_OFFSETS, strict=True)
    ),
)


def _from_middle(offset: tuple[float, float, float]) -> tuple[float, float, float]:
    """Offset of a value from its cell's centre, given its offset from the corner."""
    x, y, z = (along - 0.5 for along in offset)
    return x, y, z


RECORDABLE = {
    name: RecordableField(name, units, words.format(axis), _from_middle(offset))
    for name, offset, (units, words), axis in _FIELDS
}


@dataclass(frozen=True)
class Samples:
    """The samples of an output section.

    Args:
        shape: of a sample of one field.
        fields: number of fields with such samples.
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
    """The samples of every output section in the case.

    Args:
        part: of the grid, which then counts all receivers as its own; by default the whole grid.
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
        nx, ny, _ = taken(part, strided(setup.grid.region, output.surface.stride)).count
        at_top = part.start[2] == 0
        yield "surface", (3, ny * at_top, nx * at_top), 1
    if output.volumes:
        shape = taken(part, strided(setup.grid.region, output.volumes.stride)).count[::-1]
        yield "volumes", shape, len(output.volumes.fields)


def recording(setup: Setup, part: Part) -> Recording:
    """The recordable fields of a part of the grid: velocities and stresses of its region."""
    x, y, z = (h / 2 for h in setup.grid.spacing)
    sides = setup.periodic
    domain = CartesianDomain(
        part,
        (x, y, z),
        (0.0, 0.0, 0.0),
        setup.extent,
        downward=True,
        periodic=(sides, sides, False),
    )
    survey = Survey(setup.source_entries, setup.receivers)
    axis, attrs = setup.time_axis, date_attributes(setup.case, survey)
    return Recording(
        domain, RECORDABLE, setup.dtype, axis.dt, attrs=attrs, steps=axis.steps, start=axis.start
    )


def point_selection(
    stencils: Sequence[Sequence[Stencil]], start: Triple, dtype: str
) -> PointSelection:
    """Velocities at points, each by its stencils for vx, vy and vz.

    Args:
        start: first cell (i, j, k) of the part whose arrays are read.
    """
    points = len(stencils)
    cells = np.array([[s.first[::-1] for s in those] for those in stencils], np.int64)
    along = np.array([[s.weights for s in those] for those in stencils]).astype(dtype)
    # Products are rounded as the sums are, in the type of the run.
    x, y, z = np.moveaxis(along.reshape(points, 3, 3, 4), 2, 0)
    share = np.array([[s.share for s in those] for those in stencils]).astype(dtype)
    weights = share.reshape(points, 3, 4, 4, 4) * (
        z[..., :, None, None] * y[..., None, :, None] * x[..., None, None, :]
    )
    return PointSelection(
        shape=(points,),
        count=(points,),
        place=(slice(None),),
        frame=Frame({}, {}),
        cells=cells.reshape(points, 3, 3).swapaxes(0, 1) - start[::-1],
        taps=(4, 4, 4),
        weights=weights.reshape(points, 3, 4**3).swapaxes(0, 1),
    )
