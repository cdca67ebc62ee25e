"""Readers of the results of DG waves, available as attributes of `Result`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from groundswell.errors import InputError
from groundswell.outputs.records import open_records
from groundswell.seismology.formats.seismograms import read_seismograms, to_obspy
from groundswell.simulation.summary import read_summary
from groundswell.solvers.dgwave.outputs import RECORDABLE

OTHERS = {"seismograms.h5", "fields.vtkhdf"}  # files that have readers of their own


def seismograms(folder: Path) -> Any:
    """Velocity at the receivers: xarray.DataArray (station, component, time), m/s."""
    return read_seismograms(folder / "seismograms.h5")


def stream(folder: Path) -> Any:
    """The seismograms as an obspy.Stream."""
    return to_obspy(seismograms(folder))


def records(folder: Path) -> Any:
    """The files of `output.record`: xarray.Dataset by file name; read when they are used.

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
