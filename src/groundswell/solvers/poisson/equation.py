"""The equation -div(k grad u) + c u = f: its data by position, and their values on a space."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from groundswell.arrays import Floats, Integers, Mask
from groundswell.meshes.hexahedra import face_nodes
from groundswell.solvers.poisson.coefficients import ONE, Coefficients, Transfer, stack_tensor
from groundswell.spectral_elements.boundary import Function, evaluate, require_at_nodes
from groundswell.spectral_elements.given_fields import GivenField, is_number, require, sample
from groundswell.spectral_elements.space import FunctionSpace

Conductivity = GivenField | tuple[GivenField, ...]  # six: xx, xy, xz, yy, yz and zz of a tensor
NAMES = ("xx", "xy", "xz", "yy", "yz", "zz")


def zero(x: Floats, y: Floats, z: Floats) -> float:
    """The function that is 0 everywhere."""
    return 0.0


class Robin(NamedTuple):
    """A side where k du/dn + h (u - ambient) = 0, with h and the ambient value by position."""

    h: Function
    ambient: Function

    def inflow(self, x: Floats, y: Floats, z: Floats) -> Floats:
        """k du/dn where u is 0."""
        return np.asarray(self.h(x, y, z)) * np.asarray(self.ambient(x, y, z))


@dataclass(frozen=True, eq=False)
class Equation:
    """-div(conductivity grad u) + screening u = source, with boundary conditions.

    Args:
        source: f, by position.
        screening: c, 0 or more.
        fixed: u on fixed sides, by tag.
        fluxes: k du/dn on other sides, by tag; n points outwards. Sides without one have no flux.
        mean: of u over the domain, where u is determined up to a constant.
        conductivity: k, above 0, or the six entries of a positive definite tensor.
        robin: sides that exchange heat with their surroundings, by tag.
        names: of sides by tag, for messages.
    """

    source: GivenField = zero
    screening: GivenField = 0.0
    fixed: Mapping[int, Function] = field(default_factory=dict)
    fluxes: Mapping[int, Function] = field(default_factory=dict)
    mean: float | None = None
    conductivity: Conductivity = 1.0
    robin: Mapping[int, Robin] = field(default_factory=dict)
    names: Mapping[int, str] = field(default_factory=dict)

    def side(self, tag: int) -> str:
        """What messages call a side."""
        return f"side {self.names.get(tag, tag)}"

    @property
    def inflows(self) -> dict[int, Function]:
        """k du/dn where u is 0, on sides with a flux or heat transfer, by tag."""
        return {**self.fluxes, **{tag: side.inflow for tag, side in self.robin.items()}}

    def inflow_name(self, tag: int) -> str:
        """What messages call the function of `inflows`."""
        what = "the flux" if tag in self.fluxes else "h times the ambient value"
        return f"{what} of {self.side(tag)}"

    @property
    def reactions(self) -> tuple[GivenField, ...]:
        """The fields of which the coefficient of u consists."""
        return (self.screening,)

    def on(self, space: FunctionSpace) -> DiscreteEquation:
        """Evaluate the coefficients on a space; all ranks must call it.

        Raises:
            InputError: k is not positive, or c or h negative, or one of them not finite.
        """
        evaluated: Coefficients = space.comm.collective_try(lambda: self._evaluate(space))
        return DiscreteEquation(evaluated, space.degree, tuple(self.fixed), self.mean)

    def _evaluate(self, space: FunctionSpace) -> Coefficients:
        some = np.arange(len(space.elements))
        c = sample(self.screening, space, some, "the screening")
        require(c >= 0, c, (space, some), "the screening is {}", "0 or more")
        transfer = sample_transfer(self, space)
        return Coefficients(sample_conductivity(self.conductivity, space), c, transfer)


@dataclass(frozen=True, eq=False)
class DiscreteEquation:
    """An equation's coefficients on a space, and where u is fixed.

    Args:
        coefficients: on this rank's elements, at nodes of this degree.
        fixed: tags of fixed sides.
        mean: see `Equation`.
    """

    coefficients: Coefficients
    degree: int
    fixed: Collection[int]
    mean: float | None = None

    def on(self, space: FunctionSpace) -> DiscreteEquation:
        """The same equation on a space of this or a lower degree on the same elements."""
        if space.degree == self.degree:
            return self
        lower = self.coefficients.at_degree(space.degree)
        return replace(self, coefficients=lower, degree=space.degree)


def sample_conductivity(given: Conductivity, space: FunctionSpace) -> Floats:
    """k on this rank's elements, as `Coefficients` has it.

    Raises:
        InputError: k is not positive or not finite.
    """
    some = np.arange(len(space.elements))
    if not isinstance(given, tuple):
        if is_number(given) and given == 1:
            return ONE
        k = sample(given, space, some, "the conductivity")
        require(k > 0, k, (space, some), "the conductivity is {}", "values above 0")
        return k[:, None]
    named = zip(given, NAMES, strict=True)
    entries = [sample(each, space, some, f"the conductivity {name}") for each, name in named]
    k = stack_tensor(entries)
    text = "the conductivity is not positive definite, with {} as its entry xx"
    require(_is_positive(k), k[:, 0], (space, some), text, "another tensor")
    return k


def _is_positive(k: Floats) -> Mask:
    """Whether tensors are positive definite, (elements, nodes), by Sylvester's criterion."""
    xx, xy, xz, yy, yz, zz = np.moveaxis(k, 1, 0)
    minor = xx * yy - xy**2
    determinant = zz * minor - xx * yz**2 - yy * xz**2 + 2 * xy * xz * yz
    return np.asarray((xx > 0) & (minor > 0) & (determinant > 0))


def sample_transfer(equation: Equation, space: FunctionSpace) -> Transfer | None:
    """h on this rank's faces of sides with heat transfer; None if there are no such sides.

    Raises:
        InputError: h is negative or not finite.
    """
    if not equation.robin:
        return None
    tags = space.mesh.tags(space.elements)
    found = []
    for tag, robin in equation.robin.items():
        name = f"h of {equation.side(tag)}"
        for face in range(tags.shape[1]):
            here = np.flatnonzero(tags[:, face] == tag)
            found.append(_sample_face(robin.h, name, here, face, space))
    elements, faces, values = zip(*found, strict=True)
    return Transfer(np.concatenate(elements), np.concatenate(faces), np.concatenate(values))


def _sample_face(
    h: Function, name: str, elements: Integers, face: int, space: FunctionSpace
) -> tuple[Integers, Integers, Floats]:
    at = space.nodes[np.ix_(elements, face_nodes(space.degree, face))]
    values = evaluate(h, at, name)
    require_at_nodes(values >= 0, values, at, name, "0 or more")
    return elements, np.full(len(elements), face), values
