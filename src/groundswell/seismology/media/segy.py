"""Models in SEG-Y files: lines and volumes in depth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from groundswell.arrays import Reals
from groundswell.errors import InputError
from groundswell.seismology.case.model_files import SegySection
from groundswell.seismology.formats.segy_reader import SegyFile
from groundswell.seismology.media.material import unit_factor
from groundswell.seismology.media.model_grid import ModelGrid
from groundswell.seismology.media.trace_positions import FOOT, TraceGrid, arrange_traces

if TYPE_CHECKING:
    import xarray

_LONGEST_INTERVAL = 200.0  # m; header values above it are times or millimetres
_PLAIN = ("qp", "qs")


def open_segy_model(section: SegySection) -> ModelGrid:
    """Open a model in SEG-Y files with the same traces, one for each property.

    Traces are a line or a full volume, by their inline and crossline numbers. Their headers are
    read, and their values when they are needed.

    Raises:
        InputError: a file is unreadable, in time rather than depth, or its traces form no grid.
    """
    more = {role: path for role, path in section.files if path is not None}
    files = {role: _open(path, section) for role, path in {"vp": section.file, **more}.items()}
    first = files["vp"]
    grid = arrange_traces(first, section)
    for file in files.values():
        _require_same_traces(first, file)
    depth = section.top + _interval(first, section) * np.arange(first.samples)
    data = _dataset(files, grid, depth, section)
    remedy = "give the files of other properties in medium.files"
    return ModelGrid(section.file, data, ("depth", *grid.dims), grid.frame, remedy)


def _open(path: Path, section: SegySection) -> SegyFile:
    file = SegyFile(path, section.bytes.model_dump())
    delays = file.headers["delay"]
    if delays.any() and "top" not in section.model_fields_set:
        raise InputError(
            f"{path}: the first sample of a trace is at {delays[delays != 0][0]} ms by its header; "
            "give its depth in medium.top"
        )
    return file


def _interval(file: SegyFile, section: SegySection) -> float:
    """The distance between samples, m."""
    if section.interval is not None:
        return section.interval
    found = file.interval * (FOOT if file.in_feet else 1.0)
    if not 0 < found <= _LONGEST_INTERVAL:
        raise InputError(
            f"{file.path}: the interval of samples is {file.interval} in the header, which looks "
            f"like a time in µs, or a length that is not in m; if the file is in depth, give "
            'medium.interval, such as "5 m"; convert a model in time to depth first'
        )
    return found


def _require_same_traces(first: SegyFile, other: SegyFile) -> None:
    shapes = [(len(file.headers["x"]), file.samples, file.interval) for file in (first, other)]
    same = shapes[0] == shapes[1] and all(
        np.array_equal(first.headers[name], other.headers[name])
        for name in ("inline", "crossline", "x", "y", "scalar")
    )
    if not same:
        raise InputError(
            f"{other.path}: the traces differ from those of {first.path}: "
            f"{shapes[1][0]:,} traces of {shapes[1][1]:,} samples and {shapes[0][0]:,} of "
            f"{shapes[0][1]:,}, or other numbers in the headers; give files with the same traces"
        )


def _dataset(
    files: dict[str, SegyFile], grid: TraceGrid, depth: Reals, section: SegySection
) -> xarray.Dataset:
    """The values of all files (depth, y, x), read when needed."""
    import xarray

    from groundswell.seismology.media.trace_values import TraceValues

    units = {**section.units.model_dump(), "qp": "", "qs": ""}
    for role, unit in units.items():
        if role not in _PLAIN:
            unit_factor(unit, "kg/m^3" if role == "rho" else "m/s", f"medium.units.{role}")
    dims = ("depth", *grid.dims)
    variables = {
        role: (dims, TraceValues(file, grid.traces).variable, {"units": units[role]})
        for role, file in files.items()
    }
    axes = dict(zip(dims, (depth, *grid.nodes), strict=True))
    return xarray.Dataset(variables, coords=axes)
