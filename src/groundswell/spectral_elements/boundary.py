"""Boundary data on spectral elements: functions at nodes, and integrals over tagged faces."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from groundswell.arguments import call_function
from groundswell.arrays import Integers, Mask
from groundswell.backends.host_threads import mapped
from groundswell.errors import InputError
from groundswell.meshes.gll import gll
from groundswell.meshes.hexahedra import AXES, Floats, Hexahedra, face_nodes, positions
from groundswell.spectral_elements.geometry import FaceGeometry

Function = Callable[[Floats, Floats, Floats], ArrayLike]  # of x, y, z


@dataclass(frozen=True, eq=False)
class TaggedFaces:
    """Faces with some boundary tags, over which functions are integrated.

    Quadrature is at the nodes, as in all integrals over elements.

    Args:
        outside: indices of the elements with such faces, (outside,).
        tags: of their faces, (outside, 6).
        nodes: positions of their nodes, (outside, (degree + 1)^3, 3), m.
        areas: surface Jacobians with quadrature weights, (outside, 6, (degree + 1)^2).
    """

    degree: int
    outside: Integers
    tags: Integers
    nodes: Floats
    areas: Floats

    @classmethod
    def of(
        cls, mesh: Hexahedra, degree: int, elements: ArrayLike, tags: Collection[int]
    ) -> TaggedFaces:
        """The faces of some elements with these tags."""
        chosen = np.asarray(elements)
        found = mesh.tags(chosen)
        outside = np.flatnonzero(np.isin(found, list(tags)).any(axis=1))
        nodes, weights = positions(mesh, degree, chosen[outside]), gll(degree).weights
        areas = FaceGeometry.at_nodes(nodes, degree).areas * np.outer(weights, weights).ravel()
        return cls(degree, outside, found[outside], nodes, areas)

    def integrate(self, functions: Mapping[int, Function], name: Callable[[int], str]) -> Floats:
        """Integrals of functions times each node's basis function, (outside, (degree + 1)^3).

        Args:
            functions: integrand by position, for each boundary tag.
            name: what error messages call the function of a tag.

        Raises:
            InputError: a value is not finite.
        """
        integrals = np.zeros(self.nodes.shape[:-1])
        for face in range(2 * AXES):
            indices, areas = face_nodes(self.degree, face), self.areas[:, face]
            for tag, function in functions.items():
                here = np.flatnonzero(self.tags[:, face] == tag)
                values = evaluate(function, self.nodes[np.ix_(here, indices)], name(tag))
                integrals[np.ix_(here, indices)] += values * areas[here]
        return integrals

    def on_faces(self, tags: Collection[int]) -> Mask:
        """Which nodes are on faces with these tags, (outside, (degree + 1)^3)."""
        found = np.zeros(self.nodes.shape[:-1], bool)
        is_tagged = np.isin(self.tags, list(tags))
        for face in range(2 * AXES):
            here = np.flatnonzero(is_tagged[:, face])
            found[np.ix_(here, face_nodes(self.degree, face))] = True
        return found


def evaluate(function: Function, nodes: Floats, name: str) -> Floats:
    """Values of a function of position at nodes, (..., 3).

    Args:
        name: what error messages call the function.

    Raises:
        InputError: values are not real, not finite, or have another shape, or the function raises
            an exception.
    """
    x, y, z = np.moveaxis(nodes, -1, 0)
    if not x.size:
        return np.zeros(x.shape)  # some functions cannot handle empty arrays
    with np.errstate(all="ignore"):  # reported below
        result = call_function(name, function, x, y, z)
    values = _require_real(result, x.shape, name)
    finite = mapped(np.isfinite, values, dtype=bool)
    require_at_nodes(finite, values, nodes, name, "a function that is finite there")
    return values


def require_at_nodes(valid: Mask, values: Floats, nodes: Floats, name: str, allowed: str) -> None:
    """Refuse the first value that is not valid.

    Args:
        valid, values: at nodes, (...,).
        nodes: their positions, (..., 3).
        name: what the message calls the values.
        allowed: what to give instead.
    """
    if not valid.all():
        at = ", ".join(f"{x:.6g}" for x in nodes[~valid][0])
        raise InputError(f"{name} is {values[~valid][0]:g} at ({at}); give {allowed}")


def _require_real(result: Any, shape: tuple[int, ...], name: str) -> Floats:
    """The result as real numbers of this shape."""
    cure = f"give a real number, or an array of the shape of x, {shape}"
    try:
        values = np.asarray(result)
        if values.dtype.kind not in "biuf":
            raise InputError(f"{name} is {result!r:.60}; {cure}")
        # A copy, since functions may return what they own.
        return mapped(np.asarray, np.broadcast_to(values, shape), dtype=float)
    except ValueError:
        raise InputError(f"{name} has shape {np.shape(result)}; {cure}") from None
