"""Points of faults at which time series are recorded."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from groundswell.arrays import Integers
from groundswell.errors import InputError, listed, quoted
from groundswell.seismology.case.fault_outputs import FaultPoint, FaultPointsOutput, RuptureOutput
from groundswell.seismology.faults.points import FaultPoints

_REACH = 4.0  # distance of the nearest point, over that of points, beyond which none is meant
_ROUNDING = 1e-3  # m, of equal distances


def require_recordable(
    points: FaultPointsOutput | None,
    rupture: RuptureOutput | None,
    faults: Mapping[str, FaultPoints],
) -> None:
    """Check that there are faults where a case records them.

    Raises:
        InputError: there is no fault, or a point is not on one.
    """
    if rupture and not faults:
        raise InputError("output.rupture: the case has no fault; add a [[fault]], or remove it")
    if points:
        nearest_points(points, faults)


def nearest_points(section: FaultPointsOutput, faults: Mapping[str, FaultPoints]) -> Integers:
    """The nearest points among those of all faults, in their order, (points,).

    Of several at a place, which belong to different elements, it is the first.

    Raises:
        InputError: a point is not on its fault, or there is no such fault.
    """
    starts = np.cumsum([0, *map(len, faults.values())])
    first = dict(zip(faults, starts.tolist(), strict=False))
    names = [_fault_of(n, point, [*faults]) for n, point in enumerate(section.point)]
    return np.array(
        [
            first[name] + _nearest(n, point, faults[name])
            for n, (name, point) in enumerate(zip(names, section.point, strict=True))
        ]
    )


def _fault_of(n: int, point: FaultPoint, names: list[str]) -> str:
    """The name of the fault of a point."""
    key = f"output.fault_points.point[{n}]"
    if not names:
        raise InputError(f"{key}: the case has no fault; add a [[fault]], or remove the point")
    allowed = listed(map(quoted, names))
    if point.fault is None and len(names) > 1:
        raise InputError(f"{key}.fault is required, as there are several: {allowed}")
    name = point.fault or names[0]
    if name not in names:
        raise InputError(f"{key}.fault = {quoted(name)}: there is no such fault; use {allowed}")
    return name


def _nearest(n: int, point: FaultPoint, points: FaultPoints) -> int:
    away = np.hypot(points.along_strike - point.along_strike, points.down_dip - point.down_dip)
    least, spacing = float(away.min()), float(np.sqrt(points.area.max()))
    if least > _REACH * spacing:
        along, down = (
            f"{at.min():.6g} to {at.max():.6g} m" for at in (points.along_strike, points.down_dip)
        )
        raise InputError(
            f"output.fault_points.point[{n}]: along_strike = {point.along_strike:g} m, down_dip = "
            f"{point.down_dip:g} m is {least:.6g} m away from the fault, whose points are {along} "
            f"along strike and {down} down dip; move the point"
        )
    return int(np.flatnonzero(away <= least + _ROUNDING)[0])
