"""The faces between elements that lie on a fault, each with its footwall and its hanging wall."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from groundswell.arrays import Floats, Integers, Mask
from groundswell.errors import InputError, counted
from groundswell.meshes.hexahedra import AXES
from groundswell.meshes.octree import Forest
from groundswell.meshes.octree_faces import FaceKind, find_faces

FOOTWALL, HANGING_WALL = 0, 1
WALLS = 2
ROUNDING = 1e-6  # of edges
NAMES_OF_AXES = ("x", "y", "depth")
# Which side of a plane normal to x or y is the hanging wall: it lies to the right of the strike,
# along +y or +x.
HANGING_IS_HIGH = (True, False)


@dataclass(frozen=True, eq=False)
class FaultFaces:
    """The faces of a fault, of all ranks.

    Args:
        elements: the footwall and the hanging wall of each face, (faces, 2).
        faces: their faces, (faces, 2).
        turns: orientation of the hanging wall's face as seen from the footwall, see `MeshFaces`,
            (faces,).
    """

    elements: Integers
    faces: Integers
    turns: Integers

    @property
    def count(self) -> int:
        """Number of faces."""
        return len(self.turns)

    @property
    def keys(self) -> Integers:
        """A number for each face, by its lower element, (faces,)."""
        return (2 * AXES * self.elements + self.faces).min(axis=1)

    @classmethod
    def concatenate(cls, parts: Sequence[FaultFaces]) -> FaultFaces:
        """The faces of several faults, in their order."""
        return cls(*(np.concatenate([getattr(p, name) for p in parts]) for name in NAMES))


NAMES = ("elements", "faces", "turns")


@dataclass(frozen=True)
class Plane:
    """A rectangle normal to x or y.

    Args:
        axis: 0 if it is normal to x, 1 if to y.
        at: its position along this axis, m.
        low, high: its ends along the other axes, in their order, m.
    """

    axis: int
    at: float
    low: tuple[float, float]
    high: tuple[float, float]

    @property
    def others(self) -> list[int]:
        """The axes in the plane."""
        return [axis for axis in range(3) if axis != self.axis]


def faces_on_plane(forest: Forest, plane: Plane) -> FaultFaces:
    """The faces of a forest on a plane.

    Raises:
        InputError: the plane is not between elements, they end elsewhere than the plane, or they
            are halved on one side only.
    """
    lower, upper = forest.boxes()
    below = np.flatnonzero(_lies_at(upper, lower, plane) & _is_inside(lower, upper, plane))
    if not len(below):
        raise InputError(_nowhere(forest, plane))
    _require_edges(lower[below], upper[below], plane)
    face = 2 * plane.axis + 1
    found = find_faces(forest, below)
    hanging = (found.kinds[:, face] != FaceKind.SAME).sum()
    if hanging:
        raise InputError(
            f"{counted(int(hanging), 'element')} at the fault have neighbours of "
            "another size; refine both sides alike, or move the fault away from where elements are "
            "halved"
        )
    above = found.neighbours[:, face, 0]
    walls = (below, above) if HANGING_IS_HIGH[plane.axis] else (above, below)
    sides = (face, face - 1) if HANGING_IS_HIGH[plane.axis] else (face - 1, face)
    faces = np.broadcast_to(sides, (len(below), WALLS))
    return FaultFaces(np.column_stack(walls), faces, np.zeros(len(below), np.int64))


def _lies_at(upper: Floats, lower: Floats, plane: Plane) -> Mask:
    """Which boxes end at the plane."""
    edge = upper[:, plane.axis] - lower[:, plane.axis]
    return np.asarray(np.abs(upper[:, plane.axis] - plane.at) < ROUNDING * edge)


def _is_inside(lower: Floats, upper: Floats, plane: Plane) -> Mask:
    """Which boxes have their middle inside the rectangle, seen along its normal."""
    middle = (lower + upper)[:, plane.others] / 2
    return np.asarray(((middle > plane.low) & (middle < plane.high)).all(axis=1))


def _nowhere(forest: Forest, plane: Plane) -> str:
    axis = NAMES_OF_AXES[plane.axis]
    places = np.unique(np.stack(forest.boxes())[..., plane.axis])
    inner = places[1:-1]
    nearest = np.sort(inner[np.argsort(np.abs(inner - plane.at))[:2]])
    if len(inner) and np.abs(places - plane.at).min() > ROUNDING * np.ptp(places):
        shown = " or ".join(f"{value:g}" for value in nearest)
        return f"{axis} = {plane.at:g} m is not between elements; move it to {shown} m"
    return (
        f"no elements lie on both sides of {axis} = {plane.at:g} m within the ends "
        "of the plane; move it"
    )


def _require_edges(lower: Floats, upper: Floats, plane: Plane) -> None:
    """Check that the ends of the rectangle are edges of elements."""
    for n, axis in enumerate(plane.others):
        low, high = lower[:, axis].min(), upper[:, axis].max()
        edge = (upper - lower)[:, axis].min()
        for end, found in ((plane.low[n], low), (plane.high[n], high)):
            if abs(end - found) > ROUNDING * edge:
                raise InputError(
                    f"its end at {NAMES_OF_AXES[axis]} = {end:g} m is not between "
                    f"elements; move it to {found:g} m"
                )
