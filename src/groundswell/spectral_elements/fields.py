"""Fields on elements: those of all ranks together, for ParaView and for xarray."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from groundswell.exchange.world import World
from groundswell.meshes.box import Box
from groundswell.meshes.hexahedra import Floats, Hexahedra, Numbers
from groundswell.spectral_elements.vtkhdf import LagrangeElements

if TYPE_CHECKING:
    import xarray


def gathered(world: World, mesh: Hexahedra, elements: Numbers, values: Floats) -> Floats:
    """Values on the whole mesh, (elements, (N + 1)^3), at rank 0; all ranks must call it.

    Args:
        elements: numbers of this rank's elements.
        values: there, (elements, (N + 1)^3).
    """
    parts = world.gather((elements, values))  # first, so that no rank waits if there is no room
    found = np.zeros((mesh.count if parts else 0, *values.shape[1:]))
    for places, part in parts:
        found[places] = part
    return found


def lagrange_elements(
    mesh: Hexahedra, degree: int, fields: Mapping[str, Floats], attrs: Mapping[str, Any]
) -> LagrangeElements:
    """Fields on a whole mesh, whose two ends of a period are apart."""
    return LagrangeElements.of(unrolled(mesh), degree, fields, attrs)


def unrolled(mesh: Hexahedra) -> Hexahedra:
    """The same elements, whose nodes at the two ends of a period are different ones."""
    return replace(mesh, periodic=(False,) * 3) if isinstance(mesh, Box) else mesh


def as_dataset(positions: Floats, fields: Mapping[str, Floats]) -> xarray.Dataset:
    """Values on elements, (elements, (N + 1)^3) each, with the positions (.., 3) of their nodes."""
    import xarray

    dims = ("element", "node")
    places = {axis: (dims, positions[..., n]) for n, axis in enumerate("xyz")}
    return xarray.Dataset({name: (dims, values) for name, values in fields.items()}, places)
