"""Readers of the results of DG waves, available as attributes of `Result`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from groundswell.errors import listed, quoted
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
from groundswell.seismology.formats.seismograms import (
    PRESSURE,
    VELOCITY,
    ReceiverQuantity,
    read_seismograms,
)
from groundswell.seismology.formats.shaking_maps import read_shaking_map
from groundswell.seismology.green.files import FILE as GREEN_FILE
from groundswell.seismology.green.tensor import read_run
from groundswell.seismology.receivers import RECORDED
from groundswell.simulation.readers import FileReader, RecordReader
from groundswell.solvers.dgwave.recordable import RECORDABLE
from groundswell.spectral_elements.vtkhdf import LagrangeElements

if TYPE_CHECKING:
    import xarray
    from obspy import Stream


def _at_receivers(quantity: ReceiverQuantity) -> FileReader:
    kinds = [kind for kind, names in RECORDED.items() if quantity.name in names]
    cure = f"run the case with a receiver of the kind {listed(map(quoted, kinds))}"
    return FileReader(quantity.file, partial(read_seismograms, quantity=quantity), cure)


# Velocity at the receivers: xarray.DataArray (station, component, time), m/s.
seismograms = _at_receivers(VELOCITY)

_pressure = _at_receivers(PRESSURE)


def pressure(folder: Path) -> xarray.DataArray:
    """Pressure at hydrophones and ocean-bottom nodes: xarray.DataArray (station, time), Pa."""
    return _pressure(folder).squeeze("component", drop=True)


def stream(folder: Path) -> Stream:
    """All seismograms, of velocity and pressure, as an obspy.Stream."""
    recorded = [each for each in (seismograms, _pressure) if (folder / each.file).exists()]
    return to_obspy(*(read(folder) for read in recorded))


# Peak ground velocity and acceleration: xarray.Dataset (y, x).
shaking_map = FileReader(
    "shaking_map.nc", read_shaking_map, "run the case with output.shaking_map = true"
)

# Intensity measures at the receivers: xarray.Dataset (station, component, period).
intensity = FileReader(
    INTENSITY, read_intensity, "run the case with receivers and output.intensity"
)

# Maps of intensity measures: xarray.Dataset (period, component, y, x).
intensity_maps = FileReader(MAPS, read_intensity_maps, "run the case with maps in output.intensity")

# Slip, rupture time and stresses at the points of faults: xarray.Dataset (point).
fault = FileReader(NAME, read_fault_map, "run the case with a [[fault]]")

# Slip, slip rate, stress and state at points of faults: xarray.Dataset (time, point).
fault_points = FileReader(
    POINTS_FILE, read_points, "run the case with points in output.fault_points"
)

# Mean slip and energies of the faces of faults: xarray.Dataset (time, subfault).
rupture = FileReader(HISTORY_FILE, read_history, "run the case with output.rupture")

# Accumulated plastic strain at the surface: xarray.Dataset (y, x).
plastic_strain = FileReader(STRAIN_MAP, read_plastic_strain, "run the case with [plasticity]")

# Strain at points due to a force: xarray.Dataset (point, component, time).
strain_green_tensor = FileReader(
    GREEN_FILE, read_run, "run the case with output.strain_green_tensor"
)

UNITS = {name: field.units for name, field in RECORDABLE.items()}

# All fields at the end, with x, y and depth z of nodes, m: xarray.Dataset (element, node). The
# nodes in the file are equidistant in each element. Their degree is at most 10.
fields = FileReader(
    "fields.vtkhdf",
    lambda path: LagrangeElements.read(path).as_dataset(UNITS),
    "run the case with output.final_fields = true",
)

records = RecordReader(
    RECORDABLE,
    {
        each.file
        for each in (
            *(seismograms, _pressure, shaking_map, plastic_strain),
            *(intensity, intensity_maps),
            *(fault, fault_points, rupture, fields),
        )
    }
    | {"surface.nc", "volumes.vtkhdf"},
)
