"""The yielding rock of all ranks: its strength, and the stress before the waves, at nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from groundswell.arrays import Floats, Integers, Mask
from groundswell.meshes.hexahedra import AXES
from groundswell.seismology.case.plasticity import DruckerPragerSection
from groundswell.seismology.media.material import Material
from groundswell.seismology.plasticity.drucker_prager import DruckerPrager, split
from groundswell.seismology.plasticity.estimates import RockState, YieldEstimates
from groundswell.seismology.plasticity.initial_stress import InitialStress
from groundswell.seismology.plasticity.rock import (
    RockPoints,
    strength_at,
    varies_sideways,
    varies_with_medium,
)
from groundswell.solvers.dgwave.materials.elements import ElementMaterials
from groundswell.solvers.dgwave.materials.properties import SAMPLES
from groundswell.spectral_elements.curl_form import element_nodes

INWARD = 1e-6  # of the distance to the middle of an element, by which nodes are moved into it
FIELD_ORDER = (0, 1, 2, 5, 4, 3)  # from xx, yy, zz, xy, xz, yz to the order of stresses
UNSHEARED, SHEARED = 2, 8  # values of a node in kernels/yielding.h
CORNER_PLACES = np.array([*product((-1.0, 1.0), repeat=AXES)])[:, ::-1]  # x fastest


@dataclass(frozen=True, eq=False)
class NodeRock:
    """Strength of the rock and stress in it at the nodes of elements.

    Args:
        cohesion_cos: c cos(phi), Pa, (elements, nodes).
        sine: sin(phi), (elements, nodes).
        mean: mean initial stress plus fluid pressure, Pa, (elements, nodes).
        deviator: of the initial stress, in the order of the fields, Pa, (elements, 6, nodes).
    """

    cohesion_cos: Floats
    sine: Floats
    mean: Floats
    deviator: Floats

    @property
    def strength(self) -> Floats:
        """The strength without waves, not bounded by 0, Pa, (elements, nodes)."""
        return self.cohesion_cos - self.mean * self.sine


@dataclass(frozen=True, eq=False)
class YieldingRock:
    """Rock that yields.

    Args:
        section: the section of the case.
        initial: stress before the waves, by depth.
        elements: the material of elements.
        absorbing: the elements in layers and sponges, which do not yield.
        names: of the materials of the medium, if they have names.
        numbers: of each element's material among these, (elements,).
    """

    section: DruckerPragerSection
    initial: InitialStress
    elements: ElementMaterials
    absorbing: Integers
    names: Sequence[str] = ()
    numbers: Integers | None = None

    @property
    def relaxation_time(self) -> float:
        """The time in which stress beyond the strength decays to 1/e, s; 0 without delay."""
        return float(self.section.relaxation_time)

    @property
    def is_sheared(self) -> bool:
        """Whether the initial stress has a deviator."""
        return self.initial.is_sheared

    @property
    def values(self) -> int:
        """Number of values of a node in the table."""
        return SHEARED if self.is_sheared else UNSHEARED

    @property
    def shares_rows(self) -> bool:
        """Whether many elements have the same values: bricks whose strength depends on depth."""
        section = self.section
        by_medium = self.elements.medium.varies and varies_with_medium(section)
        by_depth = not (varies_sideways(section) or by_medium)
        return by_depth and not self.elements.geometry.is_curved

    @property
    def nodes(self) -> int:
        """Number of nodes of an element."""
        return (self.elements.geometry.degree + 1) ** AXES

    def chunks(self, count: int) -> list[slice]:
        """Parts of a number of elements whose values take little memory."""
        step = max(1, SAMPLES // self.nodes)
        return [slice(first, first + step) for first in range(0, count, step)]

    def can_yield(self, elements: Integers) -> Mask:
        """Which elements are solid and do not absorb waves, (elements,)."""
        is_solid = self.elements.average(elements).vs > 0
        return np.asarray(is_solid & ~np.isin(elements, self.absorbing))

    def table(self, elements: Integers) -> Floats:
        """Strength without waves, sine and deviator at nodes, (elements, values, nodes)."""
        rock = self.at(elements)
        found = np.stack([rock.strength, rock.sine], axis=1)
        return np.concatenate([found, rock.deviator], axis=1) if self.is_sheared else found

    def at(self, elements: Integers) -> NodeRock:
        """Strength and stress at the nodes of elements.

        Raises:
            InputError: a value is not finite or out of bounds.
        """
        position = self._positions(elements, self.elements.geometry.degree)
        depth = position["depth"]
        cohesion_cos, sine = np.empty(depth.shape), np.empty(depth.shape)
        for chosen, rock in self._strengths(elements, position, self.elements.at(elements)):
            cohesion_cos[chosen] = np.reshape(rock.cohesion_cos, (len(chosen), -1))
            sine[chosen] = np.reshape(rock.sine, (len(chosen), -1))
        mean, deviator = split(self.initial.at(depth))
        return NodeRock(
            cohesion_cos,
            sine,
            mean + self.initial.fluid_pressure(depth),
            deviator[list(FIELD_ORDER)].swapaxes(0, 1),
        )

    @cached_property
    def estimates(self) -> YieldEstimates:
        """How close to yielding the rock is before the waves, at the corners of elements."""
        return YieldEstimates.of(self.relaxation_time, self._states())

    def _states(self) -> Iterator[RockState]:
        """Yield the states of the corners of elements."""
        geometry = self.elements.geometry
        inside = np.setdiff1d(np.arange(geometry.count), self.absorbing)
        for part in self.elements.chunks(inside):
            position = self._positions(part, degree=1)
            material = self.elements.at(part, (1 - INWARD) * CORNER_PLACES[None])
            for chosen, rock in self._strengths(part, position, material):
                depth = position["depth"][chosen].ravel()
                fluid = self.initial.fluid_pressure(depth)
                yield RockState(rock, self.initial.at(depth), fluid, depth)

    def _positions(self, elements: Integers, degree: int) -> dict[str, Floats]:
        """`x`, `y` and `depth` of nodes of a degree, slightly inside their elements, m.

        Returns:
            Arrays (elements, nodes).
        """
        geometry = self.elements.geometry
        nodes = element_nodes(geometry.hexahedra, degree, elements)
        places = geometry.below_surface(nodes.reshape(-1, AXES)).reshape(nodes.shape)
        places += INWARD * (places.mean(axis=1, keepdims=True) - places)
        return dict(zip(("x", "y", "depth"), np.moveaxis(places, -1, 0), strict=True))

    def _strengths(
        self, elements: Integers, position: Mapping[str, Floats], material: Material
    ) -> Iterator[tuple[Integers, DruckerPrager]]:
        """Yield the indices of the elements of a material, and the strength at their nodes, (n,).

        Args:
            position: see `_positions`.
            material: arrays (elements, nodes or 1).
        """
        for name, chosen in self._by_material(elements):
            own = {key: values[chosen] for key, values in position.items()}
            given = {key: values[chosen] for key, values in material.given().items()}
            yield chosen, strength_at(self.section, RockPoints.of(own, Material(**given)), name)

    def _by_material(self, elements: Integers) -> list[tuple[str | None, Integers]]:
        """The indices of elements by the name of their material."""
        if self.numbers is None or not self.section.material:
            return [(None, np.arange(len(elements)))]
        numbers = self.numbers[elements]
        return [(self.names[n], np.flatnonzero(numbers == n)) for n in np.unique(numbers).tolist()]
