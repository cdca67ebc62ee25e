"""Random problems of DG waves, for the solver's kernels and for their oracle, dg_scheme.py."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from dg_attenuation import Anelastic
from dg_bricks import Bricks
from dg_scheme import Scheme, advanced, step_limit
from dg_sources import delta, injection
from numpy.typing import NDArray

from groundswell.arrays import Floats
from groundswell.backends.base import Backend, in_order
from groundswell.exchange.communicator import Communicator, SerialCommunicator
from groundswell.meshes.mesh import Mesh
from groundswell.meshes.octree import Forest, uniform_forest
from groundswell.meshes.octree_refinement import balance, refine
from groundswell.seismology.media.material import Material
from groundswell.solvers.dgwave.attenuation import MaxwellBodies
from groundswell.solvers.dgwave.boundaries.layers import add_profiles
from groundswell.solvers.dgwave.discretisation import Discretisation
from groundswell.solvers.dgwave.equations import ACOUSTIC, ELASTIC, FaceSides
from groundswell.solvers.dgwave.kernel_shapes import KernelShape
from groundswell.solvers.dgwave.materials.nodal import NodalMaterial
from groundswell.solvers.dgwave.mesh.elements import OUTSIDE, WHOLE, RankElements
from groundswell.solvers.dgwave.propagation import Propagation
from groundswell.solvers.dgwave.terms import ElementSource, SourceHistory, Terms

Periodic = tuple[bool, bool, bool]
CLOSED, TORUS = (False,) * 3, (True,) * 3


@dataclass(frozen=True)
class Variant:
    """The kind of a problem.

    Args:
        upwind: 1 for the Riemann flux, 0 for the central flux.
        fluid: probability that an element of the elastic equations is fluid.
        damping: whether there are damped elements.
        sources: number of point sources.
        counts: of elements along x, y and z.
        halved: share of these that are divided into eight.
        mechanisms: of attenuation.
        nodal: whether the material varies inside elements.
    """

    degree: int
    elastic: bool = True
    upwind: float = 1.0
    periodic: Periodic = CLOSED
    fluid: float = 0.0
    damping: bool = False
    sources: int = 0
    counts: tuple[int, int, int] = (3, 2, 2)
    seed: int = 0
    halved: float = 0.0
    mechanisms: int = 0
    nodal: bool = False


class Problem:
    """Bricks of random edges, materials, boundaries, damping, sources and fields.

    Attributes:
        u: the fields at the start, (elements, fields, n, n, n).
        memory: the memory variables at the start, (elements, mechanisms, strains, n, n, n).
        nodal: the material of the nodes, (elements, nodes).
    """

    def __init__(self, variant: Variant) -> None:
        self.variant = variant
        self.equations = ELASTIC if variant.elastic else ACOUSTIC
        rng = np.random.default_rng(variant.seed)
        self.edges = [np.cumsum(rng.uniform(0.5, 1.5, n + 1)) for n in variant.counts]
        bricks = uniform_forest(self.edges, 0, variant.periodic)
        self.forest: Forest = halve(bricks, rng.random(bricks.count) < variant.halved)
        self.mesh: Forest | Mesh = self.forest
        count, n = self.forest.count, variant.degree + 1
        vs = rng.uniform(0.5, 1.0, count)
        self.material = Material(vs * rng.uniform(1.6, 2.0, count), vs, rng.uniform(1, 2, count))
        self.fluid = (rng.random(count) < variant.fluid) | (not variant.elastic)
        vs[self.fluid] = 0
        self.nodal = self._at_nodes(rng) if variant.nodal else None
        self.reflection = rng.choice([-1.0, 0.0, 1.0], 6)
        self.profiles = rng.uniform(0, 2, (3, n)) * variant.damping
        self.damped = rng.integers(-1, 3, (count, 3)).astype(np.int32)
        self.u = rng.standard_normal((count, len(self.equations.fields), n, n, n))
        if variant.elastic:
            self._as_pressure(self.u)
        self.sources = [self._source(rng) for _ in range(variant.sources)]
        mechanisms = variant.mechanisms
        self.omega = rng.uniform(0.1, 1.5, mechanisms) / self.dt
        self.fractions = rng.uniform(0, 0.9 / max(mechanisms, 1), (2, count, mechanisms))
        variables = (count, mechanisms, self.equations.strains, n, n, n)
        self.memory = rng.standard_normal(variables) / self.dt

    def _at_nodes(self, rng: np.random.Generator) -> Material:
        """Random properties of the nodes, about those of the elements."""
        nodes = (self.variant.degree + 1) ** 3
        return Material(
            *(
                values[:, None] * rng.uniform(0.9, 1.1, (len(values), nodes))
                for values in (self.material.vp, self.material.vs, self.material.rho)
            )
        )

    def _as_pressure(self, u: Floats) -> None:
        """Let the stress of fluid elements be a pressure."""
        u[self.fluid, 1:3] = u[self.fluid, :1]
        u[self.fluid, 3:6] = 0

    def _source(self, rng: np.random.Generator) -> ElementSource:
        """A source at a random place, or on a face, an edge or a corner; it ends soon."""
        element = int(rng.integers(self.forest.count))
        place = np.where(rng.random(3) < 0.4, rng.choice([-1.0, 1.0], 3), rng.uniform(-1, 1, 3))
        rates = rng.standard_normal(len(self.equations.fields))
        if self.variant.elastic and self.fluid[element]:
            rates[1:6] = [*rates[:1]] * 2 + [0] * 3
        load = delta(self.scheme, element, place)
        rates /= np.abs(load).max() * self.dt
        start, step = rng.uniform(-0.5, 1.5) * self.dt, rng.uniform(0.1, 0.9) * self.dt
        history = SourceHistory(rates, start, step, rng.uniform(1, 2, 4))
        return ElementSource(element, load.ravel(), history)

    def _share(self, source: ElementSource) -> Floats:
        """What a source adds to the rates of the fields, per unit of its time function."""
        values = source.load.reshape([self.variant.degree + 1] * 3)
        return injection(self.scheme, source.element, source.history.rates, values)

    def _volume(self, element: int) -> float:
        return float(self.scheme.bricks.sizes[element].prod())

    # --- the oracle -------------------------------------------------------------------------------

    @cached_property
    def scheme(self) -> Scheme:
        """The semi-discrete scheme without sources."""
        m, variant = self.nodal or self.material, self.variant
        ends = [None if variant.periodic[f // 2] else self.reflection[f] for f in range(6)]
        cells = self.forest.anchors() >> self.forest.max_level - 1
        edges = [np.interp(np.arange(2 * len(e) - 1) / 2, np.arange(len(e)), e) for e in self.edges]
        bricks = Bricks(edges, cells, 2 >> self.forest.levels.astype(int), ends)
        mu = m.rho * m.vs**2
        shape = (-1, *(variant.degree + 1 if self.nodal else 1,) * 3)
        properties = [f.reshape(shape) for f in (m.rho, m.rho * m.vp**2 - 2 * mu, mu)]
        return Scheme(bricks, variant.degree, *properties, variant.upwind, self._decay)

    @property
    def _decay(self) -> Floats:
        """Rates of damping at the nodes, (elements, n, n, n)."""
        profiles = np.vstack([self.profiles, np.zeros_like(self.profiles[0])])
        x, y, z = profiles[self.damped].swapaxes(0, 1)
        return x[:, None, None, :] + y[:, None, :, None] + z[:, :, None, None]

    @cached_property
    def dt(self) -> float:
        """A stable time step."""
        return step_limit(self.scheme, 1.0)

    def expected(self, steps: int) -> Floats:
        """The fields and memory variables after some steps; see `pack`."""
        shares = [self._share(source) for source in self.sources]
        anelastic = Anelastic(self.scheme, self.omega, *self.fractions)

        def rates(state: Floats, t: float) -> Floats:
            terms = zip(self.sources, shares, strict=True)
            fields, variables = anelastic.rates(*self.unpack(state))
            return self.pack(fields + sum(amplitude(s, t) * f for s, f in terms), variables)

        return advanced(rates, self.pack(self.u, self.memory), self.dt, steps)

    def pack(self, u: Any, memory: Any) -> Floats:
        """Fields and memory variables, of like size, as one array, (elements, values, n, n, n)."""
        nodes, count = self.u.shape[2:], len(self.u)
        strains = self.dt * memory.reshape(count, self.memory[0, ..., 0, 0, 0].size, *nodes)
        return np.concatenate([u.reshape(self.u.shape), strains], axis=1)

    def unpack(self, state: Floats) -> tuple[Floats, Floats]:
        """Fields and memory variables from one array."""
        fields = self.u.shape[1]
        return state[:, :fields], state[:, fields:].reshape(self.memory.shape) / self.dt

    # --- the solver -------------------------------------------------------------------------------

    def discretisation(self, dtype: str, comm: Communicator | None = None) -> Discretisation:
        """What a rank solves."""
        size, rank = (comm.size, comm.rank) if comm else (1, 0)
        starts = np.linspace(0, self.forest.count, size + 1).astype(int)
        elements = RankElements(self.mesh, starts, rank)
        terms = self._terms(elements)
        material = of_elements(self.material, elements.numbers)
        sides, degree = (self._sides(elements), self._mortar_sides(elements)), self.variant.degree
        bodies = MaxwellBodies(self.omega, *self.fractions[:, elements.numbers])
        return Discretisation(
            self.equations,
            degree,
            dtype,
            self.dt,
            elements,
            material,
            *sides,
            terms,
            bodies if self.variant.mechanisms else None,
            nodal=self._nodal_material(elements),
        )

    def _nodal_material(self, elements: RankElements) -> NodalMaterial | None:
        if (nodes := self.nodal) is None:
            return None
        degree = self.variant.degree
        return NodalMaterial(self.equations, elements, degree, lambda n: of_elements(nodes, n))

    def _sides(self, elements: RankElements) -> FaceSides:
        outside = elements.neighbours == OUTSIDE
        beyond = np.where(outside, elements.numbers[:, None], elements.neighbours)
        reflection = np.broadcast_to(self.reflection, (self.forest.count, 6))[elements.numbers]
        return FaceSides(
            of_elements(self.material, beyond), outside, reflection, self.variant.upwind
        )

    def _mortar_sides(self, elements: RankElements) -> FaceSides:
        links = elements.links.take(elements.links.quarter != WHOLE)
        beyond = links.beyond.reshape(-1, 4)
        nowhere = np.zeros(beyond.shape, bool)
        material = of_elements(self.material, beyond)
        return FaceSides(material, nowhere, nowhere.astype(float), self.variant.upwind)

    def _terms(self, elements: RankElements) -> Terms:
        places = {int(leaf): n for n, leaf in enumerate(elements.numbers)}
        mine = [
            ElementSource(**{**vars(source), "element": places[source.element]})
            for source in self.sources
            if source.element in places
        ]
        mine.sort(key=lambda source: source.element)
        shape = (self.variant.degree, len(self.equations.fields), elements.count)
        if not self.variant.damping:
            return Terms(*shape, mine)
        return Terms(*shape, mine, *add_profiles(self.damped[elements.numbers], self.profiles))

    def propagation(
        self, backend: Backend, dtype: str, shape: KernelShape | None = None
    ) -> Propagation:
        """The solver with these fields; all that it must not read is NaN."""
        problem = self.discretisation(dtype)
        found = Propagation(backend, SerialCommunicator(), problem, shape=shape)
        poison(backend, found)
        for array, start in ((found.u, self.u), (found.memory, self.memory)):
            mine = start[problem.elements.numbers].reshape(array.shape)
            backend.assign(array, mine.astype(dtype))
        return found

    def found(self, propagation: Propagation, backend: Backend, steps: int) -> Any:
        """The fields and memory variables after some steps of the solver; see `pack`."""
        in_order(propagation.prepare)()
        step = in_order(propagation.step)
        for _ in range(steps):
            step()
        backend.synchronize()
        return self.pack(*map(backend.to_host, (propagation.u, propagation.memory)))


def halve(bricks: Forest, chosen: NDArray[np.bool_]) -> Forest:
    """The forest with some of its leaves, all of level 0, divided into eight."""
    middles = np.mean(bricks.boxes(), axis=0)[chosen]

    def wanted(lower: Floats, upper: Floats) -> NDArray[np.bool_]:
        inside = (lower[:, None] < middles) & (middles < upper[:, None])
        return np.asarray(inside.all(axis=2).any(axis=1))

    return balance(refine(bricks, wanted, 1))


def poison(backend: Backend, propagation: Propagation) -> None:
    """Set fields with their padding, registers and traces to NaN."""
    for array in (
        propagation._u,
        propagation._r,
        propagation._memory_register,
        propagation.traces._memory,
        propagation.traces.jumps,
    ):
        backend.assign(array, np.full(array.shape, np.nan, str(array.dtype)))


def of_elements(material: Material, elements: Any) -> Material:
    """The material of some elements."""
    return Material(material.vp[elements], material.vs[elements], material.rho[elements])


def amplitude(source: ElementSource, t: float) -> float:
    """The time function of a source."""
    history = source.history
    times = history.start + history.step * np.arange(len(history.samples))
    return float(np.interp(t, times, history.samples, left=0, right=0))


def error(found: Any, expected: Floats) -> float:
    """The largest difference, relative to the largest value."""
    return float(np.abs(found - expected).max() / np.abs(expected).max())
