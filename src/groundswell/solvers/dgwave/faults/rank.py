"""A rank's part of all faults: the tables of kernels/fault.h."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from groundswell.arrays import Floats, Integers
from groundswell.solvers.dgwave.faults.faces import WALLS, FaultFaces
from groundswell.solvers.dgwave.mesh.elements import RankElements

ELSEWHERE = -1  # instead of an element: another rank has it


@dataclass(frozen=True, eq=False)
class FaultTables:
    """What friction needs at points of faults; see kernels/fault.h.

    Args:
        law: number of the law of friction, see seismology/kernels/friction.h.
        friction: its parameters, (parameters, points).
        axes: normal, strike and updip, (9, points).
        impedances: of P and S waves in the footwall, then in the hanging wall, (4, points).
        loads: normal stress, shear stress along strike and up dip; shear stress that nucleation
            adds to both, Pa, and its duration, s, (6, points).
        state: the state of friction at the start, (points,).
    """

    law: int
    friction: Floats
    axes: Floats
    impedances: Floats
    loads: Floats
    state: Floats

    @property
    def points(self) -> int:
        """Number of points."""
        return len(self.state)

    def take(self, points: Integers) -> FaultTables:
        """The tables of some points."""
        arrays = {name: values for name, values in vars(self).items() if name != "law"}
        return FaultTables(self.law, **{name: v[..., points] for name, v in arrays.items()})


@dataclass(frozen=True, eq=False)
class RankFault:
    """The faces of faults of which a rank has a wall.

    Args:
        numbers: the faces among those of all ranks, (faces,).
        total: number of the faces of all ranks.
        elements: the rank's elements that are their walls, or ELSEWHERE, (faces, 2).
        faces: the faces of these, (faces, 2).
        turns: see `FaultFaces`, (faces,).
        tables: at their points, in the order of the footwall's nodes.
    """

    numbers: Integers
    total: int
    elements: Integers
    faces: Integers
    turns: Integers
    tables: FaultTables

    @classmethod
    def of(cls, elements: RankElements, found: FaultFaces, tables: FaultTables) -> RankFault:
        """The part of a rank.

        Args:
            elements: those of the rank.
            found: the faces of all ranks.
            tables: at the points of all ranks.
        """
        numbers, places = _walls_on(elements, found)
        nodes = tables.points // max(found.count, 1)
        points = (numbers[:, None] * nodes + np.arange(nodes)).ravel()
        own = tables.take(points)
        return cls(numbers, found.count, places, found.faces[numbers], found.turns[numbers], own)

    @property
    def count(self) -> int:
        """Number of faces."""
        return len(self.numbers)

    @property
    def nodes(self) -> int:
        """Number of points of a face."""
        return self.tables.points // max(self.count, 1)

    @cached_property
    def sides(self) -> Integers:
        """Element and face of each wall on this rank, (sides, 2)."""
        own = self.elements != ELSEWHERE
        return np.column_stack([self.elements[own], self.faces[own]])

    @cached_property
    def rows(self) -> Integers:
        """The wall of each of these sides, counted from the first face's footwall, (sides,)."""
        return np.flatnonzero(self.elements.ravel() != ELSEWHERE)

    @property
    def owned(self) -> Integers:
        """The faces whose footwall is on this rank, which it writes, (owned,)."""
        return np.flatnonzero(self.elements[:, 0] != ELSEWHERE)

    def arguments(self) -> dict[str, np.ndarray]:
        """Arguments of kernels/fault.h."""
        faces = np.column_stack([self.elements, self.faces, self.turns, self._opposite])
        return {
            "fault_faces": faces.astype(np.int32),
            "fault_axes": self.tables.axes,
            "wall_impedances": self.tables.impedances,
            "friction": self.tables.friction,
            "loads": self.tables.loads,
        }

    @property
    def _opposite(self) -> Integers:
        """The side of the rank that lies opposite each wall, counted among `sides`, (faces, 2)."""
        found = np.zeros(self.elements.size, np.int64)
        found[self.rows ^ 1] = np.arange(len(self.rows))
        return found.reshape(-1, WALLS)


def _walls_on(elements: RankElements, found: FaultFaces) -> tuple[Integers, Integers]:
    """The faces of which a rank has a wall, (faces,), and its elements, (faces, 2)."""
    low, high = elements.starts[elements.rank], elements.starts[elements.rank + 1]
    own = (found.elements >= low) & (found.elements < high)
    numbers = np.flatnonzero(own.any(axis=1))
    places = np.full((len(numbers), WALLS), ELSEWHERE)
    mine = own[numbers]
    places[mine] = elements.place(found.elements[numbers][mine])
    return numbers, places
