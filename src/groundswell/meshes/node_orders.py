"""Orders in which files number the nodes of hexahedra, against that of our elements.

Blocks of cells have VTK's order: corners, edges, faces, interior, each from the lower end on
(vtkHexahedron, vtkQuadraticHexahedron, vtkTriQuadraticHexahedron, and vtkHigherOrderHexahedron from
VTK 9.1 on). Other formats are permuted to it when they are read.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from groundswell.arrays import Floats, Integers
from groundswell.meshes.gll import gll
from groundswell.meshes.hexahedra import AXES, interpolate
from groundswell.meshes.mesh import CORNERS

# Degree of the element map by the number of nodes; 20 nodes lack those inside faces and the cell.
DEGREES = {8: 1, 20: 2, 27: 2, 64: 3, 125: 4}
KINDS = {nodes: "hexahedron" + (str(nodes) if nodes > CORNERS else "") for nodes in DEGREES}


def _vtk_nodes() -> Integers:
    """(r, s, t) of VTK's 27 nodes: corners, edges, faces, centre; each -1, 0 or 1, (27, 3)."""
    ring = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])
    ends = [np.insert(ring, 2, t, axis=1) for t in (-1, 1)]
    around = [(end + np.roll(end, -1, axis=0)) // 2 for end in ends]
    faces = [side * np.eye(AXES, dtype=int)[axis] for axis in range(AXES) for side in (-1, 1)]
    upright = np.insert(ring, 2, 0, axis=1)
    return np.concatenate([*ends, *around, upright, faces, np.zeros((1, AXES), int)])


VTK = _vtk_nodes()
TENSOR_8 = np.argsort((VTK[:CORNERS] + 1) @ (1, 3, 9))


def lagrange_nodes(degree: int) -> Integers:
    """Steps (r, s, t) from 0 to `degree` of the nodes of VTK's Lagrange hexahedra, (nodes, 3)."""
    steps = np.stack(np.unravel_index(np.arange((degree + 1) ** AXES), (degree + 1,) * AXES)[::-1])
    side = np.where(steps == 0, -1, np.where(steps == degree, 1, 0)).T
    # The entity of each node is one of VTK's 27; within it, r runs fastest, then s, then t.
    entity = np.argmax((side[:, None] == VTK).all(axis=2), axis=1)
    return np.asarray(steps.T[np.argsort(entity, kind="stable")])


def lagrange_order(degree: int) -> Integers:
    """Indices of VTK's nodes among ours, ((degree + 1)^3,)."""
    return np.asarray(lagrange_nodes(degree) @ (degree + 1) ** np.arange(AXES))


@cache
def tensor_order(nodes: int) -> Integers:
    """Indices of our nodes, along r first, then s, then t, among VTK's, (nodes,)."""
    found = np.argsort(lagrange_order(DEGREES[nodes]))
    found.setflags(write=False)
    return found


def to_geometry_nodes(points: Floats) -> Floats:
    """Positions of our geometry nodes, (elements, (degree + 1)^3, 3), from those of VTK's nodes.

    Cells of 20 nodes get those inside faces and the cell first.
    """
    if points.shape[1] == 20:
        points = np.einsum("ab,ebx->eax", _serendipity(), points)
    nodes = points.shape[1]
    ordered, degree = points[:, tensor_order(nodes)], DEGREES[nodes]
    return ordered if degree < 3 else interpolate(ordered, _from_equidistant(degree))


def _from_equidistant(degree: int) -> Floats:
    """The matrix from values at equidistant points to values at GLL points."""
    from_gll = gll(degree).interpolation(np.linspace(-1, 1, degree + 1))
    return np.asarray(np.linalg.inv(from_gll), float)


def _serendipity() -> Floats:
    """The matrix from positions of 20 nodes to those of VTK's 27, with face and cell centres.

    Zienkiewicz & Taylor, The finite element method, vol. 1, 5th ed. 2000, section 8.11.
    """
    at, of = VTK[:, None, :], VTK[:20]
    hats = np.where(of == 0, 1 - at**2, 1 + of * at).prod(axis=2)
    corner = (of != 0).all(axis=1)
    return np.where(corner, hats * ((of * at).sum(axis=2) - 2) / 8, hats / 4)


# --- other formats --------------------------------------------------------------------------------

# Where VTK's nodes are among those of Exodus II, MED and Abaqus, of 20 or 27.
_UPRIGHT_FIRST = [*range(12), *range(16, 20), *range(12, 16)]
EXODUS = {20: _UPRIGHT_FIRST, 27: [*_UPRIGHT_FIRST, 23, 24, 25, 26, 21, 22, 20]}
MED = {27: [*range(20), 24, 22, 21, 23, 20, 25, 26]}
ABAQUS = {27: [*range(20), 26, 24, 23, 25, 21, 22, 20]}

# Corners of the sides 1 to 6 of hexahedra in Exodus and in Nek5000, counted from 0.
SIDES = np.array(
    [(0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (0, 4, 7, 3), (0, 3, 2, 1), (4, 5, 6, 7)]
)

# Gmsh numbers nodes inside edges and faces from these corners on, and those inside a face or a cell
# like those of a face or a cell of a degree lower by 2 (Gmsh's manual, "High-order elements").
_GMSH_EDGES = [(0, 1), (0, 3), (0, 4), (1, 2), (1, 5), (2, 3), (2, 6), (3, 7), (4, 5), (4, 7)]
_GMSH_EDGES += [(5, 6), (6, 7)]
_GMSH_FACES = [(0, 3, 2, 1), (0, 1, 5, 4), (0, 4, 7, 3), (1, 2, 6, 5), (2, 3, 7, 6), (4, 5, 6, 7)]


def gmsh_nodes(degree: int) -> Integers:
    """Steps (r, s, t) from 0 to `degree` of the nodes of Gmsh's hexahedra, (nodes, 3)."""
    if degree == 0:
        return np.zeros((1, AXES), int)
    corners = (VTK[:CORNERS] + 1) // 2 * degree
    along = np.arange(1, degree)[:, None]
    edges = [corners[a] + along * (corners[b] - corners[a]) // degree for a, b in _GMSH_EDGES]
    inside = 1 + _gmsh_square(degree - 2) if degree > 1 else np.empty((0, 2), int)
    faces = [
        corners[a] + inside @ np.stack([corners[b] - corners[a], corners[d] - corners[a]]) // degree
        for a, b, _, d in _GMSH_FACES
    ]
    cell = 1 + gmsh_nodes(degree - 2) if degree > 1 else np.empty((0, AXES), int)
    return np.concatenate([corners, *edges, *faces, cell])


def _gmsh_square(degree: int) -> Integers:
    """Steps of the nodes of Gmsh's quadrangles, (nodes, 2)."""
    if degree == 0:
        return np.zeros((1, 2), int)
    corners = np.array([(0, 0), (1, 0), (1, 1), (0, 1)]) * degree
    along = np.arange(1, degree)[:, None]
    edges = [
        a + along * (b - a) // degree for a, b in zip(corners, np.roll(corners, -1, 0), strict=True)
    ]
    inside = 1 + _gmsh_square(degree - 2) if degree > 1 else np.empty((0, 2), int)
    return np.concatenate([corners, *edges, inside])


def vtk_among_gmsh(degree: int) -> Integers:
    """Indices of VTK's nodes among Gmsh's."""
    place = np.argsort(gmsh_nodes(degree) @ (degree + 1) ** np.arange(AXES))
    return np.asarray(place[lagrange_order(degree)])
