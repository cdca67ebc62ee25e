"""Periodic links of Gmsh's and nekRS's files: linked sides are one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from re2_files import Ring, write_re2

import groundswell as gs
from groundswell.errors import InputError
from groundswell.meshes.hexahedra import positions
from groundswell.meshes.reading import read_mesh, read_mesh_groups

FILES = Path(__file__).parent / "files"
NAMES = ("periodic_22.msh", "periodic_41.msh")  # written by Gmsh; with 27 nodes, and with 8


def ring_file(folder: Path, **counts: int) -> Path:
    ring = Ring(**counts)
    return write_re2(folder / "a.re2", ring.corners, ring.arcs, [ring.tags])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("degree", [1, 2, 5])
def test_linked_nodes_are_one(name: str, degree: int) -> None:
    """Nodes of equal ids are at one place, or at the two ends."""
    mesh, sides = read_mesh(FILES / name)
    assert sides.keys() == {"south", "outer", "west", "inner"}
    everyone = np.arange(mesh.count)
    where = positions(mesh, degree, everyone).reshape(-1, 3)
    where[np.isclose(where[:, 2], 1), 2] = 0
    _, place = np.unique(np.round(where, 7) + 0.0, axis=0, return_inverse=True)
    pairs = np.unique(np.stack([mesh.ids(degree, everyone).ravel(), place.ravel()]), axis=1)
    assert pairs.shape[1] == place.max() + 1 == mesh.count_nodes(degree)


@pytest.mark.parametrize("name", NAMES)
def test_links_that_are_ignored(name: str) -> None:
    found = read_mesh_groups(FILES / name)
    assert {"bottom", "top"} <= found.sides.keys() and not found.periodic
    assert "periodic links between sides are ignored" in found.warnings[0]


@pytest.mark.parametrize("source", [*NAMES, "re2"])
def test_a_wave_through_linked_sides(tmp_path: Path, source: str) -> None:
    """-lap u + u = f with u = sin(2 pi z), whose derivative at the linked sides is not 0."""
    path = ring_file(tmp_path) if source == "re2" else FILES / source
    mesh, sides = read_mesh(path)
    f = "(1 + 4 * pi**2) * sin(2 * pi * z)"
    found = gs.poisson.solve(mesh, 8, f, {}, sides=sides, screening=1.0)
    exact = np.sin(2 * np.pi * found.positions[..., 2])
    assert np.abs(found.values - exact).max() < 1e-5


def test_sides_that_are_turned() -> None:
    """u = r^4 cos(4 phi) is the same after a quarter turn, which links two sides of the ring."""
    mesh, sides = read_mesh(FILES / "periodic_turned.msh")
    assert sides.keys() == {"bottom", "top", "outer", "inner"}
    exact = "x**4 - 6 * x**2 * y**2 + y**4"
    fixed = {name: {"kind": "fixed", "value": exact} for name in ("inner", "outer")}
    found = gs.poisson.solve(mesh, 12, 0.0, fixed, sides=sides)
    x, y, _ = np.moveaxis(found.positions, -1, 0)
    assert np.abs(found.values - (x**4 - 6 * x**2 * y**2 + y**4)).max() < 1e-6


def test_a_wave_along_two_linked_axes(tmp_path: Path) -> None:
    """A box whose sides along x and y are linked; the edges at their corners are one."""
    n = 3
    corners, tags = [], []
    for e in range(n * n):
        i, j = e % n, e // n
        ring = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)]
        corners.append([[a / n, b / n, k] for k in (0, 1) for a, b in ring])
        links = [(4, i == 0, e + n, 2), (2, i == n - 1, e - n + 2, 4)]
        links += [(1, j == 0, e + 1 + n * (n - 1), 3), (3, j == n - 1, e + 1 - n * (n - 1), 1)]
        tags += [(e + 1, side, [o, s, 0, 0, 0], "P") for side, there, o, s in links if there]
    mesh, sides = read_mesh(write_re2(tmp_path / "a.re2", np.array(corners, float), [], [tags]))
    assert mesh.count_nodes(3) == (3 * n) ** 2 * 4
    f = "(1 + 8 * pi**2) * sin(2 * pi * x) * cos(2 * pi * y)"
    found = gs.poisson.solve(mesh, 8, f, {}, sides=sides, screening=1.0)
    x, y, _ = np.moveaxis(found.positions, -1, 0)
    assert np.abs(found.values - np.sin(2 * np.pi * x) * np.cos(2 * np.pi * y)).max() < 1e-5


def test_output_keeps_both_ends(tmp_path: Path) -> None:
    """No element of a file for ParaView spans the whole length."""
    from groundswell.spectral_elements.vtkhdf import LagrangeElements

    mesh, _ = read_mesh(FILES / NAMES[0])
    found = LagrangeElements.of(mesh, 2, {"u": np.zeros((mesh.count, 27))})
    heights = np.ptp(found.points[found.connectivity, 2], axis=1)
    assert heights == pytest.approx(1 / 3)


def test_reordered_and_mirrored_meshes_keep_links() -> None:
    mesh, _ = read_mesh(FILES / NAMES[1])
    other = mesh.reordered(np.arange(mesh.count)[::-1]).mirrored(0)
    assert other.count_nodes(2) == mesh.count_nodes(2)
    assert other.without_links().count_nodes(2) > mesh.count_nodes(2)


@pytest.mark.parametrize("up", [1, 2])
def test_too_few_elements(tmp_path: Path, up: int) -> None:
    with pytest.raises(InputError, match="fewer than three elements between sides"):
        read_mesh(ring_file(tmp_path, up=up))


@pytest.mark.parametrize(
    ("pairs", "words"),
    [
        ([(5, 1), (6, 2), (7, 4), (8, 999)], "refer to nodes that the file lacks"),
        ([(5, 1), (6, 2), (7, 4)], "a periodic link joins no faces of elements"),
        ([(5, 1), (6, 2), (7, 4), (8, 5)], "1 face .* without a face of the same shape"),
    ],
)
def test_links_that_do_not_fit(tmp_path: Path, pairs: Any, words: str) -> None:
    """Of the corners of a cube, 1 to 4 at the bottom."""
    ring = [(0, 0), (1, 0), (1, 1), (0, 1)]
    nodes = [f"{n + 4 * z + 1} {x} {y} {z}" for z in (0, 1) for n, (x, y) in enumerate(ring)]
    lines = [f"{a} {b}" for a, b in pairs]
    content = ["$MeshFormat", "2.2 0 8", "$EndMeshFormat", "$Nodes", "8", *nodes, "$EndNodes"]
    content += ["$Elements", "1", "1 5 2 1 1 1 2 3 4 5 6 7 8", "$EndElements"]
    content += ["$Periodic", "1", "2 2 1", str(len(lines)), *lines, "$EndPeriodic", ""]
    path = tmp_path / "a.msh"
    path.write_text("\n".join(content))
    with pytest.raises(InputError, match=words):
        read_mesh(path)


def test_the_case_shows_periodic_sides(tmp_path: Path) -> None:
    """And can ignore them."""
    case = f"""
        solver = "poisson"
        mesh = {{ kind = "file", file = "{FILES / NAMES[1]}" }}
        equation = {{ screening = 1.0 }}
        """
    path = tmp_path / "case.toml"
    path.write_text(case)
    kinds = gs.check(path)["boundaries"]
    assert (kinds["bottom"], kinds["top"], kinds["outer"]) == ("periodic", "periodic", "no flux")
    path.write_text(case.replace('.msh"', '.msh", periodic = false'))
    assert gs.check(path)["boundaries"]["top"] == "no flux"
