"""A box of hexahedra, which may be deformed. A rank can query its own elements alone.

Elements and nodes are numbered along x first, then y, then z.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike

from groundswell.arguments import (
    call_function,
    flags,
    real_numbers,
    whole_number,
    whole_numbers,
)
from groundswell.arrays import Integers
from groundswell.errors import InputError
from groundswell.meshes.entities import Entities
from groundswell.meshes.gll import gll
from groundswell.meshes.hexahedra import AXES, INSIDE, Floats

Deformation = Callable[[Floats], Floats]
DEFORMATION = "the deformation of a box"  # in messages


@dataclass(frozen=True)
class Box:
    """A structured mesh of hexahedra, all alike unless the box is deformed.

    >>> import groundswell as gs
    >>> box = gs.poisson.Box((6, 4, 4), deform=gs.poisson.kershaw(0.5, 0.5), order=3)
    >>> gs.poisson.nodes(box, 2).shape  # (elements, nodes, 3)
    (96, 27, 3)

    Args:
        counts: elements along x, y, z.
        low, high: corners, m.
        periodic: whether the box is periodic along x, y, z.
        deform: maps points (..., 3) of the box to their positions; must be continuous.
        order: degree of the element maps, required for a deformed box; 1 keeps edges straight.

    Raises:
        InputError: arguments without a value for each axis, an axis without elements or length, a
            deformed periodic box, or a deformed box without an order.
    """

    counts: tuple[int, int, int]
    low: tuple[float, float, float] = (0.0, 0.0, 0.0)
    high: tuple[float, float, float] = (1.0, 1.0, 1.0)
    periodic: tuple[bool, bool, bool] = (False, False, False)
    deform: Deformation | None = None
    order: int = 0

    def __post_init__(self) -> None:
        numbers = {name: real_numbers(name, getattr(self, name), AXES) for name in ("low", "high")}
        counts = whole_numbers("counts", self.counts, AXES)
        periodic = flags("periodic", self.periodic, AXES)
        for name, values in {**numbers, "counts": counts, "periodic": periodic}.items():
            object.__setattr__(self, name, values)
        if min(self.counts) < 1:
            raise InputError(f"{self.counts} elements; allowed: at least 1 along each axis")
        if not all(a < b for a, b in zip(self.low, self.high, strict=True)):
            raise InputError(
                f"a box from {self.low} to {self.high}; give low below high on all axes"
            )
        if self.deform and any(self.periodic):
            raise InputError("a periodic box cannot be deformed, because its ends would not meet")
        if self.deform and not self.order:
            raise InputError(
                "a deformed box needs the order of its elements: order = 1 keeps their edges "
                "straight, the degree of the equation follows the deformation"
            )
        object.__setattr__(self, "order", whole_number("order", self.order) or 1)
        gll(self.order)

    @property
    def count(self) -> int:
        """Number of elements."""
        return prod(self.counts)

    def geometry_nodes(self, elements: ArrayLike) -> Floats:
        """Positions of the nodes of degree `order`, (elements, (order + 1)^3, 3)."""
        inside = (gll(self.order).points + 1) / 2
        axes = zip(self._places(elements), self.counts, self.low, self.high, strict=True)
        x, y, z = (low + (high - low) * (n[:, None] + inside) / m for n, m, low, high in axes)
        cubes = np.broadcast_arrays(x[:, None, None, :], y[:, None, :, None], z[:, :, None, None])
        points = np.stack(
            [cube.reshape(len(x), (self.order + 1) ** AXES) for cube in cubes], axis=-1
        )
        return points if self.deform is None else _deformed(self.deform, points)

    def ids(self, degree: int, elements: ArrayLike) -> Integers:
        """See `Hexahedra`: ids are positions on the lattice of all nodes."""
        lattice = self._lattice(degree)
        if prod(lattice) >= 2**63:
            raise InputError(f"{lattice} nodes are too many to number; use fewer elements")
        steps = np.arange(degree + 1)
        places = zip(self._places(elements), lattice, strict=True)
        x, y, z = ((degree * n[:, None] + steps) % m for n, m in places)
        planes = z[:, :, None, None] * lattice[1] + y[:, None, :, None]
        return (planes * lattice[0] + x[:, None, None, :]).reshape(len(x), (degree + 1) ** AXES)

    def entities(self, elements: ArrayLike) -> Entities:
        """See `Hexahedra`: no entity is turned."""
        return Entities(self.ids(2, elements))

    def count_nodes(self, degree: int) -> int:
        """Number of distinct nodes of a degree in the whole mesh."""
        return prod(self._lattice(degree))

    def tags(self, elements: ArrayLike) -> Integers:
        """See `Hexahedra`: 1 and 2 are low and high x, 3 and 4 low and high y, 5 and 6 z."""
        places = self._places(elements)
        tags = np.full((len(places[0]), 2 * AXES), INSIDE)
        for axis, (place, count) in enumerate(zip(places, self.counts, strict=True)):
            if not self.periodic[axis]:
                tags[place == 0, 2 * axis] = 2 * axis + 1
                tags[place == count - 1, 2 * axis + 1] = 2 * axis + 2
        return tags

    def block(self, start: Sequence[int], shape: Sequence[int]) -> Integers:
        """Numbers of the elements in a block that starts at (z, y, x), in rising order."""
        whole = [np.arange(first, first + n) for first, n in zip(start, shape, strict=True)]
        return np.ravel_multi_index(np.ix_(*whole), self.counts[::-1]).ravel().astype(np.int64)

    def _lattice(self, degree: int) -> list[int]:
        """Nodes along x, y and z."""
        return [degree * m + (not p) for m, p in zip(self.counts, self.periodic, strict=True)]

    def _places(self, elements: ArrayLike) -> list[Integers]:
        """Indices of elements along x, y and z."""
        return [*np.unravel_index(np.asarray(elements, np.int64), self.counts[::-1])][::-1]


def kershaw(eps_y: float, eps_z: float, smoothness: int = 0) -> Deformation:
    """Kershaw's deformation of the unit cube into thin and slanted elements.

    >>> import numpy as np
    >>> import groundswell as gs
    >>> deform = gs.poisson.kershaw(0.3, 0.3)
    >>> deform(np.array([[0.1, 0.5, 0.5]]))
    array([[0.1 , 0.15, 0.15]])

    The cube has six layers of equal thickness along x. Surfaces of equal y and z are crowded
    towards 0 in the first layer and towards 1 in the last one; in between they cross the cube three
    times. The number of elements along x should be a multiple of 6, and even along y and z.

    Kershaw, Differencing of the diffusion equation in Lagrangian hydrodynamic codes, J. Comput.
    Phys. 39, 1981; in the form of the bake-off problems of the Center for Efficient Exascale
    Discretizations.

    Args:
        eps_y, eps_z: size of the thinnest elements over the undeformed size, above 0 up to 1.
        smoothness: number of continuous derivatives between layers, 0 to 2.

    Raises:
        InputError: values out of range.
    """
    are_numbers = all(isinstance(value, Real) for value in (eps_y, eps_z, smoothness))
    if not (are_numbers and 0 < eps_y <= 1 and 0 < eps_z <= 1 and smoothness in (0, 1, 2)):
        raise InputError(
            f"eps = {eps_y}, {eps_z}, smoothness = {smoothness}; allowed: above 0 up to 1, 0 to 2"
        )

    def step(x: Floats) -> Floats:
        """Rise from 0 to 1."""
        x = np.clip(x, 0.0, 1.0)
        return (x, x**2 * (3 - 2 * x), x**3 * (x * (6 * x - 15) + 10))[smoothness]

    def deform(points: Floats) -> Floats:
        x = points[..., 0]
        side = np.select(
            [x <= 1 / 6, x <= 1 / 3, x <= 2 / 3, x <= 5 / 6],
            [0 * x, step(6 * x - 1), 1 - step(3 * x - 1), step(6 * x - 4)],
            1.0,
        )
        columns = [_crowded(points[..., n], eps, side) for n, eps in ((1, eps_y), (2, eps_z))]
        return np.stack([x, *columns], axis=-1)

    return deform


def _crowded(y: Floats, eps: float, side: Floats) -> Floats:
    """Map [0, 1] to itself, crowding one half at 0 (side 0), at 1 (side 1), or in between."""

    def at_one(y: Floats) -> Floats:
        return np.where(y <= 0.5, (2 - eps) * y, 1 + eps * (y - 1))

    return (1 - side) * (1 - at_one(1 - y)) + side * at_one(y)


def _deformed(deform: Deformation, points: Floats) -> Floats:
    """Positions after a user's deformation, (..., 3)."""
    moved = np.asarray(call_function(DEFORMATION, deform, points))
    if moved.shape != points.shape or moved.dtype.kind not in "biuf":
        raise InputError(
            f"{DEFORMATION} gives {moved.dtype} of shape {moved.shape}; it must return positions "
            f"of the shape that it gets, {points.shape}"
        )
    return moved
