"""Time steps that sample seismograms evenly, and the times of the steps of a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import Self

import numpy as np

from groundswell.arrays import Floats
from groundswell.case.common import TimeSection
from groundswell.case.quantities import Quantity
from groundswell.errors import InputError
from groundswell.seismology.sources.point_sources import PointSource

MIN_SAMPLING = 0.1  # sampling interval over the stable step; a smaller one is taken for a mistake
MAX_STEPS = 1e9  # no run takes as many; source functions alone would fill the memory
STABLER = "shorten time.step, or use sponges instead of matched layers"
STEP_RATIO = 1.3  # longest stable step over the chosen one, above which there is a warning


@dataclass(frozen=True)
class StableSteps:
    """Which time steps of a solver are stable.

    Args:
        limit: the longest one, s.
        reason: what follows the limit in the message that a step exceeds it: what limits the step,
            and a remedy.
        share: longest automatic step over the limit.
    """

    limit: float
    reason: str
    share: float = 1.0

    @property
    def longest(self) -> float:
        """Longest automatic step, s."""
        return self.share * self.limit

    def choose(self, given: float | str, interval: float | None) -> float:
        """The step that a case gives, or the longest automatic one that divides an interval, s.

        Raises:
            InputError: the given step is unstable, or the interval is far too short.
        """
        if isinstance(given, str):  # "auto"
            return dividing_step(self.longest, interval)
        if given > self.limit:
            raise InputError(
                f"time.step = {given:g} s is unstable: the limit is {self.limit:.6g} s "
                f"{self.reason}"
            )
        return float(given)


@dataclass(frozen=True)
class TimeStep:
    """The time step of a run.

    Args:
        dt: the step, s.
        stride: number of steps between samples of seismograms.
    """

    dt: float
    stride: int

    @classmethod
    def choose(cls, time: TimeSection, stable: StableSteps, interval: float | None) -> Self:
        """The step of a case: `time.step`, or the longest one that divides the sampling interval.

        Args:
            interval: between samples of seismograms, s; None for every step.

        Raises:
            InputError: the step of the case is unstable or far too short, or the interval is too
                short or not a whole number of steps.
        """
        dt = stable.choose(time.step, interval)
        require_feasible_steps(dt, time.duration)
        step = cls(dt, whole_steps(interval, dt))
        if interval is not None and abs(step.sampling - interval) > 1e-6 * interval:
            raise InputError(
                f"output.seismograms.interval = {interval:g} s is not a whole number of steps of "
                f'{dt:.9g} s; use a multiple, or time.step = "auto"'
            )
        return step

    @property
    def sampling(self) -> float:
        """Interval between samples of seismograms, s."""
        return self.stride * self.dt


def whole_steps(interval: float | None, dt: float) -> int:
    """The number of steps of `dt` (s) nearest to an interval (s), at least 1; 1 for no interval."""
    return 1 if interval is None else max(1, round(interval / dt))


@dataclass(frozen=True)
class TimeAxis:
    """The times of the steps of a run. Zero is the origin time; sources may begin before it.

    Args:
        dt: time step, s.
        before: number of steps before time zero.
        after: number of steps after it.
    """

    dt: float
    before: int
    after: int

    @classmethod
    def of(cls, sources: Sequence[PointSource], dt: float, stride: int, duration: float) -> Self:
        """The steps from the start of the earliest source, or from 0, to the time `duration` (s).

        Zero is the time of a step that seismograms sample, every `stride` steps.

        Raises:
            InputError: there are far too many steps.
        """
        start = min([0.0, *(source.start for source in sources)])
        require_feasible_steps(dt, duration, start)
        samples = ceil(-start / (stride * dt) * (1 - 1e-12))
        return cls(dt, samples * stride, ceil(duration / dt * (1 - 1e-12)))

    @property
    def steps(self) -> int:
        """Number of steps."""
        return self.before + self.after

    @property
    def start(self) -> float:
        """Time of the first step, s; at most 0."""
        return self.time(0)

    def time(self, step: int) -> float:
        """Time after `step` steps, s."""
        return float((step - self.before) * self.dt)

    def times(self, steps: int) -> Floats:
        """Times of the first `steps` steps, s, (steps,)."""
        return self.dt * (np.arange(steps, dtype=float) - self.before)

    def first_sample(self, every: int, interval: float) -> float:
        """Time of the first of samples that are `every` steps, or `interval` (s), apart, s."""
        return -self.before / every * interval

    def quantities(self, group: str) -> Iterator[Quantity]:
        """The number of steps and the times at which they start and end, for `check`."""
        start, end = self.time(0), self.time(self.steps)
        text = f"{self.steps:,}, from {start:.6g} to {end:.6g} s"
        yield Quantity("steps", self.steps, "steps", text=text, group=group)
        yield Quantity("start", start, unit="s", group=group)
        yield Quantity("end", end, unit="s", group=group)


def require_feasible_steps(step: float, end: float, start: float = 0.0) -> None:
    """Check that a run is not much too long.

    Raises:
        InputError: from `start` to `end` (s), there are more than MAX_STEPS steps of `step` (s).
    """
    if end - start > MAX_STEPS * step:
        raise InputError(
            f"the run from {start:g} to {end:g} s takes {(end - start) / step:.2g} steps of "
            f"{step:.3g} s, and at most {MAX_STEPS:.0e} are allowed; shorten the run "
            "(time.duration, or the start of its sources), or lengthen the step"
        )


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
