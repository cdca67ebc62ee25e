"""Ruptures that are sources of cases, as point sources at the points of a strain Green tensor."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from groundswell.case.load import load_case
from groundswell.errors import InputError
from groundswell.seismology.case.base import SeismicCase
from groundswell.seismology.case.events import ALL, EventFile
from groundswell.seismology.case.sources import FspRupture, SrfRupture
from groundswell.seismology.sources.build import build_sources, source_entry
from groundswell.seismology.sources.entries import SourceEntry
from groundswell.seismology.sources.event_files import complete_event, time_zero
from groundswell.seismology.sources.point_sources import PointSource, SourceContext

SLIP_MODELS = (".fsp", ".param")
RUPTURES = (".srf", *SLIP_MODELS)
_NO_FRAME = (
    "has longitudes and latitudes, but the strain Green tensor was recorded without "
    "[grid.geography] or a rupture; give a table or a case with x and y"
)


class RuptureWarning(UserWarning):
    """Something that a file of a rupture lacks or contradicts."""


def of_rupture_file(path: Path, context: SourceContext, shift: float) -> list[PointSource]:
    """The point sources of an SRF file, a slip model, or all events of a file.

    Args:
        context: of the tensor, with its map of longitudes and latitudes.
        shift: added to depths, m.

    Raises:
        InputError: the file cannot be read, or there is no map.

    Warns:
        RuptureWarning: the file lacks something, or contradicts itself.
    """
    if context.geography is None:
        raise InputError(f"{path} {_NO_FRAME}")
    section = _section(path)
    zero = time_zero(section) if isinstance(section, EventFile) else None
    found = _points([source_entry(section, context, zero)])
    return [replace(point, position=_deeper(point.position, shift)) for point in found]


def of_case(path: Path, context: SourceContext) -> list[PointSource]:
    """The point sources of a case.

    Raises:
        InputError: the case or a file of it is invalid, or it has sources without a moment.

    Warns:
        RuptureWarning: a file lacks something, or contradicts itself.
    """
    case = load_case(path)
    if not isinstance(case, SeismicCase):
        raise InputError(f"{path}: the solver {case.solver} has no earthquakes; give another case")
    if case.grid.frame is not None and context.geography is None:
        raise InputError(f"{path} {_NO_FRAME}")
    event = complete_event(case.event, case.source)
    own = replace(context, geography=case.grid.frame)
    points = _points(build_sources(case.source, own, event))
    if any(point.moment is None for point in points):
        raise InputError(f"{path}: forces are no earthquakes; remove them")
    return points


def _section(path: Path) -> SrfRupture | FspRupture | EventFile:
    if path.suffix == ".srf":
        return SrfRupture(kind="srf", file=path)
    if path.suffix in SLIP_MODELS:
        return FspRupture(kind="fsp", file=path)
    section = EventFile(kind="event", file=path)
    several = len(section.catalogue.events) > 1
    return EventFile(kind="event", file=path, select=ALL) if several else section


def _points(entries: Iterable[SourceEntry]) -> list[PointSource]:
    points: list[PointSource] = []
    for entry in entries:
        _warn(entry.warnings)
        points += entry.points
    return points


def _warn(texts: Sequence[str]) -> None:
    for text in texts:
        warnings.warn(text, RuptureWarning, stacklevel=4)


def _deeper(position: tuple[float, float, float], shift: float) -> tuple[float, float, float]:
    x, y, depth = position
    return x, y, depth + shift
