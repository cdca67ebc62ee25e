"""The discrete problem of one rank: materials, boundaries, absorbing layers and sources."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from groundswell.arrays import Floats, Integers, Mask, Reals
from groundswell.meshes.hexahedra import AXES
from groundswell.meshes.octree_faces import QUARTERS
from groundswell.seismology.media.material import Material
from groundswell.seismology.sources.point_sources import PointSource
from groundswell.solvers.dgwave.attenuation import MaxwellBodies
from groundswell.solvers.dgwave.boundaries.matched_layers import MatchedLayers
from groundswell.solvers.dgwave.equations import Equations, FaceSides
from groundswell.solvers.dgwave.faults.rank import RankFault
from groundswell.solvers.dgwave.kernel_shapes import KernelVariant
from groundswell.solvers.dgwave.materials.anelastic import Materials
from groundswell.solvers.dgwave.materials.nodal import NodalMaterial
from groundswell.solvers.dgwave.mesh.elements import OUTSIDE, WHOLE, RankElements
from groundswell.solvers.dgwave.plasticity.rank import RankRock
from groundswell.solvers.dgwave.setup import Setup
from groundswell.solvers.dgwave.shared_traces import TraceFormat
from groundswell.solvers.dgwave.source_loads import Load, interpolation_load, point_loads
from groundswell.solvers.dgwave.terms import ElementSource, SourceHistory, Terms
from groundswell.spectral_elements.point_location import NOWHERE

TENSOR = (0, 1, 2, 5, 4, 3)  # from moments (xx, yy, zz, xy, xz, yz) to the order of stresses


@dataclass(frozen=True, eq=False)
class Discretisation:
    """The discrete problem of a rank.

    Args:
        degree: degree of the elements, N.
        dtype: floating-point type.
        dt: time step, s.
        material: the material of the elements, arrays (elements,).
        sides: flux parameters of their faces.
        mortar_sides: flux parameters of the quarters of faces with finer neighbours.
        terms: sources and damping.
        bodies: attenuation; the material is then unrelaxed.
        layers: matched layers.
        metrics: J a^d at the nodes of elements that are not bricks, see `curl_form`, (elements, 9,
            nodes); None for bricks.
        nodal: a material that varies inside elements; `material` is then not used.
        sent_as: the type in which traces are sent to other ranks; None for `dtype`.
        fault: the faces of faults; None if no rank has any.
        begin: time at the start of the run, s.
        rock: rock that yields; None if it is linear.
    """

    equations: Equations
    degree: int
    dtype: str
    dt: float
    elements: RankElements
    material: Material
    sides: FaceSides
    mortar_sides: FaceSides
    terms: Terms
    bodies: MaxwellBodies | None = None
    layers: MatchedLayers | None = None
    metrics: Reals | None = None
    nodal: NodalMaterial | None = None
    sent_as: str | None = None
    fault: RankFault | None = None
    begin: float = 0.0
    rock: RankRock | None = None

    @property
    def mechanisms(self) -> int:
        """Number of mechanisms of attenuation."""
        return self.bodies.mechanisms if self.bodies else 0

    @property
    def is_curved(self) -> bool:
        """Whether the elements are not bricks."""
        return self.metrics is not None

    @property
    def is_nodal(self) -> bool:
        """Whether the material varies inside elements."""
        return self.nodal is not None

    @property
    def has_absorption(self) -> bool:
        """Whether elements of any rank are in layers or sponges."""
        return self.layers is not None or self.terms.has_damping

    @cached_property
    def absorbing(self) -> range:
        """The smallest range that contains all elements in layers and sponges."""
        inside = np.zeros(self.elements.count, bool)
        if self.layers is not None:
            inside |= (self.layers.sets >= 0).any(axis=1)
        if self.terms.damped is not None:
            inside |= self.terms.damped >= 0
        found = np.flatnonzero(inside)
        return range(found[0], found[-1] + 1) if len(found) else range(0)

    @property
    def edges(self) -> Floats:
        """Edges of bricks, m, or of the reference elements of other elements, (elements, 3)."""
        return np.full((self.elements.count, 3), 2.0) if self.is_curved else self.elements.edges

    @property
    def has_mortars(self) -> bool:
        """Whether any rank may have faces with finer neighbours."""
        return self.elements.has_levels

    @property
    def has_faults(self) -> bool:
        """Whether any rank has faces of faults."""
        return self.fault is not None

    @property
    def has_whole_jumps(self) -> bool:
        """Whether velocity and traction of the flux at a face are independent."""
        given = self.has_mortars or self.has_faults
        return given or self.is_curved or self.is_nodal or self.sides.upwind != 1

    @property
    def jump(self) -> int:
        """Number of values of the flux at each face node."""
        return self.equations.jump(whole=self.has_whole_jumps)

    @property
    def variant(self) -> KernelVariant:
        """What determines the shape of thread blocks."""
        columns = self.equations.columns if self.is_curved else 0
        size, fields = np.dtype(self.dtype).itemsize, len(self.equations.fields)
        return KernelVariant(self.degree, fields, self.jump, size, columns, self.is_nodal)

    @property
    def nodes(self) -> int:
        """Number of nodes of an element."""
        return (self.degree + 1) ** 3

    @property
    def trace(self) -> TraceFormat:
        """Format of the trace that a face provides to its neighbour."""
        return TraceFormat(self.equations.trace, (self.degree + 1) ** 2, self.dtype, self.sent_as)


def discretise(setup: Setup, elements: RankElements) -> Discretisation:
    """The discrete problem of a rank.

    Args:
        elements: the elements of the rank.
    """
    degree, equations, materials = setup.degree, setup.equations, setup.materials
    flux, numbers, shapes = float(setup.case.method.flux), elements.numbers, setup.geometry.shapes
    reflection, start = setup.geometry.reflection(elements), setup.time_axis.start
    sources = _sources(setup, elements)
    nodal = NodalMaterial(equations, elements, degree, materials.unrelaxed_nodes)
    return Discretisation(
        equations,
        degree,
        setup.dtype,
        setup.dt,
        elements,
        materials.unrelaxed(numbers),
        _sides(materials, elements, reflection, flux),
        _mortar_sides(materials, elements, flux),
        Terms(
            degree,
            len(equations.fields),
            elements.count,
            sources,
            *setup.absorption.damping(elements),
        ),
        materials.bodies(numbers),
        setup.absorption.matched_layers(elements),
        shapes.metrics(numbers, setup.dtype) if setup.geometry.is_curved else None,
        nodal if materials.is_nodal else None,
        setup.case.run.narrow,
        RankFault.of(elements, setup.faults.faces, setup.faults.tables) if setup.faults else None,
        start,
        _rock(setup, elements, sources),
    )


def _sides(
    materials: Materials, elements: RankElements, reflection: Floats, flux: float
) -> FaceSides:
    beyond = elements.neighbours
    outside = beyond == OUTSIDE
    material = _material(materials, np.where(outside, elements.numbers[:, None], beyond))
    return FaceSides(material, outside, reflection, flux)


def _mortar_sides(materials: Materials, elements: RankElements, flux: float) -> FaceSides:
    links = elements.links.take(elements.links.quarter != WHOLE)  # by mortar, then by quarter
    beyond = links.beyond.reshape(-1, QUARTERS)
    nowhere = np.zeros(beyond.shape, bool)
    return FaceSides(_material(materials, beyond), nowhere, nowhere.astype(float), flux)


def _material(materials: Materials, leaves: Integers) -> Material:
    """The unrelaxed material of leaves, arrays of their shape."""
    given = materials.unrelaxed(leaves.ravel()).given()
    return Material(**{name: values.reshape(leaves.shape) for name, values in given.items()})


def _rock(
    setup: Setup, elements: RankElements, sources: Sequence[ElementSource]
) -> RankRock | None:
    """Rock that yields, except where the stress includes the moment of a source."""
    if setup.rock is None:
        return None
    with_moment = [s.element for s in sources if s.history.rates[:-AXES].any()]
    return RankRock.of(setup.rock, elements.numbers, np.array(with_moment, np.int64), setup.dtype)


# --- sources --------------------------------------------------------------------------------------


def _sources(setup: Setup, elements: RankElements) -> list[ElementSource]:
    """The parts of the sources in a rank's elements."""
    sources, materials = setup.survey.sources, setup.materials.elements
    if not sources:
        return []
    rows = np.full(setup.geometry.count, NOWHERE)
    rows[elements.numbers] = np.arange(elements.count)
    found = []
    for n, load in _loads(setup, rows != NOWHERE):
        history = _history(setup.equations, sources[n], setup.time_axis.start)
        mine = np.flatnonzero(rows[load.elements] != NOWHERE)
        values = load.values[mine]
        if sources[n].force is not None:
            values = values / materials.at(load.elements[mine]).rho
        for element, of_element in zip(rows[load.elements[mine]].tolist(), values, strict=True):
            found.append(ElementSource(element, of_element, history))
    return sorted(found, key=lambda source: source.element)


def _loads(setup: Setup, own: Mask) -> Iterator[tuple[int, Load]]:
    """Yield the number of each source, and its load. That of a Green tensor is as a receiver.

    Args:
        own: which elements are the rank's, (elements of all ranks,).
    """
    sources = setup.survey.sources
    if setup.green is None:
        yield from point_loads(setup.materials.elements, sources, own)
    else:
        yield 0, interpolation_load(setup.geometry, sources[0].position)


def _history(equations: Equations, source: PointSource, begin: float) -> SourceHistory:
    """The history of a source, from the time `begin`; loads of forces are divided by density."""
    rates = np.zeros(len(equations.fields))
    if source.force is not None:
        rates[-AXES:] = source.force
    elif source.moment is not None and equations.elastic:
        rates[:-AXES] = -source.moment[list(TENSOR)]  # the stress glut
    elif source.moment is not None:
        rates[0] = source.moment[:AXES].mean()
    return SourceHistory(rates, source.start - begin, source.step, source.samples)
