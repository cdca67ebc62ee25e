"""The samples of each output section: their number, interval and size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from groundswell.grids.cartesian import Part, Triple
from groundswell.outputs.cartesian import recorded_cells, strided
from groundswell.outputs.recording import Frame, PointSelection
from groundswell.outputs.ring_buffer import ring_slots
from groundswell.seismology.case.outputs import GREEN
from groundswell.solvers.earthquake.case import EarthquakeOutput
from groundswell.solvers.earthquake.interpolation import Stencil
from groundswell.solvers.earthquake.setup import Setup


@dataclass(frozen=True)
class SectionSamples:
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


def recorded(setup: Setup, part: Part | None = None) -> dict[str, SectionSamples]:
    """The samples of every output section in the case.

    Args:
        part: of the grid, which then counts all receivers as its own; by default the whole grid.
    """
    size, output = np.dtype(setup.dtype).itemsize, setup.case.output
    receivers = len(setup.survey.receivers)
    found = {
        name: SectionSamples(shape, fields, setup.sampling_stride(name), size)
        for name, shape, fields in _sections(output, receivers, part or Part.whole(setup.grid))
    }
    if setup.green:
        shape = setup.green.points.basis.shape[:2]
        found[GREEN] = SectionSamples(shape, 1, setup.sampling_stride(GREEN), size)
    return found


def _sections(
    output: EarthquakeOutput, receivers: int, part: Part
) -> Iterator[tuple[str, tuple[int, ...], int]]:
    """Yield the name of each section, the shape of a sample of a field, and number of fields."""
    if receivers:
        yield "seismograms", (receivers, 3), 1
    if output.surface:
        nx, ny, _ = recorded_cells(part, strided(part.grid.region, output.surface.stride)).count
        at_top = part.start[2] == 0
        yield "surface", (3, ny * at_top, nx * at_top), 1
    if output.volumes:
        shape = recorded_cells(part, strided(part.grid.region, output.volumes.stride)).count[::-1]
        yield "volumes", shape, len(output.volumes.fields)


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
