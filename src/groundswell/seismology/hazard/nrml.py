"""Source models in NRML, the XML format of OpenQuake: faults and points with annual rates.

Supported are simple faults, characteristic faults on simple or planar surfaces, points and areas;
the distributions truncated Gutenberg-Richter, incremental and arbitrary; and the scaling relations
WC1994 and PeerMSR. The format is described in the manual of the OpenQuake engine (GEM Foundation).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from groundswell.arrays import Floats
from groundswell.errors import InputError, listed, quoted
from groundswell.formats.xml import Element, read_xml
from groundswell.grids.geography import Geography
from groundswell.seismology.hazard.areas import cells_across, points_within
from groundswell.seismology.hazard.floating import SimpleFault, around, fitted
from groundswell.seismology.hazard.magnitudes import MagnitudeRates
from groundswell.seismology.hazard.nrml_values import (
    KM,
    NrmlError,
    angle,
    attribute,
    child,
    distribution,
    number,
    positions,
    positive,
    scaling,
)
from groundswell.seismology.hazard.ruptures import Rupture
from groundswell.seismology.hazard.sites import plane
from groundswell.seismology.hazard.surfaces import Surface

_MAX_RUPTURES = 200_000


@dataclass(frozen=True)
class Discretisation:
    """How finely sources are divided into ruptures.

    Args:
        spacing: distance between ruptures that float on a fault, m.
        bin_width: largest width of bins of Gutenberg-Richter distributions.
        area_spacing: largest distance between the points of an area, m.
    """

    spacing: float = 2000.0
    bin_width: float = 0.1
    area_spacing: float = 10_000.0


@dataclass(frozen=True)
class _Model:
    """The data that readers of sources need besides the source."""

    path: Path
    frame: Geography | None
    steps: Discretisation

    def plane(self, lonlat: Floats) -> Floats:
        """x and y in m of longitudes and latitudes (n, 2)."""
        return plane(self.frame, lonlat)

    def rates(self, source: Element) -> MagnitudeRates:
        """Magnitudes and rates of a source."""
        return distribution(source, self.steps.bin_width)


def read_nrml(
    path: Path, frame: Geography | None, steps: Discretisation | None = None
) -> list[Rupture]:
    """The ruptures of a source model.

    Args:
        path: an XML file, in version 0.4 or 0.5 of the format.
        frame: the frame of the sites.
        steps: how finely to divide sources.

    Raises:
        InputError: the file is not a source model, is invalid, or has unsupported sources.
    """
    root = read_xml(path)
    sources = [element for element in root.walk() if _is_source(element)]
    if root.name != "nrml" or not sources:
        raise InputError(f"{path}: has no sources; give a source model in NRML")
    _require_supported(path, sources)
    found: list[Rupture] = []
    for source in sources:
        found += _ruptures_of(source, _Model(path, frame, steps or Discretisation()))
        if len(found) > _MAX_RUPTURES:
            raise InputError(
                f"{path} has more than {_MAX_RUPTURES:,} ruptures; enlarge spacing, bin_width or "
                "area_spacing"
            )
    return found


def _is_source(element: Element) -> bool:
    return element.name.endswith("Source")


def _require_supported(path: Path, sources: list[Element]) -> None:
    kinds = sorted({source.name for source in sources} - set(_READERS))
    if kinds:
        raise InputError(
            f"{path}: sources of the kind {listed(map(quoted, kinds))} are not supported; remove "
            f"them, or replace them by {listed(_READERS)}"
        )


def _ruptures_of(source: Element, model: _Model) -> list[Rupture]:
    name = source.attributes.get("id") or f"line {source.line}"
    try:
        made = list(_READERS[source.name](source, model))
    except NrmlError as error:
        line = error.line or source.line
        raise InputError(f"{model.path}, line {line}: source {quoted(name)}: {error}") from None
    is_on_map = _READERS[source.name] is not _area
    return [
        Rupture(f"{name}:{n}", magnitude, rate, rake, surface, is_on_map)
        for n, (magnitude, rate, rake, surface) in enumerate(made)
        if rate > 0
    ]


Made = Iterator[tuple[float, float, float | None, Surface]]


# --- kinds of sources -----------------------------------------------------------------------------


def _simple_fault(source: Element, model: _Model) -> Made:
    """Ruptures of each magnitude float over the fault, at equal rates."""
    fault = _fault(child(source, "simpleFaultGeometry"), model)
    area_of, rake = scaling(source), angle(child(source, "rake"), 360.0)
    aspect, rates = positive(child(source, "ruptAspectRatio")), model.rates(source)
    for magnitude, rate in zip(rates.magnitudes, rates.rates, strict=True):
        area = area_of(float(magnitude), rake)
        options = area, aspect, model.steps.spacing
        if fault.count_ruptures(*options) > _MAX_RUPTURES:
            raise NrmlError(f"more than {_MAX_RUPTURES:,} ruptures; enlarge spacing")
        surfaces = list(fault.float_ruptures(*options))
        for surface in surfaces:
            yield float(magnitude), float(rate) / len(surfaces), rake, surface


def _characteristic_fault(source: Element, model: _Model) -> Made:
    """Each magnitude breaks the whole fault."""
    surface = _surface(child(source, "surface"), model)
    rake, rates = angle(child(source, "rake"), 360.0), model.rates(source)
    for magnitude, rate in zip(rates.magnitudes, rates.rates, strict=True):
        yield float(magnitude), float(rate), rake, surface


def _point(source: Element, model: _Model) -> Made:
    """Ruptures around the point."""
    geometry = child(source, "pointGeometry")
    place = model.plane(positions(child(geometry, "Point", "pos"), 2)[:1])
    yield from _around(place, _depths(geometry), source, model.rates(source))


def _area(source: Element, model: _Model) -> Made:
    """Ruptures around points of a grid within the polygon, at equal rates."""
    geometry, spacing = child(source, "areaGeometry"), model.steps.area_spacing
    ring = child(geometry, "Polygon", "exterior", "LinearRing", "posList")
    corners = model.plane(positions(ring, 2))
    if len(np.unique(corners, axis=0)) < 3:
        raise NrmlError("its polygon needs three or more corners that differ", ring)
    if geometry.find("Polygon").find("interior") is not None:  # type: ignore[union-attr]
        raise NrmlError("its polygon has holes, which are not supported", ring)
    if math.prod(cells_across(corners, spacing)) > 10 * _MAX_RUPTURES:
        raise NrmlError("its polygon has too many points; enlarge area_spacing", ring)
    places = points_within(corners, spacing)
    if not len(places):
        raise NrmlError("no point of its grid lies in the polygon; reduce area_spacing", ring)
    yield from _around(places, _depths(geometry), source, model.rates(source))


def _around(
    places: Floats, depths: tuple[float, float], source: Element, rates: MagnitudeRates
) -> Made:
    """A rupture of each magnitude, nodal plane and depth around each of the places (n, 2)."""
    aspect, area_of = positive(child(source, "ruptAspectRatio")), scaling(source)
    planes, hypocentres = _nodal_planes(source), _hypocentres(source)
    if len(rates.rates) * len(planes) * len(hypocentres) * len(places) > _MAX_RUPTURES:
        raise NrmlError(f"more than {_MAX_RUPTURES:,} ruptures; enlarge area_spacing or bin_width")
    for magnitude, rate in zip(rates.magnitudes, rates.rates / len(places), strict=True):
        for share, strike, dip, rake in planes:
            widest = (depths[1] - depths[0]) / np.sin(np.radians(dip))
            size = fitted(area_of(float(magnitude), rake), aspect, float(widest))
            for part, depth in hypocentres:
                for x, y in places:
                    surface = around((x, y, depth), (strike, dip), size, depths)
                    yield float(magnitude), float(rate) * share * part, rake, surface


_READERS: dict[str, Callable[[Element, _Model], Made]] = {
    "simpleFaultSource": _simple_fault,
    "characteristicFaultSource": _characteristic_fault,
    "pointSource": _point,
    "areaSource": _area,
}


# --- geometries -----------------------------------------------------------------------------------


def _fault(geometry: Element, model: _Model) -> SimpleFault:
    trace = positions(child(geometry, "LineString", "posList"), 2)
    points = model.plane(trace)
    if len(points) < 2 or not np.linalg.norm(np.diff(points, axis=0), axis=1).all():
        raise NrmlError("its trace needs two or more points that differ", geometry)
    if not np.linalg.norm(points[-1] - points[0]) > 0:
        raise NrmlError("its trace ends where it starts", geometry)
    return SimpleFault(
        points, angle(child(geometry, "dip"), 90.0, positive=True), _depths(geometry)
    )


def _depths(geometry: Element) -> tuple[float, float]:
    upper = number(child(geometry, "upperSeismoDepth")) * KM
    lower = number(child(geometry, "lowerSeismoDepth")) * KM
    if not 0 <= upper < lower:
        raise NrmlError(
            "lowerSeismoDepth must be below upperSeismoDepth, and both below 0", geometry
        )
    return upper, lower


def _surface(surface: Element, model: _Model) -> Surface:
    if (simple := surface.find("simpleFaultGeometry")) is not None:
        return _fault(simple, model).whole
    planar = surface.all("planarSurface")
    if not planar:
        kinds = listed(quoted(each.name) for each in surface.children) if surface.children else ""
        raise NrmlError(
            f"its surface must be a simpleFaultGeometry or planarSurfaces, not {kinds or 'empty'}",
            surface,
        )
    return Surface(np.array([_panel(each, model) for each in planar]))


_CORNERS = ("topLeft", "topRight", "bottomRight", "bottomLeft")


def _panel(planar: Element, model: _Model) -> Floats:
    corners = [child(planar, name) for name in _CORNERS]
    lonlat = np.array([[attribute(c, "lon"), attribute(c, "lat")] for c in corners])
    depths = np.array([attribute(corner, "depth") * KM for corner in corners])
    panel = np.column_stack([model.plane(lonlat), depths])
    if not (np.isfinite(panel).all() and (depths >= 0).all() and Surface(panel[None]).area > 0):
        raise NrmlError("a planarSurface needs four corners that differ, below the surface", planar)
    return panel


# --- points ---------------------------------------------------------------------------------------


def _nodal_planes(source: Element) -> list[tuple[float, float, float, float]]:
    """Probability, strike, dip and rake of each nodal plane."""
    planes = child(source, "nodalPlaneDist").all("nodalPlane")
    found = [
        (
            attribute(plane, "probability"),
            attribute(plane, "strike"),
            attribute(plane, "dip"),
            attribute(plane, "rake"),
        )
        for plane in planes
    ]
    if any(not 0 < dip <= 90 for _, _, dip, _ in found):
        raise NrmlError("dip must be above 0 and at most 90", source.find("nodalPlaneDist"))
    _require_probabilities([share for share, *_ in found], source, "nodalPlane")
    return found


def _hypocentres(source: Element) -> list[tuple[float, float]]:
    """Probability and depth (m) of each hypocentre."""
    depths = child(source, "hypoDepthDist").all("hypoDepth")
    found = [(attribute(d, "probability"), attribute(d, "depth") * KM) for d in depths]
    _require_probabilities([share for share, _ in found], source, "hypoDepth")
    return found


def _require_probabilities(shares: list[float], source: Element, name: str) -> None:
    if not (all(share >= 0 for share in shares) and abs(sum(shares) - 1) < 1e-6):
        raise NrmlError(f"the probabilities of {name} add up to {sum(shares):g}, not to 1", source)
