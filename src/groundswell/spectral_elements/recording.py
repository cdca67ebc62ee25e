"""Recording on elements: values of the solution's own polynomial at any position."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from groundswell.arrays import Integers
from groundswell.case.recording import LineWhere, PlaneWhere, PointsWhere, Where
from groundswell.errors import InputError
from groundswell.exchange.communicator import Communicator, SerialCommunicator
from groundswell.formats.netcdf import Variable
from groundswell.meshes.hexahedra import AXES, Floats, Hexahedra
from groundswell.outputs.positions import line_frame, point_frame, positions_of
from groundswell.outputs.recording import Frame, PointSelection, RecordableField
from groundswell.spectral_elements.point_location import (
    NOWHERE,
    Located,
    ends_of_nodes,
    locate,
)

NAMES = ("x", "y", "z")
ROUNDING = 1e-9  # of the mesh's extent, by which positions may lie outside it


@dataclass(frozen=True, eq=False)
class ElementDomain:
    """A rank's elements; arrays are (elements, (degree + 1)^3).

    Args:
        elements: numbers of this rank's.
    """

    comm: Communicator
    mesh: Hexahedra
    degree: int
    elements: Integers

    @classmethod
    def outline(cls, mesh: Hexahedra) -> Self:
        """A whole mesh on one rank, to check positions; of degree 1, as this needs no weights."""
        return cls(SerialCommunicator(), mesh, 1, np.arange(mesh.count))

    def select(self, where: Where, fields: Sequence[RecordableField]) -> PointSelection:
        """See `Domain`; all ranks must call it. A part of a plane may lie outside the mesh.

        Whether positions are accepted does not depend on sizes of elements, so an outline of a mesh
        accepts the same ones.

        Raises:
            InputError: a point or a whole plane outside the mesh, or places that elements lack.
        """
        if isinstance(where, PlaneWhere):
            points, frame = self._plane(where, fields)
            selection = self._at(points, fields, frame)
            if len(selection.missing) == len(points):
                self._require_found(points, selection.missing)
            return selection
        if not isinstance(where, PointsWhere | LineWhere):
            raise InputError(f"where.kind = {where.kind!r} is for grids; use points, line or plane")
        points = positions_of(where)
        frame = (line_frame if isinstance(where, LineWhere) else point_frame)(points, fields)
        selection = self._at(points, fields, frame)
        self._require_found(points, selection.missing)
        return selection

    def _at(
        self, points: Floats, fields: Sequence[RecordableField], frame: Frame
    ) -> PointSelection:
        found, mine, missing = self.locate(self._without_rounding(points))
        cells = np.stack([found.elements, np.zeros_like(mine)], axis=-1)
        weights = found.weights(self.degree)
        return PointSelection(
            shape=(len(points),),
            count=(len(mine),),
            place=(mine,),
            frame=frame,
            cells=np.stack([cells] * len(fields)),
            taps=(1, (self.degree + 1) ** AXES),
            weights=np.stack([weights] * len(fields)),
            missing=missing,
        )

    def locate(self, points: Floats) -> tuple[Located, Integers, Integers]:
        """Find points in elements; all ranks must call it.

        Returns:
            Where the points lie of which this rank has the first element, of all ranks' that hold
            them; their numbers; and the numbers of points that no rank has.
        """
        found = self._locate(points)
        mine, missing = self._owned(found)
        return Located(found.elements[mine], found.places[mine]), mine, missing

    def _locate(self, points: Floats) -> Located:
        """The lowest element of this rank that holds each point, in whatever order they are."""
        rising = np.argsort(self.elements)
        low, high = self._ends
        found = locate(self.mesh, self.elements[rising], points, (low[rising], high[rising]))
        here = found.elements != NOWHERE
        found.elements[here] = rising[found.elements[here]]
        return found

    def _owned(self, found: Located) -> tuple[Integers, Integers]:
        """Points whose first element, of all ranks' that hold them, is here; those without one."""
        here = found.elements != NOWHERE
        nobody = self.mesh.count
        numbers = np.full(len(here), nobody)
        numbers[here] = self.elements[found.elements[here]]
        first = np.min(self.comm.allgather(numbers), axis=0)
        mine = np.flatnonzero(here & (numbers == first))
        return mine, np.flatnonzero(first == nobody)

    def _without_rounding(self, points: Floats) -> Floats:
        """Positions, with coordinates that rounding puts just outside the mesh's extent on it."""
        low, high = self.extent()
        inside = np.clip(points, low, high)
        return np.where(np.abs(points - inside) <= ROUNDING * (high - low), inside, points)

    def _require_found(self, points: Floats, missing: Integers) -> None:
        if not len(missing):
            return
        place = ", ".join(f"{a:.15g}" for a in points[missing[0]])
        ends = zip(NAMES, *self.extent(), strict=True)
        within = ", ".join(f"{name} {low:.15g} to {high:.15g}" for name, low, high in ends)
        raise InputError(
            f"{len(missing)} of {len(points)} positions of output.record lie outside the mesh, the "
            f"first is ({place}) m; the mesh has elements within {within} m; move the positions "
            "into elements"
        )

    def extent(self) -> tuple[Floats, Floats]:
        """The lowest and the highest coordinates of the mesh's own nodes, on all ranks."""
        low, high = self._ends
        own = low.min(axis=0, initial=np.inf), high.max(axis=0, initial=-np.inf)
        lows, highs = zip(*self.comm.allgather(own), strict=True)
        return np.min(lows, axis=0), np.max(highs, axis=0)

    @cached_property
    def _ends(self) -> tuple[Floats, Floats]:
        """See `ends_of_nodes`; all recordings need them."""
        return ends_of_nodes(self.mesh, self.elements)

    def _plane(self, where: PlaneWhere, fields: Sequence[RecordableField]) -> tuple[Floats, Frame]:
        """A regular lattice across the whole mesh."""
        if where.points is None:
            raise InputError(
                "where.points is required for a plane across elements; give two, as in [101, 51]"
            )
        low, high = self.extent()
        normal = NAMES.index(where.normal)
        along = dict(zip((a for a in range(AXES) if a != normal), where.points, strict=True))
        axes = [
            np.linspace(low[a], high[a], along[a]) if a in along else np.array([where.at])
            for a in range(AXES)
        ]
        z, y, x = np.meshgrid(*axes[::-1], indexing="ij")
        coordinates = {
            NAMES[a]: Variable((NAMES[a],), axes[a], attrs={"units": "m"})
            if a in along
            else Variable((), where.at, attrs={"units": "m"})
            for a in reversed(range(AXES))
        }
        dims = tuple(NAMES[a] for a in reversed(range(AXES)) if a in along)
        points = np.stack([x.ravel(), y.ravel(), z.ravel()], axis=-1)
        return points, Frame(coordinates, {field.name: dims for field in fields})
