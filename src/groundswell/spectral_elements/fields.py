"""Fields on elements: gathered from all ranks, and as xarray datasets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from groundswell.arrays import Integers
from groundswell.errors import InputError
from groundswell.exchange.communicator import Communicator
from groundswell.meshes.hexahedra import Floats, Hexahedra
from groundswell.spectral_elements.point_location import NOWHERE, Located, locate

if TYPE_CHECKING:
    import xarray

METRES = {"units": "m"}


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


@dataclass(frozen=True, eq=False)
class ElementValues:
    """Fields on some elements of a mesh, as polynomials.

    Args:
        degree: of the polynomials.
        elements: numbers of the elements in the mesh.
        fields: by name, (elements, (degree + 1)^3).
    """

    mesh: Hexahedra
    degree: int
    elements: Integers
    fields: Mapping[str, Floats]

    def at(self, points: Floats) -> dict[str, Floats]:
        """Values at points (points, 3), m, by name; NaN outside the elements."""
        found = locate(self.mesh, self.elements, points)
        inside = np.flatnonzero(found.elements != NOWHERE)
        chosen = found.elements[inside]
        weights = Located(chosen, found.places[inside]).weights(self.degree)
        sampled = {name: np.full(len(points), np.nan) for name in self.fields}
        for name, values in self.fields.items():
            sampled[name][inside] = np.einsum("pn,pn->p", weights, values[chosen])
        return sampled


def as_dataset(
    positions: Floats, fields: Mapping[str, Floats], units: Mapping[str, str] | None = None
) -> xarray.Dataset:
    """Values on elements, (elements, (N + 1)^3) each, with the positions (.., 3) of their nodes.

    Args:
        units: of the values, by name; without an entry, they are plain numbers.
    """
    import xarray

    dims = ("element", "node")
    coordinates = {axis: (dims, positions[..., n], METRES) for n, axis in enumerate("xyz")}
    variables = {
        name: (dims, values, {"units": (units or {}).get(name, "1")})
        for name, values in fields.items()
    }
    return xarray.Dataset(variables, coordinates)


def sample_on_axes(
    elements: ElementValues, x: ArrayLike, y: ArrayLike, z: ArrayLike
) -> xarray.Dataset:
    """Values at all combinations of x, y and z, m; those that are numbers are no dimension.

    The polynomials of elements are evaluated. Outside the elements, values are NaN.

    Raises:
        InputError: a coordinate is neither a number nor a list of numbers.
    """
    import xarray

    axes = {name: _as_axis(name, values) for name, values in zip("zyx", (z, y, x), strict=True)}
    along = [np.atleast_1d(values) for values in axes.values()]
    points = np.stack([at.ravel() for at in np.meshgrid(*along, indexing="ij")][::-1], axis=-1)
    found = elements.at(points)
    shape = [len(values) for values in axes.values() if values.ndim]
    dims = [name for name, values in axes.items() if values.ndim]
    coordinates = {
        name: ((name,) if values.ndim else (), values, METRES) for name, values in axes.items()
    }
    variables = {name: (dims, values.reshape(shape)) for name, values in found.items()}
    return xarray.Dataset(variables, coordinates)


def _as_axis(name: str, values: ArrayLike) -> Floats:
    try:
        found = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        found = np.full((1, 1), np.nan)
    if found.ndim > 1 or not np.isfinite(found).all():
        raise InputError(f"{name} = {values!r:.60}; give a number or a list of numbers, in m")
    return found
