"""Readers of earthquake results, available as attributes of `Result`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from groundswell.errors import InputError
from groundswell.outputs.records import open_records
from groundswell.seismology.formats.sac_mseed import to_obspy
from groundswell.seismology.formats.seismograms import read_seismograms
from groundswell.seismology.formats.shaking_maps import read_shaking_map
from groundswell.simulation.summary import read_summary
from groundswell.solvers.earthquake.recordable import RECORDABLE

SNAPSHOTS = "volumes.vtkhdf"
# Files that have readers of their own.
OTHERS = {"seismograms.h5", "shaking_map.nc", "surface.nc"}


def seismograms(folder: Path) -> Any:
    """Velocity at the receivers: xarray.DataArray (station, component, time), m/s."""
    return read_seismograms(folder / "seismograms.h5")


def stream(folder: Path) -> Any:
    """The seismograms as an obspy.Stream."""
    return to_obspy(seismograms(folder))


def fields(folder: Path) -> Any:
    """Snapshots of `output.volumes`, or the only file of `output.record`: xarray.Dataset.

    Values are read when they are used. z is depth, and each field has its own coordinates, because
    fields are staggered.

    Raises:
        InputError: the run has not recorded fields, or it has recorded several files.
    """
    found = records(folder)
    chosen = SNAPSHOTS if SNAPSHOTS in found else next(iter(found))
    if len(found) > 1 and chosen != SNAPSHOTS:
        raise InputError(
            f"{folder} has several files of fields: {', '.join(found)}; choose one, as in "
            f"result.records[{chosen!r}]"
        )
    return found[chosen]


def records(folder: Path) -> Any:
    """The files of `output.volumes` and `output.record`: xarray.Dataset by file name.

    Values are read when they are used.

    Raises:
        InputError: the run has not recorded fields.
    """
    names = [name for name in read_summary(folder)["files"] if name not in OTHERS]
    found = open_records(folder, names, RECORDABLE, downward=True)
    if not found:
        raise InputError(
            f"{folder} has no recorded fields; run the case with output.volumes (snapshots) or "
            "output.record (points, planes, boxes, final fields)"
        )
    return found


def shaking_map(folder: Path) -> Any:
    """Peak ground velocity and acceleration: xarray.Dataset (y, x)."""
    return read_shaking_map(folder / "shaking_map.nc")
