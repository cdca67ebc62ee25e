"""What is given on sides of the domain: u where it is prescribed, du/dn where flux comes in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groundswell.errors import InputError
from groundswell.meshes.gll import gll
from groundswell.meshes.hexahedra import AXES, Floats, Hexahedra, face_nodes, positions, tangents
from groundswell.solvers.poisson.operator import Operator, Space

Bools = NDArray[np.bool_]
Field = Callable[[Floats, Floats, Floats], ArrayLike]  # of x, y, z


def nodes_on(space: Space, operator: Operator, tag: int) -> Bools:
    """Whether a side has this rank's nodes, (elements, (N + 1)^3). All ranks must call it.

    A node may be on it by an element of another rank's alone.
    """
    flags = space.on_sides([tag]).astype(float)
    return np.asarray((operator.assemble(flags) > 0)[space.places])


def prescribed_values(
    nodes: Floats, sides: Mapping[int, Bools], values: Mapping[int, Field]
) -> Floats:
    """u where it is prescribed, (elements, (N + 1)^3), 0 elsewhere.

    Where sides meet, the last of them counts.

    Args:
        nodes: positions, (elements, (N + 1)^3, 3).
        sides: which of them are on each side, see `nodes_on`.
        values: u by position, on each side.

    Raises:
        InputError: a value that is not finite.
    """
    known = np.zeros(nodes.shape[:-1])
    for tag, field in values.items():
        here = sides[tag]
        known[here] = at_positions(field, nodes[here], "what a fixed side is given")
    return known


def flux_loads(
    mesh: Hexahedra, degree: int, elements: ArrayLike, fluxes: Mapping[int, Field]
) -> Floats:
    """Integrals of du/dn times each node's function over its sides, (elements, (N + 1)^3).

    By the rule of the element's own nodes, as all integrals.

    Args:
        fluxes: du/dn by position, n pointing outwards, by tag.

    Raises:
        InputError: a value that is not finite.
    """
    chosen = np.asarray(elements)
    tags = mesh.tags(chosen)
    loads = np.zeros((len(chosen), (degree + 1) ** AXES))
    outside = np.flatnonzero(np.isin(tags, list(fluxes)).any(axis=1))
    nodes = positions(mesh, degree, chosen[outside])
    along, weights = tangents(nodes, degree), gll(degree).weights
    squares = np.outer(weights, weights).ravel()
    for face in range(2 * AXES):
        places = face_nodes(degree, face)
        first, second = (along[axis][:, places] for axis in range(AXES) if axis != face // 2)
        areas = np.linalg.norm(np.cross(first, second), axis=-1) * squares
        for tag, field in fluxes.items():
            here = np.flatnonzero(tags[outside, face] == tag)
            flux = at_positions(field, nodes[np.ix_(here, places)], "the flux of a side")
            loads[np.ix_(outside[here], places)] += flux * areas[here]
    return loads


def _real(given: Any, shape: tuple[int, ...], what: str) -> Floats:
    """Numbers of this shape, if they are or can be made that."""
    cure = f"give a real number, or as many as x has, {shape}"
    try:
        values = np.asarray(given)
        if values.dtype.kind not in "biuf":
            raise InputError(f"{what} is {given!r:.60}; {cure}")
        return np.array(np.broadcast_to(values.astype(float), shape))
    except ValueError:
        raise InputError(f"{what} has shape {np.shape(given)}; {cure}") from None


def at_positions(field: Field, nodes: Floats, what: str) -> Floats:
    """A function of position at nodes, (..., 3).

    Raises:
        InputError: it is not real, has another shape, or is not finite somewhere; the message calls
            it `what`.
    """
    x, y, z = np.moveaxis(nodes, -1, 0)
    if not x.size:
        return np.zeros(x.shape)  # some functions want to be asked something
    with np.errstate(all="ignore"):  # told below
        given = field(x, y, z)
    found = _real(given, x.shape, what)
    if not (finite := np.isfinite(found)).all():
        at = ", ".join(f"{axis[~finite][0]:.6g}" for axis in (x, y, z))
        bad = found[~finite][0]
        raise InputError(f"{what} is {bad} at ({at}); give a function that is finite there")
    return found
