"""Meshes from Gmsh's files: what was written comes back, whatever the version; the rest is refused.

Numberings of nodes are written down here once more, from the manuals of VTK and of Gmsh.
"""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import meshio
import numpy as np
import pytest
from dense_spectral_elements import shuffled
from gmsh_files import GMSH, VTK_8, cells_of, numbered, places, save, save_mesh
from numpy.typing import NDArray

import groundswell as gs
from groundswell.errors import InputError
from groundswell.meshes.box import Box
from groundswell.meshes.gmsh import read_gmsh, read_gmsh_groups
from groundswell.meshes.hexahedra import face_nodes, positions, tangents
from groundswell.meshes.mesh import Mesh

EXAMPLE = Path(__file__).parents[3] / "examples" / "poisson" / "cylinder.msh"
FORMATS = [("2.2", False), ("2.2", True), ("4.1", False), ("4.1", True)]

# --- meshes and files -----------------------------------------------------------------------------


def bend(points: NDArray[Any]) -> NDArray[Any]:
    """Quadratic, so elements of order 2 follow it exactly."""
    return points + 0.1 * points[..., [1, 2, 0]] ** 2 - 0.05 * points[..., [2, 0, 1]]


def bent(order: int, counts: Any = (3, 2, 2)) -> tuple[Mesh, NDArray[Any]]:
    """A bent box in disorder; tags of faces: 4 where x was 0, 7 where it was 1, else 2 outside."""
    mesh = shuffled(Box(counts, order=order), np.random.default_rng(5))
    tags = 2 * mesh.tags(np.arange(mesh.count))
    for face in range(6):
        x = mesh.nodes[:, face_nodes(order, face), 0]
        tags[(x == 0).all(axis=1), face] = 4
        tags[(x == 1).all(axis=1), face] = 7
    return Mesh(mesh.corners, bend(mesh.nodes), order), tags


NAMES = {"inlet": (4, 2), "the outlet": (7, 2), "inside": (1, 3)}


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
    found, sides = read_gmsh(path)
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
    found, sides = read_gmsh(path)
    assert np.allclose(found.nodes, nodes, atol=1e-15)
    assert sides == {"1": 1} and found.tags([0]).tolist() == [[1] * 6]


def test_twenty_nodes_in_many_elements(tmp_path: Path) -> None:
    mesh, tags = bent(2)
    points, numbers = numbered(mesh)
    (_, hexahedra, ones), *quads = cells_of(numbers, tags)
    cells = [("quad8", quad[:, :8], tag) for _, quad, tag in quads]
    path = save(tmp_path / "a.msh", points, [("hexahedron20", hexahedra[:, :20], ones), *cells])
    found, _ = read_gmsh(path)
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
    found, _ = read_gmsh(save(tmp_path / "a.msh", points, cells_of(numbers, tags)))
    assert volume(found) == pytest.approx(volume(mesh), rel=1e-14)
    require_joined(found)
    tags[left] = tags[left][:, [1, 0, 2, 3, 4, 5]]
    assert np.array_equal(found.tags(np.arange(12)), tags)


def test_a_mesh_of_left_handed_elements_alone(tmp_path: Path) -> None:
    mesh, tags = bent(2)
    points, numbers = numbered(mesh)
    found, _ = read_gmsh(save(tmp_path / "a.msh", -points, cells_of(numbers, tags)))
    assert volume(found) == pytest.approx(volume(mesh), rel=1e-14)


def test_units_of_the_mesh_do_not_matter(tmp_path: Path) -> None:
    mesh, tags = bent(2)
    points, numbers = numbered(mesh)
    for size in (1e-7, 1e7):
        found, _ = read_gmsh(
            save(tmp_path / "a.msh", size * points + size, cells_of(numbers, tags))
        )
        assert volume(found) == pytest.approx(size**3 * volume(mesh), rel=1e-9)


def test_the_example() -> None:
    mesh, sides = read_gmsh(EXAMPLE)
    assert sides == {"wall": 1, "bottom": 2, "top": 3} and mesh.count == 320
    assert volume(mesh) == pytest.approx(2 * np.pi, rel=1e-4)
    require_joined(mesh, 2)
    tags = mesh.tags(np.arange(320))
    for face in range(6):
        x, y, z = np.moveaxis(mesh.nodes[:, face_nodes(2, face)], -1, 0)
        for tag, distance in ((1, np.hypot(x, y) - 1), (2, z), (3, z - 2)):
            assert np.allclose(distance[tags[:, face] == tag], 0, atol=1e-11)


def test_the_example_is_what_its_script_writes() -> None:
    spec = importlib.util.spec_from_file_location("make", EXAMPLE.with_name("make_cylinder.py"))
    assert spec and spec.loader
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    mesh, written = make.build(), meshio.gmsh.read(EXAMPLE)
    assert np.allclose(mesh.points, written.points, atol=1e-11)
    for kind in ("hexahedron27", "quad9"):
        assert np.array_equal(mesh.cells_dict[kind], written.cells_dict[kind])


# --- sides ----------------------------------------------------------------------------------------


def test_faces_outside_that_are_in_no_group(tmp_path: Path) -> None:
    """They do not become part of the surface that has number 1."""
    mesh, tags = bent(1)
    tags = np.select([tags == 4, tags == 7], [1, 3])
    names = {"inlet": (1, 2), "2": (3, 2)}
    found, sides = read_gmsh(save_mesh(tmp_path / "a.msh", mesh, tags, names))
    assert sides == {"inlet": 1, "2": 3, "4": 4}
    outside = mesh.tags(np.arange(12)) > 0
    assert np.array_equal(found.tags(np.arange(12)), np.where(outside & (tags == 0), 4, tags))


def test_a_name_for_a_surface_and_a_volume(tmp_path: Path) -> None:
    mesh, tags = bent(1)
    path = save_mesh(tmp_path / "a.msh", mesh, tags, {"b": (1, 3), "c": (7, 2)}, binary=False)
    path.write_text(path.read_text().replace('"b"', '"c"'))
    assert read_gmsh(path)[1] == {"2": 2, "4": 4, "c": 7}


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
    found, sides = read_gmsh(path)
    assert sides == {"2": 2, "4": 4, "7": 7} and " 3 1 1 1 " in text
    assert np.array_equal(found.tags(np.arange(12)), tags)
    assert capfd.readouterr() == ("", "")


def test_elements_in_several_volumes(tmp_path: Path) -> None:
    """Version 2.2 tells them once for each."""
    mesh, tags = bent(1)
    points, numbers = numbered(mesh)
    (kind, nodes, one), *quads = cells_of(numbers, tags)
    found, _ = read_gmsh(
        save(tmp_path / "a.msh", points, [(kind, nodes, one), *quads, (kind, nodes, one + 1)])
    )
    assert np.array_equal(found.nodes, mesh.nodes)


# --- what is refused ------------------------------------------------------------------------------

UNIT = Box((2, 1, 1)).ids(1, [0, 1])  # two cubes
POINTS = np.stack(np.meshgrid(range(2), range(2), range(3), indexing="ij")[::-1], -1).reshape(-1, 3)
CUBES = ("hexahedron", UNIT[:, VTK_8], [1, 1])
END, MIDDLE = [[0, 3, 9, 6]], [[1, 4, 10, 7]]
TETRA = ("tetra", [[0, 1, 3, 6]], [1])
APART = np.where(np.arange(16)[:, None] < 8, 0, [1, 0, 0]) + np.tile(
    POINTS[POINTS[:, 0] < 2], (2, 1)
)
FOLDED = np.where(np.arange(12)[:, None] == 11, [0.4, 0.4, 0.4], POINTS)
LOST = np.where(np.arange(12)[:, None] == 11, np.nan, POINTS + 1)
CUBIC, EIGHTS = np.arange(64)[None], np.arange(16).reshape(2, 8)
MANY = np.tile(POINTS, (3, 1))


@pytest.mark.parametrize(
    ("points", "cells", "names", "words"),
    [
        (POINTS, [TETRA], {}, "cells are 1 tetra; .* Mesh.SubdivisionAlgorithm = 2"),
        (POINTS, [CUBES, TETRA], {}, "2 hexahedron, 1 tetra; allowed: hexahedra only"),
        (POINTS, [CUBES, ("wedge", [[0, 1, 3, 6, 7, 9]], [1])], {}, "1 wedge; .* recombine"),
        (POINTS, [CUBES, ("pyramid", [[0, 1, 3, 6, 7]], [1])], {}, "1 pyramid; "),
        (POINTS, [("quad", END, [1])], {}, "cells are 1 quad; .* in 3 dimensions"),
        (POINTS, [("vertex", [[0]], [0])], {}, "cells are 1 vertex; "),
        (
            np.zeros((64, 3)),
            [("hexahedron64", CUBIC, [1])],
            {},
            "64; .* Mesh.ElementOrder to 1 or 2",
        ),
        (MANY, [CUBES, ("hexahedron27", CUBIC[:, :27], [1])], {}, "1 hexahedron27; .* Mesh.Elem"),
        (APART, [("hexahedron", EIGHTS[:, VTK_8], [1, 1])], {}, "4 pairs of .* Coherence Mesh"),
        (FOLDED, [CUBES], {}, "1 element is flat or folded, .* mesh more finely"),
        (POINTS * [1, 1, 0], [CUBES], {}, "2 elements are flat or folded"),
        (LOST, [CUBES], {}, "1 element is flat or folded"),
        (LOST * [np.inf, 1, 1], [CUBES], {}, "2 elements are flat or folded"),
        (POINTS, [("hexahedron", UNIT[[0, 0]], [1, 1])], {}, "1 element is flat or folded"),
        (POINTS, [CUBES, ("quad", MIDDLE, [3])], {}, "1 face of .* not on the boundary"),
        (POINTS, [CUBES, ("quad", [[0, 2, 8, 6]], [3])], {}, "1 face of .* not on the boundary"),
        (POINTS, [CUBES, ("quad", END * 2, [3, 4])], {}, "1 face in two physical surfaces"),
        (POINTS, [CUBES, ("triangle", [[0, 3, 9]], [3])], {}, "hold triangle cells; recombine"),
        (POINTS, [CUBES, ("quad", END, [3])], {"a": (3, 2), "b": (4, 2)}, r"\['b'\] have no faces"),
    ],
)
def test_meshes_that_are_refused(
    tmp_path: Path, capfd: Any, points: Any, cells: Any, names: Any, words: str
) -> None:
    path = save(tmp_path / "a.msh", points.astype(float), cells, names)
    with pytest.raises(InputError, match=f"a.msh: .*{words}"):
        read_gmsh(path)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(("version", "binary"), FORMATS)
def test_a_file_cut_short_is_refused(tmp_path: Path, version: str, binary: bool) -> None:
    mesh, tags = bent(1)
    path = save_mesh(tmp_path / "a.msh", mesh, tags, version=version, binary=binary)
    content = path.read_bytes()
    for share in np.linspace(0, 0.98, 30):
        path.write_bytes(content[: int(share * len(content))])
        with pytest.raises(InputError, match=r"is incomplete|starts with"):
            read_gmsh(path)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("2.2 0 8", "9.9 0 8", "meshio cannot read it"),
        ("2.2 0 8", "2.2 7 8", "meshio cannot read it .* save it from Gmsh"),
        ("$MeshFormat", "# a mesh", "starts with .MeshFormat"),
        ("\n12\n", "\n12000\n", "meshio cannot read it"),
        ("\n12 2", "\n77 2", "nodes that the file lacks"),
        ('"b"', '"a"', r"several physical surfaces are called \['a'\]"),
    ],
)
def test_files_that_are_refused(tmp_path: Path, capfd: Any, old: str, new: str, words: str) -> None:
    quads = ("quad", [*END, [2, 5, 11, 8]], [3, 4])
    names = {"a": (3, 2), "b": (4, 2)}
    path = save(tmp_path / "a.msh", POINTS.astype(float), [CUBES, quads], names, binary=False)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(InputError, match=words):
        read_gmsh(path)
    assert capfd.readouterr() == ("", "")


def test_faces_in_two_groups_of_version_4(tmp_path: Path) -> None:
    """meshio does not write them."""
    quads, names = ("quad", END, [3]), {"a": (3, 2), "b": (4, 2)}
    path = tmp_path / "a.msh"
    save(path, POINTS.astype(float), [CUBES, quads], names, "4.1", binary=False)
    text = path.read_text()
    assert "0 1 3 0\n" in text
    path.write_text(text.replace("0 1 3 0\n", "0 2 3 4 0\n"))
    with pytest.raises(InputError, match=r"\['a', 'b'\] share faces"):
        read_gmsh(path)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.msh: cannot be read"):
        read_gmsh(tmp_path / "none.msh")
    with pytest.raises(InputError, match="cannot be read"):
        read_gmsh(str(tmp_path))


# --- what a file may hold besides -----------------------------------------------------------------


def text_of(folder: Path, version: str) -> str:
    """A file of some cubes."""
    mesh, tags = bent(1)
    path = save_mesh(folder / "plain.msh", mesh, tags, names=NAMES, version=version, binary=False)
    return path.read_text()


def with_numbers_from(first: int, text: str) -> str:
    """Nodes of version 2.2 numbered from here on."""
    head, nodes, rest = re.split(r"\$Nodes\n|\$EndNodes\n", text)
    count, *rows = nodes.splitlines()
    moved = [f"{int(n) + first} {at}" for n, at in (row.split(maxsplit=1) for row in rows)]
    return "\n".join([f"{head}$Nodes", count, *moved, f"$EndNodes\n{rest}"])


ODD_FILES = [
    ("2.2", lambda t: t.replace("Nodes", "ParametricNodes"), "Mesh.SaveParametric = 0"),
    ("4.1", lambda t: re.sub(r"(\$Nodes\n.*\n\d+ \d+ )0", r"\g<1>1", t), "Mesh.SaveParametric = 0"),
    ("2.2", lambda t: t.replace("2.2 0 8", "3 0 8"), r"is of version 3; save it as 4\.1"),
    (
        "2.2",
        lambda t: with_numbers_from(2**31, t),
        r"numbers of 2\^31 or more; .*Mesh.Renumber = 1",
    ),
    (
        "4.1",
        lambda t: t.replace("$Nodes", "$PartitionedEntities\n$Nodes"),
        "is partitioned.*Unpart",
    ),
]


@pytest.mark.parametrize(("version", "change", "message"), ODD_FILES)
def test_messages_on_unreadable_files_say_what_to_change(
    tmp_path: Path, version: str, change: Any, message: str
) -> None:
    (tmp_path / "odd.msh").write_text(change(text_of(tmp_path, version)))
    with pytest.raises(InputError, match=message) as caught:
        read_gmsh(tmp_path / "odd.msh")
    assert "Error" not in str(caught.value)


def test_ignored_periodic_links_cause_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "linked.msh"
    for links, is_linked in (("0\n", False), ("1\n2 4 7\nAffine 1 0 0 1\n0\n", True)):
        path.write_text(text_of(tmp_path, "2.2") + f"$Periodic\n{links}$EndPeriodic\n")
        assert any("periodic" in text for text in read_gmsh_groups(path).warnings) is is_linked
    with pytest.warns(UserWarning, match="periodic links between sides, which are ignored"):
        read_gmsh(path)
    case = f"""
        solver = "poisson"
        mesh = {{ kind = "gmsh", file = "{path.name}" }}
        equation = {{ screening = 1.0 }}
        """
    (tmp_path / "case.toml").write_text(case)
    assert "periodic links" in gs.check(tmp_path / "case.toml")["warnings"][0]
