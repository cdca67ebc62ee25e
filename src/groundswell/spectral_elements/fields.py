"""Fields of all ranks together, on the elements that ParaView opens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from groundswell.exchange.world import World
from groundswell.meshes.box import Box
from groundswell.meshes.hexahedra import Floats, Hexahedra, Numbers
from groundswell.spectral_elements.vtkhdf import LagrangeElements


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
