"""Positions at which values are recorded, and their coordinates in files."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from groundswell.arrays import Floats
from groundswell.case.recording import LineWhere, PointsWhere
from groundswell.errors import InputError, counted
from groundswell.formats.netcdf import Variable
from groundswell.formats.text import parse_numbers, read_text
from groundswell.outputs.recording import Frame, RecordableField


def positions_of(where: PointsWhere | LineWhere) -> Floats:
    """Positions (points, 3), m.

    Raises:
        InputError: a file of positions does not have three numbers on each line.
    """
    if isinstance(where, LineWhere):
        return np.linspace(where.start, where.end, where.points)
    if where.positions is not None:
        return np.array(where.positions, np.float64)
    text = read_text(str(where.file), "positions")
    numbers = parse_numbers(text.replace(",", " "), str(where.file))
    if not numbers.size or numbers.size % 3:
        raise InputError(
            f"{where.file} holds {counted(numbers.size, 'number')}; give x, y and z in m on each "
            "line"
        )
    return numbers.reshape(-1, 3)


def point_frame(
    positions: Floats, fields: Sequence[RecordableField], unit: str = "m", dim: str = "point"
) -> Frame:
    """The frame of samples (points,), with positions as coordinates in a unit."""
    coordinates = {
        name: Variable((dim,), positions[:, axis], attrs={"units": unit})
        for axis, name in enumerate(("x", "y", "z"))
    }
    return Frame(coordinates, {field.name: (dim,) for field in fields})


def line_frame(positions: Floats, fields: Sequence[RecordableField], unit: str = "m") -> Frame:
    """The frame of samples along a line, by distance from its start in a unit."""
    frame = point_frame(positions, fields, unit, "distance")
    away = np.linalg.norm(positions - positions[0], axis=1)
    attrs = {"units": unit, "long_name": "distance from the start of the line"}
    return Frame(
        {"distance": Variable(("distance",), away, attrs=attrs), **frame.coordinates}, frame.dims
    )
