"""DG waves on meshes of other formats than Gmsh's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dense_spectral_elements import shuffled
from dgwave_cases import EXPLOSION, build
from gmsh_cases import COUNTS, ROCK, SIZE
from mesh_files import write

import groundswell as gs
from groundswell.meshes.box import Box
from groundswell.meshes.hexahedra import face_nodes

NAMES = {1: "ground", 2: "sides"}


def seismograms(folder: Path, path: Path, medium: Any) -> Any:
    case = build(
        folder,
        grid={"file": str(path), "vertical": "down"},
        medium=medium,
        boundary={"surfaces": {"ground": "free-surface", "sides": "absorbing"}},
        source=[dict(EXPLOSION)],
        receiver=[{"name": "A", "x": 150, "y": 70, "depth": 90}],
        time={"duration": 0.1, "step": 0.004},
        method={"degree": 3},
        run__precision="double",
    )
    return gs.run(case, folder=folder / path.suffix[1:]).seismograms.values


@pytest.mark.parametrize("ending", [".e", ".inp"])
def test_waves_are_those_on_a_mesh_of_gmsh(tmp_path: Path, ending: str) -> None:
    """With a medium by the name of the volume."""
    mesh = shuffled(Box(COUNTS, high=SIZE, order=2), np.random.default_rng(2))
    tags = 2 * (mesh.tags(np.arange(mesh.count)) > 0)
    z = np.stack([mesh.nodes[:, face_nodes(2, face), 2] for face in range(6)], axis=1)
    tags[(z == 0).all(axis=2)] = 1
    medium = {"kind": "volumes", "volumes": {"steel": ROCK}}
    found, expected = (
        seismograms(tmp_path, write(tmp_path / f"a{of}", mesh, tags, NAMES, 27), medium)
        for of in (ending, ".msh")
    )
    assert np.abs(expected).max() > 0
    assert np.abs(found - expected).max() < 1e-12 * np.abs(expected).max()
