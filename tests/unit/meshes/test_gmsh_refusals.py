"""Meshes from Gmsh's files: what is refused, and what to change."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bent_boxes import FORMATS, NAMES, bent
from gmsh_files import VTK_8, save, save_mesh

from groundswell.errors import InputError
from groundswell.meshes.box import Box
from groundswell.meshes.reading import read_mesh, read_mesh_groups

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
            np.zeros((216, 3)),
            [("hexahedron216", np.arange(216)[None], [1])],
            {},
            "216; allowed: .* from 1 to 4; .* Mesh.ElementOrder",
        ),
        (MANY, [CUBES, ("hexahedron27", CUBIC[:, :27], [1])], {}, "1 hexahedron27; .* Mesh.Elem"),
        (APART, [("hexahedron", EIGHTS[:, VTK_8], [1, 1])], {}, "4 pairs of .* Coherence Mesh"),
        (FOLDED, [CUBES], {}, "1 element is flat or folded, .* mesh more finely"),
        (POINTS * [1, 1, 0], [CUBES], {}, "2 elements are flat or folded"),
        (LOST, [CUBES], {}, "1 element is flat or folded"),
        (LOST * [np.inf, 1, 1], [CUBES], {}, "2 elements are flat or folded"),
        (POINTS, [("hexahedron", UNIT[[0, 0]], [1, 1])], {}, "1 element is flat or folded"),
        (POINTS, [CUBES, ("quad", MIDDLE, [3])], {}, "1 face of .* not on the boundary"),
        (POINTS, [CUBES, ("quad", [[0, 2, 8, 6]], [3])], {}, "1 face of .* not among the faces"),
        (
            POINTS,
            [CUBES, ("quad", [*END, *MIDDLE], [3, 3])],
            {},
            "surface of tag 3 lies partly on the boundary .* make two of it",
        ),
        (POINTS, [CUBES, ("quad", END * 2, [3, 4])], {}, "1 face in two named surfaces"),
        (POINTS, [CUBES, ("triangle", [[0, 3, 9]], [3])], {}, "hold triangle cells; recombine"),
        (POINTS, [CUBES, ("quad", END, [3])], {"a": (3, 2), "b": (4, 2)}, r"\['b'\] have no faces"),
    ],
)
def test_meshes_that_are_refused(
    tmp_path: Path, capfd: Any, points: Any, cells: Any, names: Any, words: str
) -> None:
    path = save(tmp_path / "a.msh", points.astype(float), cells, names)
    with pytest.raises(InputError, match=f"a.msh: .*{words}"):
        read_mesh(path)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(("version", "binary"), FORMATS)
def test_a_file_cut_short_is_refused(tmp_path: Path, version: str, binary: bool) -> None:
    mesh, tags = bent(1)
    path = save_mesh(tmp_path / "a.msh", mesh, tags, version=version, binary=binary)
    content = path.read_bytes()
    for share in np.linspace(0, 0.98, 30):
        path.write_bytes(content[: int(share * len(content))])
        with pytest.raises(InputError, match=r"is incomplete|starts with"):
            read_mesh(path)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("2.2 0 8", "9.9 0 8", "meshio cannot read it"),
        ("2.2 0 8", "2.2 7 8", "meshio cannot read it .* save it from Gmsh"),
        ("$MeshFormat", "# a mesh", "starts with .MeshFormat"),
        ("\n12\n", "\n12000\n", "meshio cannot read it"),
        ("\n12 2", "\n77 2", "nodes that the file lacks"),
        ('"b"', '"a"', r"several surfaces are called \['a'\]"),
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
        read_mesh(path)
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
        read_mesh(path)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.msh: does not exist or is not a file"):
        read_mesh(tmp_path / "none.msh")
    with pytest.raises(InputError, match="does not exist or is not a file"):
        read_mesh(str(tmp_path))
    (tmp_path / "a.stl").touch()
    with pytest.raises(InputError, match=r"format, \.stl; allowed: \.msh \(Gmsh\), .* convert"):
        read_mesh(tmp_path / "a.stl")


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
        r"36 nodes have numbers of up to 2,147,483,684; .*Mesh.Renumber = 1",
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
        read_mesh(tmp_path / "odd.msh")
    assert "Error" not in str(caught.value)


def test_ignored_periodic_links_cause_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "linked.msh"
    for links, is_linked in (("0\n", False), ("1\n2 4 7\nAffine 1 0 0 1\n1\n1 2\n", True)):
        path.write_text(text_of(tmp_path, "2.2") + f"$Periodic\n{links}$EndPeriodic\n")
        assert any("periodic" in text for text in read_mesh_groups(path).warnings) is is_linked
