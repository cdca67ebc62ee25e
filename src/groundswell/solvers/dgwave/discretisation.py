"""Builds the discrete problem of one rank: materials, boundaries, absorbing layers and sources."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from groundswell.meshes.hexahedra import AXES, Numbers
from groundswell.meshes.octree_faces import QUARTERS
from groundswell.seismology.media.material import Material
from groundswell.seismology.sources.point_sources import PointSource
from groundswell.solvers.dgwave.elements import OUTSIDE, WHOLE, RankElements
from groundswell.solvers.dgwave.equations import FaceSides
from groundswell.solvers.dgwave.nodal_material import NodalMaterial
from groundswell.solvers.dgwave.propagation import Discretisation
from groundswell.solvers.dgwave.terms import ElementSource, Terms

if TYPE_CHECKING:
    from groundswell.solvers.dgwave.setup import Setup

Floats = NDArray[np.float64]

TENSOR = (0, 1, 2, 5, 4, 3)  # from moments (xx, yy, zz, xy, xz, yz) to the order of stresses


def discretise(setup: Setup, elements: RankElements) -> Discretisation:
    """The discrete problem of a rank.

    Args:
        elements: the elements of the rank.
    """
    return Discretisation(
        setup.equations,
        setup.degree,
        setup.dtype,
        setup.dt,
        elements,
        setup.unrelaxed(elements.numbers),
        _sides(setup, elements),
        _mortar_sides(setup, elements),
        Terms(
            setup.degree,
            len(setup.equations.fields),
            elements.count,
            _sources(setup, elements),
            *setup.damping(elements),
        ),
        setup.bodies(elements.numbers),
        setup.matched_layers(elements),
        setup.shapes.metrics(elements.numbers, setup.dtype) if setup.is_curved else None,
        _nodal_material(setup, elements) if setup.is_nodal else None,
        setup.case.run.narrow,
    )


def _nodal_material(setup: Setup, elements: RankElements) -> NodalMaterial:
    return NodalMaterial(setup.equations, elements, setup.degree, setup.unrelaxed_nodes)


def _sides(setup: Setup, elements: RankElements) -> FaceSides:
    beyond = elements.neighbours
    outside, reflection = beyond == OUTSIDE, setup.reflection(elements)
    material = _material(setup, np.where(outside, elements.numbers[:, None], beyond))
    return FaceSides(material, outside, reflection, float(setup.case.method.flux))


def _mortar_sides(setup: Setup, elements: RankElements) -> FaceSides:
    links = elements.links.take(elements.links.quarter != WHOLE)  # by mortar, then by quarter
    beyond = links.beyond.reshape(-1, QUARTERS)
    nowhere = np.zeros(beyond.shape, bool)
    flux = float(setup.case.method.flux)
    return FaceSides(_material(setup, beyond), nowhere, nowhere.astype(float), flux)


def _material(setup: Setup, leaves: Numbers) -> Material:
    """The unrelaxed material of leaves, arrays of their shape."""
    given = setup.unrelaxed(leaves.ravel()).given()
    return Material(**{name: values.reshape(leaves.shape) for name, values in given.items()})


# --- sources --------------------------------------------------------------------------------------


def _sources(setup: Setup, elements: RankElements) -> list[ElementSource]:
    """The point sources in a rank's elements; a source on a face belongs to the first leaf."""
    if not setup.sources:
        return []
    leaves, inside = setup.locate(np.array([source.position for source in setup.sources]))
    places = {int(leaf): n for n, leaf in enumerate(elements.numbers)}
    found = [
        _source(setup, source, places[int(leaf)], leaf, place)
        for source, leaf, place in zip(setup.sources, leaves, inside, strict=True)
        if int(leaf) in places
    ]
    return sorted(found, key=lambda source: source.element)


def _source(
    setup: Setup, source: PointSource, element: int, leaf: Numbers, place: Floats
) -> ElementSource:
    return ElementSource(
        element,
        place,
        _rates(setup, source, leaf, place),
        source.start,
        source.step,
        source.samples,
        setup.volume(leaf),
    )


def _rates(setup: Setup, source: PointSource, leaf: Numbers, place: Floats) -> Floats:
    """Rates of the fields per unit of the time function, times m^3."""
    rates = np.zeros(len(setup.equations.fields))
    if source.force is not None:
        [[rho]] = setup.material_at(np.array([leaf]), place[None, None]).rho
        rates[-AXES:] = source.force / rho
    elif source.moment is not None and setup.equations.elastic:
        rates[:-AXES] = -source.moment[list(TENSOR)]  # the stress glut
    elif source.moment is not None:
        rates[0] = source.moment[:AXES].mean()
    return rates
