"""Point sources as smooth loads on the elements around them.

A delta function has parts that polynomials of the elements cannot represent. They depend on where
the source lies in its element, and act as further sources. A load that the elements resolve, with
the moments of the delta function, excites the same waves outside its support: of order m, it
weights waves of wavenumber k by 1 + O(k^(m + 1)) (Waldén 1999, Numer. Methods Partial Differ. Equ.
15:497; Tornberg & Engquist 2004, J. Comput. Phys. 200:462). It is a polynomial times a window, as
reproducing kernels are (Liu, Jun & Zhang 1995, Int. J. Numer. Methods Fluids 20:1081), so it keeps
its moments where it meets a boundary.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from numpy.polynomial.hermite_e import hermevander
from numpy.polynomial.legendre import legvander
from numpy.typing import NDArray

from groundswell.meshes.gll import gll
from groundswell.meshes.hexahedra import AXES, Numbers, interpolate
from groundswell.solvers.dgwave import check
from groundswell.solvers.dgwave.source_reach import reach
from groundswell.spectral_elements.curl_form import element_nodes, jacobians
from groundswell.spectral_elements.point_location import bounding_boxes, pairs_in_boxes, tangents_at

if TYPE_CHECKING:
    from groundswell.solvers.dgwave.setup import Setup

Floats = NDArray[np.float64]

SHARPNESS = 12  # exponent of the window
FAINT = 1e-4  # value of the window below which an element has no load
MOMENTS = 6  # order up to which moments are exact, if the elements are enough
COARSER = 2.0  # ratio up to which a window is wider next to larger elements
CONTRAST = 0.25  # difference of materials, as a logarithm, from which on a load does not cross it
# Weights of the Legendre polynomials of degrees N and N - 1 along each axis of an element. The
# derivative of the first vanishes at the inner nodes, so it would neither propagate nor decay;
# stresses of the second relax slowly by the Riemann flux.
WEIGHTS = (0.0, 0.5)
SINGULAR = 1e-5  # reciprocal of the condition from which on moments are not independent


@dataclass(frozen=True, eq=False)
class Load:
    """A load with the moments of a delta function.

    Args:
        elements: the elements that it covers, (elements,).
        values: at their nodes, (elements, nodes), 1/m^3.
    """

    elements: Numbers
    values: Floats


def point_loads(setup: Setup, own: NDArray[np.bool_]) -> Iterator[tuple[int, Load]]:
    """Yield the loads of the sources that cover chosen elements, with the source's number.

    Args:
        own: which elements are chosen, (elements of all ranks,).
    """
    points = np.array([source.position for source in setup.sources]).reshape(-1, AXES)
    leaves, places = setup.locate(points)
    centres, frames = setup.place(points), tangents_at(setup.hexahedra, leaves, places)
    boxes = bounding_boxes(setup.hexahedra, np.arange(setup.count))
    radii = np.array([2 * reach(setup, source) for source in setup.sources])  # of -1 to 1
    reaches = COARSER * radii[:, None] * np.linalg.norm(frames, axis=2)
    largest = reaches.max(axis=0, initial=0)
    which, near = pairs_in_boxes(boxes[0] - largest, boxes[1] + largest, centres)
    for n, elements in enumerate(np.split(near, np.searchsorted(which, np.arange(1, len(points))))):
        close = (boxes[0][elements] <= centres[n] + reaches[n]) & (
            boxes[1][elements] >= centres[n] - reaches[n]
        )
        candidates = elements[close.all(axis=1)]
        if own[candidates].any():
            frame = frames[n] * radii[n]
            yield n, _load(setup, int(leaves[n]), candidates, centres[n], frame)


def _load(setup: Setup, leaf: int, candidates: Numbers, centre: Floats, frame: Floats) -> Load:
    """The load of a source in the element `leaf`, with the axes `frame` of the window, (3, 3)."""
    elements, similar = _connected(setup, leaf, candidates)
    nodes = element_nodes(setup.hexahedra, setup.degree, elements)
    places = (nodes - centre) @ np.linalg.inv(frame).T
    places /= _growth(places, elements == leaf)
    window = (1 - (places**2).sum(axis=-1)).clip(0) ** SHARPNESS
    used = window.max(axis=1) > FAINT
    weighted = (window * similar[:, None])[used] * _volumes(setup, elements[used])
    values = _moment_matched(places[used], weighted, setup.degree)
    return Load(elements[used], values / _volumes(setup, elements[used]))


def _connected(setup: Setup, leaf: int, candidates: Numbers) -> tuple[Numbers, Floats]:
    """The elements over which a load may extend, and their weights: of nearly the same material.

    Derivatives of the waves jump where materials do, and nothing reaches the medium from outside.
    """
    elements = check.in_region(setup, candidates)
    elements = elements if leaf in elements else candidates
    material, here = setup.material(elements), setup.material(np.array([leaf]))
    difference = np.zeros(len(elements))
    for name in ("vp", "vs", "rho"):
        there, at = getattr(material, name), getattr(here, name)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(there == at, 0.0, np.abs(np.log(there / at)))
        difference = np.maximum(difference, ratio)
    weights = (1 - (difference / CONTRAST) ** 2).clip(0) ** 2
    return elements[weights > 0], weights[weights > 0]


def _growth(places: Floats, is_own: NDArray[np.bool_]) -> Floats:
    """Ratio by which the window is wider because of larger elements in it, (3,)."""
    inside = ((places**2).sum(axis=-1) < 1).any(axis=1) | is_own
    spans = np.ptp(places, axis=1)
    ratio = spans[inside].max(axis=0) / spans[is_own].max(axis=0)
    return np.asarray(ratio.clip(1.0, COARSER))


def _volumes(setup: Setup, elements: Numbers) -> Floats:
    """Jacobians at the nodes of elements, (elements, nodes or 1), m^3."""
    if setup.is_curved:
        return jacobians(np.asarray(setup.shapes.metrics(elements, "float64"), np.float64))
    return np.prod(setup.edges[elements] / 2, axis=1, keepdims=True)


def _moment_matched(places: Floats, weighted: Floats, degree: int) -> Floats:
    """Values times Jacobians of the load with the moments of a delta function at the origin.

    It is the one with the least norm, of all without the highest polynomials.

    Args:
        places: of the nodes, relative to the source and in units of the window, (elements, nodes,
            3).
        weighted: window times Jacobian, (elements, nodes).
    """
    smooth, root = smoothing(degree), np.sqrt(weighted / gll(degree).cube_weights)
    tests = interpolate(_polynomials(places), smooth)
    tests *= (root * gll(degree).cube_weights)[..., None]
    values = _least_norm(tests.reshape(-1, tests.shape[-1])).reshape(root.shape) * root
    return np.asarray(interpolate(values[..., None], smooth)[..., 0])


def _least_norm(tests: Floats) -> Floats:
    """The least vector with the moments of a delta function, of as many orders as are independent.

    Args:
        tests: whose products with the vector are the moments, (n, moments), orders ascending.
    """
    orders, wanted = _powers(MOMENTS).sum(axis=1), _polynomials(np.zeros(AXES))
    gram = tests.T @ tests
    for order in range(MOMENTS, -1, -1):
        count = int(np.searchsorted(orders, order, side="right"))
        spectrum = np.linalg.eigvalsh(gram[:count, :count])
        if spectrum[0] > SINGULAR * spectrum[-1]:
            break
    used, inverse = tests[:, :count], np.linalg.inv(gram[:count, :count])
    found = used @ (inverse @ wanted[:count])
    return np.asarray(found + used @ (inverse @ (wanted[:count] - used.T @ found)))


def _polynomials(places: Floats) -> Floats:
    """Polynomials of ascending order, nearly orthonormal in a whole window, (..., polynomials).

    They are products of Hermite polynomials, as the window is nearly a Gaussian function.
    """
    degrees = np.arange(MOMENTS + 1)
    scale = 1 / np.sqrt(np.cumprod(np.maximum(degrees, 1.0)))
    lines = hermevander(places * np.sqrt(2 * SHARPNESS + AXES + 2), MOMENTS) * scale
    x, y, z = _powers(MOMENTS).T
    return np.asarray(lines[..., 0, x] * lines[..., 1, y] * lines[..., 2, z])


@cache
def smoothing(degree: int) -> Floats:
    """The matrix that applies WEIGHTS to nodal values on a line, (N + 1, N + 1)."""
    weights = np.ones(degree + 1)
    highest = WEIGHTS[: max(1, degree - 1)]  # polynomials of degree 0, or 1, remain
    weights[degree + 1 - len(highest) :] = highest[::-1]
    modes = legvander(gll(degree).points, degree)
    return np.asarray((modes * weights) @ np.linalg.inv(modes))


@cache
def _powers(order: int) -> Numbers:
    """Exponents of the monomials of x, y, z up to an order, ascending, (monomials, 3)."""
    found = [p for p in product(range(order + 1), repeat=AXES) if sum(p) <= order]
    return np.array(sorted(found, key=lambda p: (sum(p), p)))
