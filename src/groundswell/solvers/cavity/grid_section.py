"""The grid of a case: `[grid]`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Annotated

from pydantic import AfterValidator

from groundswell.case import units
from groundswell.case.common import Section
from groundswell.case.problems import Violation, reject
from groundswell.case.units import Count, InRange, Positive
from groundswell.solvers.cavity.walls import AXES, Wall, WallsSection

MAX_STRETCHING = 4.0  # makes the spacing at walls 0.005 of the mean one


def _at_most_strongest(value: float) -> float:
    if value > MAX_STRETCHING:
        reject([((), f"must be at most {MAX_STRETCHING:g}")])
    return value


Length = Annotated[units.Length, Positive, InRange]
Strength = Annotated[units.Number, Positive, AfterValidator(_at_most_strongest)]


class Stretching(Section):
    """`stretching`: how strongly points cluster at the walls of an axis; by default, not at all."""

    x: Strength | None = None
    """Strength of the clustering of points at walls normal to x; even distances by default."""
    y: Strength | None = None
    """Strength of the clustering of points at walls normal to y; even distances by default."""
    z: Strength | None = None
    """Strength of the clustering of points at walls normal to z; even distances by default."""


class Positions(Section):
    """`positions`: positions of all points along an axis, without the walls, m; default: even."""

    x: tuple[Length, ...] | None = None
    """Positions of all points along x, without the walls; even distances by default."""
    y: tuple[Length, ...] | None = None
    """Positions of all points along y, without the walls; even distances by default."""
    z: tuple[Length, ...] | None = None
    """Positions of all points along z, without the walls; even distances by default."""


class GridSection(Section):
    """`[grid]`: the size of the box, m, and the points along each axis, without the walls."""

    size: tuple[Length, Length, Length] = (1.0, 1.0, 1.0)
    """Lengths of the box along x, y and z."""
    points: tuple[Count, Count, Count]
    """Points along x, y and z, without the walls; 1 between two symmetric or periodic sides."""
    stretching: Stretching = Stretching()
    """How strongly points cluster at the walls, by axis: 0.5 to 3 are usual, at most 4."""
    positions: Positions = Positions()
    """Positions of all points, by axis, instead of a stretching."""

    def violations(self) -> Iterator[Violation]:
        """Axes with both keys, and positions that are too many, too few or out of order."""
        for axis, name in enumerate(AXES):
            given, key = getattr(self.positions, name), ("positions", name)
            if given is None:
                continue
            if getattr(self.stretching, name) is not None:
                yield key, f"excludes stretching.{name}; leave out one of the two"
            elif len(given) != self.points[axis]:
                yield key, f"must have {self.points[axis]} entries, as grid.points along {name}"
            elif any(after <= before for before, after in pairwise((*given, self.size[axis]))):
                yield key, f"must increase and lie inside the box, below {self.size[axis]:g} m"

    def is_stretched(self, axis: int) -> bool:
        """Whether the case gives a stretching, or positions, for an axis."""
        names = (self.stretching, self.positions)
        return any(getattr(each, AXES[axis]) is not None for each in names)


def stretching_violations(grid: GridSection, walls: WallsSection) -> Iterator[Violation]:
    """Stretched axes without a wall."""
    for axis, name in enumerate(AXES):
        low, high = walls.pair(axis)
        if grid.is_stretched(axis) and not (isinstance(low, Wall) or isinstance(high, Wall)):
            key = "stretching" if getattr(grid.stretching, name) is not None else "positions"
            yield ("grid", key, name), f"needs a wall at an end of {name}; leave it out"
