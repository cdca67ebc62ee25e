"""Observed records: ObsPy streams, miniSEED and SAC files, or the results of another run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from groundswell.arrays import Floats
from groundswell.errors import InputError
from groundswell.formats.atomic import exists
from groundswell.seismology.case.comparison import ComparisonOptions
from groundswell.seismology.case.events import as_date
from groundswell.seismology.comparison.directions import Direction, direction_of
from groundswell.seismology.formats.seismograms import (
    PRESSURE,
    QUANTITIES,
    VELOCITY,
    Attributes,
    ReceiverQuantity,
    read_seismograms,
    sampling_interval,
)
from groundswell.seismology.formats.traces import found_file, is_hdf5, read_traces
from groundswell.seismology.motion import as_quantity, without_noise

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True)
class Record:
    """One component of an observed record.

    Args:
        network, station: codes; the network may be empty.
        channel: codes of the location, if any, and the channel, such as "00.BHZ"; or the component.
        start: time of the first sample, s after time 0 of the run.
        interval: between samples, s.
        values: in SI units; NaN in gaps.
        direction: azimuth and dip of the component, degrees; None for that of its code.
    """

    network: str
    station: str
    channel: str
    start: float
    interval: float
    values: Floats
    direction: Direction | None = None

    @property
    def component(self) -> str:
        """The orientation code."""
        return self.channel[-1:]

    @property
    def site(self) -> str:
        """The code of the station, with the network."""
        return ".".join(filter(None, (self.network, self.station)))

    @property
    def end(self) -> float:
        """Time of the last sample, s after time 0 of the run."""
        return self.start + self.interval * (len(self.values) - 1)


def read_motion(path: Path, quantity: str) -> xarray.DataArray:
    """A quantity from the seismograms of a run; traces of rounding errors are zero.

    Raises:
        InputError: there are no such seismograms.
    """
    recorded = recorded_quantity(quantity)
    file = path / recorded.file if path.is_dir() else path
    if not exists(file):
        raise InputError(
            f"{file} does not exist; give the results folder of a run with receivers that record "
            f"{recorded.name}"
        )
    array = without_noise(read_seismograms(file, recorded))
    return array if recorded is PRESSURE else as_quantity(array, QUANTITIES[quantity])


def recorded_quantity(quantity: str) -> ReceiverQuantity:
    """What a run records, from which a quantity follows."""
    return PRESSURE if quantity == PRESSURE.name else VELOCITY


def date_of(attrs: Attributes) -> str | None:
    """The date of time 0 of a run."""
    return attrs.get("reference_time") or attrs.get("origin_time")


def read_records(
    observed: Any, zero: str | None, options: ComparisonOptions, inventory: Any = None
) -> list[Record]:
    """The observed records whose channels fit the options.

    Args:
        observed: an ObsPy stream, a `Result`, or paths: files of miniSEED, SAC or HDF5, folders of
            SAC files or results folders.
        zero: date of time 0 of the run.
        inventory: ObsPy's, with directions of channels; None without.

    Raises:
        InputError: a file cannot be read, records have no common time with the run's, or no channel
            fits.
    """
    found = [
        record for part in parts_of(observed) for record in _read(part, zero, options, inventory)
    ]
    chosen = [each for each in found if _fits(each.channel, options.channel)]
    if not chosen:
        channels = sorted({each.channel for each in found})
        reason = f'channels {", ".join(channels)}, none of which is like "{options.channel}"'
        raise InputError(f"the observed records have {reason if found else 'no traces'}")
    return chosen


def _fits(channel: str, pattern: str) -> bool:
    """Whether a pattern fits a channel, with its location or without."""
    return fnmatchcase(channel, pattern) or fnmatchcase(channel.rpartition(".")[2], pattern)


def parts_of(observed: Any) -> list[Any]:
    """Paths, one by one, or whole streams."""
    if isinstance(observed, str | Path):
        return [Path(observed)]
    if hasattr(observed, "folder"):  # a Result
        return [Path(observed.folder)]
    if isinstance(observed, Sequence) and all(isinstance(each, str | Path) for each in observed):
        return [Path(each) for each in observed]
    return [observed]


def _read(part: Any, zero: str | None, options: ComparisonOptions, inventory: Any) -> list[Record]:
    file = found_file(part, recorded_quantity(options.quantity)) if isinstance(part, Path) else None
    if file and is_hdf5(file):
        return [*_of_run(file, zero, options)]
    traces = read_traces(file) if file else [*_traces(part)]
    if zero is None:
        raise InputError(
            "the run has no date of time 0, to which the times of observed records refer; set "
            "event.origin_time in its case, or give the option origin"
        )
    return [*_of_traces(traces, zero, inventory)]


def _traces(stream: Any) -> Iterable[Any]:
    if not hasattr(stream, "__iter__") or not all(hasattr(each, "stats") for each in stream):
        raise InputError(
            f"observed records of the type {type(stream).__name__} are unknown; give an ObsPy "
            "stream, paths of files, or another Result"
        )
    return [trace.copy() for trace in stream]


def _of_run(path: Path, zero: str | None, options: ComparisonOptions) -> Iterator[Record]:
    """The seismograms of another run; without dates of both, times 0 coincide."""
    array = read_motion(path, options.quantity)
    own = date_of(array.attrs)
    later = 0.0 if zero is None or own is None else _seconds(own, zero)
    start, interval = float(array["time"][0]) + later, sampling_interval(array)
    for site in array:
        codes = str(site["network"].item()), str(site["code"].item())
        for trace in site:
            component = str(trace["component"].item())
            yield Record(*codes, component, start, interval, np.asarray(trace.values, float))


def _seconds(date: str, zero: str) -> float:
    """Time between two dates, s."""
    both = (datetime.fromisoformat(str(each)).replace(tzinfo=None) for each in (date, zero))
    first, second = both
    return (first - second).total_seconds()


def _of_traces(traces: Iterable[Any], zero: str, inventory: Any) -> Iterator[Record]:
    """The traces of each channel, joined; NaN in gaps between them."""
    import obspy

    groups: dict[str, list[Any]] = {}
    for trace in traces:
        trace.data = np.asarray(np.ma.filled(trace.data.astype(float), np.nan))
        groups.setdefault(trace.id, []).append(trace)
    origin = obspy.UTCDateTime(zero)
    for name, own in groups.items():
        if len({round(each.stats.delta, 9) for each in own}) > 1:
            raise InputError(f"{name} has several sampling intervals; give a part with one")
        direction = direction_of(own[0], inventory)
        joined = obspy.Stream(own).merge(fill_value=np.nan)[0]
        stats = joined.stats
        channel = ".".join(filter(None, (stats.location, stats.channel)))
        codes = stats.network, stats.station, channel
        times = float(stats.starttime - origin), float(stats.delta)
        yield Record(*codes, *times, joined.data, direction)


def origin_of(options: ComparisonOptions, attrs: Attributes) -> str | None:
    """The date of time 0: that of the options, or else that of the run, in ISO 8601."""
    date = options.origin or date_of(attrs)
    return as_date(datetime.fromisoformat(str(date))) if date else None
