"""From a set-up to what one rank solves: materials, boundaries, damping layers and sources."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from groundswell.meshes.gll import gll
from groundswell.meshes.hexahedra import AXES, Numbers
from groundswell.meshes.octree_faces import QUARTERS
from groundswell.seismology.media.material import Material
from groundswell.seismology.sources.point_sources import PointSource
from groundswell.solvers.dgwave.elements import OUTSIDE, WHOLE, RankElements
from groundswell.solvers.dgwave.equations import (
    ABSORBING,
    FREE_SURFACE,
    RIGID,
    FaceSides,
)
from groundswell.solvers.dgwave.propagation import Discretisation
from groundswell.solvers.dgwave.terms import ElementSource, Terms

if TYPE_CHECKING:
    from groundswell.solvers.dgwave.setup import Setup

Floats = NDArray[np.float64]

REFLECTION = {
    "free-surface": FREE_SURFACE,
    "rigid": RIGID,
    "absorbing": ABSORBING,
    "damping": ABSORBING,  # behind the layer
    "periodic": ABSORBING,  # no face has it
}
TENSOR = (0, 1, 2, 5, 4, 3)  # of a moment (xx, yy, zz, xy, xz, yz) in the order of the stresses

# Damping rises with this power of the depth in a layer, and lets a wave at normal incidence return
# with this amplitude.
EXPONENT, RETURNED = 2, 1e-5

ENDS = (0, 1)  # of an axis
ROUNDING = 1e-9  # of a layer's thickness


def discretise(setup: Setup, elements: RankElements) -> Discretisation:
    """What a rank solves.

    Args:
        elements: of the rank.
    """
    return Discretisation(
        setup.equations,
        setup.degree,
        setup.dtype,
        setup.dt,
        elements,
        setup.material(elements.numbers),
        _sides(setup, elements),
        _mortar_sides(setup, elements),
        Terms(
            setup.degree,
            len(setup.equations.fields),
            elements.count,
            _sources(setup, elements),
            *_damping(setup, elements),
        ),
    )


def _sides(setup: Setup, elements: RankElements) -> FaceSides:
    boundary, beyond = setup.case.boundary, elements.neighbours
    outside = beyond == OUTSIDE
    ends = [*[boundary.sides] * 4, boundary.top, boundary.bottom]
    reflection = np.broadcast_to([REFLECTION[end] for end in ends], outside.shape)
    material = _material(setup, np.where(outside, elements.numbers[:, None], beyond))
    return FaceSides(material, outside, reflection, float(setup.case.method.flux))


def _mortar_sides(setup: Setup, elements: RankElements) -> FaceSides:
    links = elements.links.take(elements.links.quarter != WHOLE)  # by mortar, then by quarter
    beyond = links.beyond.reshape(-1, QUARTERS)
    nowhere = np.zeros(beyond.shape, bool)
    flux = float(setup.case.method.flux)
    return FaceSides(_material(setup, beyond), nowhere, nowhere.astype(float), flux)


def _material(setup: Setup, leaves: Numbers) -> Material:
    """The material of leaves, arrays of their shape."""
    given = setup.material(leaves.ravel()).given()
    return Material(**{name: values.reshape(leaves.shape) for name, values in given.items()})


# --- damping layers -------------------------------------------------------------------------------


def _damping(setup: Setup, elements: RankElements) -> tuple[NDArray[np.int32] | None, Floats]:
    """The rows of the elements, (elements, 3), and the profiles, (rows, N + 1)."""
    grid, corners = setup.grid, setup.forest.boxes(elements.numbers)
    widths = [
        (axis, end, (grid.before, grid.after)[end][axis]) for axis in range(AXES) for end in ENDS
    ]
    layers = [layer for layer in widths if layer[2]]
    if not layers:
        return None, np.empty((0, setup.degree + 1))
    rows = np.full((elements.count, AXES), -1, np.int32)
    profiles: list[Floats] = []
    for axis, end, width in layers:
        thickness = width * grid.spacing[axis]
        near, far = (corners[not end][:, axis], corners[end][:, axis])
        outward, face = (1, setup.extent[axis]) if end else (-1, 0.0)
        begin, depth = outward * (near - face) / thickness, outward * (far - face) / thickness
        inside = depth > ROUNDING
        spans = np.round(np.stack([begin, depth], axis=1)[inside], 12)
        unique, number = np.unique(spans, axis=0, return_inverse=True)
        rows[inside, axis] = len(profiles) + number.ravel()
        profiles += [_profile(setup, span, thickness, end) for span in unique]
    return rows, np.array(profiles)


def _profile(setup: Setup, span: Floats, thickness: float, end: int) -> Floats:
    """Rates of decay at the nodes of an element in a layer, (N + 1,), 1/s.

    Args:
        span: where it begins and ends, 0 at the inner face of the layer and 1 at the outer one.
        thickness: of the layer, m.
        end: 1 if the layer is at the high end of its axis, 0 at the low end.
    """
    strongest = (EXPONENT + 1) * setup.statistics.vp_max * np.log(1 / RETURNED) / (2 * thickness)
    points = gll(setup.degree).points * (1 if end else -1)
    depth = span[0] + (span[1] - span[0]) * (points + 1) / 2
    return np.asarray(strongest * depth**EXPONENT)


# --- sources --------------------------------------------------------------------------------------


def _sources(setup: Setup, elements: RankElements) -> list[ElementSource]:
    """The point sources in a rank's elements; on a face, the first leaf has them."""
    if not setup.sources:
        return []
    positions = np.array([source.position for source in setup.sources])
    low, high = (np.array([line[n] for line in setup.forest.edges]) for n in (0, -1))
    leaves = setup.forest.locate(np.clip(positions, low, high))
    places = {int(leaf): n for n, leaf in enumerate(elements.numbers)}
    lower, upper = setup.forest.boxes(leaves)
    inside = 2 * (positions - lower) / (upper - lower) - 1
    found = [
        _source(setup, source, places[int(leaf)], leaf, place)
        for source, leaf, place in zip(setup.sources, leaves, inside, strict=True)
        if int(leaf) in places
    ]
    return sorted(found, key=lambda source: source.element)


def _source(
    setup: Setup, source: PointSource, element: int, leaf: Numbers, place: Floats
) -> ElementSource:
    lower, upper = setup.forest.boxes(np.array([leaf]))
    return ElementSource(
        element,
        np.clip(place, -1.0, 1.0),
        _rates(setup, source, leaf),
        source.start,
        source.step,
        source.samples,
        float(np.prod(upper - lower)),
    )


def _rates(setup: Setup, source: PointSource, leaf: Numbers) -> Floats:
    """Rates of the fields for a unit of the time function, times m^3."""
    rates = np.zeros(len(setup.equations.fields))
    if source.force is not None:
        rates[-AXES:] = source.force / setup.material(np.array([leaf])).rho
    elif source.moment is not None and setup.equations.elastic:
        rates[:-AXES] = -source.moment[list(TENSOR)]  # the stress glut
    elif source.moment is not None:
        rates[0] = source.moment[:AXES].mean()
    return rates
