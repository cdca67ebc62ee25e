"""Source time functions: sections of a case that evaluate themselves.

Every shape s(t) except that of a table has the peak 1, and is zero outside [start, start +
support]. It has two uses:

- `function(t)` is the moment rate in 1/s: s(t) / area, where area is the largest magnitude of the
  running integral of s. The moment of a source is thus the largest moment that it releases. For
  functions of one sign this is the final moment, and the moment rate integrates to 1. A Ricker
  wavelet releases the moment half-way and then takes it back: its final moment is zero.
- `function.amplitude(t)` is the dimensionless amplitude of a force: s(t) itself.

Times are in seconds on the time axis of the case, whose zero is the origin time of the event. The
`onset` or the `centroid` of a function gives its place there; it may begin before zero.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from functools import cached_property
from typing import Annotated, Literal

import numpy as np
from numpy.typing import ArrayLike

from groundswell.arrays import Floats, Reals
from groundswell.case.common import DataFile, Section, TaggedUnion
from groundswell.case.problems import Violation
from groundswell.case.units import Frequency, Positive, Time
from groundswell.seismology.sources.time_tables import centroid_of, read_time_table

_TIME_DIGITS = 12  # of times in s: a start that follows from a centroid has rounding errors


class TimeFunction(Section):
    """A time function that starts at `onset` (s), or whose centroid is at the time `centroid` (s).

    The centroid is that of the magnitude of the moment rate. By default the function starts at 0.
    """

    onset: Time | None = None
    """Time at which the function starts, 0 by default. The run starts earlier if it is negative."""
    centroid: Time | None = None
    """Time of the centroid of the function, instead of its start."""

    def violations(self) -> Iterator[Violation]:
        """Both of onset and centroid."""
        if self.onset is not None and self.centroid is not None:
            yield ("centroid",), "cannot be given with onset; choose one of the two"

    @property
    def start(self) -> float:
        """Time at which the function starts, s."""
        if self.centroid is None:
            return self.onset or 0.0
        return round(self.centroid - self.middle, _TIME_DIGITS)

    @property
    def centroid_time(self) -> float:
        """Time of the centroid, s."""
        return self.start + self.middle if self.centroid is None else self.centroid

    @property
    @abstractmethod
    def middle(self) -> float:
        """Centroid of |s(t)|, s after the start."""

    @property
    @abstractmethod
    def support(self) -> float:
        """Duration from the start, s; the truncated tail is below 1e-6 of the whole."""

    @property
    @abstractmethod
    def area(self) -> float:
        """Largest magnitude of the running integral of `shape`, s."""

    @property
    def integral(self) -> float:
        """Integral of the moment rate: the final moment over the largest."""
        return 1.0

    @abstractmethod
    def shape(self, t: Reals) -> Floats:
        """Values at times `t` (s) after the start, all in [0, support]; the peak is 1."""

    def amplitude(self, t: ArrayLike) -> Floats:
        """Dimensionless amplitude at times `t` (s), any shape."""
        elapsed = np.asarray(t, dtype=float) - self.start
        active = (elapsed >= 0) & (elapsed <= self.support)
        return np.where(active, self.shape(elapsed.clip(0, self.support)), 0.0)

    def __call__(self, t: ArrayLike) -> Floats:
        """Moment rate (1/s) at times `t` (s), any shape."""
        return self.amplitude(t) / self.area

    @property
    def end(self) -> float:
        """Time at which the function ends, s."""
        return self.start + self.support


class Brune(TimeFunction):
    """Moment rate (t/T^2) exp(-t/T) with T = `rise` (s): far-field pulse of Brune (1970).

    J. Geophys. Res. 75, 4997-5009. Its spectrum falls as f^-2 above 1 / (2 pi T).
    """

    kind: Literal["brune"] = "brune"
    rise: Annotated[Time, Positive]
    """T in (t / T^2) exp(-t / T), the time of the peak."""

    @property
    def middle(self) -> float:
        return 2 * self.rise

    @property
    def support(self) -> float:
        return 17 * self.rise  # (1 + 17) exp(-17) = 7e-7 of the moment is left

    @property
    def area(self) -> float:
        return float(np.e * self.rise)

    def shape(self, t: Reals) -> Floats:
        return t / self.rise * np.exp(1 - t / self.rise)


class Gaussian(TimeFunction):
    """exp(-(t - delay)^2 / (2 sigma^2)), `sigma` and `delay` in s, t from the start.

    With the default delay of 6 sigma it starts at 1e-8 of its peak, below single precision. With
    less than 4 sigma, which is an error, it would start with a jump of over 3e-4 of the peak.
    """

    kind: Literal["gaussian"] = "gaussian"
    sigma: Annotated[Time, Positive]
    """Standard deviation."""
    delay: Annotated[Time, Positive] | None = None
    """Time of the peak after the start, at least 4 sigma; 6 sigma by default."""

    def violations(self) -> Iterator[Violation]:
        """A pulse that starts with a jump."""
        yield from super().violations()
        if self.delay is not None and self.delay < 4 * self.sigma:
            yield ("delay",), f"must be at least 4 sigma = {4 * self.sigma:g} s, to start from zero"

    @property
    def middle(self) -> float:
        return 6 * self.sigma if self.delay is None else self.delay

    @property
    def support(self) -> float:
        return self.middle + 6 * self.sigma

    @property
    def area(self) -> float:
        return float(np.sqrt(2 * np.pi) * self.sigma)

    def shape(self, t: Reals) -> Floats:
        return np.exp(-0.5 * ((t - self.middle) / self.sigma) ** 2)


class Ricker(TimeFunction):
    """(1 - 2 a) exp(-a), a = (pi f (t - delay))^2, whose spectrum peaks at `frequency` f (Hz).

    Ricker (1953), Geophysics 18, 10-40. Its centroid is its peak. With the default delay of 1.5 / f
    it starts at 1e-8 of its peak. With less than 1 / f, which is an error, it would start with a
    jump of over 1e-3 of the peak.
    """

    kind: Literal["ricker"] = "ricker"
    frequency: Annotated[Frequency, Positive]
    """Frequency of the peak of the spectrum."""
    delay: Annotated[Time, Positive] | None = None
    """Time of the peak after the start, at least 1 / frequency; 1.5 / frequency by default."""

    def violations(self) -> Iterator[Violation]:
        """A wavelet that starts with a jump."""
        yield from super().violations()
        if self.delay is not None and self.delay * self.frequency < 1:
            least = 1 / self.frequency
            yield ("delay",), f"must be at least 1 / frequency = {least:g} s, to start from zero"

    @property
    def middle(self) -> float:
        return 1.5 / self.frequency if self.delay is None else self.delay

    @property
    def support(self) -> float:
        return self.middle + 1.5 / self.frequency

    @property
    def integral(self) -> float:
        return 0.0

    @property
    def area(self) -> float:
        # The running integral, t exp(-a), is largest where 2 a = 1.
        return float(np.exp(-0.5) / (np.sqrt(2) * np.pi * self.frequency))

    def shape(self, t: Reals) -> Floats:
        a = (np.pi * self.frequency * (t - self.middle)) ** 2
        return (1 - 2 * a) * np.exp(-a)


class Cosine(TimeFunction):
    """(1 - cos(2 pi t / rise)) / 2 on [0, rise]: one smooth pulse of duration `rise` (s)."""

    kind: Literal["cosine"] = "cosine"
    rise: Annotated[Time, Positive]
    """Duration of the pulse."""

    @property
    def middle(self) -> float:
        return self.rise / 2

    @property
    def support(self) -> float:
        return self.rise

    @property
    def area(self) -> float:
        return self.rise / 2

    def shape(self, t: Reals) -> Floats:
        return 0.5 * (1 - np.cos(2 * np.pi * t / self.rise))


class Triangle(TimeFunction):
    """An isosceles triangle of duration `rise` (s)."""

    kind: Literal["triangle"] = "triangle"
    rise: Annotated[Time, Positive]
    """Duration of the pulse."""

    @property
    def middle(self) -> float:
        return self.rise / 2

    @property
    def support(self) -> float:
        return self.rise

    @property
    def area(self) -> float:
        return self.rise / 2

    def shape(self, t: Reals) -> Floats:
        return 1 - np.abs(2 * t / self.rise - 1)


class Trapezoid(TimeFunction):
    """A trapezoid with the base `duration`, which grows for `rise` and falls for `decay` (s).

    The default of `rise` is a tenth of the duration, and that of `decay` the same as `rise`.
    """

    kind: Literal["trapezoid"] = "trapezoid"
    duration: Annotated[Time, Positive]
    """Duration of the pulse."""
    rise: Annotated[Time, Positive] | None = None
    """Duration of the growth; a tenth of the whole by default."""
    decay: Annotated[Time, Positive] | None = None
    """Duration of the fall; that of the growth by default."""

    def violations(self) -> Iterator[Violation]:
        """A rise and a decay that overlap."""
        yield from super().violations()
        if sum(self._ramps) > self.duration * (1 + 1e-9):
            longest = f"together at most the duration, {self.duration:g} s"
            yield ("rise" if self.decay is None else "decay",), f"rise and decay must be {longest}"

    @property
    def _ramps(self) -> tuple[float, float]:
        rise = self.duration / 10 if self.rise is None else self.rise
        return rise, rise if self.decay is None else self.decay

    @property
    def middle(self) -> float:
        rise, decay = self._ramps
        triangles = rise**2 / 3 + decay / 2 * (self.duration - 2 / 3 * decay)
        return (triangles + ((self.duration - decay) ** 2 - rise**2) / 2) / self.area

    @property
    def support(self) -> float:
        return self.duration

    @property
    def area(self) -> float:
        return self.duration - sum(self._ramps) / 2

    def shape(self, t: Reals) -> Floats:
        rise, decay = self._ramps
        return np.clip(np.minimum(t / rise, (self.duration - t) / decay), 0.0, 1.0)


class Table(TimeFunction):
    """Values from a text `file` with two columns, time from the start (s) and value; # comments.

    Linear between the rows, zero outside, and not normalised: the values are the moment rate in
    1/s, or the amplitude of a force. The full moment is released only if the table integrates to 1.
    The file is read when values are first needed; `InputError` if that fails.
    """

    kind: Literal["table"] = "table"
    file: DataFile
    """Text file with two columns, time from the start (s) and value."""

    @cached_property
    def _rows(self) -> Floats:
        return read_time_table(self.file)

    @property
    def integral(self) -> float:
        times, values = self._rows
        return float(np.sum(np.diff(times) * (values[1:] + values[:-1])) / 2)

    @property
    def middle(self) -> float:
        times, values = self._rows
        return centroid_of(times, values)

    @property
    def support(self) -> float:
        return float(self._rows[0, -1])

    @property
    def area(self) -> float:
        return 1.0

    def shape(self, t: Reals) -> Floats:
        times, values = self._rows
        return np.interp(t, times, values, left=0.0, right=0.0)


AnyTimeFunction = Annotated[
    Brune | Cosine | Triangle | Trapezoid | Gaussian | Ricker | Table, TaggedUnion()
]
