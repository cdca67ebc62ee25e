"""Validation of the positions of sources."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from groundswell.arrays import Floats, Mask
from groundswell.errors import InputError
from groundswell.seismology.sources.entries import SourceEntry
from groundswell.seismology.sources.moment import has_shear
from groundswell.seismology.sources.point_sources import PointSource

_SHOWN = 10  # number of misplaced sources and receivers that a message names


def refuse_misplaced(found: Iterable[tuple[str, str]]) -> None:
    """Raise an error for misplaced sources and receivers, given as names and sentences.

    Raises:
        InputError: there are some; lists them, with the first sentence on each.
    """
    sentences: dict[str, str] = {}
    for name, sentence in found:
        sentences.setdefault(name, f"{name} {sentence}")
    lines = [*sentences.values()][:_SHOWN]
    if more := len(sentences) - len(lines):
        lines.append(f"and {more} more")
    if lines:
        raise InputError("\n".join(lines))


def require_sources_inside(
    entries: Sequence[SourceEntry], extent: tuple[float, float, float]
) -> None:
    """Check that all point sources lie in the region, to within a millimetre.

    Map projections round positions, hence the tolerance.

    Args:
        extent: size of the region (x, y, z), m.

    Raises:
        InputError: a source lies outside; the message names the first point of the first entry.
    """
    for n, entry in enumerate(entries):
        positions = np.array([point.position for point in entry.points])
        outside = ((positions < -1e-3) | (positions > np.add(extent, 1e-3))).any(axis=1)
        if outside.any():
            numbers = {entry.points[i].number for i in np.flatnonzero(outside)}
            first = entry.points[int(outside.argmax())]
            raise InputError(
                f"source[{n}]: {_outside(entry, first, len(numbers))}; the region reaches from 0 "
                f"to {extent[0]:g} m, {extent[1]:g} m and {extent[2]:g} m: move it, or enlarge "
                "grid.size"
            )


def require_shear_in_solids(
    entries: Sequence[SourceEntry], is_fluid: Callable[[Floats], Mask]
) -> None:
    """Check that moments of sources in fluids are isotropic.

    Args:
        is_fluid: function of positions (n, 3), m, that returns whether they are in a fluid, (n,).

    Raises:
        InputError: a source in a fluid has a moment that is not isotropic.
    """
    given = [[p for p in entry.points if p.moment is not None] for entry in entries]
    moments = np.array([point.moment for points in given for point in points])
    if not moments.size:
        return
    places = np.array([point.position for points in given for point in points])
    is_wrong, ends = has_shear(moments) & is_fluid(places), np.cumsum([*map(len, given)])
    for n, wrong in enumerate(np.split(is_wrong, ends[:-1])):
        if count := int(wrong.sum()):
            x, y, z = given[n][int(wrong.argmax())].position
            some = f" with {count:,} of its {len(wrong):,} moments" * (len(wrong) > 1)
            raise InputError(
                f"source[{n}] lies in a fluid{some}, but its moment tensor is not isotropic (the "
                f"first place is x = {x:.6g} m, y = {y:.6g} m, depth = {z:.6g} m); use an "
                "explosion or a force, or move it to a solid"
            )


def _outside(entry: SourceEntry, first: PointSource, count: int) -> str:
    """How many points of a source lie outside the region, and where the first one is."""
    x, y, depth = first.position
    place = f"x = {x:.6g} m, y = {y:.6g} m, depth = {depth:.6g} m"
    name = "subfault" if entry.fault else "point"
    file = getattr(entry.section, "file", None)
    if entry.fault:
        longitude, latitude = entry.fault.frame.to_lonlat(x, y)
        place += f" (longitude {longitude:.5f}, latitude {latitude:.5f} in the file)"
    return (
        f"{count} {name}{'s' if count > 1 else ''}{f' of {file.name}' if file else ''} lie"
        f"{'' if count > 1 else 's'} outside the region, the first is {name} {first.number} at "
        f"{place}"
    )
