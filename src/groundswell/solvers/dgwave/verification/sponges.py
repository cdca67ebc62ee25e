"""Sponges of a grid and of a mesh from a file: the amplitude of sound that they reflect.

A packet of oblique sound (see layers.py) travels down a strip of water. Meshes have no periodic
sides, so the strip has rigid walls, and the packet consists of two plane waves that are mirror
images of each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import ceil, cos, radians, sin
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from groundswell.backends import Backend
from groundswell.meshes.box import Box
from groundswell.meshes.hexahedra import face_nodes
from groundswell.seismology.problems.tables import SILENCE
from groundswell.seismology.reference.medium import HomogeneousMedium
from groundswell.seismology.reference.plane_waves import PlaneWave
from groundswell.solvers.dgwave.setup import AnySetup, Setup
from groundswell.solvers.dgwave.verification.boxes import Floats
from groundswell.solvers.dgwave.verification.layers import DEGREE, H, Packet
from groundswell.solvers.dgwave.verification.simulation import make_case
from groundswell.verify import Check

WATER = HomogeneousMedium(vp=1500.0, vs=0.0, rho=1000.0)
WIDTH = 10  # of the sponge, elements
# By angle of incidence, degrees, and wavelength, elements: largest amplitude from a grid, %.
LIMITS = {(45.0, 2.5): 0.3, (60.0, 2.5): 1.0, (45.0, 5.0): 1.7}
PACKETS = {False: [*LIMITS][:1], True: [*LIMITS]}
WALLS = dict.fromkeys(("west", "east", "south", "north"), "rigid") | {"top": "absorbing"}
SIDES = ("west", "east", "south", "north", "top", "bottom")
GMSH_HEXAHEDRON, GMSH_QUAD = [0, 1, 3, 2, 4, 5, 7, 6], [0, 1, 3, 2]  # corners in Gmsh's order
# Time step over the limit of the shallow strip. The deep strip may have a lower limit.
STEP_RATIO = 0.8
WARP = 0.15  # displacement of inner corners over the edge of an element


@dataclass(frozen=True)
class Sound(Packet):
    """A packet of sound between rigid walls; see `Packet`."""

    @property
    def wave(self) -> PlaneWave:
        """One of the two plane waves."""
        return self._waves[0]

    @cached_property
    def _waves(self) -> list[PlaneWave]:
        along, down = sin(radians(self.angle)), cos(radians(self.angle))
        return [PlaneWave.p(WATER, (sign * along, 0.0, down)) for sign in (1, -1)]

    @property
    def duration(self) -> float:
        """Time until the whole reflection is above the sponge, s."""
        return (self.depth + 2 * WIDTH) * H / self.speed

    def fields(self, points: Floats) -> Floats:
        """The initial fields, (4, ...), at points (3, ...)."""
        elastic = np.sum([self.enveloped(wave, points) for wave in self._waves], axis=0)
        return np.concatenate([-elastic[:1], elastic[-3:]])

    def of_grid(self, backend: Backend) -> float:
        """Amplitude of the reflection from the sponge of a grid."""
        ends = {"top": "absorbing", "sides": "rigid"}

        def case(depth: int, bottom: str) -> dict[str, Any]:
            grid = {"size": self._size(depth), "spacing": self.spacing}
            return {"grid": grid, "boundary": {**ends, "bottom": bottom, "width": WIDTH}}

        layered, deep = case(self.depth, "sponge"), case(self._deep, "absorbing")
        return self._returned(backend, layered, deep)

    def of_mesh(self, backend: Backend, warp: float) -> float:
        """Amplitude of the reflection from a sponge at the bottom of a mesh."""
        sponge = {"kind": "sponge", "width": WIDTH * H}
        with TemporaryDirectory() as folder:

            def case(depth: int, bottom: Any) -> dict[str, Any]:
                path = Path(folder, f"{depth}.msh")
                write_mesh(path, self._mesh(depth, warp))
                surfaces = {**WALLS, "bottom": bottom}
                grid = {"file": path, "vertical": "down"}
                return {"grid": grid, "boundary": {"surfaces": surfaces}}

            layered, deep = case(self.depth + WIDTH, sponge), case(self._deep, "absorbing")
            return self._returned(backend, layered, deep)

    def _returned(self, backend: Backend, layered: Any, deep: Any) -> float:
        step = STEP_RATIO * self._setup(layered, "auto").dt
        return self.reflected(backend, self._setup(layered, step), self._setup(deep, step))

    @property
    def _deep(self) -> int:
        """Depth of a strip whose bottom reflects nothing in time, elements."""
        return self.depth + ceil(self.duration * WATER.vp / H / 2) + WIDTH

    @property
    def _across(self) -> int:
        """Number of elements between the walls."""
        return round(self.length / sin(radians(self.angle)) * H / self.spacing[0])

    def _size(self, depth: int) -> tuple[float, float, float]:
        return self._across * self.spacing[0], H, depth * H

    def _mesh(self, depth: int, warp: float) -> Box:
        """Elements whose inner corners are moved by a fraction of an edge along x and z."""

        def move(points: Floats) -> Floats:
            x, _, z = np.moveaxis(points, -1, 0)
            inside = np.sin(np.pi * x / self._size(depth)[0]) * (z > 0) * (z < depth * H)
            shift = warp * H * inside * np.sin(2.4 * z / H)
            return points + np.stack([shift, 0 * shift, -shift], axis=-1)

        counts = (self._across, 1, depth)
        return Box(counts, high=self._size(depth), deform=move, order=1)

    def _setup(self, sections: Mapping[str, Any], step: Any) -> Setup:
        case = make_case(
            time={"duration": self.duration, "step": step},
            medium={"kind": "homogeneous", "vp": WATER.vp, "vs": 0.0, "rho": WATER.rho},
            method={"degree": DEGREE},
            source=[SILENCE],
            **sections,
        )
        return AnySetup.from_case(case)


def write_mesh(path: Path, box: Box) -> None:
    """Write a box with elements of order 1 as a Gmsh file whose surfaces are SIDES."""
    import meshio

    elements = np.arange(box.count)
    corners, tags = box.ids(1, elements), box.tags(elements)
    points = np.empty((box.count_nodes(1), 3))
    points[corners] = box.geometry_nodes(elements)
    cells, physical = [("hexahedron", corners[:, GMSH_HEXAHEDRON])], [np.ones(box.count, int)]
    for side in range(len(SIDES)):
        of_side = corners[tags[:, side] > 0][:, face_nodes(1, side)]
        cells.append(("quad", of_side[:, GMSH_QUAD]))
        physical.append(np.full(len(of_side), side + 1))
    data = {"gmsh:physical": physical, "gmsh:geometrical": physical}
    names = {name: np.array([side, 2]) for side, name in enumerate(SIDES, 1)}
    mesh = meshio.Mesh(points, cells, cell_data=data, field_data=names)
    meshio.gmsh.write(path, mesh, "2.2", binary=True)


def reflection(backend: Backend, full: bool) -> Iterator[Check]:
    """Oblique sound at sponges of ten elements; meshes reflect no more than grids."""
    for angle, length in PACKETS[full]:
        sound = Sound("P", angle, length)
        of_grid, of_bricks = 100 * sound.of_grid(backend), 100 * sound.of_mesh(backend, 0.0)
        of_warped = 100 * sound.of_mesh(backend, WARP)
        name = f"sound of {length:g} elements at {angle:g} degrees: returned amplitude"
        note = f"{WIDTH} elements of degree {DEGREE}"
        yield Check.at_most(f"{name}, grid", of_grid, LIMITS[angle, length], "%", note)
        yield Check.at_most(f"{name}, mesh of bricks", of_bricks, of_grid * (1 + 1e-6), "%")
        yield Check.at_most(f"{name}, mesh of warped elements", of_warped, of_grid * 1.01, "%")
