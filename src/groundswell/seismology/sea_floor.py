"""Depths of water at sources and receivers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from groundswell.arrays import Floats, Mask
from groundswell.seismology.survey import Survey

DEEPEST = 2.0**14  # m; water that reaches further has no floor in the model
_ACCURACY = 1e-3  # m


def with_water_depths(survey: Survey, is_fluid: Callable[[Floats], Mask]) -> Survey:
    """The survey with the depths of water at its sources and receivers.

    Args:
        is_fluid: function of positions x, y, depth, (n, 3), m, that returns whether they are in a
            fluid, (n,); False below the model.
    """
    places = [survey.summary.centroid, *(station.position for station in survey.receivers)]
    first, *others = water_depths(np.array(places)[:, :2], is_fluid).round(2).tolist()
    stations = zip(survey.receivers, others, strict=True)
    receivers = [replace(station, water_depth=depth) for station, depth in stations]
    return replace(survey, receivers=receivers, water_depth=first)


def water_depths(places: Floats, is_fluid: Callable[[Floats], Mask]) -> Floats:
    """Depth of the water below the surface at positions x, y, (n,), m.

    It is 0 on land, and where the model has no sea floor. The water reaches from the surface down.

    Args:
        places: x and y, (n, 2), m.
        is_fluid: see `with_water_depths`.
    """

    def in_water(rows: Mask, depth: Floats) -> Mask:
        found = np.zeros(len(places), bool)
        found[rows] = is_fluid(np.column_stack([places, depth])[rows])
        return found

    low, high = np.zeros(len(places)), np.ones(len(places))
    wet = in_water(np.ones(len(places), bool), low)
    while (deeper := in_water(wet & (high <= DEEPEST), high)).any():
        low[deeper], high[deeper] = high[deeper], 2 * high[deeper]
    wet &= high <= DEEPEST
    while (open_ := wet & (high - low > _ACCURACY)).any():
        middle = (low + high) / 2
        inside = in_water(open_, middle)
        low[inside], high[open_ & ~inside] = middle[inside], middle[open_ & ~inside]
    return np.where(wet, (low + high) / 2, 0.0)
