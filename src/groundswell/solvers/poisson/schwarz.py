"""Every element's own inverse of what is nearly its part of the operator, all added up.

If an element is a box and its neighbours are like it, the rows and columns of A that belong to its
nodes are c_r K x M x M + c_s M x K x M + c_t M x M x K + m M x M x M: with stretches c, the mass m,
and the stiffness K and mass M of a line of nodes, to whose ends neighbours add as much as is there.
Modes of K along each axis make a diagonal of that (Lynch, Rice & Thomas 1964, Numer. Math. 6).
Elements overlap in the nodes that they share, where each counts as much as the others (additive
Schwarz; Lottes & Fischer 2005, J. Sci. Comput. 24).

Elements of any shape are taken for such boxes. Along an axis of a slanted one G_rr is what a change
costs if the other axes stand still, and 1 / (G^-1)_rr if they give way: c is the geometric mean of
both over the element. The result is scaled so that its diagonal is A's.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import DTypeLike
from scipy import linalg

from groundswell.backends import Array, Backend, Blocks, Constant, Launch, Source
from groundswell.backends.source import precision
from groundswell.exchange.world import World
from groundswell.meshes.gll import gll
from groundswell.meshes.hexahedra import Floats, Numbers
from groundswell.spectral_elements.elements import braced
from groundswell.spectral_elements.geometry import Geometry
from groundswell.spectral_elements.overlap import Messages, hidden, turns
from groundswell.spectral_elements.space import Space

KERNELS = Path(__file__).with_name("kernels")

THREADS = 128  # of a block, at the least, on a machine that has some: from several small elements


class Schwarz(Messages):
    """Makes z of r, both assembled. All ranks must make it and run it together.

    Args:
        stretches: of elements along r, s, t, and their mass times the screening, (elements, 4).
        diagonal: A's, times how many elements share each node, assembled; 0 for values that are
            prescribed: z is 0 there.
        r: those that other ranks own are filled in.
        z: of which those that this rank owns are made.
    """

    def __init__(
        self,
        backend: Backend,
        world: World,
        space: Space,
        stretches: Floats,
        diagonal: Floats,
        r: Array,
        z: Array,
    ) -> None:
        local = backend.zeros((space.places.size,), r.dtype)
        self._halo = space.operation(backend, world, "halo", r, r)
        self._gather = space.operation(backend, world, "gather", local, z)
        module = backend.compile(schwarz_source(r.dtype, space.degree))
        own = diagonal[space.places]
        with np.errstate(divide="ignore"):
            scale = np.where(own > 0, np.sqrt(box_diagonal(stretches, space.degree) / own), 0.0)
        tables = [backend.to_device(np.asarray(t, r.dtype)) for t in (scale, stretches)]
        places = backend.to_device(space.places.astype("i4"))

        def work(some: Numbers) -> list[Launch]:
            numbers = backend.to_device(some.astype("i4"))
            arguments = (r, places, *tables, local, numbers, len(some))
            extent = blocks_for(len(some), space.degree)
            return [module.launch("solve_elements", extent, *arguments)] if len(some) else []

        first, outer, second = map(work, turns(backend, space))
        self.launches = hidden(backend, self._halo, self._gather, first, outer, second)


def stretches_of(geometry: Geometry, degree: int, screening: float) -> Floats:
    """What elements are stretched by along r, s, t, and the screening's part, (elements, 4)."""
    weights = gll(degree).weights_of_cubes
    rr, rs, rt, ss, st, tt = np.moveaxis(geometry.factors / weights, 1, 0)
    minors = [ss * tt - st**2, rr * tt - rt**2, rr * ss - rs**2]
    determinant = rr * minors[0] - rs * (rs * tt - rt * st) + rt * (rs * st - rt * ss)
    # Half of the logarithm of G_rr / (G^-1)_rr, and its mean over the element, of volume 8.
    logs = [np.log(g * determinant / m) / 2 for g, m in zip((rr, ss, tt), minors, strict=True)]
    along = [np.exp(log @ weights / 8) for log in logs]
    return np.stack([*along, screening * geometry.mass.sum(axis=1) / 8], axis=1)


def line(degree: int) -> tuple[Floats, Floats]:
    """Stiffness, (N + 1, N + 1), and mass, (N + 1,), of nodes whose neighbours are like them."""
    points = gll(degree)
    stiffness, mass = (
        points.derivative.T * points.weights @ points.derivative,
        points.weights.copy(),
    )
    ends = [0, degree]
    stiffness[ends, ends] *= 2
    mass[ends] *= 2
    return stiffness, mass


def modes(degree: int) -> tuple[Floats, Floats]:
    """Eigenvalues, (N + 1,), and modes, columns of (N + 1, N + 1), of a line's K v = e M v."""
    stiffness, mass = line(degree)
    values, vectors = linalg.eigh(stiffness, np.diag(mass))
    return values, vectors


def box_diagonal(stretches: Floats, degree: int) -> Floats:
    """The diagonal of what elements are taken for, (elements, (N + 1)^3)."""
    stiffness, m = line(degree)
    k = np.diag(stiffness)
    axes = [(m, m, k), (m, k, m), (k, m, m), (m, m, m)]
    cubes = [np.einsum("t,s,r->tsr", *factors).ravel() for factors in axes]
    return stretches @ np.stack(cubes)


def elements_at_once(degree: int) -> int:
    """Of a block: several if they are small."""
    return max(1, THREADS // (degree + 1) ** 2)


def blocks_for(count: int, degree: int) -> Blocks:
    """A launch for so many elements whose blocks have a thread for each line of nodes."""
    together = elements_at_once(degree)
    return Blocks(-(-count // together), together * (degree + 1) ** 2)


def schwarz_source(dtype: DTypeLike, degree: int) -> Source:
    """The kernel for values of a type and degree."""
    values, vectors = modes(degree)
    double = precision(dtype)
    constants: dict[str, Constant] = {
        "NODES": degree + 1,
        "ELEMENTS": elements_at_once(degree),
        "EIGENVALUES": braced(values),
        "MODES": braced(vectors),
        "TRANSPOSED": braced(vectors.T),
    }
    return Source(KERNELS / "schwarz.h", {**double, **constants})
