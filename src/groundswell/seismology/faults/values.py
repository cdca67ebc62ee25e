"""Values of parameters at the points of a fault: from numbers, expressions and tables."""

from __future__ import annotations

import numpy as np

from groundswell.arrays import Floats
from groundswell.case.expressions import Expression
from groundswell.errors import InputError
from groundswell.seismology.case.fault_values import VARIABLES, FaultTable, FaultValue, Varying
from groundswell.seismology.faults.points import FaultPoints
from groundswell.seismology.faults.tables import interpolate


def values_at(name: str, value: FaultValue, allowed: Varying, points: FaultPoints) -> Floats:
    """Values of a parameter at points, (n,), in SI units.

    Args:
        name: of the parameter, for messages.
        allowed: its unit and bound.

    Raises:
        InputError: a value is not finite or out of bounds, or a table is unsuitable.
    """
    values = _evaluate(name, value, allowed.unit, points)
    for valid, rule in ((np.isfinite(values), "must be finite"), (allowed.permits(values), "")):
        if not valid.all():
            n = int(np.argmin(valid))
            place = points.describe(n)
            raise InputError(f"{name} = {values[n]:g} at {place}: {rule or allowed.bound}")
    return values


def _evaluate(name: str, value: FaultValue, unit: str, points: FaultPoints) -> Floats:
    if isinstance(value, FaultTable):
        return interpolate(name, value, unit, points)
    if isinstance(value, str):
        coordinates = (*points.position.T, points.along_strike, points.down_dip)
        return Expression(value, VARIABLES)(*coordinates)
    return np.full(len(points), value, float)
