"""Rupture times of slip models that have none: a rupture that spreads at its mean velocity.

Old models of SRCMOD have no column TRUP. Their authors let the rupture spread from the hypocentre
at a constant velocity, avVr in the header, so a subfault at the distance r begins to slip at
r / avVr.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from groundswell.arrays import Floats
from groundswell.errors import InputError
from groundswell.grids.geography import Geography
from groundswell.seismology.formats.fsp import FspSegment
from groundswell.seismology.sources.slip_model_planes import angles_of

_TIMES = "TRUP"
_FASTEST = 10.0  # km/s; a higher number has another unit
_FARTHEST = 10e3  # m, of a hypocentre from a fault that is shorter than that
_WITHOUT = "there is no column TRUP (a model without times does not radiate), and the header has no"


class _Subfaults(NamedTuple):
    """Subfaults of all segments, m: x, y and depth around the epicentre, and their normals."""

    positions: Floats
    normals: Floats


def with_rupture_times(
    segments: Sequence[FspSegment], path: Path
) -> tuple[list[FspSegment], list[str]]:
    """The segments with rupture times, and a note if these are not those of the file.

    The hypocentre is moved at right angles onto the plane of the nearest subfault. Distances are
    straight, so they lie in this plane, and across the corners between segments.

    Args:
        segments: with rows at the centres of subfaults.

    Raises:
        InputError: there are neither times nor a velocity and a hypocentre near the fault.
    """
    with_times = [_TIMES in segment.columns for segment in segments]
    if all(with_times):
        return [*segments], []
    if any(with_times):
        number = with_times.index(False) + 1
        raise InputError(f"{path}: segment {number} has no column TRUP, but others have; add it")
    speed = _mean_velocity(segments[0], path)
    times = _distances(segments, path) / (1e3 * speed)
    note = (
        f"{path.name}: the file has no rupture times (TRUP); they follow from the distance to the "
        f"hypocentre and the mean rupture velocity, avVr = {speed:g} km/s: {times.min():.3g} to "
        f"{times.max():.3g} s"
    )
    ends = np.cumsum([len(segment) for segment in segments])[:-1]
    return [*map(_with_times, segments, np.split(times, ends))], [note]


def _with_times(segment: FspSegment, times: Floats) -> FspSegment:
    values = np.column_stack([segment.values, times])
    return replace(segment, columns=(*segment.columns, _TIMES), values=values)


def _mean_velocity(segment: FspSegment, path: Path) -> float:
    """The mean rupture velocity of the header, km/s."""
    speed = segment.number("AVVR")
    if speed is None or speed <= 0:  # the database writes 999, -99 or 0
        given = f" (avVr = {segment.header['AVVR']:g})" if "AVVR" in segment.header else ""
        raise InputError(
            f"{path}: {_WITHOUT} mean rupture velocity{given}; add one of both, as in % Rupt : "
            "avVr = 2.7 km/s"
        )
    if speed > _FASTEST:
        raise InputError(
            f"{path}: the mean rupture velocity, avVr = {speed:g} km/s, must be at most "
            f"{_FASTEST:g} km/s; if it is in m/s, divide it by 1000"
        )
    return speed


def _distances(segments: Sequence[FspSegment], path: Path) -> Floats:
    """Distances of all subfaults from the hypocentre on the fault, m."""
    longitude, latitude, depth = _hypocentre(segments[0], path)
    frame = Geography.from_point((longitude, latitude), (0.0, 0.0))
    parts = [_subfaults(segment, frame, path) for segment in segments]
    positions, normals = (np.concatenate(each) for each in zip(*parts, strict=True))
    hypocentre = np.array([0.0, 0.0, 1e3 * depth])
    far = np.linalg.norm(positions - hypocentre, axis=1)
    nearest = int(far.argmin())
    if far[nearest] > max(_FARTHEST, float(np.linalg.norm(np.ptp(positions, axis=0)))):
        raise InputError(
            f"{path}: the hypocentre (LAT = {latitude:g}, LON = {longitude:g}, DEP = {depth:g} km) "
            f"is {1e-3 * far[nearest]:.3g} km from the fault; correct it, or add the column TRUP"
        )
    offset = (positions[nearest] - hypocentre) @ normals[nearest]
    return np.asarray(np.linalg.norm(positions - hypocentre - offset * normals[nearest], axis=1))


def _hypocentre(segment: FspSegment, path: Path) -> tuple[float, float, float]:
    """Longitude, latitude (degrees) and depth (km) of the header."""
    found = [segment.number(f"HYPOCENTRE_{name}") for name in ("LON", "LAT", "DEP")]
    if None in found or abs(found[1] or 0.0) > 90 or abs(found[0] or 0.0) > 360:
        raise InputError(
            f"{path}: {_WITHOUT} hypocentre; add one of both, as in % Loc : LAT = 34.0 LON = "
            "-118.0 DEP = 8.0"
        )
    longitude, latitude, depth = (float(number or 0.0) for number in found)
    return longitude, latitude, depth


def _subfaults(segment: FspSegment, frame: Geography, path: Path) -> _Subfaults:
    strike, dip, _ = (np.radians(angle) for angle in angles_of(segment, path))
    try:
        x, y = frame.to_grid(segment.required("LON"), segment.required("LAT"))
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    normals = [np.sin(dip) * np.cos(strike), -np.sin(dip) * np.sin(strike), -np.cos(dip)]
    return _Subfaults(
        np.column_stack([x, y, 1e3 * segment.required("Z")]), np.column_stack(normals)
    )
