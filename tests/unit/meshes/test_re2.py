"""Meshes of nekRS: every version, curved sides, boundary tags, periodic sides."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from re2_files import Ring, shell, write_re2

from groundswell.errors import InputError
from groundswell.meshes.hexahedra import positions
from groundswell.meshes.reading import read_mesh, read_mesh_groups
from groundswell.spectral_elements.geometry import compute_mass

RING = Ring()
QUARTER = 3 * np.pi / 4


def volume(mesh: Any) -> float:
    return float(compute_mass(mesh, 9, np.arange(mesh.count)).sum())


# --- what is read ---------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("version", ["#v001", "#v002", "#v003", "#v004"])
def test_every_version(tmp_path: Path, version: str, order: str) -> None:
    path = tmp_path / "a.re2"
    write_re2(path, RING.corners, RING.arcs, [RING.tags], version=version, order=order)
    found = read_mesh_groups(path, periodic=True)
    precision = 1e-6 if version == "#v001" else 1e-9
    assert volume(found.mesh) == pytest.approx(QUARTER, rel=precision)
    assert found.sides.keys() == {"W", "v", "7", "O"} and found.periodic == ("P",)
    assert not found.warnings


@pytest.mark.parametrize(("curves", "error"), [("midpoints", 8e-4), ("arcs", 1e-9)])
def test_curved_sides(tmp_path: Path, curves: str, error: float) -> None:
    path = write_re2(tmp_path / "a.re2", RING.corners, getattr(RING, curves), [RING.tags])
    mesh, sides = read_mesh(path)
    assert error / 1e4 < abs(volume(mesh) / QUARTER - 1) + 1e-13 < error
    tags = mesh.tags(np.arange(mesh.count))
    for name, radius in (("W", 1.0), ("v", 2.0)):
        elements, faces = np.nonzero(tags == sides[name])
        assert len(elements) == 6
        places = positions(mesh, 9, elements).reshape(-1, 10, 10, 10, 3)
        at = np.stack(
            [
                np.take(cube, -(f % 2), axis=2 - f // 2)
                for cube, f in zip(places, faces, strict=True)
            ]
        )
        assert np.allclose(np.hypot(at[..., 0], at[..., 1]), radius, atol=2 * error)


def test_midpoints_are_those_of_20_nodes(tmp_path: Path) -> None:
    """The map of an element with midpoints of edges is that of a serendipity element."""
    from mesh_files import EXODUS, places

    path = write_re2(tmp_path / "a.re2", RING.corners[:1], RING.midpoints[:4])
    nodes = read_mesh(path)[0].nodes[0]
    edges = nodes[places(EXODUS[:20], 3)]
    vertices, middles = edges[:8], edges[8:]
    face = nodes[places(["110"], 3)[0]]
    assert face == pytest.approx(middles[:4].sum(axis=0) / 2 - vertices[:4].sum(axis=0) / 4)


def test_spheres(tmp_path: Path) -> None:
    corners, spheres = shell()
    mesh, _ = read_mesh(write_re2(tmp_path / "a.re2", corners, spheres))
    assert volume(mesh) == pytest.approx(4 * np.pi / 3 * 7 / 6, rel=1e-7)


def test_straight_elements_without_tags(tmp_path: Path) -> None:
    mesh, sides = read_mesh(write_re2(tmp_path / "a.re2", RING.corners))
    assert mesh.order == 1 and sides == {"1": 1}


def test_fluid_and_solid(tmp_path: Path) -> None:
    """Tags of the second field are those of all elements."""
    path = tmp_path / "a.re2"
    fluid = [(1, 4, [0] * 5, "W")]
    write_re2(path, RING.corners, [], [fluid, RING.tags], version="#v004", fluid=4)
    found = read_mesh_groups(path)
    assert found.volumes.tolist() == [1] * 4 + [2] * 2
    assert found.volume_names == {1: "fluid", 2: "solid"} and "O" in found.sides
    assert "tags are those of field 2 of 2; the others are ignored" in found.warnings[0]


def test_rounded_corners_are_one(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    corners = RING.corners + 1e-6 * rng.uniform(-1, 1, RING.corners.shape)
    mesh, _ = read_mesh(write_re2(tmp_path / "a.re2", corners))
    exact, _ = read_mesh(write_re2(tmp_path / "b.re2", RING.corners))
    assert np.array_equal(np.unique(mesh.corners), np.unique(exact.corners))
    assert np.allclose(mesh.nodes, exact.nodes, atol=2e-6)


# --- what is refused ------------------------------------------------------------------------------

NONE = [0.0] * 5


@pytest.mark.parametrize(
    ("curves", "tags", "how", "words"),
    [
        ([], [], {"dimensions": 2}, "in 2 dimensions; extrude it"),
        ([(1, 2, NONE, "e")], [], {}, "curved sides 'e'; allowed: m"),
        ([(1, 2, [0.1, 0, 0, 0, 0], "C")], [], {}, "radius of less than half their chord"),
        ([(1, 13, NONE, "m")], [], {}, "curved sides of elements or edges that it lacks"),
        ([(1, 5, NONE, "s")], [], {}, "spheres without a radius"),
        ([(1, 11, [1.5, 1.5, 0.1, 0, 0], "m")], [], {}, "curved otherwise in their neighbours"),
        ([], [[(99, 1, NONE, "W")]], {}, "boundary tags of elements or sides that it lacks"),
        ([], [[(1, 1, NONE, "SP")]], {}, "sides 'SP'"),
        ([], [[(1, 5, NONE, "P")]], {}, "periodic sides without the other side"),
        ([], [[(1, 5, [1, 4, 0, 0, 0], "P")]], {}, "not copies of each other"),
        ([], [[(1, 5, [3, 5, 0, 0, 0], "P"), (3, 5, [1, 5, 0, 0, 0], "P")]], {}, "partly inside"),
    ],
)
def test_meshes_that_are_refused(
    tmp_path: Path, curves: Any, tags: Any, how: Any, words: str
) -> None:
    path = write_re2(tmp_path / "a.re2", RING.corners, curves, tags, **how)
    with pytest.raises(InputError, match=f"a.re2: .*{words}"):
        read_mesh(path)
