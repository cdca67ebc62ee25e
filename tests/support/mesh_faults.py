"""Faults on physical surfaces inside meshes of Gmsh, and their maps in any order of points."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from dense_spectral_elements import shuffled
from dgwave_cases import build
from gmsh_files import cells_of, numbered, save
from numpy.typing import NDArray

from groundswell.meshes.box import Box
from groundswell.meshes.hexahedra import face_nodes
from groundswell.meshes.mesh import Mesh

COUNTS, SIZE = (4, 4, 3), (800.0, 800.0, 600.0)
Place = Callable[..., Any]

ROCK = {"vp": 6000.0, "vs": 3464.0, "rho": 2670.0}
HYPOCENTER = [400.0, 400.0, 200.0]
FAULT: dict[str, Any] = {
    "surface": "fault",
    "hypocenter": HYPOCENTER,
    "law": "slip-weakening",
    "friction": {"static": 0.677, "dynamic": 0.525, "distance": 0.02, "cohesion": 0.0},
    "stress": {"normal": "120 MPa", "shear": "70 MPa", "rake": 160},
    "patch": [
        {"shape": "circle", "center": HYPOCENTER, "radius": 120.0, "stress": {"shear": "84 MPa"}}
    ],
}
PLANE = {"y": 400.0, "x": [200.0, 600.0], "depth": [0.0, 400.0]}
STATION = {"name": "A", "x": 300.0, "y": 250.0, "depth": 0.0}
UNIFORM = {"kind": "homogeneous", **ROCK}


def in_middle(x: Any, y: Any, z: Any) -> Any:
    """The part of the plane y = 400 m on which the fault is."""
    return (y == 400) & (x >= 200) & (x <= 600) & (z <= 400)


def case(folder: Path, **changes: Any) -> Any:
    given = {"source": [], "fault": [FAULT], "receiver": [STATION]}
    return build(folder, **{**given, "run": {"precision": "double"}, **changes})


def fault_mesh(
    path: Path,
    surfaces: Mapping[str, Place],
    bend: Callable[[NDArray[Any]], NDArray[Any]] = lambda points: points,
    *,
    counts: tuple[int, int, int] = COUNTS,
    order: int = 1,
    seed: int = 2,
    volume: Place = lambda x, y, z: x < 0,
) -> Path:
    """A file of a box in any order and orientation, z down, with surfaces "top" and "rest".

    Args:
        surfaces: by name, which faces with these nodes x, y, z (nodes,) of the box they contain.
        bend: maps positions of nodes.
        volume: which elements with these middles x, y, z are in the volume "soft"; the others are
            in "rock".
    """
    mesh = shuffled(Box(counts, high=SIZE, order=order), np.random.default_rng(seed))
    tags = 2 * mesh.tags(np.arange(mesh.count))
    names = {"top": (1, 2), "rest": (2, 2), "rock": (1, 3)}
    seen = set()
    for element, face in np.ndindex(*tags.shape):
        nodes = mesh.nodes[element, face_nodes(order, face)].T
        if tags[element, face]:
            tags[element, face] = 1 if (nodes[2] == 0).all() else 2
            continue
        for tag, (name, holds) in enumerate(surfaces.items(), 3):
            names[name] = (tag, 2)
            key = tuple(sorted(mesh.corners[element, face_nodes(1, face)]))
            if np.all(holds(*nodes)) and key not in seen:
                tags[element, face] = tag
                seen.add(key)  # Gmsh has a face once
    volumes = np.where(volume(*mesh.nodes.mean(axis=1).T), 2, 1)
    if (volumes == 2).any():
        names["soft"] = (2, 3)
    points, numbers = numbered(Mesh(mesh.corners, bend(mesh.nodes), order))
    return save(path, points, cells_of(numbers, tags, volumes), names)


def on_mesh(path: Path, medium: Any) -> dict[str, Any]:
    """Changes of a case that put it on a mesh."""
    return {
        "grid": {"file": str(path), "vertical": "down"},
        "medium": medium,
        "boundary": {"surfaces": {"top": "free-surface", "rest": "absorbing"}},
    }


def in_place(fault: Any, values: Any) -> Any:
    """Values ordered by their place; several at a place, of different faces, by size."""
    places = (np.round(fault[name].values, 3) for name in ("down_dip", "along_strike"))
    return values.values[np.lexsort((values.values, *places))]
