"""The hypocentre of a spontaneous rupture."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from groundswell.seismology.case.fault import FaultSection
from groundswell.seismology.faults.estimates import FaultEstimates
from groundswell.seismology.sources.entries import Point


def event_position(
    sections: Sequence[FaultSection], estimates: Sequence[FaultEstimates]
) -> Point | None:
    """The first hypocentre that is given, or else where a fault breaks first, x, y, depth, m.

    Args:
        sections, estimates: of all faults of a case.

    Returns:
        None if there is no fault.
    """
    given = [section.hypocenter for section in sections if section.hypocenter]
    if given or not estimates:
        return next(iter(given), None)
    return _first_to_break(max(estimates, key=lambda each: (each.loaded - each.static).max()))


def _first_to_break(fault: FaultEstimates) -> Point:
    """The point in the middle of those loaded above their strength, or of all if none is."""
    points, breaks = fault.points, fault.loaded > fault.static
    points = points.take(breaks) if breaks.any() else points
    middle = np.average(points.position, axis=0, weights=points.area)
    nearest = np.linalg.norm(points.position - middle, axis=1).argmin()
    x, y, depth = points.position[nearest].tolist()
    return x, y, depth
