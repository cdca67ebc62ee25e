"""Correction along lines through flat elements, for multigrid.

Where elements are much shorter along one axis, nodes along it are strongly coupled, also from one
element to the next. Values that are constant along such lines, but vary within elements across
them, are damped neither by smoothing, whose elements see only their own nodes, nor on lower
degrees. The functions that are constant along each line span the space of this correction, as in
algebraic multigrid, which aggregates strongly coupled nodes (Vanek, Mandel & Brezina 1996,
Computing 56). It is added to that of the lower degrees, so the cycle stays symmetric.
"""

from __future__ import annotations

from copy import copy
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from groundswell.arrays import DeviceArray, Integers
from groundswell.backends import Launch
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.gather_scatter.sharing import find_sharing
from groundswell.linear.chebyshev import Chebyshev
from groundswell.linear.coarse import CoarseSolver
from groundswell.linear.operators import Composite, VectorLayout, convert
from groundswell.linear.sparse import SparseProduct
from groundswell.meshes.box import Box
from groundswell.meshes.gll import gll
from groundswell.meshes.hexahedra import AXES, Floats, Hexahedra
from groundswell.solvers.poisson.coefficients import Coefficients
from groundswell.solvers.poisson.equation import DiscreteEquation
from groundswell.solvers.poisson.geometric_factors import (
    PAIRS,
    GeometricFactors,
    integrate_sides,
)
from groundswell.solvers.poisson.operator import Operator
from groundswell.spectral_elements.geometry import chunks
from groundswell.spectral_elements.space import FunctionSpace

FLAT = 12.0  # longest over shortest edge, above which multigrid alone takes over 15 iterations
MAX_LINES = 50_000  # of all ranks: one rank factorises their matrix, in about 1 GB


class Lines(NamedTuple):
    """Lines of nodes through flat elements, numbered by the smallest id of their nodes.

    Args:
        of_nodes: the line of each of the rank's assembled values, -1 on no line.
        of_elements: lines of each flat element, (elements, (N + 1)^2): along the lower of the other
            two axes first.
        flat: indices of the flat elements among the rank's, (elements,).
        axis: their shortest axis, (elements,).
    """

    of_nodes: Integers
    of_elements: Integers
    flat: Integers
    axis: Integers


class LineCorrection(Composite):
    """Adds to x the correction for a residual. All ranks must make it and run it together.

    Args:
        vectors: layout of r and x.
        of_nodes: see `Lines`.
        stacks: see `sum_stacks`.
        blocked: the lines of all ranks that are left out.
        r: assembled residual, of which this rank's own values are read.
        x: assembled values, with copies of other ranks' values.
    """

    in_graph = False  # the host solves

    def __init__(
        self,
        vectors: VectorLayout,
        of_nodes: Integers,
        stacks: tuple[Integers, Floats],
        blocked: Integers,
        r: DeviceArray,
        x: DeviceArray,
    ) -> None:
        sharing, backend = find_sharing(vectors.comm, stacks[0].ravel()), vectors.backend
        ids, nodes = sharing.ids, np.flatnonzero(of_nodes >= 0)
        layout = VectorLayout(backend, vectors.comm, len(ids), len(ids), "float64")
        solver = CoarseSolver(layout, sharing, stacks[1], np.isin(ids, blocked))
        order = np.argsort(ids)
        lines = order[np.searchsorted(ids[order], of_nodes[nodes])]
        # By node and line; each node has one value, which its owner adds to the sum of the line.
        ones, shape = np.ones(len(nodes)), (len(of_nodes), len(ids))
        whole = sparse.csr_array((ones, (nodes, lines)), shape=shape)
        values = backend.zeros((len(ids),), r.dtype)
        self._backend, self._solver = backend, solver
        self._down = SparseProduct(backend, whole[: vectors.own].T, r, values)
        self._up = SparseProduct(backend, whole, values, x, add=True)
        self._connect(r, x)

    def for_components(self, r: DeviceArray, x: DeviceArray) -> LineCorrection:
        """The same for r and x of several components."""
        several = copy(self)
        several._solver = self._solver.for_components(len(r))
        several._connect(r, x)
        return several

    def _connect(self, r: DeviceArray, x: DeviceArray) -> None:
        backend, solver = self._backend, self._solver
        values, count = backend.zeros(solver.b.shape, r.dtype), solver.b.shape[-1]
        self.parts = [solver]
        self.launches: list[Launch] = [
            *self._down.between(r, values),
            *convert(backend, values, solver.b, count),
            *solver.launches,
            *convert(backend, solver.x, values, count),
            *self._up.between(values, x),
        ]


def correct_lines(
    space: FunctionSpace,
    shortest: Integers,
    equation: DiscreteEquation,
    operator: Operator,
    smoother: Chebyshev,
) -> list[LineCorrection]:
    """The correction between smoothing steps; None if the boundary fixes all lines. Collective.

    Args:
        shortest: see `shortest_axes`.
    """
    comm, coefficients = space.comm, equation.on(space).coefficients
    lines = find_lines(space, shortest)
    others = np.broadcast_to((shortest < 0)[:, None], space.dofs.shape).astype(float)
    is_blocked = ((operator.assemble(others) > 0) | (operator.mask == 0)) & (lines.of_nodes >= 0)
    every, blocked = (
        np.unique(np.concatenate(comm.allgather(np.unique(found))))
        for found in (lines.of_elements, lines.of_nodes[is_blocked])
    )
    determined = comm.allgather(len(coefficients.determined(len(space.elements))))
    if not len(blocked) and not any(determined):
        blocked = every[:1]  # any constant may be added
    if len(blocked) == len(every) or len(every) > MAX_LINES:
        return []
    stacks = sum_stacks(space, lines, coefficients)
    r, x = smoother.r, smoother.x
    return [LineCorrection(smoother.vectors, lines.of_nodes, stacks, blocked, r, x)]


def shortest_axes(stretches: Floats) -> Integers:
    """The shortest axis of each flat element, -1 of others, (elements,).

    Args:
        stretches: see `compute_stretches`: proportional to 1 / length^2 along each axis.
    """
    along = stretches[:, :AXES]
    is_flat = along.max(axis=1) > FLAT**2 * along.min(axis=1)
    return np.where(is_flat, along.argmax(axis=1), -1)


def looks_flat(mesh: Hexahedra) -> bool:
    """Whether a mesh has flat elements, judged by the edges between their corners."""
    is_uniform = isinstance(mesh, Box) and mesh.deform is None
    numbers, step = np.arange(1 if is_uniform else mesh.count), mesh.order
    for part in chunks(len(numbers), (step + 1) ** AXES):
        nodes = mesh.geometry_nodes(numbers[part]).reshape(-1, *(step + 1,) * AXES, AXES)
        corners = nodes[:, ::step, ::step, ::step]
        edges = [np.linalg.norm(np.diff(corners, axis=a), axis=-1) for a in range(1, 1 + AXES)]
        lengths = np.stack([edge.reshape(len(nodes), -1).mean(axis=1) for edge in edges])
        if (lengths.max(axis=0) > FLAT * lengths.min(axis=0)).any():
            return True
    return False


def find_lines(space: FunctionSpace, shortest: Integers) -> Lines:
    """The lines of nodes along the shortest axes of flat elements; collective."""
    n, flat = space.degree + 1, np.flatnonzero(shortest >= 0)
    axis = shortest[flat]
    cubes = space.dofs[flat].reshape(-1, n, n, n)
    each = np.empty((len(flat), n * n, n), np.int64)
    for a in range(AXES):
        chosen = axis == a
        each[chosen] = np.moveaxis(cubes[chosen], AXES - a, -1).reshape(-1, n * n, n)
    links = (each[..., :-1].ravel(), each[..., 1:].ravel())
    labels = _smallest_linked(space.sharing.ids, *links)
    shared = space.sharing.shared
    labels = _join_ranks(space.comm, space.sharing.ids[shared], labels[shared], labels)
    on_line = np.zeros(space.size, bool)
    on_line[each.ravel()] = True
    return Lines(np.where(on_line, labels, -1), labels[each[..., 0]], flat, axis)


def sum_stacks(
    space: FunctionSpace, lines: Lines, coefficients: Coefficients
) -> tuple[Integers, Floats]:
    """Lines of each stack of flat elements, (stacks, m), and its matrix for their values."""
    n, rows, matrices = space.degree + 1, [], []
    shapes, sides = space.shapes, integrate_sides(space.shapes, coefficients)
    for a in range(AXES):
        chosen = np.flatnonzero(lines.axis == a)
        stacks, which = np.unique(lines.of_elements[chosen], axis=0, return_inverse=True)
        sums = np.zeros((len(stacks), len(PAIRS) + 1, n * n))
        for part in chunks(len(chosen), n**AXES):
            elements = lines.flat[chosen[part]]
            of = (shapes, space.degree, elements, coefficients, sides)
            geometry = GeometricFactors.of_few(*of)
            values = np.concatenate([geometry.factors, geometry.reaction[:, None]], axis=1)
            cubes = values.reshape(len(elements), len(PAIRS) + 1, n, n, n)
            along = cubes.sum(axis=1 + AXES - a).reshape(-1, len(PAIRS) + 1, n * n)
            np.add.at(sums, which.ravel()[part], along)
        rows.append(stacks)
        matrices.append(_matrices(sums, a, space.degree))
    return np.concatenate(rows), np.concatenate(matrices)


def _matrices(sums: Floats, axis: int, degree: int) -> Floats:
    """Matrices across an axis from factors and reaction that are summed along it, (n, m, m)."""
    n, d = degree + 1, gll(degree).derivative
    first, second = np.kron(np.eye(n), d), np.kron(d, np.eye(n))  # derivatives along the others
    p, q = (other for other in range(AXES) if other != axis)
    pp, pq, qq = (sums[:, PAIRS.index(pair), :, None] for pair in ((p, p), (p, q), (q, q)))
    along = first.T @ (pp * first + pq * second) + second.T @ (pq * first + qq * second)
    return np.asarray(along + sums[:, -1, :, None] * np.eye(n * n))


def _smallest_linked(ids: Integers, first: Integers, second: Integers) -> Integers:
    """For each value, the smallest id of those that links connect it with."""
    count = len(ids)
    graph = sparse.coo_array((np.ones(len(first), np.int8), (first, second)), shape=(count, count))
    parts, part = connected_components(graph, directed=False)
    smallest = np.full(parts, np.iinfo(np.int64).max)
    np.minimum.at(smallest, part, ids)
    return np.asarray(smallest[part])


def _join_ranks(comm: Communicator, ids: Integers, theirs: Integers, labels: Integers) -> Integers:
    """Labels of lines that go through several ranks: the smallest of those at shared ids."""
    pairs = comm.allgather((ids, theirs))
    if len(pairs) == 1:
        return labels
    nodes, found = (np.concatenate(each) for each in zip(*pairs, strict=True))
    known, (a, b) = np.unique(np.stack([nodes, found]), return_inverse=True)
    joined = _smallest_linked(known, *(np.asarray(each).ravel() for each in (a, b)))
    at = np.searchsorted(known, labels).clip(max=max(len(known) - 1, 0))
    is_known = known[at] == labels if len(known) else np.zeros(len(labels), bool)
    return np.where(is_known, joined[at] if len(known) else labels, labels)
