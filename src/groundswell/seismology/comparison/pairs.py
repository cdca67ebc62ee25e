"""Simulated and observed traces of a station at common times, filtered and rotated alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from groundswell.arrays import Floats
from groundswell.errors import InputError
from groundswell.seismology.case.comparison import ComparisonOptions
from groundswell.seismology.comparison.directions import towards_axes
from groundswell.seismology.comparison.records import Record
from groundswell.seismology.formats.seismograms import sampling_interval
from groundswell.seismology.motion import multiples, rotate
from groundswell.seismology.signals import bandpass, resample

if TYPE_CHECKING:
    import xarray

HORIZONTAL = ("E", "N")
_FEWEST = 8  # samples of a comparison


@dataclass(frozen=True)
class Pair:
    """The traces of a station at common times.

    Args:
        station: its code, with the network.
        distance: from the epicentre, m; NaN if that is unknown.
        time: (n,), s after time 0.
        simulated, observed: (n,) by component.
    """

    station: str
    distance: float
    time: Floats
    simulated: Mapping[str, Floats]
    observed: Mapping[str, Floats]

    @property
    def interval(self) -> float:
        """Time between samples, s."""
        return _interval(self.time)


class Station:
    """A station of the run and its observed records.

    Filters also get what was recorded before the common times. The first and the last sample of a
    trace continue beyond its ends: the ground is at rest before a run.

    Args:
        site: simulated motion (component, time).
        distance: from the epicentre, m.
        azimuth: direction from the epicentre, degrees, for the components R and T.
        records: the observed ones, by component.
    """

    def __init__(
        self,
        site: xarray.DataArray,
        distance: float,
        azimuth: float | None,
        records: Mapping[str, Record],
    ) -> None:
        self._site, self._distance, self._azimuth = site, distance, azimuth
        self._records, self.name = records, str(site["station"].item())

    def pair(self, options: ComparisonOptions) -> Pair:
        """The traces at common times, in the components of the options.

        Raises:
            InputError: the records have too little time in common with the run, or gaps in it, or
                too few samples for the band.
        """
        self._require_band(options.band)
        time = self._common_times(options.band)
        longer, inside = _extended(time, options.band)
        simulated = self._turned(self._simulated(longer, time[-1]))
        observed = self._turned(self._oriented(longer, time[-1]))
        names = ("Z", "N", "E", "H") if self._azimuth is None else ("Z", "R", "T")
        found = [name for name in names if name in observed]
        both = (
            {name: _filtered(of[name], _interval(time), options.band)[inside] for name in found}
            for of in (simulated, observed)
        )
        return Pair(self.name, self._distance, time, *both)

    @property
    def _intervals(self) -> list[float]:
        """Sampling intervals of the run and of the records, s."""
        return [sampling_interval(self._site), *(each.interval for each in self._records.values())]

    def _require_band(self, band: tuple[float, float] | None) -> None:
        longest = max(self._intervals)
        if band and band[1] >= 0.5 / longest:
            raise InputError(
                f"band: {band[1]:g} Hz is too high for {self.name}, whose samples {longest:.6g} s "
                f"apart contain frequencies below {0.5 / longest:.4g} Hz"
            )

    def _common_times(self, band: tuple[float, float] | None) -> Floats:
        """The multiples of the shortest interval that lie in all records."""
        own, step = self._site["time"].values, min(self._intervals)
        start = max(float(own[0]), *(each.start for each in self._records.values()))
        end = min(float(own[-1]), *(each.end for each in self._records.values()))
        needed = max(_FEWEST * step, 1.0 / band[0] if band else 0.0)
        if end - start < needed:
            raise InputError(self._too_short(needed, band))
        return multiples(start, end, step)

    def _too_short(self, needed: float, band: tuple[float, float] | None) -> str:
        own, records = self._site["time"].values, [*self._records.values()]
        first, last = min(each.start for each in records), max(each.end for each in records)
        period = f", a period of {band[0]:g} Hz" if band else ""
        return (
            f"{self.name} is observed from {first:.6g} to {last:.6g} s after time 0 and simulated "
            f"from {own[0]:.6g} to {own[-1]:.6g} s; at least {needed:.4g} s of common time are "
            f"needed{period}; check the dates, or raise the band"
        )

    def _simulated(self, time: Floats, end: float) -> dict[str, Floats]:
        own, values = self._site["time"].values, self._site.values
        found = resample(own, values, np.clip(time, own[0], min(own[-1], end)))
        return dict(zip(self._site["component"].values.astype(str), found, strict=True))

    def _observed(self, component: str, time: Floats, end: float) -> Floats:
        record = self._records[component]
        own = record.start + record.interval * np.arange(len(record.values))
        near = (own >= time[0] - 4 * record.interval) & (own <= end + 4 * record.interval)
        own, values = own[near], record.values[near]
        if not np.isfinite(values).all():
            raise InputError(f"{self.name}: the observed component {component} has gaps")
        return resample(own, values, np.clip(time, own[0], min(own[-1], end)))

    def _oriented(self, time: Floats, end: float) -> dict[str, Floats]:
        """The observed motion towards E, N and Z, where the directions of components are known."""
        motion = {code: self._observed(code, time, end) for code in self._records}
        return towards_axes(motion, {code: of.direction for code, of in self._records.items()})

    def _turned(self, motion: Mapping[str, Floats]) -> dict[str, Floats]:
        """R and T instead of E and N, if these components are compared."""
        if self._azimuth is None or not motion.keys() >= {*HORIZONTAL}:
            return dict(motion)
        east, north = motion["E"], motion["N"]
        radial, transverse, _ = rotate(
            np.stack([east, north, east]), np.array(np.radians(self._azimuth))
        )
        return {**motion, "R": radial, "T": transverse}


def _extended(time: Floats, band: tuple[float, float] | None) -> tuple[Floats, slice]:
    """Times that begin earlier and end later by two periods of the band, and where `time` is."""
    if band is None:
        return time, slice(None)
    step = _interval(time)
    more = ceil(2.0 / band[0] / step)
    longer = time[0] + step * np.arange(-more, len(time) + more)
    return longer, slice(more, more + len(time))


def _interval(time: Floats) -> float:
    return float(time[-1] - time[0]) / (len(time) - 1)


def _filtered(values: Floats, step: float, band: tuple[float, float] | None) -> Floats:
    return bandpass(values, step, band) if band else values
