"""Problems that Groundswell and MFEM solve alike: three meshes of Gmsh, their equations and sides.

`mfem_oracle.py` solves them with MFEM, and keeps what it finds in `mfem_values.json`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from gmsh_files import ENDS, save_box

from groundswell.arrays import Floats
from groundswell.meshes.box import Box

VALUES = Path(__file__).with_name("mfem_values.json")
POINTS, AWAY = 12, 0.08  # points in a mesh, and the least distance from its sides
VOLUMES = ("steel", "cork")
Function = Callable[..., Any]  # of x, y, z


@dataclass(frozen=True)
class Problem:
    """An equation on a mesh; functions of position where values vary.

    Args:
        box: the mesh before it is bent.
        bend: maps positions of nodes.
        conductivity: k, its six entries, or k by volume.
        fixed, flux: u, and k du/dn, by the name of a side.
        robin: h and the ambient value, by the name of a side.
        volumes: names of the physical volumes; the second one lies beyond the middle of x.
    """

    box: Box
    degree: int
    bend: Callable[[Floats], Floats]
    conductivity: Function | tuple[Function, ...] | Mapping[str, float]
    source: Function
    screening: Function | None = None
    fixed: Mapping[str, Function] = field(default_factory=dict)
    flux: Mapping[str, Function] = field(default_factory=dict)
    robin: Mapping[str, tuple[Function, Function]] = field(default_factory=dict)
    volumes: tuple[str, ...] = ("all",)

    def write(self, path: Path) -> Path:
        """The mesh as a file of Gmsh, in disorder."""
        middle = (self.box.low[0] + self.box.high[0]) / 2
        number = lambda at: np.where(at[:, 0] < middle, 1, len(self.volumes))  # noqa: E731
        return save_box(path, self.box, self.bend, self.volumes, number)

    def points(self) -> Floats:
        """Random points inside, (points, 3)."""
        low, high = np.asarray(self.box.low), np.asarray(self.box.high)
        places = np.random.default_rng(11).uniform(AWAY, 1 - AWAY, (POINTS, 3))
        return self.bend(low + places * (high - low)).round(3)

    @property
    def tables(self) -> dict[str, dict[str, Any]]:
        """The sides as `solve` takes them."""
        tables = {name: {"kind": "fixed", "value": u} for name, u in self.fixed.items()}
        tables |= {name: {"kind": "flux", "value": q} for name, q in self.flux.items()}
        for name, (h, ambient) in self.robin.items():
            tables[name] = {"kind": "robin", "h": h, "ambient": ambient}
        return tables


def tag_of(side: str) -> int:
    """The number of a side in the file."""
    return ENDS.index(side) + 1


def _slanted(points: Floats) -> Floats:
    """Corners of hexahedra with straight edges that are no parallelepipeds."""
    return points + 0.12 * points[..., ::-1] * points[..., [1, 2, 0]]


def _waves(points: Floats) -> Floats:
    x, y, z = np.moveaxis(points, -1, 0)
    wave = 0.08 * np.sin(2 * x + 0.3) * np.cos(y) * np.cos(1.5 * z)
    return points + np.stack([wave, -0.6 * wave, 0.8 * wave * x], axis=-1)


def _ripple(x: Floats, y: Floats, z: Floats) -> Any:
    return np.sin(3 * x + 0.2) * np.exp(y) * np.cos(2 * z)


STRAIGHT = Problem(
    Box((3, 2, 2), high=(1.5, 1.0, 0.8)),
    5,
    _slanted,
    conductivity=(
        lambda x, y, z: 2 + x * y,
        lambda x, y, z: np.sin(x) / 4,
        lambda x, y, z: z / 5,
        lambda x, y, z: 1 + x**2,
        lambda x, y, z: -y / 4,
        lambda x, y, z: np.exp(y),
    ),
    source=_ripple,
    screening=lambda x, y, z: 1 + x * y,
    fixed={"west": lambda x, y, z: y + z**2, "south": lambda x, y, z: np.cos(x) - 1 + z**2},
    flux={"east": lambda x, y, z: np.sin(4 * y) - z},
)

CURVED = Problem(
    Box((2, 2, 3), order=2),
    6,
    _waves,
    conductivity=lambda x, y, z: 1 + x**2 + np.sin(y) / 2,
    source=lambda x, y, z: 10 * _ripple(x, y, z),
    fixed={"north": lambda x, y, z: x * z},
    robin={
        "top": (lambda x, y, z: 3 + x + y, lambda x, y, z: 1 - x * y),
        "west": (lambda x, y, z: 0.5 + z**2, lambda x, y, z: np.sin(5 * y)),
    },
)

TWO_MATERIALS = Problem(
    Box((4, 2, 2), high=(0.2, 0.3, 0.4)),
    4,
    lambda points: points + 0.3 * points[..., ::-1] * points[..., [1, 2, 0]],
    conductivity={"steel": 50.0, "cork": 0.05},
    source=lambda x, y, z: 400 * (1 + y * z),
    fixed={"west": lambda x, y, z: 80 + 20 * y},
    robin={"east": (lambda x, y, z: 8.0 + 5 * z, lambda x, y, z: -10.0)},
    flux={"bottom": lambda x, y, z: 3.0 * x},
    volumes=VOLUMES,
)

PROBLEMS = {"straight": STRAIGHT, "curved": CURVED, "two materials": TWO_MATERIALS}
