"""Fields on elements: gathered from all ranks, and as xarray datasets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from groundswell.arrays import Integers
from groundswell.exchange.communicator import Communicator
from groundswell.meshes.hexahedra import Floats, Hexahedra

if TYPE_CHECKING:
    import xarray


def gather_on_root(
    comm: Communicator, mesh: Hexahedra, elements: Integers, values: Floats
) -> Floats:
    """Values on the whole mesh, (elements, (N + 1)^3), at rank 0; all ranks must call it.

    Args:
        elements: numbers of this rank's elements.
        values: on these, (elements, (N + 1)^3).
    """
    parts = comm.gather((elements, values))  # before memory is allocated, which may fail
    if len(parts) == 1 and np.array_equal(elements, np.arange(mesh.count)):
        return values
    whole = np.zeros((mesh.count if parts else 0, *values.shape[1:]))
    for chosen, part in parts:
        whole[chosen] = part
    return whole


def as_dataset(positions: Floats, fields: Mapping[str, Floats]) -> xarray.Dataset:
    """Values on elements, (elements, (N + 1)^3) each, with the positions (.., 3) of their nodes."""
    import xarray

    dims = ("element", "node")
    coordinates = {axis: (dims, positions[..., n]) for n, axis in enumerate("xyz")}
    return xarray.Dataset({name: (dims, values) for name, values in fields.items()}, coordinates)
