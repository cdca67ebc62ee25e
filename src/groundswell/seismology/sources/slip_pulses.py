"""Slip rates of slip models: one pulse for each subfault, or for each of its time windows.

A pulse grows and falls as a cosine. Its integral over a sample is exact, so that the slip is that
of the file. In files of the USGS, the rise and the fall differ (an asymmetric cosine: Ji,
Helmberger, Wald & Ma 2003, J. Geophys. Res. 108, 2412).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from groundswell.arrays import Floats, Mask
from groundswell.errors import InputError
from groundswell.seismology.formats.fsp import FspSegment, window_columns

_SAMPLES = 40  # of a pulse; its spectrum has fallen to 1e-4 at their Nyquist frequency
_MOST_SAMPLES = 1000  # of a pulse whose rise and fall differ much
_MOST_WINDOWS = 200
_SAME_RAKE = 1e-6  # degrees
_UNKNOWN = 999.0
_ROUNDING = 1e-3  # of durations
_RISE, _FALL = ("T_RIS", "TRISE", "T_RISE"), ("T_FAL", "TFALL", "T_FALL")  # columns


@dataclass(frozen=True)
class SlipModelFile:
    """What holds for all segments of a file.

    Args:
        path: of the file.
        function: name of the slip-velocity function.
        rise: duration of slip where the file has none, s; None for the average that it states.
    """

    path: Path
    function: str
    rise: float | None


@dataclass(frozen=True)
class Pulses:
    """Pulses of slip rate of a segment, (windows,) and (subfaults, windows).

    Args:
        starts: after the rupture time of the subfault, s, (windows,).
        rises, falls: times in which a pulse grows and falls, s, (subfaults,).
        slips: along the rake and 90 degrees from it, m, (subfaults, windows, 2).
    """

    starts: Floats
    rises: Floats
    falls: Floats
    slips: Floats

    def rates(self, subfault: int) -> tuple[float, Floats]:
        """The step (s) and the slip rates (m/s) of a subfault, (samples, 2)."""
        rise, fall = float(self.rises[subfault]), float(self.falls[subfault])
        length = rise + fall
        step = max(2 * min(rise, fall) / _SAMPLES, length / _MOST_SAMPLES)
        edges = step * np.arange(np.ceil((self.starts[-1] + length) / step * (1 - 1e-9)) + 1)
        released = _released(edges[:, None] - self.starts, rise, fall)
        return step, np.diff(released @ self.slips[subfault], axis=0) / step


def _released(time: Floats, rise: float, fall: float) -> Floats:
    """The fraction of slip at times after the start of a pulse, s."""
    grown, fallen = time.clip(0, rise), (time - rise).clip(0, fall)
    grown = grown - rise / np.pi * np.sin(np.pi * grown / rise)
    fallen = fallen + fall / np.pi * np.sin(np.pi * fallen / fall)
    return np.asarray((grown + fallen) / (rise + fall))


def pulses_of(segment: FspSegment, rake: Floats, file: SlipModelFile) -> Pulses:
    """The pulses of a segment.

    Args:
        rake: of the subfaults, degrees.

    Raises:
        InputError: durations are unknown or invalid.
    """
    windows = window_columns(segment)
    if not windows:
        slip = segment.required("SLIP")
        along = _along(slip, np.zeros(len(slip)))[:, None]
        return Pulses(np.zeros(1), *_ramps(segment, slip, file), along)
    length, shift = segment.number("WINDOW"), segment.number("SHF")
    number, most = max(n for n, _ in windows) + 1, _MOST_WINDOWS
    if not length or length <= 0 or shift is None or not 0 <= number * shift <= most * length:
        raise InputError(
            f"{file.path}: columns TW1, TW2, ... need the length and the shift of time windows in "
            "the header, as in % Invs : LEN = 2 s SHF = 1 s"
        )
    slips: Floats = np.zeros((len(segment), number, 2))
    for n, name in windows:
        own = segment.column(f"RK{name}", f"RAKE{name}")
        turned = np.zeros(len(segment)) if own is None else own - rake
        slips[:, n] = _along(segment.required(name), turned)
    starts = np.asarray(shift * np.arange(number), float)
    half = np.full(len(segment), 0.5 * length)
    return Pulses(starts, half, half, slips)


def _along(slip: Floats, turned: Floats) -> Floats:
    """Components of slip at an angle (degrees) from the rake, along it and across, (n, 2)."""
    angle = np.radians(turned)
    across = np.where(np.abs(turned) < _SAME_RAKE, 0.0, np.sin(angle))
    return np.stack([slip * np.cos(angle), slip * across], axis=-1)


def _ramps(segment: FspSegment, slip: Floats, file: SlipModelFile) -> tuple[Floats, Floats]:
    """Times of rise and fall, s: of the file, or else halves of the duration."""
    rise, fall = segment.column(*_RISE), segment.column(*_FALL)
    if rise is None or fall is None:
        half = 0.5 * _durations(segment, slip, file)
        return half, half
    unknown = ~(_is_known(rise) & _is_known(fall))
    if (wrong := unknown & (slip != 0)).any():
        raise InputError(
            f"{file.path}: the times of rise and fall of {wrong.sum()} of {len(slip)} subfaults "
            "with slip are not positive; correct them"
        )
    return np.where(unknown, 1.0, rise), np.where(unknown, 1.0, fall)


def _durations(segment: FspSegment, slip: Floats, file: SlipModelFile) -> Floats:
    """Durations of slip, s: of the file, or else that of the case or the average of the file."""
    own = segment.column("RISE")
    known = np.zeros(len(slip)) if own is None else own
    usual = segment.number("AVTR") if file.rise is None else file.rise
    is_known = _is_known(known)
    if not is_known[slip != 0].all() and not (usual and usual > 0):
        raise InputError(
            f"{file.path}: the duration of slip is unknown in {(~is_known & (slip != 0)).sum()} of "
            f"{len(slip)} subfaults (no RISE, and no avTr in the header); give rise in the source"
        )
    factor = 2.0 if has_rises_alone(segment, file.function) else 1.0
    return np.where(is_known, factor * known, usual or 1.0)


def _is_known(times: Floats) -> Mask:
    return np.asarray((times > 0) & (times != _UNKNOWN))


def has_rises_alone(segment: FspSegment, function: str) -> bool:
    """Whether RISE is the time in which the slip rate grows, without that in which it falls.

    The USGS has written both meanings, for an asymmetric cosine. Its shortest rise and its shortest
    fall are one step of time each, and LEN is two of them, so a shorter RISE is a rise alone.
    """
    rise, slip, shortest = segment.column("RISE"), segment.column("SLIP"), segment.number("WINDOW")
    is_asymmetric = {"asym", "cosine"} <= {*re.findall("asym|cosine", function.lower())}
    if rise is None or slip is None or not shortest or not is_asymmetric:
        return False
    slipping = rise[(slip != 0) & _is_known(rise)]
    return bool((slipping < shortest * (1 - _ROUNDING)).any())
