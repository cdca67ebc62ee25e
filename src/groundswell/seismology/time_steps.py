"""Time steps that sample seismograms evenly."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, floor, log10

from groundswell.errors import InputError

MIN_SAMPLING = 0.1  # sampling interval over the stable step; a smaller one is taken for a mistake
STEP_RATIO = 1.3  # longest stable step over the chosen one, above which there is a warning


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


def sampling_warnings(limit: float, interval: float | None, step: float) -> Iterator[str]:
    """A sampling interval that shortens an automatic time step considerably.

    Args:
        limit: longest stable step, s.
        interval: between samples, s; None for every step.
        step: chosen step, s.
    """
    if interval is None or limit <= STEP_RATIO * step:
        return
    below = int(interval / limit)
    better = " or ".join(f"{_rounded_down(n * limit):g} s" for n in (below, below + 1) if n)
    yield (
        f"output.seismograms.interval = {interval:g} s shortens the time step from {limit:.3g} s "
        f"to {step:.3g} s, because the interval is a whole number of steps; an interval of "
        f"{better} needs fewer steps"
    )


def _rounded_down(value: float) -> float:
    """A positive number with three significant digits that does not exceed `value`."""
    unit = 10.0 ** (floor(log10(value)) - 2)
    return floor(value / unit) * unit
