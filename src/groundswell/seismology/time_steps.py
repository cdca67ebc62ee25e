"""Time steps that sample seismograms evenly."""

from __future__ import annotations

from math import ceil

from groundswell.errors import InputError

MIN_SAMPLING = 0.1  # sampling interval over the stable step; a smaller one is taken for a mistake


def dividing_step(limit: float, interval: float | None) -> float:
    """The longest step up to `limit` (s) that divides the sampling interval, if there is one.

    Raises:
        InputError: the interval is far shorter than the limit.
    """
    if interval is None:
        return limit
    if interval < MIN_SAMPLING * limit:
        raise InputError(
            f"output.seismograms.interval = {interval:g} s needs steps far shorter than the "
            f"stable {limit:.3g} s; sample less often, or give time.step"
        )
    return interval / ceil(interval / limit * (1 - 1e-12))
