"""Positions, angles and planes of the segments of slip models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from groundswell.arrays import Floats
from groundswell.errors import InputError
from groundswell.grids.geography import Geography
from groundswell.seismology.formats.fsp import FspSegment
from groundswell.seismology.formats.srf_content import Plane


def centred(segment: FspSegment, path: Path) -> FspSegment:
    """The segment with rows at the centres of subfaults.

    Raises:
        InputError: rows are at top edges, and the widths of subfaults are unknown.
    """
    if not segment.at_top:
        return segment
    width = segment.number("DZ", "DY") or _width_of_rows(segment)
    if width is None:
        raise InputError(
            f"{path}: rows are the centres of top edges, but the header has no width of subfaults, "
            "% Invs : Dz = ..., and none of segments, WID"
        )
    strike, dip, _ = angles_of(segment, path)
    try:
        places = _down_the_dip(segment, strike, dip, 500.0 * width)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    values = segment.values.copy()
    for name, of in zip(("LON", "LAT", "Z"), places, strict=True):
        values[:, segment.columns.index(name)] = of
    return replace(segment, values=values, at_top=False)


def _down_the_dip(
    segment: FspSegment, strike: Floats, dip: Floats, distance: float
) -> tuple[Floats, Floats, Floats]:
    """Longitudes, latitudes (degrees) and depths (km) of points a distance (m) below the rows.

    Raises:
        InputError: positions are outside the range of a projection.
    """
    across, angle = distance * np.cos(np.radians(dip)), np.radians(strike)
    frame = _frame(segment)
    x, y = frame.to_grid(segment.required("LON"), segment.required("LAT"))
    moved = frame.to_lonlat(x + across * np.cos(angle), y - across * np.sin(angle))
    depth = segment.required("Z") + 1e-3 * distance * np.sin(np.radians(dip))
    return np.asarray(moved[0]), np.asarray(moved[1]), depth


def _width_of_rows(segment: FspSegment) -> float | None:
    """The width of a subfault, km, from that of the segment and the number of depths."""
    width = segment.number("WID")
    depths = np.unique(np.round(segment.required("Z"), 3))
    return width / len(depths) if width else None


def _frame(segment: FspSegment) -> Geography:
    """A map whose origin is the mean position of the rows."""
    middle = float(segment.required("LON").mean()), float(segment.required("LAT").mean())
    return Geography.from_point(middle, (0.0, 0.0))


def angles_of(segment: FspSegment, path: Path) -> tuple[Floats, Floats, Floats]:
    """Strikes, dips and rakes of the subfaults, degrees: of columns, or of the header."""
    found: list[Floats] = []
    for names in (("STRIKE", "STRK"), ("DIP",), ("RAKE",)):
        of = segment.column(*names)
        if of is None and (number := segment.number(*names)) is not None:
            of = np.full(len(segment), number)
        if of is None:
            raise InputError(
                f"{path}: the header needs STRK, DIP and RAKE (or a column RAKE) of each segment, "
                "as in % Mech : STRK = 30 DIP = 60 RAKE = 90"
            )
        found.append(of)
    return found[0] % 360, found[1], np.mod(found[2] + 180, 360) - 180


def planes_of(segments: Sequence[FspSegment], path: Path) -> Iterator[Plane]:
    """Yield the planes of the segments, if the sizes of all of them are known."""
    found = [_plane(segment, path) for segment in segments]
    complete = [plane for plane in found if plane is not None]
    if len(complete) == len(found):
        yield from complete


def _plane(segment: FspSegment, path: Path) -> Plane | None:
    """The plane of a segment with centred rows; None if its size does not fit its subfaults."""
    sizes = [segment.number(name) for name in ("LEN", "WID", "DX", "DZ")]
    if not all(size and size > 0 for size in sizes):
        return None
    length, width, dx, dz = (1e3 * float(size or 0.0) for size in sizes)
    counts = round(length / dx), round(width / dz)
    if counts[0] * counts[1] != len(segment):
        return None
    strike, dip = (float(of[0]) for of in angles_of(segment, path)[:2])
    back, angle = width / 2 * np.cos(np.radians(dip)), np.radians(strike)  # to the top edge
    longitude, latitude = _frame(segment).to_lonlat(-back * np.cos(angle), back * np.sin(angle))
    top = max(0.0, 1e3 * segment.required("Z").mean() - width / 2 * np.sin(np.radians(dip)))
    size = (*counts, length, width, strike, dip, float(top))
    return Plane(float(longitude), float(latitude), *size, 0.0, 0.0)
