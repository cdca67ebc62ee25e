"""Seismograms of velocity that Groundswell has written, in any of its formats."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from groundswell.errors import InputError, install
from groundswell.formats.atomic import exists
from groundswell.formats.damage import read_errors_reported
from groundswell.seismology.formats.seismograms import (
    ACCELERATION,
    COMPONENTS,
    DISPLACEMENT,
    VELOCITY,
    ReceiverQuantity,
    read_seismograms,
)

if TYPE_CHECKING:
    import xarray

MSEED, SAC = "seismograms.mseed", "sac"
_HDF5 = (".h5", ".nc", ".hdf5")


def read_velocity(path: str | Path) -> xarray.DataArray:
    """Read velocity at stations (station, component, time), m/s, as `read_seismograms` does.

    Args:
        path: a results folder, `seismograms.h5`, a miniSEED or SAC file, or a folder of SAC files.

    Raises:
        InputError: there are no seismograms, they have several lengths or intervals, a station
            lacks a component, or ObsPy is not installed.
    """
    path = found_file(Path(path))
    if is_hdf5(path):
        return read_seismograms(path)
    traces = [each for each in read_traces(path) if _is_velocity(each.stats.channel)]
    return _joined(traces, path)


def is_hdf5(path: Path) -> bool:
    """Whether the name of a file is one of HDF5."""
    return path.suffix in _HDF5


def found_file(path: Path, quantity: ReceiverQuantity = VELOCITY) -> Path:
    """The file, or the folder of SAC files, that a path stands for.

    Raises:
        InputError: there is none with seismograms of the quantity.
    """
    if not exists(path):
        raise InputError(f"{path} does not exist; give a results folder, or a file of seismograms")
    if not path.is_dir():
        return path
    for name in (quantity.file, MSEED, SAC):
        if (path / name).exists():
            return path / name
    if any(path.glob("*.sac")):
        return path
    raise InputError(
        f"{path} has no seismograms; run a case with receivers that record {quantity.name}"
    )


def read_traces(path: Path) -> list[Any]:
    """The ObsPy traces in a file, or in all SAC files of a folder.

    Raises:
        InputError: a file cannot be read, or ObsPy is not installed.
    """
    try:
        import obspy
    except ImportError as error:
        text = f"{path}: SAC and miniSEED need ObsPy, which is not installed"
        raise InputError(f"{text}; {install('seismology')}") from error
    files = sorted(path.glob("*.sac")) if path.is_dir() else [path]
    with read_errors_reported(path, "SAC or miniSEED"):
        return [trace for file in files for trace in obspy.read(str(file))]


def _is_velocity(channel: str) -> bool:
    """Whether a channel can be velocity: not that of an accelerometer or of displacement."""
    others = (ACCELERATION.instrument, DISPLACEMENT.instrument)
    return channel[-1:] in COMPONENTS and channel[-2:-1] not in others


def _joined(traces: Sequence[Any], path: Path) -> xarray.DataArray:
    import xarray

    stations: dict[tuple[str, str], dict[str, Any]] = defaultdict(dict)
    for trace in traces:
        stats = trace.stats
        stations[stats.network, stats.station][stats.channel[-1]] = trace
    if not stations:
        raise InputError(f"{path} has no seismograms with the components E, N and Z")
    for problem in _problems(stations):
        raise InputError(f"{path}: {problem}")
    values = np.array([[own[c].data for c in COMPONENTS] for own in stations.values()], float)
    first = traces[0].stats
    names = [".".join(filter(None, pair)) for pair in stations]
    networks, codes = zip(*stations, strict=True)
    coords = {
        "station": names,
        "network": ("station", list(networks)),
        "code": ("station", list(codes)),
        "component": list(COMPONENTS),
        "time": first.delta * np.arange(first.npts),
    }
    dims = ("station", "component", "time")
    return xarray.DataArray(values, coords, dims, "velocity", {"units": VELOCITY.units})


def _problems(stations: dict[tuple[str, str], dict[str, Any]]) -> Iterator[str]:
    """Yield reasons why traces do not form an array."""
    for pair, own in stations.items():
        if missing := [c for c in COMPONENTS if c not in own]:
            yield f"station {'.'.join(filter(None, pair))} has no component {missing[0]}"
    sizes = {
        (t.stats.npts, round(t.stats.delta, 9)) for own in stations.values() for t in own.values()
    }
    if len(sizes) > 1:
        yield "the seismograms have several lengths or intervals; give those of one run"
