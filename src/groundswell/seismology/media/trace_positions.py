"""Positions of the traces of a model: a straight line, or a full volume of lines."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from groundswell.arrays import Floats, HostArray, Indices, Integers, Reals
from groundswell.errors import InputError, counted
from groundswell.grids.geography import require_projected
from groundswell.seismology.case.model_files import SegySection
from groundswell.seismology.formats.segy_reader import SegyFile
from groundswell.seismology.frames import Frame

FOOT = 0.3048
_ANGLES = (2, 3, 4)  # codes of coordinates in seconds of arc, degrees, or degrees, minutes, seconds
_OFF = 0.25  # largest deviation of a trace from the grid, in spacings
_BESIDE = 0.01  # largest distance of a trace from a line, over its length
_NO_LINE = "give the distance between traces in medium.spacing"
_NUMBERS = "if they are a volume, name the bytes of inline and crossline numbers in medium.bytes"


@dataclass(frozen=True, eq=False)
class TraceGrid:
    """Traces on a grid.

    Args:
        frame: the coordinates of both axes.
        dims, nodes: names and coordinates of the axes (y, x).
        traces: number of the trace in the file at each node, (y, x).
    """

    frame: Frame
    dims: tuple[str, str]
    nodes: tuple[HostArray, HostArray]
    traces: Indices


def arrange_traces(file: SegyFile, section: SegySection) -> TraceGrid:
    """The grid of a file's traces.

    Raises:
        InputError: traces are missing or repeated, lie on no regular grid, or have no positions.
    """
    if section.projection is not None:
        require_projected(section.projection)
    numbers = [np.unique(file.headers[name]) for name in ("inline", "crossline")]
    if min(map(len, numbers)) > 1:
        return _volume(file, section, numbers)
    return _line(file, section)


def _volume(file: SegyFile, section: SegySection, numbers: list[Integers]) -> TraceGrid:
    """A volume with axes inline and crossline, or x and y if their spacing is given."""
    ny, nx = map(len, numbers)
    lines = [file.headers[name] for name in ("inline", "crossline")]
    traces = _crossings(file, lines, numbers)
    if section.spacing is not None:
        dx, dy = section.spacing[0], section.spacing[-1]
        nodes = (dy * np.arange(ny), dx * np.arange(nx))
        return TraceGrid(Frame(str(file.path)), ("y", "x"), nodes, traces)
    ones = np.ones_like(lines[0])
    axes = _fit_axes(file, _positions(file, section), np.stack([*lines, ones]))
    frame = _map_frame(file, section, axes, "line numbers")
    return TraceGrid(frame, ("inline", "crossline"), (numbers[0], numbers[1]), traces)


def _crossings(file: SegyFile, lines: list[Integers], numbers: list[Integers]) -> Indices:
    """The trace at each crossing of an inline and a crossline."""
    rows, columns = (np.searchsorted(n, of) for n, of in zip(numbers, lines, strict=True))
    ny, nx = map(len, numbers)
    if len(rows) == ny * nx:
        traces = np.full((ny, nx), -1)
        traces[rows, columns] = np.arange(len(rows))
        if traces.min() >= 0:
            return traces
    raise InputError(
        f"{file.path}: {len(rows):,} traces do not form a full volume of {ny:,} inlines and {nx:,} "
        "crosslines with one trace at each crossing; fill the missing ones, or name the bytes of "
        "these numbers in medium.bytes"
    )


def _map_frame(file: SegyFile, section: SegySection, axes: Reals, unit: str) -> Frame:
    hint = "; for coordinates of a map, give medium.projection" if not section.projection else ""
    return Frame(str(file.path), section.projection, axes=axes, unit=unit, hint=hint)


def _fit_axes(file: SegyFile, positions: Floats, lines: Integers) -> Reals:
    """The affine transform (2, 3) from coordinates (2, n) to crossline and inline numbers.

    Args:
        lines: inline and crossline number of each trace, and ones, (3, n).
    """
    centre = positions.mean(axis=1, keepdims=True)
    forward = np.linalg.lstsq(lines.T.astype(float), (positions - centre).T, rcond=None)[0].T
    steps = np.hypot(*forward[:, :2]) * [np.diff(np.unique(of)).min() for of in lines[:2]]
    area = abs(np.linalg.det(forward[:, :2]))
    off = np.hypot(*(forward @ lines - (positions - centre))).max()
    if not (area > 1e-6 * np.prod(np.hypot(*forward[:, :2])) > 0 and off <= _OFF * steps.min()):
        raise InputError(
            f"{file.path}: the coordinates of traces, up to {off:.6g} m from a regular grid of "
            f"spacings {steps[1]:.6g} and {steps[0]:.6g} m, do not fit their inline and crossline "
            f"numbers; correct them, name their bytes in medium.bytes, or {_NO_LINE}"
        )
    back = np.linalg.inv(forward[:, :2])
    back[np.abs(back) < 1e-9 * np.abs(back).max()] = 0  # rounding errors of aligned axes
    shift = -back @ (forward[:, 2:] + centre)
    return np.hstack([back, shift])[::-1]  # crossline first, along x


def _line(file: SegyFile, section: SegySection) -> TraceGrid:
    """A line, across which values do not vary; with `spacing`, it lies along x."""
    count = len(file.headers["x"])
    if section.spacing is not None:
        _require_one_line(file, section)
        axes, distance = np.array([[1.0, 0, 0], [0, 0, 0]]), section.spacing[0] * np.arange(count)
        frame = Frame(str(file.path), axes=axes)
    else:
        axes, distance = _straight_line(file, _positions(file, section))
        unit = "m" if section.projection is None else "map units"
        frame = _map_frame(file, section, axes, unit)
    nodes = (np.array([-1.0, 1.0]), distance)
    traces = np.broadcast_to(np.arange(count), (len(nodes[0]), count))
    return TraceGrid(frame, ("across", "distance"), nodes, traces)


def _straight_line(file: SegyFile, positions: Floats) -> tuple[Reals, Floats]:
    """The affine transform to the distance along a line, and that of each trace.

    Args:
        positions: coordinates of the traces, (2, n).
    """
    step = positions[:, -1] - positions[:, 0]
    length = np.hypot(*step)
    if length == 0:
        raise InputError(
            f"{file.path}: {counted(positions.shape[1], 'trace')} with no distance from each other "
            f"by the headers; {_NO_LINE}, or name the bytes of coordinates in medium.bytes"
        )
    along = step / length
    start = -along @ positions[:, 0]
    distance = along @ positions + start
    off = np.abs([-along[1], along[0]] @ (positions - positions[:, :1])).max()
    if off > _BESIDE * length or not (np.diff(distance) > 0).all():
        raise InputError(
            f"{file.path}: the traces do not form a straight line: up to {off:.6g} m beside one of "
            f"{length:.6g} m, or not in order; {_NUMBERS}, or project them on a line"
        )
    return np.array([[*along, start], [0, 0, 0]]), distance


def _require_one_line(file: SegyFile, section: SegySection) -> None:
    """Check that the spacing is that of a line, not of a volume whose lines have no numbers."""
    x, y = (file.headers[name] for name in ("x", "y"))
    steps = np.stack([np.diff(x), np.diff(y)])
    turns_back = bool(steps.any()) and bool((steps[:, :1].T @ steps < 0).any())
    if turns_back or len(section.spacing or ()) > 1:
        raise InputError(
            f"{file.path}: all {len(x):,} traces are one line by their inline and crossline "
            f"numbers; {_NUMBERS}, or give one distance in medium.spacing"
            + ("" if not turns_back else ", and correct the coordinates, which turn back")
        )


def _positions(file: SegyFile, section: SegySection) -> Floats:
    """Coordinates of the traces (2, n): m, or in the unit of the projection."""
    if np.isin(file.headers["units"], _ANGLES).any():
        raise InputError(
            f"{file.path}: by their headers, the coordinates of traces are angles; write projected "
            f"ones, or {_NO_LINE}"
        )
    scalar = file.headers["scalar"].astype(float)
    factor = np.where(
        scalar < 0, -1 / np.where(scalar < 0, scalar, 1), np.where(scalar > 0, scalar, 1)
    )
    if file.in_feet and section.projection is None:
        factor = factor * FOOT
    return factor * np.stack([file.headers["x"], file.headers["y"]])
