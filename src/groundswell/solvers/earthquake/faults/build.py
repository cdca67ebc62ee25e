"""The faults of a case on the grid, with the friction and stress on them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from groundswell.errors import InputError
from groundswell.seismology.faults.build import conditions_of
from groundswell.seismology.faults.labels import fault_label, fault_named
from groundswell.seismology.faults.planes import plane_points
from groundswell.seismology.faults.points import FaultPoints
from groundswell.solvers.earthquake.case import SplitNodeFault
from groundswell.solvers.earthquake.faults.model import Fault
from groundswell.solvers.earthquake.faults.plane import FaultPlane, find_plane
from groundswell.solvers.earthquake.faults.rock import FaultRock
from groundswell.solvers.earthquake.ground import Ground


def build_faults(sections: Sequence[SplitNodeFault], ground: Ground) -> tuple[Fault, ...]:
    """The faults of a case.

    Raises:
        InputError: a fault does not lie on the grid, in rock or away from others.
    """
    faults = []
    for n, section in enumerate(sections):
        with fault_named(n, section.name):
            faults.append(_fault(section, ground))
    for first, second in combinations(enumerate(faults), 2):
        _require_apart(first, second)
    return tuple(faults)


def _fault(section: SplitNodeFault, ground: Ground) -> Fault:
    grid, periodic, surface = ground.grid, ground.periodic, ground.free_surface
    plane = find_plane(section, grid, periodic=periodic, surface=surface)
    rock, points = FaultRock.read(plane, ground), _points(section, plane)
    given = conditions_of(section, points)
    return Fault(section.name, plane, rock, points, given, section.viscosity)


def _points(section: SplitNodeFault, plane: FaultPlane) -> FaultPoints:
    """The centres of a fault's cells."""
    assert section.plane is not None
    positions = plane.centres
    _, along, depth = plane.spacing
    area = np.full(len(positions), along * depth)
    return plane_points(section.plane, positions, area, section.hypocenter)


def _require_apart(first: tuple[int, Fault], second: tuple[int, Fault]) -> None:
    """Check that no cell is in the reach of two numbered faults."""
    boxes = [fault.plane.box for _, fault in (first, second)]
    (low, n), (other, m) = boxes
    if all(a < b + k and b < a + j for a, b, j, k in zip(low, other, n, m, strict=True)):
        labels = [fault_label(number, fault.name) for number, fault in (first, second)]
        raise InputError(
            f"{' and '.join(labels)} meet, or are less than 5 cells apart, which "
            'this solver does not support; move one, or use solver = "dgwave"'
        )
