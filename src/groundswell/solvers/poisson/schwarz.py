"""Additive Schwarz: approximate inverses of the operator on each element, added up.

If an element and its neighbours are equal boxes, the rows and columns of A that belong to its nodes
are c_r K x M x M + c_s M x K x M + c_t M x M x K + m M x M x M, with coefficients c and m, and the
stiffness K and mass M of a line of nodes, to whose ends the neighbours add their parts. The modes
of K diagonalise this matrix (Lynch, Rice & Thomas 1964, Numer. Math. 6). Elements overlap in shared
nodes, where each has the same weight (Lottes & Fischer 2005, J. Sci. Comput. 24).

Other elements are approximated by such boxes. Along an axis of a slanted element, G_rr is the
stiffness if the other axes are fixed, and 1 / (G^-1)_rr if they are free; c is the geometric mean
of both over the element. The result is scaled so that its diagonal is that of A.
"""

from __future__ import annotations

from copy import copy
from pathlib import Path

import numpy as np
from numpy.typing import DTypeLike
from scipy import linalg

from groundswell.arrays import DeviceArray, Integers
from groundswell.backends import Backend, Constant, Launch, Source
from groundswell.backends.host_threads import converted
from groundswell.backends.launch import KernelArguments
from groundswell.backends.source import precision
from groundswell.linear.operators import pitches
from groundswell.meshes.gll import gll
from groundswell.meshes.hexahedra import Floats
from groundswell.solvers.poisson.geometric_factors import GeometricFactors
from groundswell.spectral_elements.element_kernels import (
    elements_per_block,
    initializer,
    launch_on_elements,
)
from groundswell.spectral_elements.geometry import tabulate
from groundswell.spectral_elements.overlap import NodalExchange
from groundswell.spectral_elements.space import FunctionSpace

KERNELS = Path(__file__).with_name("kernels")


class Schwarz(NodalExchange):
    """Computes z from r, both assembled. All ranks must make it and run it together.

    Args:
        stretches: see `compute_stretches`.
        diagonal: of A, times the number of elements at each node, assembled; 0 for prescribed
            values, where z is 0.
        r: with copies of other ranks' values.
        z: copies of other ranks' values are computed, too.

    Attributes:
        launches: the launches that compute z.
    """

    def __init__(
        self,
        backend: Backend,
        space: FunctionSpace,
        stretches: Floats,
        diagonal: Floats,
        r: DeviceArray,
        z: DeviceArray,
    ) -> None:
        self._backend, self._space = backend, space
        scale = converted(box_scales(space, stretches, diagonal), r.dtype)
        self._boxes = {
            "dofs": space.dofs_on(backend),
            "scale": backend.to_device(scale),
            "stretches": backend.to_device(np.asarray(stretches, r.dtype)),
        }
        self._connect(r, z)

    def between(self, r: DeviceArray, z: DeviceArray) -> Schwarz:
        """The same between other arrays, (values,) or (components, values), to be closed, too."""
        other = copy(self)
        other._connect(r, z)
        return other

    def _connect(self, r: DeviceArray, z: DeviceArray) -> None:
        backend, space = self._backend, self._space
        local = backend.zeros((*r.shape[:-1], space.dofs.size), r.dtype)
        super().__init__(space.operation(backend, "gather-all", local, z))
        components, r_pitch, z_pitch = pitches(r, local)
        module = backend.compile(schwarz_source(r.dtype, space.degree, components))
        arrays: KernelArguments = {**self._boxes, "r": r, "r_pitch": r_pitch}
        arrays |= {"z": local, "z_pitch": z_pitch}

        def solve(chosen: Integers) -> list[Launch]:
            return launch_on_elements(
                backend, module, "solve_elements", space.degree, chosen, **arrays
            )

        self.launches = self.overlap(backend, space, solve)


def compute_stretches(geometry: GeometricFactors) -> Floats:
    """Coefficients of the stiffness along r, s and t, and of the mass, (elements, 4).

    They contain the geometric mean of k and the mean of c over the element. Heat transfer through
    sides is left out: it is concentrated on them, where the diagonal accounts for it.
    """
    weights = gll(geometry.degree).cube_weights
    rr, rs, rt, ss, st, tt = np.moveaxis(geometry.factors / weights, 1, 0)
    minors = [ss * tt - st**2, rr * tt - rt**2, rr * ss - rs**2]
    determinant = rr * minors[0] - rs * (rs * tt - rt * st) + rt * (rs * st - rt * ss)
    # Half of the logarithm of G_rr / (G^-1)_rr, and its mean over the reference element.
    logs = [np.log(g * determinant / m) / 2 for g, m in zip((rr, ss, tt), minors, strict=True)]
    along = [np.exp(log @ weights / 8) for log in logs]
    screened = (geometry.screening * geometry.mass).sum(axis=1)
    return np.stack([*along, screened / 8], axis=1)


def line_matrices(degree: int) -> tuple[Floats, Floats]:
    """Stiffness, (N + 1, N + 1), and mass, (N + 1,), of a line between two like it."""
    points = gll(degree)
    stiffness = points.derivative.T * points.weights @ points.derivative
    mass = points.weights.copy()
    ends = [0, degree]
    stiffness[ends, ends] *= 2
    mass[ends] *= 2
    return stiffness, mass


def line_modes(degree: int) -> tuple[Floats, Floats]:
    """Eigenvalues, (N + 1,), and modes, columns of (N + 1, N + 1), of K v = e M v on a line."""
    stiffness, mass = line_matrices(degree)
    values, vectors = linalg.eigh(stiffness, np.diag(mass))
    return values, vectors


def box_diagonal(stretches: Floats, degree: int) -> Floats:
    """The diagonal of the boxes that approximate elements, (elements, (N + 1)^3)."""
    stiffness, m = line_matrices(degree)
    k = np.diag(stiffness)
    axes = [(m, m, k), (m, k, m), (k, m, m), (m, m, m)]
    cubes = [np.einsum("t,s,r->tsr", *factors).ravel() for factors in axes]
    return stretches @ np.stack(cubes)


def box_scales(space: FunctionSpace, stretches: Floats, diagonal: Floats) -> Floats:
    """Factors of r and z that give the boxes the diagonal of A, (elements, (N + 1)^3)."""

    def compute(some: Integers) -> tuple[Floats]:
        target = diagonal[space.dofs[some]]
        with np.errstate(divide="ignore"):
            ratio = box_diagonal(stretches[some], space.degree) / target
        return (np.where(target > 0, np.sqrt(ratio), 0.0),)

    return tabulate(compute, len(stretches), space.dofs.shape[1])[0]


def schwarz_source(dtype: DTypeLike, degree: int, components: int = 1) -> Source:
    """The kernel for a type, a degree and a number of components."""
    values, vectors = line_modes(degree)
    constants: dict[str, Constant] = {
        **precision(dtype),
        "NODES": degree + 1,
        "COMPONENTS": components,
        "ELEMENTS": elements_per_block(degree),
        "EIGENVALUES": initializer(values),
        "MODES": initializer(vectors),
        "TRANSPOSED": initializer(vectors.T),
    }
    return Source(KERNELS / "schwarz.h", constants)
