"""Boxes of elements in memory: fields set from functions, advanced, and compared with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from groundswell.arrays import Floats, Integers, Mask
from groundswell.backends import Backend
from groundswell.backends.base import in_order
from groundswell.exchange.communicator import SerialCommunicator
from groundswell.meshes.box import Deformation
from groundswell.meshes.gll import gll
from groundswell.meshes.hexahedra import AXES
from groundswell.meshes.leaves import Leaves
from groundswell.meshes.octree import Forest, uniform_forest
from groundswell.meshes.octree_faces import QUARTERS
from groundswell.seismology.media.material import Material
from groundswell.seismology.reference.half_spaces import WavesAtInterface
from groundswell.seismology.reference.medium import HomogeneousMedium
from groundswell.solvers.dgwave.discretisation import Discretisation
from groundswell.solvers.dgwave.equations import ACOUSTIC, ELASTIC, FREE_SURFACE, FaceSides
from groundswell.solvers.dgwave.materials.nodal import NodalMaterial
from groundswell.solvers.dgwave.mesh.curved import CurvedElements
from groundswell.solvers.dgwave.mesh.elements import OUTSIDE, WHOLE, RankElements
from groundswell.solvers.dgwave.propagation import Propagation
from groundswell.solvers.dgwave.terms import Terms
from groundswell.spectral_elements.curl_form import jacobians
from groundswell.time_integration.step_limits import dg_step

Media = Callable[[Floats], Sequence[Floats]]


class Motion(Protocol):
    """An exact solution."""

    def velocity(self, points: ArrayLike, time: ArrayLike) -> Floats:
        """Velocity, (3, ...), m/s, at `points` (3, ...), m, and `time`, s."""

    def stress(self, points: ArrayLike, time: ArrayLike) -> Floats:
        """Stress xx, yy, zz, yz, xz, xy, (6, ...), Pa, at `points` (3, ...), m, and `time`, s."""


@dataclass(frozen=True, eq=False)
class Box:
    """Elements that fill a box, with their medium and boundaries.

    Args:
        forest: the elements.
        degree: of the elements, N.
        media: from the centres of elements, (3, elements), m, to their vp, vs and rho.
        nodal: whether the media are those of nodes, whose positions are (3, elements, nodes).
        acoustic: whether the equations are the acoustic ones.
        upwind: 1 for the Riemann flux, 0 for the central flux.
        ends: reflection coefficients of the boundaries at low and high x, y, z.
        courant: the time step over the stable one.
        deform: maps positions in the forest to those of the elements, which are then curved.
    """

    forest: Forest
    degree: int
    media: Media
    acoustic: bool = False
    upwind: float = 1.0
    ends: Sequence[float] = (FREE_SURFACE,) * 6
    courant: float = 1.0
    nodal: bool = False
    deform: Deformation | None = None

    @cached_property
    def material(self) -> Material:
        """The material of each element, arrays (elements,), or node, (elements, nodes)."""
        centres = np.mean(self.forest.boxes(), axis=0).T
        places = self.points if self.nodal else centres
        found = self.media(places)
        return Material(*(np.broadcast_to(v, places.shape[1:]).astype(float) for v in found))

    @cached_property
    def _at_nodes(self) -> Material:
        """The material of each node, arrays (elements, nodes or 1)."""
        given = self.material.given()
        return Material(**{name: v.reshape(len(v), -1) for name, v in given.items()})

    @property
    def fluid(self) -> Mask:
        """Which elements are fluid, (elements,)."""
        return np.asarray((self._at_nodes.vs == 0).all(axis=1))

    @cached_property
    def elements(self) -> RankElements:
        """All elements, on one rank."""
        return RankElements(self.forest, np.array([0, self.forest.count]), 0)

    @cached_property
    def _mesh(self) -> Leaves:
        return Leaves(self.forest, self.deform, self.degree)

    @cached_property
    def points(self) -> Floats:
        """Positions of the nodes, (3, elements, nodes), m."""
        return np.moveaxis(self._mesh.geometry_nodes(self.elements.numbers), -1, 0)

    @cached_property
    def _curved(self) -> CurvedElements:
        return CurvedElements(self._mesh, self.degree)

    @cached_property
    def _metrics(self) -> Floats | None:
        """Metric terms of elements that are not bricks, see `Discretisation`."""
        if self.deform is None:
            return None
        return np.asarray(self._curved.metrics(self.elements.numbers, "float64"))

    @property
    def _edges(self) -> Floats:
        """Edges of the elements, or of bricks with the same stable step, (elements, 3), m."""
        if self.deform is not None:
            return self._curved.edges
        lower, upper = self.forest.boxes()
        return upper - lower

    def is_above(self, depth: float) -> Mask:
        """Which elements lie above a depth, m, (elements, 1)."""
        return (self.points[2].mean(axis=1) < depth)[:, None]

    @cached_property
    def volumes(self) -> Floats:
        """Volume of each node, (elements, nodes), m^3."""
        if self._metrics is not None:
            return jacobians(self._metrics) * gll(self.degree).cube_weights
        return np.outer(np.prod(self._edges, axis=1), gll(self.degree).cube_weights / 2**AXES)

    @cached_property
    def dt(self) -> float:
        """Time step, s."""
        fastest = self._at_nodes.vp.max(axis=1)
        return self.courant * float(dg_step(self._edges, fastest, self.degree, self.upwind).min())

    # --- fields, (elements, fields, nodes) --------------------------------------------------------

    def fields_at(self, motion: Motion, time: float) -> Floats:
        """The fields of an exact solution at the nodes."""
        stress, velocity = motion.stress(self.points, time), motion.velocity(self.points, time)
        stresses = -stress[:1] if self.acoustic else stress
        return np.concatenate([stresses, velocity]).swapaxes(0, 1)

    def random_fields(self, seed: int) -> Floats:
        """Noise; the stress of fluid elements is a pressure."""
        equations = ACOUSTIC if self.acoustic else ELASTIC
        shape = (self.forest.count, len(equations.fields), (self.degree + 1) ** AXES)
        u = np.random.default_rng(seed).standard_normal(shape)
        if not self.acoustic:
            u[self.fluid, 1:3] = u[self.fluid, :1]
            u[self.fluid, 3:6] = 0
        return u

    def product(self, u: Floats, v: Floats) -> Floats:
        """The energy product of two sets of fields at each node, (elements, nodes), J.

        The product of fields with themselves is twice their energy, rho v^2 + S : C^-1 : S.
        """
        rho, kinetic = self._at_nodes.rho, (u[:, -AXES:] * v[:, -AXES:]).sum(axis=1)
        return self.volumes * (rho * kinetic + self._strain_energy(u, v))

    def _strain_energy(self, u: Floats, v: Floats) -> Floats:
        m = self._at_nodes
        mu = m.rho * m.vs**2
        lam = m.rho * m.vp**2 - 2 * mu
        if self.acoustic:
            return u[:, 0] * v[:, 0] / lam
        trace_u, trace_v = (f[:, :3].mean(axis=1) for f in (u, v))
        shear = 2 * (u[:, 3:6] * v[:, 3:6]).sum(axis=1) + (
            (u[:, :3] - trace_u[:, None]) * (v[:, :3] - trace_v[:, None])
        ).sum(axis=1)
        softness = np.divide(0.5, mu, out=np.zeros_like(mu), where=mu > 0)
        return np.asarray(trace_u * trace_v / (lam + 2 / 3 * mu) + softness * shear)

    def error(self, found: Floats, exact: Floats, where: Mask | None = None) -> float:
        """Relative error of fields in the energy norm, of elements `where` if given."""
        chosen = slice(None) if where is None else where
        wrong, whole = (self.product(f, f)[chosen].sum() for f in (found - exact, np.array(exact)))
        return float(np.sqrt(wrong / whole))

    # --- the solver -------------------------------------------------------------------------------

    @cached_property
    def problem(self) -> Discretisation:
        """What the solver solves."""
        elements, equations = self.elements, ACOUSTIC if self.acoustic else ELASTIC
        terms = Terms(self.degree, len(equations.fields), elements.count)
        sides = (self._sides, self._mortar_sides)
        nodal = NodalMaterial(equations, elements, self.degree, self._of) if self.nodal else None
        return Discretisation(
            equations,
            self.degree,
            "float64",
            self.dt,
            elements,
            self._of(elements.numbers),
            *sides,
            terms,
            metrics=self._metrics,
            nodal=nodal,
        )

    @property
    def _sides(self) -> FaceSides:
        beyond = self.elements.neighbours
        outside = beyond == OUTSIDE
        own = self.elements.numbers[:, None]
        reflection = np.broadcast_to(np.array(self.ends), outside.shape)
        material = self._of(np.where(outside, own, beyond))
        return FaceSides(material, outside, reflection, self.upwind)

    @property
    def _mortar_sides(self) -> FaceSides:
        links = self.elements.links.take(self.elements.links.quarter != WHOLE)
        beyond = links.beyond.reshape(-1, QUARTERS)
        nowhere = np.zeros(beyond.shape, bool)
        return FaceSides(self._of(beyond), nowhere, nowhere.astype(float), self.upwind)

    def _of(self, elements: Integers) -> Material:
        return Material(*(getattr(self.material, name)[elements] for name in ("vp", "vs", "rho")))

    def start(self, backend: Backend, u: Floats) -> Propagation:
        """The solver with these fields."""
        found = Propagation(backend, SerialCommunicator(), self.problem)
        backend.assign(found.u, u)
        in_order(found.prepare)()
        return found

    def rates(self, backend: Backend, u: Floats) -> Floats:
        """Time derivatives of fields."""
        found = self.start(backend, u)
        in_order(found.stage(0))()
        backend.synchronize()
        return np.asarray(backend.to_host(found.r))

    def advanced(self, backend: Backend, u: Floats, end: float) -> Floats:
        """The fields at about the time `end`, s: after a whole number of steps; see `steps`."""
        found = self.start(backend, u)
        backend.capture(in_order(found.step)).replay(self.steps(end))
        backend.synchronize()
        return np.asarray(backend.to_host(found.u))

    def steps(self, end: float) -> int:
        """Number of steps to the time `end`, s, or shortly after."""
        return ceil(end / self.dt - 1e-9)

    def error_at(
        self,
        backend: Backend,
        motion: Motion,
        end: float,
        where: Mask | None = None,
    ) -> float:
        """Relative error in the energy norm at about the time `end`, s, of an exact solution."""
        found = self.advanced(backend, self.fields_at(motion, 0.0), end)
        return self.error(found, self.fields_at(motion, self.steps(end) * self.dt), where)


def cubes(
    counts: Sequence[int], size: ArrayLike, periodic: tuple[bool, bool, bool], level: int = 0
) -> Forest:
    """Bricks that fill a box from the origin to `size`, m, all halved `level` times."""
    ends = zip(np.asarray(size, float), counts, strict=True)
    edges = [np.linspace(0.0, length, count + 1) for length, count in ends]
    return uniform_forest(edges, level, periodic)


def homogeneous(medium: HomogeneousMedium) -> Media:
    """The same medium in all elements."""
    return two_halves(medium, medium, 0.0)


def two_halves(first: HomogeneousMedium, second: HomogeneousMedium, depth: float) -> Media:
    """A medium above an interface at `depth`, m, and one below it."""

    def media(centres: Floats) -> Sequence[Floats]:
        above = centres[2] < depth
        return [
            np.where(above, getattr(first, name), getattr(second, name))
            for name in ("vp", "vs", "rho")
        ]

    return media


@dataclass(frozen=True, eq=False)
class AtInterface:
    """Waves at a horizontal interface, whose second half-space lies above.

    Args:
        above: which elements lie above the interface, see `Box.is_above`.
    """

    waves: WavesAtInterface
    above: Mask

    def velocity(self, points: ArrayLike, time: ArrayLike) -> Floats:
        """Velocity, (3, ...), m/s, at `points` (3, ...), m, and `time`, s."""
        return self.waves.velocity(points, time, self._above)

    def stress(self, points: ArrayLike, time: ArrayLike) -> Floats:
        """Stress xx, yy, zz, yz, xz, xy, (6, ...), Pa, at `points` (3, ...), m, and `time`, s."""
        return self.waves.stress(points, time, self._above)

    @property
    def _above(self) -> Mask:
        return self.above & (self.waves.interface.second is not None)
