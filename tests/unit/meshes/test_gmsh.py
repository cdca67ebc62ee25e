"""Meshes from Gmsh's files: what was written comes back, whatever the version."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import meshio
import numpy as np
import pytest
from bent_boxes import FORMATS, NAMES, bend, bent
from gmsh_files import GMSH, cells_of, numbered, places, save, save_mesh

from groundswell.meshes.box import Box
from groundswell.meshes.hexahedra import face_nodes, positions, tangents
from groundswell.meshes.mesh import Mesh
from groundswell.meshes.reading import read_mesh

EXAMPLE = Path(__file__).parents[3] / "examples" / "poisson" / "cylinder.msh"


# --- meshes and files -----------------------------------------------------------------------------


def volume(mesh: Mesh) -> float:
    """Sum of elements' volumes by Simpson's rule, which is exact as they are."""
    fine = positions(mesh, 4, np.arange(mesh.count))
    r, s, t = tangents(fine, 4)
    weights = np.array([9, 49, 64, 49, 9]) / 90
    cube = np.einsum("a,b,c->abc", weights, weights, weights).ravel()
    return float(np.einsum("enx,enx,n->", r, np.cross(s, t), cube))


def require_joined(mesh: Mesh, degree: int = 3) -> None:
    """Ids and places of nodes are in one-to-one correspondence."""
    ids = mesh.ids(degree, np.arange(mesh.count)).ravel()
    where = positions(mesh, degree, np.arange(mesh.count)).reshape(-1, 3)
    _, place = np.unique(np.round(where, 9) + 0.0, axis=0, return_inverse=True)
    pairs = np.unique(np.stack([ids, place.ravel()], axis=1), axis=0)
    assert len(pairs) == len(np.unique(ids)) == place.max() + 1


# --- what comes back ------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize(("version", "binary"), FORMATS)
def test_what_was_written_is_read(
    tmp_path: Path, capfd: Any, order: int, version: str, binary: bool
) -> None:
    mesh, tags = bent(order)
    path = save_mesh(tmp_path / "a.msh", mesh, tags, NAMES, version=version, binary=binary)
    found, sides = read_mesh(path)
    assert np.array_equal(found.nodes, mesh.nodes) and found.order == order
    assert np.array_equal(found.tags(np.arange(12)), tags)
    assert sides == {"2": 2, "inlet": 4, "the outlet": 7}
    assert np.array_equal(np.unique(found.corners), np.arange(36))
    require_joined(found)
    assert volume(found) == pytest.approx(volume(mesh), rel=1e-14)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("size", [8, 20, 27])
def test_numbering_is_that_of_gmsh(tmp_path: Path, size: int) -> None:
    """The file is written by hand, with numbers of nodes that begin at 5 and go by threes."""
    order = 1 if size == 8 else 2
    box = Box((1, 1, 1), deform=bend, order=order)
    nodes = box.geometry_nodes([0])[0]
    inside = places(GMSH[:size], order + 1)
    lines = "\n".join(f"{5 + 3 * n} {' '.join(map(str, nodes[n]))}" for n in sorted(inside))
    element = " ".join(str(5 + 3 * n) for n in inside)
    code = {8: 5, 20: 17, 27: 12}[size]
    path = tmp_path / "a.msh"
    path.write_text(
        f"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{size}\n{lines}\n$EndNodes\n"
        f"$Elements\n1\n9 {code} 2 0 1 {element}\n$EndElements\n"
    )
    found, sides = read_mesh(path)
    assert np.allclose(found.nodes, nodes, atol=1e-15)
    assert sides == {"1": 1} and found.tags([0]).tolist() == [[1] * 6]


def test_twenty_nodes_in_many_elements(tmp_path: Path) -> None:
    mesh, tags = bent(2)
    points, numbers = numbered(mesh)
    (_, hexahedra, ones), *quads = cells_of(numbers, tags)
    cells = [("quad8", quad[:, :8], tag) for _, quad, tag in quads]
    path = save(tmp_path / "a.msh", points, [("hexahedron20", hexahedra[:, :20], ones), *cells])
    found, _ = read_mesh(path)
    assert np.allclose(found.nodes, mesh.nodes, atol=1e-14)
    assert np.array_equal(found.tags(np.arange(12)), tags)


@pytest.mark.parametrize("order", [1, 2])
def test_left_handed_elements_are_mirrored(tmp_path: Path, order: int) -> None:
    mesh, tags = bent(order)
    points, numbers = numbered(mesh)
    n, left = order + 1, np.arange(0, mesh.count, 2)
    cubes = numbers.reshape(-1, n, n, n)
    cubes[left] = cubes[left].swapaxes(1, 2)
    tags[left] = tags[left][:, [0, 1, 4, 5, 2, 3]]
    found, _ = read_mesh(save(tmp_path / "a.msh", points, cells_of(numbers, tags)))
    assert volume(found) == pytest.approx(volume(mesh), rel=1e-14)
    require_joined(found)
    tags[left] = tags[left][:, [1, 0, 2, 3, 4, 5]]
    assert np.array_equal(found.tags(np.arange(12)), tags)


def test_a_mesh_of_left_handed_elements_alone(tmp_path: Path) -> None:
    mesh, tags = bent(2)
    points, numbers = numbered(mesh)
    found, _ = read_mesh(save(tmp_path / "a.msh", -points, cells_of(numbers, tags)))
    assert volume(found) == pytest.approx(volume(mesh), rel=1e-14)


def test_units_of_the_mesh_do_not_matter(tmp_path: Path) -> None:
    mesh, tags = bent(2)
    points, numbers = numbered(mesh)
    for size in (1e-7, 1e7):
        found, _ = read_mesh(
            save(tmp_path / "a.msh", size * points + size, cells_of(numbers, tags))
        )
        assert volume(found) == pytest.approx(size**3 * volume(mesh), rel=1e-9)


def test_the_example() -> None:
    mesh, sides = read_mesh(EXAMPLE)
    assert sides == {"wall": 1, "bottom": 2, "top": 3} and mesh.count == 320
    assert volume(mesh) == pytest.approx(2 * np.pi, rel=1e-4)
    require_joined(mesh, 2)
    tags = mesh.tags(np.arange(320))
    for face in range(6):
        x, y, z = np.moveaxis(mesh.nodes[:, face_nodes(2, face)], -1, 0)
        for tag, distance in ((1, np.hypot(x, y) - 1), (2, z), (3, z - 2)):
            assert np.allclose(distance[tags[:, face] == tag], 0, atol=1e-11)


@pytest.mark.parametrize("name", ["cylinder", "anchor"])
def test_the_examples_are_what_their_scripts_write(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(EXAMPLE.parent)
    spec = importlib.util.spec_from_file_location("make", EXAMPLE.with_name(f"make_{name}.py"))
    assert spec and spec.loader
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    mesh, written = make.build(), meshio.gmsh.read(EXAMPLE.with_name(f"{name}.msh"))
    assert np.allclose(mesh.points, written.points, atol=1e-11)
    for kind in ("hexahedron27", "quad9"):
        assert np.array_equal(mesh.cells_dict[kind], written.cells_dict[kind])


# --- sides ----------------------------------------------------------------------------------------


def test_faces_outside_that_are_in_no_group(tmp_path: Path) -> None:
    """They do not become part of the surface that has number 1."""
    mesh, tags = bent(1)
    tags = np.select([tags == 4, tags == 7], [1, 3])
    names = {"inlet": (1, 2), "2": (3, 2)}
    found, sides = read_mesh(save_mesh(tmp_path / "a.msh", mesh, tags, names))
    assert sides == {"inlet": 1, "2": 3, "4": 4}
    outside = mesh.tags(np.arange(12)) > 0
    assert np.array_equal(found.tags(np.arange(12)), np.where(outside & (tags == 0), 4, tags))


def test_a_name_for_a_surface_and_a_volume(tmp_path: Path) -> None:
    mesh, tags = bent(1)
    path = save_mesh(tmp_path / "a.msh", mesh, tags, {"b": (1, 3), "c": (7, 2)}, binary=False)
    path.write_text(path.read_text().replace('"b"', '"c"'))
    assert read_mesh(path)[1] == {"2": 2, "4": 4, "c": 7}


def test_groups_of_reversed_surfaces_and_other_dimensions(tmp_path: Path, capfd: Any) -> None:
    """And a tag more, such as partitions have, of which meshio warns."""
    mesh, tags = bent(1)
    points, numbers = numbered(mesh)
    cells = cells_of(numbers, tags)
    kind, nodes, of_last = cells[-1]
    cells = [
        *cells[:-1],
        (kind, nodes, -of_last),
        ("line", [[0, 1]], [4]),
        ("quad", nodes, 0 * of_last),
    ]
    path = save(tmp_path / "a.msh", points, cells, binary=False)
    text = path.read_text().replace(" 5 2 1 1 ", " 5 3 1 1 1 ")
    path.write_text(text)
    found, sides = read_mesh(path)
    assert sides == {"2": 2, "4": 4, "7": 7} and " 3 1 1 1 " in text
    assert np.array_equal(found.tags(np.arange(12)), tags)
    assert capfd.readouterr() == ("", "")


def test_elements_in_several_volumes(tmp_path: Path) -> None:
    """Version 2.2 tells them once for each."""
    mesh, tags = bent(1)
    points, numbers = numbered(mesh)
    (kind, nodes, one), *quads = cells_of(numbers, tags)
    found, _ = read_mesh(
        save(tmp_path / "a.msh", points, [(kind, nodes, one), *quads, (kind, nodes, one + 1)])
    )
    assert np.array_equal(found.nodes, mesh.nodes)
