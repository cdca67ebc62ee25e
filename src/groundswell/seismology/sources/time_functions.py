"""How a point source acts in time.

Every shape s(t) but a table's has the peak 1, and is zero outside [onset, onset + support]. It is
used in two ways:

- `function(t)`, the moment rate in 1/s: s(t) / area, where area is the largest magnitude that the
  integral of s reaches. The moment of a case is thus the largest moment released: the final one for
  every shape of one sign, whose integral is 1. A Ricker pulse ends with no moment at all; it gets
  to the case's moment half-way through and gives it back.
- `function.amplitude(t)`, the history of a force: s(t) itself.

Times are seconds from the start of the run.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groundswell.errors import InputError
from groundswell.formats.text import parse_numbers, read_text

Array = NDArray[np.float64]
Reals = NDArray[np.floating]


@dataclass(frozen=True, kw_only=True)
class TimeFunction(ABC):
    """A history that starts at `onset` (s)."""

    onset: float = 0.0

    def __post_init__(self) -> None:
        _at_least(self, "onset", 0.0)

    @property
    @abstractmethod
    def support(self) -> float:
        """How long the history lasts from its onset, s; what follows is below 1e-6 of the whole."""

    @property
    @abstractmethod
    def area(self) -> float:
        """The largest magnitude that the integral of `shape` reaches, s."""

    @property
    def integral(self) -> float:
        """The integral of the moment rate: the share of the moment that stays released."""
        return 1.0

    @abstractmethod
    def shape(self, t: Reals) -> Array:
        """The history at times `t` from the onset, all within [0, support]; its peak is 1."""

    def amplitude(self, t: ArrayLike) -> Array:
        """The dimensionless history at times `t` (s), any shape."""
        since = np.asarray(t, dtype=float) - self.onset
        active = (since >= 0) & (since <= self.support)
        return np.where(active, self.shape(since.clip(0, self.support)), 0.0)

    def __call__(self, t: ArrayLike) -> Array:
        """The moment rate (1/s) at times `t` (s), any shape."""
        return self.amplitude(t) / self.area

    @property
    def duration(self) -> float:
        """When the history is over, s from the start of the run."""
        return self.onset + self.support

    @cached_property
    def corner(self) -> float:
        """Frequency below which 99 % of the energy of the history's spectrum lies, Hz."""
        count = self._spectrum_samples
        step = self.support / count
        return corner_frequency(self.shape(step * (np.arange(count) + 0.5)), step)

    @property
    def _spectrum_samples(self) -> int:
        return 4096


@dataclass(frozen=True, kw_only=True)
class Brune(TimeFunction):
    """Moment rate (t/T^2) exp(-t/T) with T = `rise` (s): far-field pulse of Brune (1970).

    J. Geophys. Res. 75, 4997-5009; its spectrum falls as f^-2 above 1 / (2 pi T).
    """

    rise: float

    def __post_init__(self) -> None:
        super().__post_init__()
        _positive(self, "rise")

    @property
    def support(self) -> float:
        return 17 * self.rise  # (1 + 17) exp(-17) = 7e-7 of the moment is left

    @property
    def area(self) -> float:
        return float(np.e * self.rise)

    def shape(self, t: Reals) -> Array:
        return t / self.rise * np.exp(1 - t / self.rise)


@dataclass(frozen=True, kw_only=True)
class Gaussian(TimeFunction):
    """exp(-(t - delay)^2 / (2 sigma^2)), `sigma` and `delay` in s from the onset.

    The default delay of 6 sigma lets it start at 1e-8 of its peak, below single precision. Less
    than 4 sigma would start with a jump of more than 3e-4 of the peak and is refused.
    """

    sigma: float
    delay: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        _positive(self, "sigma")
        _at_least(self, "delay", 4 * self.sigma, "4 sigma, so that the pulse starts from zero")

    @property
    def _centre(self) -> float:
        return 6 * self.sigma if self.delay is None else self.delay

    @property
    def support(self) -> float:
        return self._centre + 6 * self.sigma

    @property
    def area(self) -> float:
        return float(np.sqrt(2 * np.pi) * self.sigma)

    def shape(self, t: Reals) -> Array:
        return np.exp(-0.5 * ((t - self._centre) / self.sigma) ** 2)


@dataclass(frozen=True, kw_only=True)
class Ricker(TimeFunction):
    """(1 - 2 a) exp(-a), a = (pi f (t - delay))^2, whose spectrum peaks at `frequency` f (Hz).

    Ricker (1953), Geophysics 18, 10-40. The default delay of 1.5 / f lets it start at 1e-8 of its
    peak; less than 1 / f would start with a jump of more than 1e-3 of the peak and is refused.
    """

    frequency: float
    delay: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        _positive(self, "frequency")
        _at_least(
            self, "delay", 1 / self.frequency, "1 / frequency, so that the pulse starts from zero"
        )

    @property
    def _centre(self) -> float:
        return 1.5 / self.frequency if self.delay is None else self.delay

    @property
    def support(self) -> float:
        return self._centre + 1.5 / self.frequency

    @property
    def integral(self) -> float:
        return 0.0

    @property
    def area(self) -> float:
        # The integral t exp(-a) is largest where 2 a = 1.
        return float(np.exp(-0.5) / (np.sqrt(2) * np.pi * self.frequency))

    def shape(self, t: Reals) -> Array:
        a = (np.pi * self.frequency * (t - self._centre)) ** 2
        return (1 - 2 * a) * np.exp(-a)


@dataclass(frozen=True, kw_only=True)
class Cosine(TimeFunction):
    """(1 - cos(2 pi t / rise)) / 2 on [0, rise]: one smooth pulse that lasts `rise` s."""

    rise: float

    def __post_init__(self) -> None:
        super().__post_init__()
        _positive(self, "rise")

    @property
    def support(self) -> float:
        return self.rise

    @property
    def area(self) -> float:
        return self.rise / 2

    def shape(self, t: Reals) -> Array:
        return 0.5 * (1 - np.cos(2 * np.pi * t / self.rise))


@dataclass(frozen=True, kw_only=True)
class Triangle(TimeFunction):
    """An isosceles triangle whose base is `rise` s."""

    rise: float

    def __post_init__(self) -> None:
        super().__post_init__()
        _positive(self, "rise")

    @property
    def support(self) -> float:
        return self.rise

    @property
    def area(self) -> float:
        return self.rise / 2

    def shape(self, t: Reals) -> Array:
        return 1 - np.abs(2 * t / self.rise - 1)


@dataclass(frozen=True, kw_only=True)
class Table(TimeFunction):
    """Values from a text `file` with two columns, time from the onset (s) and value; # comments.

    Linear between the rows, zero outside, used as given: the values are the moment rate in 1/s, or
    a force's history, and are never normalised. A moment is released in full only when the table's
    integral is 1.
    """

    file: Path | str

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self._rows  # so that a bad file is refused here

    @cached_property
    def _rows(self) -> Array:
        return _read_table(self.file)

    @property
    def integral(self) -> float:
        times, values = self._rows
        return float(np.sum(np.diff(times) * (values[1:] + values[:-1])) / 2)

    @property
    def support(self) -> float:
        return float(self._rows[0, -1])

    @property
    def area(self) -> float:
        return 1.0

    def shape(self, t: Reals) -> Array:
        times, values = self._rows
        return np.interp(t, times, values, left=0.0, right=0.0)

    @property
    def _spectrum_samples(self) -> int:
        shortest = float(np.diff(self._rows[0]).min())
        return int(min(max(4096.0, 4 * self.support / shortest), 2.0**20))


KINDS: dict[str, type[TimeFunction]] = {
    "brune": Brune,
    "gaussian": Gaussian,
    "ricker": Ricker,
    "cosine": Cosine,
    "triangle": Triangle,
    "table": Table,
}


def time_function(kind: str, **parameters: object) -> TimeFunction:
    """The time function of a case, e.g. `time_function("brune", rise=0.2)`.

    Raises InputError when the kind is unknown, or a parameter is missing, unknown or out of range.
    """
    if kind not in KINDS:
        raise InputError(f"time_function kind = {kind!r}; allowed: {', '.join(KINDS)}")
    known = {field.name for field in fields(KINDS[kind])}
    unknown = sorted(set(parameters) - known)
    if unknown:
        raise InputError(f"{kind} has no parameter {unknown[0]!r}; it takes {sorted(known)}")
    try:
        return KINDS[kind](**parameters)  # type: ignore[arg-type]
    except TypeError as error:
        raise InputError(f"time function {kind}: {error}; it takes {sorted(known)}") from None


def corner_frequency(samples: Reals, step: float) -> float:
    """Frequency below which 99 % of the energy of samples (n,), `step` s apart, lies, Hz."""
    padded = 8 * len(samples)
    density = np.abs(np.fft.rfft(samples, padded)) ** 2
    energy = np.cumsum(density) - 0.5 * (density[0] + density)  # trapezoids
    return float(np.interp(0.99 * energy[-1], energy, np.fft.rfftfreq(padded, step)))


def _read_table(file: Path | str) -> Array:
    """The times and values of a table, (2, rows)."""
    lines = [
        line.partition("#")[0] for line in read_text(file, "a table of time and value").split("\n")
    ]
    values = parse_numbers("\n".join(lines), file)
    ragged = next((n for n, line in enumerate(lines, 1) if len(line.split()) not in (0, 2)), None)
    if ragged:
        raise InputError(f"{file}, line {ragged}: expected two numbers, time (s) and value")
    times, heights = values.reshape(-1, 2).T
    if times.size < 2 or times[0] < 0 or not (np.diff(times) > 0).all():
        raise InputError(
            f"{file}: needs two rows or more, with times that increase from 0 or later"
        )
    if not heights.any():
        raise InputError(f"{file}: all values are zero; nothing would happen")
    return np.stack([times, heights])


def _positive(function: TimeFunction, name: str) -> None:
    value = getattr(function, name)
    if not (0 < value < np.inf):
        raise InputError(f"{_kind(function)} {name} = {value}; it must be positive and finite")


def _at_least(function: TimeFunction, name: str, least: float, reason: str = "") -> None:
    value = getattr(function, name)
    if value is not None and not (least <= value < np.inf):
        raise InputError(
            f"{_kind(function)} {name} = {value} s; it must be at least {reason or f'{least:g} s'}"
        )


def _kind(function: TimeFunction) -> str:
    return type(function).__name__.lower()
