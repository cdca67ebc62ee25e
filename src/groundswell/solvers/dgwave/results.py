"""Readers of the results of DG waves, available as attributes of `Result`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from groundswell.errors import InputError, listed, quoted
from groundswell.outputs.records import open_records
from groundswell.seismology.formats.sac_mseed import to_obspy
from groundswell.seismology.formats.seismograms import (
    PRESSURE,
    VELOCITY,
    Quantity,
    read_seismograms,
)
from groundswell.seismology.formats.shaking_maps import read_shaking_map
from groundswell.seismology.receivers import RECORDED
from groundswell.simulation.summary import read_summary
from groundswell.solvers.dgwave.recordable import RECORDABLE
from groundswell.spectral_elements.vtkhdf import LagrangeElements

# Files with separate readers.
OTHERS = {
    *(VELOCITY.file, PRESSURE.file, "shaking_map.nc", "surface.nc"),
    *("volumes.vtkhdf", "fields.vtkhdf"),
}


def seismograms(folder: Path) -> Any:
    """Velocity at the receivers: xarray.DataArray (station, component, time), m/s."""
    return _recorded(folder, VELOCITY)


def pressure(folder: Path) -> Any:
    """Pressure at hydrophones and ocean-bottom nodes: xarray.DataArray (station, time), Pa."""
    return _recorded(folder, PRESSURE).squeeze("component", drop=True)


def _recorded(folder: Path, quantity: Quantity) -> Any:
    """A quantity at the receivers, (station, component, time).

    Raises:
        InputError: no receiver has recorded it.
    """
    path = folder / quantity.file
    if not path.exists():
        kinds = [kind for kind, names in RECORDED.items() if quantity.name in names]
        raise InputError(
            f"{path} does not exist; run the case with a receiver of the kind "
            f"{listed(map(quoted, kinds))}"
        )
    return read_seismograms(path, quantity)


def shaking_map(folder: Path) -> Any:
    """Peak ground velocity and acceleration: xarray.Dataset (y, x).

    Raises:
        InputError: the run has not recorded them.
    """
    path = folder / "shaking_map.nc"
    if not path.exists():
        raise InputError(f"{path} does not exist; run the case with output.shaking_map = true")
    return read_shaking_map(path)


def stream(folder: Path) -> Any:
    """All seismograms, of velocity and pressure, as an obspy.Stream."""
    recorded = [each for each in (VELOCITY, PRESSURE) if (folder / each.file).exists()]
    return to_obspy(*(read_seismograms(folder / each.file, each) for each in recorded))


def fields(folder: Path) -> Any:
    """All fields at the end, with x, y and depth z of nodes, m: xarray.Dataset (element, node).

    The nodes in the file are equidistant in each element. Their degree is at most 10.

    Raises:
        InputError: the run has not written them.
    """
    path = folder / "fields.vtkhdf"
    if not path.exists():
        raise InputError(f"{path} does not exist; run the case with output.final_fields = true")
    return LagrangeElements.read(path).as_dataset()


def records(folder: Path) -> Any:
    """The files of `output.record`: xarray.Dataset by file name; read on first use.

    Raises:
        InputError: the run has not recorded fields.
    """
    names = [name for name in read_summary(folder)["files"] if name not in OTHERS]
    found = open_records(folder, names, RECORDABLE, downward=True)
    if not found:
        raise InputError(
            f"{folder} has no recorded fields; run the case with output.record to have them"
        )
    return found
