"""Spectral elements as dense matrices, the reference of the kernels; meshes and systems."""

from __future__ import annotations

from collections.abc import Callable, Collection
from itertools import permutations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundswell.arrays import Floats
from groundswell.backends import Backend
from groundswell.exchange.communicator import SerialCommunicator
from groundswell.meshes.box import Box
from groundswell.meshes.gll import gll
from groundswell.meshes.hexahedra import Hexahedra, positions
from groundswell.meshes.mesh import Mesh
from groundswell.solvers.poisson.case import MethodSection
from groundswell.solvers.poisson.equation import Equation, zero
from groundswell.solvers.poisson.linear_system import LinearSystem
from groundswell.solvers.poisson.multigrid import Cycle
from groundswell.spectral_elements.space import FunctionSpace


def space_on(mesh: Hexahedra, degree: int) -> FunctionSpace:
    """The space on all elements, on one rank."""
    return FunctionSpace.on(SerialCommunicator(), mesh, degree, np.arange(mesh.count))


def equation_of(
    screening: float = 0.0, fixed: Collection[int] = (), mean: float | None = None
) -> Equation:
    """An equation with u prescribed on sides with these tags."""
    return Equation(screening=screening, fixed=dict.fromkeys(fixed, zero), mean=mean)


def system_on(
    backend: Backend,
    space: FunctionSpace,
    equation: Equation,
    preconditioner: Any = "jacobi",
    cycle: Cycle | None = None,
) -> LinearSystem:
    """The linear system of an equation."""
    method = MethodSection(preconditioner=preconditioner)
    return LinearSystem(backend, space, equation, method, cycle=cycle)


def at_nodes(function: Callable[..., Any], space: FunctionSpace) -> Floats:
    """Values of a function of x, y and z at the nodes."""
    return np.asarray(function(*np.moveaxis(space.nodes, -1, 0)))


def derivatives(degree: int) -> list[Floats]:
    """Matrices that differentiate an element's values along r, s and t."""
    one, d = np.eye(degree + 1), gll(degree).derivative
    return [
        np.kron(np.kron(one, one), d),
        np.kron(np.kron(one, d), one),
        np.kron(np.kron(d, one), one),
    ]


def element_matrix(nodes: Floats, degree: int, screening: float) -> tuple[Floats, Floats]:
    """The operator and the diagonal mass of an element whose nodes lie here, ((N + 1)^3, 3)."""
    along = derivatives(degree)
    jacobian = np.stack([d @ nodes for d in along], axis=-1)  # (nodes, x, r)
    w = gll(degree).weights
    weights = np.kron(np.kron(w, w), w) * np.linalg.det(jacobian)
    inverse = np.linalg.inv(jacobian)  # (nodes, r, x)
    metric = weights[:, None, None] * (inverse @ inverse.transpose(0, 2, 1))
    matrix = sum(
        along[a].T @ (metric[:, a, b, None] * along[b]) for a in range(3) for b in range(3)
    )
    return matrix + screening * np.diag(weights), weights


def assembled(mesh: Hexahedra, degree: int, screening: float) -> tuple[Floats, Floats, Any]:
    """Operator and mass of the whole mesh, and the ids of their rows, in rising order."""
    everyone = np.arange(mesh.count)
    ids = mesh.ids(degree, everyone)
    unique, rows = np.unique(ids, return_inverse=True)
    rows = rows.reshape(ids.shape)
    matrix, mass = np.zeros((len(unique), len(unique))), np.zeros(len(unique))
    for nodes, row in zip(positions(mesh, degree, everyone), rows, strict=True):
        of_element, weights = element_matrix(nodes, degree, screening)
        np.add.at(matrix, np.ix_(row, row), of_element)
        np.add.at(mass, row, weights)
    return matrix, mass, unique


ROTATIONS = [
    (axes, flips)
    for axes, flips in product(permutations(range(3)), product((1, -1), repeat=3))
    if round(np.linalg.det(np.eye(3)[list(axes)] * np.array(flips))) == 1
]


def turned(cube: NDArray[Any], rotation: Any) -> NDArray[Any]:
    """Nodes of an element, (n^3, ...), in the order of its axes after a rotation."""
    axes, flips = rotation
    n = round(len(cube) ** (1 / 3))
    whole = cube.reshape(n, n, n, -1)[:: flips[0], :: flips[1], :: flips[2]]
    return whole.transpose(*axes, 3).reshape(cube.shape)


def shuffled(box: Box, rng: np.random.Generator) -> Mesh:
    """A box as a mesh: corners and elements in any order, elements in any orientation."""
    order = rng.permutation(box.count)
    rename = rng.permutation(int(np.prod([n + 1 for n in box.counts])))
    chosen = rng.integers(len(ROTATIONS), size=box.count)
    corners, nodes = rename[box.ids(1, order)], box.geometry_nodes(order)
    of = [ROTATIONS[n] for n in chosen]
    return Mesh(
        np.stack([turned(c, r) for c, r in zip(corners, of, strict=True)]),
        np.stack([turned(p, r) for p, r in zip(nodes, of, strict=True)]),
        box.order,
    )
