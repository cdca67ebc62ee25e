"""Signals of transducer elements.

A signal starts at time 0 and is 0 before. A delay shifts the whole signal, a phase only its
carrier.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from math import inf, isfinite, pi
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from groundswell.arrays import Floats, Reals
from groundswell.errors import InputError


class Signal(ABC):
    """A function of time with the amplitude 1."""

    @property
    def duration(self) -> float:
        """The time after which the signal is 0, s; infinite for a continuous wave."""
        return inf

    @abstractmethod
    def at(self, times: Reals, phase: Floats | float = 0.0) -> Floats:
        """Values of the signal.

        Args:
            times: times, s.
            phase: phase of the carrier, rad; broadcasts with the times.

        Raises:
            InputError: the signal has no carrier, and a phase is not zero.
        """


@dataclass(frozen=True)
class ContinuousWave(Signal):
    """sin(2 pi f t + phase), multiplied by (1 - cos(pi t / T)) / 2 during the ramp.

    Args:
        frequency: f, Hz.
        ramp_cycles: duration T of the ramp, cycles; 0 for no ramp.

    Raises:
        InputError: the frequency is not positive, or the ramp is negative.
    """

    frequency: float
    ramp_cycles: float = 3.0

    def __post_init__(self) -> None:
        _require_positive("continuous wave", "frequency", self.frequency, "Hz")
        if not (isfinite(self.ramp_cycles) and self.ramp_cycles >= 0):
            raise InputError(
                f"continuous wave: ramp_cycles = {self.ramp_cycles:g}, but it must not be "
                "negative; use 3, the default, or 0 for no ramp"
            )

    def at(self, times: Reals, phase: Floats | float = 0.0) -> Floats:
        ramp = self.ramp_cycles / self.frequency
        growth = (1 - np.cos(pi * np.clip(times / ramp, 0, 1))) / 2 if ramp else 1.0
        carrier = np.sin(2 * pi * self.frequency * times + phase)
        return np.where(times >= 0, growth * carrier, 0.0)


@dataclass(frozen=True)
class ToneBurst(Signal):
    """sin(2 pi f t + phase) times a window of the duration T.

    The Hann window is sin^2(pi t / T). The Gaussian window is exp(-18 (t / T - 1/2)^2), cut off at
    3 standard deviations.

    Args:
        frequency: f, Hz.
        cycles: duration T, cycles.
        window: "gaussian" or "hann".

    Raises:
        InputError: the frequency or the duration is not positive, or the window is unknown.
    """

    frequency: float
    cycles: float
    window: Literal["gaussian", "hann"] = "gaussian"

    def __post_init__(self) -> None:
        _require_positive("tone burst", "frequency", self.frequency, "Hz")
        _require_positive("tone burst", "cycles", self.cycles, "cycles")
        if self.window not in ("gaussian", "hann"):
            raise InputError(
                f'ToneBurst: window = {self.window!r}, but it must be "gaussian" or "hann"; choose '
                "one of them"
            )

    @property
    def duration(self) -> float:
        """The time after which the signal is 0, s; infinite for a continuous wave."""
        return self.cycles / self.frequency

    def at(self, times: Reals, phase: Floats | float = 0.0) -> Floats:
        elapsed = times * self.frequency / self.cycles  # t / T
        hann = self.window == "hann"
        window = np.sin(pi * elapsed) ** 2 if hann else np.exp(-18 * (elapsed - 0.5) ** 2)
        carrier = np.sin(2 * pi * self.frequency * times + phase)
        return np.where((elapsed >= 0) & (elapsed <= 1), window * carrier, 0.0)


@dataclass(frozen=True, eq=False)
class SampledSignal(Signal):
    """Cubic splines through samples; 0 after the last one.

    Args:
        samples: values at the times 0, interval, 2 interval and so on, (n,) or (n, elements). With
            columns, `at` takes times (..., elements), and each element has its own spline.
        interval: time between samples, s.

    Raises:
        InputError: there are fewer than 2 samples, one is not finite, or the interval is not
            positive.
    """

    samples: Floats
    interval: float

    def __post_init__(self) -> None:
        _require_positive("sampled signal", "interval", self.interval, "s")
        samples = np.asarray(self.samples, float)
        if samples.ndim not in (1, 2) or len(samples) < 2 or not np.isfinite(samples).all():
            raise InputError(
                f"sampled signal: samples have the shape {samples.shape}, but they must be 2 or "
                "more finite numbers, or an array (n, elements) of them; check the data"
            )

    @property
    def duration(self) -> float:
        """The time after which the signal is 0, s; infinite for a continuous wave."""
        return self.interval * (len(self.samples) - 1)

    @cached_property
    def _splines(self) -> list[Any]:
        from scipy.interpolate import CubicSpline  # takes long to import

        samples = np.asarray(self.samples, float).reshape(len(self.samples), -1)
        times = self.interval * np.arange(len(samples))
        return [CubicSpline(times, column) for column in samples.T]

    def _values(self, times: Reals) -> Floats:
        if np.ndim(self.samples) == 1:
            return np.asarray(self._splines[0](times))
        columns = np.moveaxis(times, -1, 0)
        return np.stack([at(t) for at, t in zip(self._splines, columns, strict=True)], axis=-1)

    def at(self, times: Reals, phase: Floats | float = 0.0) -> Floats:
        if np.any(phase):
            raise InputError(
                f"sampled signal: phase = {np.ravel(phase)[np.flatnonzero(phase)[0]]:g} rad, but "
                "samples have no carrier, so it must be 0; use delays"
            )
        end = self.duration
        inside = (times > -1e-9 * end) & (times < (1 + 1e-9) * end)
        return np.where(inside, self._values(times), 0.0)


def element_signals(
    signal: Signal,
    count: int,
    dt: float,
    amplitudes: ArrayLike = 1.0,
    phases: ArrayLike = 0.0,
    delays: ArrayLike = 0.0,
) -> Floats:
    """Signals of elements at the times n dt, (count, elements).

    Args:
        signal: the signal that elements share.
        count: number of samples.
        dt: time step, s.
        amplitudes: amplitude of each element, Pa or m/s, or one for all.
        phases: phase of each element, rad, or one for all.
        delays: delay of each element, s, or one for all.

    Raises:
        InputError: numbers of elements differ, a number is not finite, or a delay is negative.
    """
    _require_positive("element signals", "dt", dt, "s")
    amplitude, phase, delay = _per_element(amplitudes, phases, delays)
    if np.any(delay < 0):
        raise InputError(
            f"delays: the smallest is {delay.min():g} s, but signals start at 0 s; add "
            f"{-delay.min():g} s to all of them"
        )
    times = dt * np.arange(count)[:, None] - delay
    return amplitude * signal.at(times, phase)


def _per_element(*values: ArrayLike) -> list[Floats]:
    """Amplitudes, phases and delays as arrays of one length, (elements,)."""
    arrays = [np.atleast_1d(np.asarray(value, float)) for value in values]
    names = ("amplitudes", "phases", "delays")
    for name, array in zip(names, arrays, strict=True):
        if not np.isfinite(array).all():
            raise InputError(f"{name}: some are not finite, but all must be; check the data")
    if (
        len({array.size for array in arrays if array.size != 1}) > 1
        or max(map(np.ndim, arrays)) > 1
    ):
        found = ", ".join(f"{a.size} {n}" for n, a in zip(names, arrays, strict=True))
        raise InputError(
            f"elements: there are {found}, but each must be one number or one per element; make "
            "their lengths equal"
        )
    return list(np.broadcast_arrays(*arrays))


def _require_positive(owner: str, name: str, value: float, unit: str) -> None:
    if not (isfinite(value) and value > 0):
        raise InputError(
            f"{owner}: {name} = {value:g} {unit}, but it must be positive; give a number of {unit}"
        )
