"""Files of points at which runs record strain: ruptures, and tables of points."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from pathlib import Path

import numpy as np

from groundswell.arrays import Floats
from groundswell.errors import InputError
from groundswell.formats.text import parse_number, read_rows
from groundswell.grids.geography import Geography
from groundswell.seismology.case.events import EventFile
from groundswell.seismology.case.green import StrainGreenTensorOutput
from groundswell.seismology.case.sources import FspRupture, SrfRupture
from groundswell.seismology.formats.fault_series import read_history
from groundswell.seismology.sources.event_files import event_entry, first_date, frame_of_events
from groundswell.seismology.sources.point_sources import SourceContext
from groundswell.seismology.sources.ruptures import place_rupture, read_rupture

KEY = "output.strain_green_tensor"


@dataclass(frozen=True, eq=False)
class PlacedPlanes:
    """Positions, and the planes of a fault there if they are known.

    Args:
        positions: (x, y, depth), m, (n, 3).
        strike, dip: degrees, (n,).
        azimuth: of the y axis, degrees clockwise from the direction from which strike is measured.
        frame: maps longitudes and latitudes to x and y; None if it is unknown.
        shift: added to the depths of a rupture file, m.
    """

    positions: Floats
    strike: Floats | None = None
    dip: Floats | None = None
    azimuth: float = 0.0
    frame: Geography | None = None
    shift: float = 0.0


def placed_points(section: StrainGreenTensorOutput, context: SourceContext) -> PlacedPlanes:
    """The positions that a section gives, and planes there.

    Raises:
        InputError: they cannot be read, or there is no geography for longitudes and latitudes.
    """
    if section.positions is not None:
        return PlacedPlanes(np.array(section.positions, float))
    if section.rupture is not None:
        return _of_rupture(section.rupture, context)
    assert section.file is not None  # one of the three is given
    return read_planes(section.file, context)


def _of_rupture(
    rupture: SrfRupture | FspRupture | EventFile, context: SourceContext
) -> PlacedPlanes:
    if rupture.x is None and context.geography is None:
        raise InputError(
            f"{KEY}.rupture has longitudes and latitudes; give x and y of the subfault that slips "
            "first, or add [grid.geography]"
        )
    if isinstance(rupture, EventFile):
        return _of_events(rupture, context)
    placed = place_rupture(rupture, read_rupture(rupture).content, context)
    content, frame = placed.content, placed.frame
    shift = float(placed.positions[0, 2] - content.depth[0])
    planes = content.strike, content.dip, frame.true_azimuth
    return PlacedPlanes(placed.positions, *planes, frame, shift)


def _of_events(section: EventFile, context: SourceContext) -> PlacedPlanes:
    """The positions of the events of a file, whose moment tensors have no single plane."""
    points = event_entry(section, replace(context, duration=inf), first_date(section)).points
    positions = np.array([point.position for point in points])
    return PlacedPlanes(positions, frame=frame_of_events(section, context))


def read_planes(path: Path, context: SourceContext) -> PlacedPlanes:
    """Positions, and planes if it has them, of `rupture.nc` or of a table.

    Raises:
        InputError: the file cannot be read, or has no positions.
    """
    if path.suffix in (".nc", ".h5"):
        found = read_history(path)
        positions = np.stack([found[name].values for name in ("x", "y", "depth")], axis=1)
        return PlacedPlanes(positions, found["strike"].values, found["dip"].values)
    columns = read_columns(path, "a table of points")
    positions = positions_in(path, columns, context)
    return PlacedPlanes(positions, columns.get("strike"), columns.get("dip"), context.azimuth)


def positions_in(path: Path, columns: dict[str, Floats], context: SourceContext) -> Floats:
    """Positions (x, y, depth), m, (n, 3), of the columns x, y or longitude, latitude, and depth.

    Raises:
        InputError: columns are missing, or there is no geography for longitudes and latitudes.
    """
    if {"longitude", "latitude", "depth"} <= set(columns):
        if context.geography is None:
            raise InputError(f"{path} has longitudes and latitudes, which need [grid.geography]")
        x, y = context.geography.to_grid(columns["longitude"], columns["latitude"])
        return np.stack([x, y, columns["depth"]], axis=1)
    if not {"x", "y", "depth"} <= set(columns):
        raise InputError(
            f"{path} has the columns {', '.join(columns)}; needed are x, y (m) or longitude, "
            "latitude, and depth (m)"
        )
    return np.stack([columns[name] for name in ("x", "y", "depth")], axis=1)


def read_columns(path: Path, what: str) -> dict[str, Floats]:
    """The columns of numbers of a table with a header, (rows,).

    Raises:
        InputError: the file is missing, has no rows or a column twice, or a cell is not a number.
    """
    rows = read_rows(path, what)
    if len(rows) < 2:
        raise InputError(f"{path} has no rows; expected {what} with a header line")
    header = [name.lower() for name in rows[0][1]]
    if len(set(header)) < len(header):
        raise InputError(f"{path} has a column twice; name each column once")
    values = []
    for line, row in rows[1:]:
        try:
            numbers = [parse_number(cell) for cell in row]
        except ValueError:
            raise InputError(f"{path}, line {line}: not all cells are numbers") from None
        if len(row) != len(header) or not np.isfinite(numbers).all():
            raise InputError(f"{path}, line {line}: expected {len(header)} finite numbers")
        values.append(numbers)
    return dict(zip(header, np.array(values, float).T, strict=True))
