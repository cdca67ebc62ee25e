"""Readers of earthquake results, available as attributes of `Result`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from groundswell.errors import InputError
from groundswell.seismology.formats.fault_maps import NAME, read_fault_map
from groundswell.seismology.formats.fault_series import (
    HISTORY_FILE,
    POINTS_FILE,
    read_history,
    read_points,
)
from groundswell.seismology.formats.intensity import MAPS, read_intensity, read_intensity_maps
from groundswell.seismology.formats.intensity import NAME as INTENSITY
from groundswell.seismology.formats.plastic_strain import NAME as STRAIN_MAP
from groundswell.seismology.formats.plastic_strain import read_plastic_strain
from groundswell.seismology.formats.sac_mseed import to_obspy
from groundswell.seismology.formats.seismograms import read_seismograms
from groundswell.seismology.formats.shaking_maps import read_shaking_map
from groundswell.seismology.green.files import FILE as GREEN_FILE
from groundswell.seismology.green.tensor import read_run
from groundswell.simulation.readers import FileReader, RecordReader
from groundswell.solvers.earthquake.recordable import RECORDABLE

if TYPE_CHECKING:
    import xarray
    from obspy import Stream

SNAPSHOTS = "volumes.vtkhdf"

# Velocity at the receivers: xarray.DataArray (station, component, time), m/s.
seismograms = FileReader("seismograms.h5", read_seismograms)

# Peak ground velocity and acceleration: xarray.Dataset (y, x).
shaking_map = FileReader("shaking_map.nc", read_shaking_map)

# Intensity measures at the receivers: xarray.Dataset (station, component, period).
intensity = FileReader(
    INTENSITY, read_intensity, "run the case with receivers and output.intensity"
)

# Maps of intensity measures: xarray.Dataset (period, component, y, x).
intensity_maps = FileReader(MAPS, read_intensity_maps, "run the case with maps in output.intensity")

# Slip, rupture time and stresses at the centres of faults' cells: xarray.Dataset (point).
fault = FileReader(NAME, read_fault_map, "run the case with a [[fault]]")

# Accumulated plastic strain of the uppermost cells: xarray.Dataset (y, x).
plastic_strain = FileReader(STRAIN_MAP, read_plastic_strain, "run the case with [plasticity]")
# Slip, slip rate, stress and state at points of faults: xarray.Dataset (time, point).
fault_points = FileReader(
    POINTS_FILE, read_points, "run the case with points in output.fault_points"
)

# Slip and energies of the cells of faults: xarray.Dataset (time, subfault).
rupture = FileReader(HISTORY_FILE, read_history, "run the case with output.rupture")

# Strain at points due to a force: xarray.Dataset (point, component, time).
strain_green_tensor = FileReader(
    GREEN_FILE, read_run, "run the case with output.strain_green_tensor"
)

# The files of `output.volumes` and `output.record`.
records = RecordReader(
    RECORDABLE,
    {
        *(each.file for each in (seismograms, shaking_map, fault, fault_points, rupture)),
        *(plastic_strain.file, intensity.file, intensity_maps.file, "surface.nc"),
    },
    "run the case with output.volumes (snapshots) or output.record (points, planes, boxes, final "
    "fields)",
)


def stream(folder: Path) -> Stream:
    """The seismograms as an obspy.Stream."""
    return to_obspy(seismograms(folder))


def fields(folder: Path) -> xarray.Dataset:
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
