"""Poisson's equation on curved meshes from files: rates of convergence, the same in all formats."""

from __future__ import annotations

from math import log2
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dense_spectral_elements import shuffled
from mesh_files import write
from numpy.typing import NDArray

import groundswell as gs
from groundswell.meshes.box import Box
from groundswell.meshes.hexahedra import face_nodes, positions, refine
from groundswell.meshes.mesh import Mesh

NAMES = {1: "inner", 2: "outer", 3: "rest"}
EXACT = "sin(2 * x) * exp(y) * cos(z)"
SOURCE = "4 * sin(2 * x) * exp(y) * cos(z)"  # -(-4 + 1 - 1) u
FORMATS = [("a.e", 27), ("a.med", 27), ("a.inp", 27), ("a.vtu", 27), ("a.vtk", 27)]


def quarter(points: NDArray[Any]) -> NDArray[Any]:
    """The unit cube as a quarter of a ring of radii 1 and 2."""
    radius, angle, z = np.moveaxis(points, -1, 0)
    radius, angle = 1 + radius, np.pi / 2 * angle
    return np.stack([radius * np.cos(angle), radius * np.sin(angle), z], axis=-1)


def ring(n: int) -> tuple[Mesh, NDArray[Any]]:
    """Elements of order 2 in disorder, and the tags of their faces."""
    flat = shuffled(Box((n, n, n), order=2), np.random.default_rng(5))
    tags = 3 * flat.tags(np.arange(flat.count))
    for face in range(6):
        x = flat.nodes[:, face_nodes(2, face), 0]
        tags[(x == 0).all(axis=1), face] = 1
        tags[(x == 1).all(axis=1), face] = 2
    return Mesh(flat.corners, quarter(flat.nodes), 2), tags


def solve(path: Path, degree: int) -> tuple[NDArray[Any], float]:
    """u at all nodes, and the root mean square of its error between them."""
    mesh, sides = gs.poisson.read_mesh(path)
    if path.suffix.startswith(".vt"):  # which have numbers only
        sides = {name: sides[str(tag)] for tag, name in NAMES.items()}
    fixed = {name: {"kind": "fixed", "value": EXACT} for name in NAMES.values()}
    found = gs.poisson.solve(mesh, degree, SOURCE, fixed, sides=sides, tolerance=1e-14)
    finer = degree + 4
    x, y, z = np.moveaxis(positions(mesh, finer, np.arange(mesh.count)), -1, 0)
    u = refine(found.values[..., None], degree, finer)[..., 0]
    return found.values, float(np.sqrt(np.mean((u - np.sin(2 * x) * np.exp(y) * np.cos(z)) ** 2)))


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_errors_decrease_at_the_formal_rate(tmp_path: Path, degree: int) -> None:
    """N + 1, from 4 to 8 elements along each axis."""
    errors = [solve(write(tmp_path / f"{n}.e", *ring(n), NAMES, 27), degree)[1] for n in (4, 8)]
    assert log2(errors[0] / errors[1]) == pytest.approx(degree + 1, abs=0.2)


FILES = Path(__file__).parents[1] / "unit" / "meshes" / "files"
# Two elements of each order, written by Gmsh.
ORDERS = {1: "gmsh_8.med", 2: "gmsh_27.med", 3: "gmsh_order3.msh", 4: "gmsh_order4.msh"}


@pytest.mark.parametrize("order", ORDERS)
def test_elements_of_every_order(order: int) -> None:
    """Errors between the nodes fall exponentially with the degree."""
    mesh, sides = gs.poisson.read_mesh(FILES / ORDERS[order])
    assert mesh.order == order
    fixed = {name: {"kind": "fixed", "value": EXACT} for name in sides}
    errors = []
    for degree in (4, 8, 12):
        found = gs.poisson.solve(mesh, degree, SOURCE, fixed, sides=sides, tolerance=1e-14)
        x, y, z = np.moveaxis(positions(mesh, 14, np.arange(mesh.count)), -1, 0)
        u = refine(found.values[..., None], degree, 14)[..., 0]
        errors.append(np.abs(u - np.sin(2 * x) * np.exp(y) * np.cos(z)).max())
    assert errors[2] < 1e-6 and errors[0] > 30 * errors[1] > 900 * errors[2], errors


@pytest.mark.parametrize(("name", "size"), FORMATS)
def test_formats_give_the_same_solution(tmp_path: Path, name: str, size: int) -> None:
    """As Gmsh's file, to rounding."""
    mesh, tags = ring(2)
    gmsh, error = solve(write(tmp_path / "a.msh", mesh, tags, NAMES), 7)
    other, _ = solve(write(tmp_path / name, mesh, tags, NAMES, size), 7)
    assert error < 1e-4
    assert np.abs(other - gmsh).max() < 1e-12
