"""Readers of earthquake results, available as attributes of `Result`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from groundswell.seismology.formats.seismograms import read_seismograms, to_obspy
from groundswell.seismology.formats.shaking_maps import read_shaking_map


def seismograms(folder: Path) -> Any:
    """Velocity at the receivers: xarray.DataArray (station, component, time), m/s."""
    return read_seismograms(folder / "seismograms.h5")


def stream(folder: Path) -> Any:
    """The seismograms as an obspy.Stream."""
    return to_obspy(seismograms(folder))


def shaking_map(folder: Path) -> Any:
    """Peak ground velocity and acceleration: xarray.Dataset (y, x)."""
    return read_shaking_map(folder / "shaking_map.nc")
