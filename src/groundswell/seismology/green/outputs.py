"""Files and pictures of synthetic seismograms."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from groundswell.errors import InputError
from groundswell.formats.atomic import atomic_write
from groundswell.formats.netcdf import TIME, Variable, create_netcdf
from groundswell.seismology.case.outputs import SeismogramOutput
from groundswell.seismology.case.receivers import long_codes
from groundswell.seismology.formats.export import export_seismograms, require_exportable
from groundswell.seismology.formats.seismograms import (
    COMPONENTS,
    VELOCITY,
    SeismogramWriter,
    SeriesOptions,
    east_north_up,
    read_seismograms,
)
from groundswell.seismology.green.frames import FRAME, read_frame
from groundswell.seismology.green.slip import SlipRows
from groundswell.seismology.green.tensor import PLACE, station_of
from groundswell.seismology.plots.record_section import record_section
from groundswell.seismology.plots.variations import draw_variations
from groundswell.seismology.receivers import Station
from groundswell.seismology.sources.moment import magnitude_from_moment, scalar_moment
from groundswell.seismology.sources.point_sources import final_moments, total_moments
from groundswell.seismology.time_steps import TimeStep

if TYPE_CHECKING:
    import xarray

VARIATIONS_FILE = "variations.h5"


def stations_of(tensors: Sequence[xarray.Dataset]) -> list[Station]:
    """The stations of tensors, with longitudes and latitudes if they are known."""
    return [_station(tensor) for tensor in tensors]


def _station(tensor: xarray.Dataset) -> Station:
    x, y, depth = (float(tensor.attrs[name]) for name in PLACE)
    longitude = latitude = None
    if FRAME in tensor.attrs:
        longitude, latitude = map(float, read_frame(str(tensor.attrs[FRAME])).to_lonlat(x, y))
    codes = str(tensor.attrs["network"]), str(tensor.attrs["station"])
    return Station(*codes, (x, y, depth), longitude, latitude)


def require_same_times(times: Sequence[np.ndarray], tensors: Sequence[xarray.Dataset]) -> None:
    """Raise an error if stations have samples at different times.

    Raises:
        InputError: the times differ; the message names the stations.
    """
    for of, tensor in zip(times[1:], tensors[1:], strict=True):
        if of.shape != times[0].shape or not np.allclose(of, times[0], rtol=0, atol=1e-9):
            raise InputError(
                f"stations {station_of(tensors[0])} and {station_of(tensor)} have samples at "
                "different times; synthesize them one at a time, into different folders"
            )


def require_writable_as(section: SeismogramOutput, tensors: Sequence[xarray.Dataset]) -> None:
    """Check that the seismograms can be written in the formats of a section.

    Raises:
        InputError: a library is missing, a code is too long, or there are too many samples or fewer
            than two.
    """
    for tensor in tensors:
        step = TimeStep(float(tensor.attrs["interval"]), 1)
        try:
            require_exportable(section, step, int(tensor.sizes["time"]))
        except InputError as error:
            text = str(error).replace("output.seismograms.export_interval", "interval of files")
            raise InputError(text) from None
        for (key, *_), text in long_codes(_station(tensor), section.formats):
            raise InputError(f"station {station_of(tensor)}: the {key} {text}")


def rupture_attributes(tensor: xarray.Dataset, rows: SlipRows, title: str) -> dict[str, object]:
    """Attributes of a file of seismograms: the magnitude, the centroid and the epicentre."""
    sources = list(rows.sources)
    weights = total_moments(sources)
    size = float(scalar_moment(final_moments(sources).sum(axis=0)))
    x, y, depth = np.average(rows.positions, axis=0, weights=weights if weights.any() else None)
    first = rows.positions[int(np.argmin(rows.onsets))]
    return {
        "title": title,
        "azimuth": float(tensor.attrs["azimuth"]),
        "magnitude": round(magnitude_from_moment(size), 2) if size > 0 else None,
        **{"event_x": float(x), "event_y": float(y), "event_depth": float(depth)},
        **{"epicentre_x": float(first[0]), "epicentre_y": float(first[1])},
    }


def write_seismograms(
    found: Sequence[xarray.DataArray],
    tensors: Sequence[xarray.Dataset],
    attrs: dict[str, object],
    section: SeismogramOutput,
    folder: Path,
) -> list[Path]:
    """Write the seismograms of one rupture as a run does, and draw them.

    Args:
        found: velocity (component, time) at each station along x, y and down.
        section: formats of files besides HDF5.

    Raises:
        InputError: stations have different times.
        RunFailed: the disk is full.
    """
    times = [of["time"].values for of in found]
    require_same_times(times, tensors)
    interval = float(tensors[0].attrs["interval"])
    options = SeriesOptions(start=float(times[0][0]), attrs=attrs, dtype=found[0].dtype)
    path = folder / VELOCITY.file
    with SeismogramWriter(path, stations_of(tensors), interval, **options) as writer:
        writer.append(np.stack([of.values for of in found]).transpose(2, 0, 1))
    others = export_seismograms([read_seismograms(path)], section, folder)
    return [path, *others, record_section(folder)]


def observed(
    found: Sequence[xarray.DataArray], tensors: Sequence[xarray.Dataset], attrs: dict[str, object]
) -> xarray.DataArray:
    """Velocity (variation, station, component, time) towards east, north and up.

    Args:
        found: velocity (variation, component, time) at each station along x, y and down.

    Raises:
        InputError: stations have different times.
    """
    import xarray

    require_same_times([of["time"].values for of in found], tensors)
    values = np.stack([of.values for of in found], axis=1)
    places = np.array([[float(of.attrs[name]) for name in PLACE] for of in tensors]).T
    coordinates: dict[str, Any] = {
        "station": [*map(station_of, tensors)],
        "component": [*COMPONENTS],
        "time": ("time", found[0]["time"].values, TIME.attrs),
    } | {
        name: ("station", of, {"units": "m"})
        for name, of in zip(("x", "y", "depth"), places, strict=True)
    }
    about = {name: value for name, value in attrs.items() if value}
    about |= {"units": VELOCITY.units, "long_name": VELOCITY.long_name}
    dims = ("variation", "station", "component", "time")
    velocity = east_north_up(values, float(tensors[0].attrs["azimuth"]), axis=2)
    return xarray.DataArray(velocity, coordinates, dims, VELOCITY.name, about)


def write_variations(velocity: xarray.DataArray, folder: Path) -> list[Path]:
    """Write velocity (see `observed`) to `variations.h5`, and draw its peaks.

    Raises:
        RunFailed: the disk is full.
    """
    size = velocity[0].nbytes
    chunks = (max(1, min(len(velocity), (1 << 22) // size)), *velocity.shape[1:])
    own = {name: velocity.attrs[name] for name in ("units", "long_name")}
    dims = tuple(map(str, velocity.dims))
    variables = {str(name): _variable(of) for name, of in velocity.coords.items()}
    variables[VELOCITY.name] = Variable(dims, velocity.values, chunks=chunks, attrs=own)
    path, sizes = folder / VARIATIONS_FILE, {str(name): n for name, n in velocity.sizes.items()}
    attrs = {name: value for name, value in velocity.attrs.items() if name not in own}
    with atomic_write(path, velocity.nbytes + (1 << 20)) as part:
        create_netcdf(part, sizes, variables, attrs)
    return [path, draw_variations(path)]


def _variable(of: xarray.DataArray) -> Variable:
    values = of.values
    content = [*map(str, values)] if values.dtype.kind in "UO" else values
    return Variable(tuple(map(str, of.dims)), content, attrs=of.attrs)
