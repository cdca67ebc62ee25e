"""The points of the surface at which motion is recorded."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from groundswell.meshes.gll import gll
from groundswell.meshes.hexahedra import AXES, Numbers
from groundswell.outputs.recording import Frame, PointSelection
from groundswell.seismology.formats.shaking_maps import SurfacePoints
from groundswell.solvers.dgwave.mesh.case import MeshSection
from groundswell.spectral_elements.point_location import NOWHERE

if TYPE_CHECKING:
    from groundswell.solvers.dgwave.setup import Setup

Floats = NDArray[np.float64]

# Distance from an interface into an element over the smallest edge, far above rounding.
INSIDE = 1e-6


def surface_axes(setup: Setup, stride: int = 1) -> tuple[Floats, Floats]:
    """x and y of every `stride`-th surface point, m.

    The points are the centres of N x N cells on each element of `[grid]`, where N is the degree.
    """
    grid, n = setup.grid, setup.degree
    x, y = (
        axis.divided(n).at(np.arange(0.5, count * n)[::stride])
        for axis, count in zip(grid.axes[:2], grid.region[:2], strict=True)
    )
    return x, y


def has_shaking_map(setup: Setup) -> bool:
    """Whether a shaking map is recorded; by default, if no water reaches the surface.

    Meshes from files have no regular surface points, so they have no shaking map.
    """
    wanted = setup.case.output.shaking_map
    if isinstance(setup.case.grid, MeshSection):
        return False
    return bool(np.all(setup.media[0].plane(0).vs > 0)) if wanted is None else bool(wanted)


def surface_stride(setup: Setup) -> int:
    """Number of steps between samples of the surface, at least 1."""
    return max(1, round(setup.case.output.surface.interval / setup.dt))


def sample_bytes(setup: Setup) -> int:
    """Size of one sample of the surface, bytes."""
    x, y = surface_axes(setup, setup.case.output.surface.stride)
    return x.size * y.size * AXES * np.dtype(setup.dtype).itemsize


def surface_bytes(setup: Setup) -> int:
    """Size of all samples of the surface, bytes."""
    if setup.case.output.surface is None:
        return 0
    return ceil(setup.steps / surface_stride(setup)) * sample_bytes(setup)


@dataclass(frozen=True, eq=False)
class Lattice:
    """The regular points of the surface, and those in a rank's elements.

    Args:
        x, y: coordinates of all points, m.
        mine: indices of this rank's points among all, x fastest, (points,).
        elements: elements that contain them, (points,).
        weights: interpolation weights of the nodes on the top of the element, (points, (N + 1)^2).
    """

    x: Floats
    y: Floats
    mine: Numbers
    elements: Numbers
    weights: Floats

    @classmethod
    def of(cls, setup: Setup, numbers: Numbers, stride: int = 1) -> Self:
        """The lattice of a set-up; `numbers` are those of the rank's elements."""
        x, y = surface_axes(setup, stride)
        flat = [axis.ravel() for axis in np.meshgrid(x, y)]
        below = np.full(x.size * y.size, INSIDE * setup.smallest)  # in the topmost elements
        leaves, places = setup.locate(np.stack([*flat, below], axis=-1))
        rows = np.full(setup.count, NOWHERE)
        rows[numbers] = np.arange(len(numbers))
        mine = np.flatnonzero(rows[leaves] != NOWHERE)
        r, s = (gll(setup.degree).interpolation(along) for along in places[mine].T[: AXES - 1])
        weights = (s[:, :, None] * r[:, None, :]).reshape(len(mine), (setup.degree + 1) ** 2)
        return cls(x, y, mine, rows[leaves[mine]], weights)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of all points along y and x."""
        return self.y.size, self.x.size

    @property
    def count(self) -> int:
        """Number of all points."""
        return self.x.size * self.y.size

    def select(self, fields: int) -> PointSelection:
        """Selects fields, arrays (elements, nodes), at this rank's points."""
        cells = np.stack([self.elements, np.zeros_like(self.elements)], axis=-1)
        return PointSelection(
            shape=(self.count,),
            count=(len(self.mine),),
            place=(self.mine,),
            frame=Frame({}, {}),
            cells=np.stack([cells] * fields),
            taps=(1, self.weights.shape[1]),
            weights=np.stack([self.weights] * fields),
        )

    def points(self, setup: Setup) -> SurfacePoints:
        """All points, for files."""
        return SurfacePoints.at(self.x, self.y, setup.geography)
