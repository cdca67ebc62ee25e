"""Cases of DG waves on bricks that Gmsh has written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from dense_spectral_elements import shuffled
from dgwave_cases import EXPLOSION, WATER
from gmsh_files import cells_of, numbered, save

from groundswell.meshes.box import Box
from groundswell.meshes.hexahedra import face_nodes
from groundswell.meshes.mesh import Mesh

COUNTS, SIZE = (4, 3, 3), (800.0, 600.0, 600.0)
ROCK = {"vp": 3000, "vs": 1700, "rho": 2500}
SEA = {name: WATER[name] for name in ("vp", "vs", "rho")}
NAMES = {"top": (1, 2), "rest": (2, 2), "sea": (1, 3), "rock": (2, 3)}


def write(path: Path, order: int = 1, bend: Any = None, up: bool = False, **changes: Any) -> Path:
    """A file of the elements of GRID, in any order and orientation, water over rock."""
    mesh = shuffled(Box(COUNTS, high=SIZE, order=order), np.random.default_rng(2))
    tags = 2 * (mesh.tags(np.arange(mesh.count)) > 0)
    z = np.stack([mesh.nodes[:, face_nodes(order, f), 2] for f in range(6)], axis=1)
    tags[(z == 0).all(axis=2)] = 1
    volumes = np.where(mesh.nodes[:, :, 2].mean(axis=1) < 200, 1, 2)
    nodes = mesh.nodes if bend is None else bend(mesh.nodes)
    points, numbers = numbered(Mesh(mesh.corners, nodes, order))
    points = points * [1, 1, -1] if up else points
    return save(path, points, cells_of(numbers, tags, volumes), changes.get("names", NAMES))


def on_mesh(path: Path, **changes: Any) -> dict[str, Any]:
    """Changes of a case that put it on a mesh."""
    return {
        "grid": {"file": str(path), "vertical": "down"},
        "medium": {"kind": "volumes", "volumes": {"sea": SEA, "rock": ROCK}},
        "boundary": {"surfaces": {"top": "free-surface", "rest": "absorbing"}},
        "source": [dict(EXPLOSION)],  # which changes change
        **changes,
    }
