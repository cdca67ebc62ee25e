"""Check of values that vary against the bounds of their parameter."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from groundswell.arrays import Floats
from groundswell.errors import InputError
from groundswell.seismology.case.varying import VaryingUnit


def require_permitted(
    name: str, values: Floats, allowed: VaryingUnit, place: Callable[[int], str]
) -> Floats:
    """The values, if all of them are permitted.

    Args:
        name: of the parameter, for messages.
        place: function that describes where value `n` is, for messages.

    Raises:
        InputError: a value is not finite or out of bounds.
    """
    for valid, rule in ((np.isfinite(values), "must be finite"), (allowed.permits(values), "")):
        if not valid.all():
            n = int(np.argmin(valid))
            found = f"{name} = {values.flat[n]:g} at {place(n)}"
            raise InputError(f"{found}: {rule or allowed.bound}")
    return values
