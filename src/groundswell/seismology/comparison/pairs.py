"""Simulated and observed traces of a station at common times, filtered and rotated alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from groundswell.arrays import Floats
from groundswell.errors import InputError, counted
from groundswell.seismology.case.comparison import ComparisonOptions
from groundswell.seismology.comparison.records import Record
from groundswell.seismology.formats.seismograms import sampling_interval
from groundswell.seismology.motion import multiples, rotate
from groundswell.seismology.signals import bandpass, resample
from groundswell.seismology.source_distances import azimuths

if TYPE_CHECKING:
    import xarray

_HORIZONTAL = ("E", "N")
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
        time = self._common_times(options)
        longer, inside = _extended(time, options.band)
        both = (
            self._simulated(longer, time[-1]),
            {c: self._observed(c, longer, time[-1]) for c in self._records},
        )
        step, names = _interval(time), ("Z", "R", "T") if self._turns else ("Z", "N", "E", "H")
        simulated, observed = (
            {c: _filtered(each, step, options.band)[inside] for c, each in self._turned(of).items()}
            for of in both
        )
        found = [name for name in names if name in observed]
        return Pair(
            self.name,
            self._distance,
            time,
            {name: simulated[name] for name in found},
            {name: observed[name] for name in found},
        )

    @property
    def _turns(self) -> bool:
        return self._azimuth is not None

    def _common_times(self, options: ComparisonOptions) -> Floats:
        """The multiples of the shortest interval that lie in all records."""
        own, step = self._site["time"].values, sampling_interval(self._site)
        records = [*self._records.values()]
        start = max([float(own[0]), *(record.start for record in records)])
        end = min([float(own[-1]), *(record.end for record in records)])
        intervals = [step, *(record.interval for record in records)]
        time = multiples(start, end, min(intervals))
        needed = max(_FEWEST * min(intervals), 1.0 / options.band[0] if options.band else 0.0)
        if end - start < needed:
            first, last = min(r.start for r in records), max(r.end for r in records)
            raise InputError(
                f"{self.name} is observed from {first:.6g} to {last:.6g} s after time 0 and "
                f"simulated from {own[0]:.6g} to {own[-1]:.6g} s; at least {needed:.4g} s of "
                f"common time are needed{_period(options)}; check the dates, or raise the band"
            )
        if options.band and options.band[1] >= 0.5 / max(intervals):
            raise InputError(
                f"band: {options.band[1]:g} Hz is too high for {self.name}, whose samples "
                f"{max(intervals):.6g} s apart contain frequencies below {0.5 / max(intervals):.4g}"
                " Hz"
            )
        return time

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

    def _turned(self, motion: Mapping[str, Floats]) -> dict[str, Floats]:
        """R and T instead of E and N, if these components are compared."""
        if self._azimuth is None or not motion.keys() >= {*_HORIZONTAL}:
            return dict(motion)
        east, north = motion["E"], motion["N"]
        radial, transverse, _ = rotate(
            np.stack([east, north, east]), np.array(np.radians(self._azimuth))
        )
        return {**motion, "R": radial, "T": transverse}


def _period(options: ComparisonOptions) -> str:
    return f", a period of {options.band[0]:g} Hz" if options.band else ""


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


def stations(
    motion: xarray.DataArray, distances: Floats, records: Sequence[Record], frame: str
) -> Iterator[Station | str]:
    """Yield the stations of a run that are observed, and warnings.

    Raises:
        InputError: records of a component are not unique.
    """
    towards = azimuths(motion) if frame == "ZRT" else [None] * motion.sizes["station"]
    for site, distance, azimuth in zip(motion, distances, towards, strict=True):
        own, name = _of_site(site, records), str(site["station"].item())
        unknown = sorted({each.channel for each in own if each.component in "123"})
        if unknown:
            yield (
                f"{name}: channels {', '.join(unknown)} have no known direction and are left out; "
                "rotate them to N and E first"
            )
        found = _by_component(name, own, frame, set(site["component"].values.astype(str)))
        if found:
            yield Station(site, float(distance), azimuth, found)


def _of_site(site: xarray.DataArray, records: Sequence[Record]) -> list[Record]:
    """The records of a station; networks must agree if both have one."""
    network, code = str(site["network"].item()), str(site["code"].item())
    own = [each for each in records if each.station == code]
    own = [each for each in own if each.network == network or not (each.network and network)]
    networks = sorted({each.network for each in own})
    if len(networks) > 1:
        raise InputError(
            f"station {code} is observed in the networks {', '.join(networks)}; name its network "
            "in the case, or give records of one"
        )
    return own


def _by_component(
    name: str, records: Sequence[Record], frame: str, components: set[str]
) -> dict[str, Record]:
    """The records of the components that are needed: those of the run, R and T."""
    wanted = components | {"R", "T"} if frame == "ZRT" else components
    found: dict[str, Record] = {}
    for each in records:
        if each.component in wanted and found.setdefault(each.component, each) is not each:
            channels = sorted({r.channel for r in records if r.component == each.component})
            raise InputError(
                f"{name} has several records of component {each.component} "
                f"({', '.join(channels)}, {counted(len(channels), 'channel')}); choose one, such "
                f'as with channel = "{channels[0][:2]}?"'
            )
    if found.keys() & {"R", "T"}:
        return {c: each for c, each in found.items() if c not in _HORIZONTAL}
    is_flat = frame == "ZRT" and not found.keys() >= {*_HORIZONTAL}
    return {c: each for c, each in found.items() if not (is_flat and c != "Z")}
