"""Domains, and an exact solution on all of them."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from groundswell.backends import Backend
from groundswell.exchange.communicator import SerialCommunicator
from groundswell.exchange.gather_scatter.sharing import hash_ids
from groundswell.meshes.box import Box
from groundswell.meshes.hexahedra import Floats, Hexahedra, face_nodes
from groundswell.meshes.mesh import Mesh
from groundswell.meshes.node_orders import tensor_order
from groundswell.meshes.reading import read_mesh
from groundswell.solvers.poisson.boundary_value_problem import BoundaryValueProblem
from groundswell.solvers.poisson.case import MethodSection
from groundswell.solvers.poisson.equation import Equation
from groundswell.spectral_elements.boundary import Function
from groundswell.spectral_elements.space import FunctionSpace

EVERY_SIDE = (1, 2, 3, 4, 5, 6)
QUAD = [0, 2, 8, 6, 1, 5, 7, 3, 4]  # places of meshio's nodes of a face among ours


def solution(x: Floats, y: Floats, z: Floats) -> Floats:
    """A smooth u without symmetries that could hide an error."""
    return np.asarray(np.sin(2 * x + 0.3) * np.cos(1.5 * y) * np.exp(0.5 * z))


def source(screening: float) -> Function:
    """-div grad u + lambda u."""
    return lambda x, y, z: (4 + 2.25 - 0.25 + screening) * solution(x, y, z)


def gradient(x: Floats, y: Floats, z: Floats) -> Floats:
    """The gradient of u, (..., 3)."""
    along_x = 2 * np.cos(2 * x + 0.3) * np.cos(1.5 * y)
    along_y = -1.5 * np.sin(2 * x + 0.3) * np.sin(1.5 * y)
    along_z = 0.5 * np.sin(2 * x + 0.3) * np.cos(1.5 * y)
    return np.stack([along_x, along_y, along_z], axis=-1) * np.exp(0.5 * z)[..., None]


def whole_space(mesh: Hexahedra, degree: int) -> FunctionSpace:
    """The space on all elements, on one rank."""
    return FunctionSpace.on(SerialCommunicator(), mesh, degree, np.arange(mesh.count))


def noise_on(space: FunctionSpace) -> Floats:
    """Noise at each node, the same for any number of ranks, (elements, (N + 1)^3)."""
    return np.asarray(hash_ids(space.sharing.ids) / 2.0**64 - 0.5)[space.dofs]


def largest_error(
    backend: Backend,
    space: FunctionSpace,
    equation: Equation,
    tolerance: float,
    exact: Function = solution,
) -> float:
    """The largest error at a node of a computed solution."""
    problem = BoundaryValueProblem(backend, space, equation, MethodSection())
    values, _ = problem.solve(problem.evaluate(), tolerance)
    error, _ = problem.measure_errors(values, exact)
    problem.close()
    return error


def bent(points: Floats) -> Floats:
    """A smooth deformation of the unit cube, including its sides."""
    x, y, z = np.moveaxis(points, -1, 0)
    wave = 0.06 * np.sin(2 * x + 0.3) * np.cos(y) * np.cos(1.5 * z)
    return points + np.stack([wave, -0.6 * wave, 0.8 * wave * x], axis=-1)


def from_gmsh() -> Mesh:
    """A bent cube of 27-node hexahedra, read from a file; its side has the tag 1."""
    import meshio

    box = Box((2, 2, 2), deform=bent, order=2)
    everyone = np.arange(box.count)
    ids = box.ids(2, everyone)
    points = np.empty((ids.max() + 1, 3))
    points[ids] = box.geometry_nodes(everyone)
    tags = box.tags(everyone)
    faces = [ids[tags[:, face] > 0][:, face_nodes(2, face)[QUAD]] for face in range(6)]
    cells = [("hexahedron27", ids[:, np.argsort(tensor_order(27))])]
    cells.append(("quad9", np.concatenate(faces)))
    groups = [np.full(len(nodes), 2 - n) for n, (_, nodes) in enumerate(cells)]
    data = {"gmsh:physical": groups, "gmsh:geometrical": groups}
    with TemporaryDirectory() as folder:
        path = Path(folder) / "bent.msh"
        meshio.gmsh.write(path, meshio.Mesh(points, cells, cell_data=data), "2.2", binary=False)
        return read_mesh(path)[0]
