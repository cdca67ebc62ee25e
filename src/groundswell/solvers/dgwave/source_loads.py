"""Point sources as smooth loads on the elements around them.

A delta function has parts that polynomials of the elements cannot represent. They depend on where
the source lies in its element, and act as further sources. A load that the elements resolve, with
the moments of the delta function, excites the same waves outside its support: of order m, it
weights waves of wavenumber k by 1 + O(k^(m + 1)) (Waldén 1999, Numer. Methods Partial Differ. Equ.
15:497; Tornberg & Engquist 2004, J. Comput. Phys. 200:462). It is a polynomial times a window, as
reproducing kernels are (Liu, Jun & Zhang 1995, Int. J. Numer. Methods Fluids 20:1081), so it keeps
its integral and its centre where it meets a boundary, and the other moments nearly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from groundswell.arrays import Floats, Integers, Mask
from groundswell.backends.host_threads import one_blas_thread
from groundswell.meshes.gll import gll
from groundswell.meshes.hexahedra import AXES
from groundswell.seismology.sources.point_sources import PointSource
from groundswell.solvers.dgwave.geometry import Geometry
from groundswell.solvers.dgwave.materials.elements import ElementMaterials
from groundswell.solvers.dgwave.source_moments import (
    SHARPNESS,
    moment_matched,
    moment_polynomials,
    slack_of,
)
from groundswell.solvers.dgwave.source_reach import WIDEST, excite_stress, positions_of, reach
from groundswell.spectral_elements.curl_form import element_nodes, jacobians
from groundswell.spectral_elements.point_location import (
    bounding_boxes,
    locate,
    pairs_in_boxes,
    tangents_at,
)

FAINT = 1e-4  # value of the window below which an element has no load
REACH = (1 - FAINT ** (1 / SHARPNESS)) ** 0.5  # where it has this value, in units of its radius
COARSER = 2.0  # ratio up to which a window is wider next to larger elements
CONTRAST = 0.25  # loads end where logarithms of speeds or densities differ by more than this
BATCH = 64  # sources whose elements are read at once


@dataclass(frozen=True, eq=False)
class Load:
    """A load with the moments of a delta function.

    Args:
        elements: the elements that it covers, (elements,).
        values: at their nodes, (elements, nodes), 1/m^3.
    """

    elements: Integers
    values: Floats


@dataclass(frozen=True, eq=False)
class _Window:
    """The function (1 - r^2)^SHARPNESS of a scaled distance r < 1 from a source.

    Args:
        centre: the source, m, (3,).
        frame: derivatives of x, y, z along the axes of its element, from -1 to 1, m, (3, 3).
        radius: where r = 1, in edges of an element.
        slack: of the moments, see `least_squares`.
    """

    centre: Floats
    frame: Floats
    radius: float
    slack: Floats

    def places(self, positions: Floats) -> Floats:
        """Scaled offsets of positions, (..., 3)."""
        return (positions - self.centre) @ np.linalg.inv(2 * self.radius * self.frame).T

    @staticmethod
    def at(places: Floats) -> Floats:
        """Values at scaled offsets."""
        squares = np.einsum("...i,...i->...", places, places)
        return np.asarray((1 - squares).clip(0) ** SHARPNESS)


def point_loads(
    materials: ElementMaterials, sources: Sequence[PointSource], own: Mask
) -> Iterator[tuple[int, Load]]:
    """Yield the loads of the sources that cover chosen elements, with the source's number.

    Args:
        materials: of all elements.
        own: which elements are chosen, (elements of all ranks,).
    """
    geometry = materials.geometry
    boxes = bounding_boxes(geometry.hexahedra, np.arange(geometry.count))
    mine = _sources_near(geometry, sources, [corners[own] for corners in boxes])
    if not mine:
        return
    leaves, windows = _windows(materials, [sources[n] for n in mine])
    near = _elements_near(boxes, windows)
    chosen = [n for n, elements in enumerate(near) if own[elements].any()]
    for first in range(0, len(chosen), BATCH):
        batch = chosen[first : first + BATCH]
        there = _Elements.of(materials, np.unique(np.concatenate([near[n] for n in batch])))
        with one_blas_thread():  # several threads factorise small matrices more slowly
            yield from [(mine[n], _load(there, int(leaves[n]), near[n], windows[n])) for n in batch]


def interpolation_load(geometry: Geometry, position: Sequence[float]) -> Load:
    """The load whose product with a field is the field's value at a position (x, y, depth), m.

    It is the transpose of the interpolation at a receiver, so a force with this load and a receiver
    are interchangeable. It has parts that elements do not resolve; they remain near the position.
    """
    point = np.array([position], float)
    inside = geometry.place(geometry.keep_inside(point, point))
    found = locate(geometry.hexahedra, np.arange(geometry.count), inside)
    integrals = element_volumes(geometry, found.elements) * gll(geometry.degree).cube_weights
    return Load(found.elements, found.weights(geometry.degree) / integrals)


def _placed(geometry: Geometry, sources: Sequence[PointSource]) -> tuple[Integers, Floats, Floats]:
    """The elements that hold the sources, the sources' positions and the frames, see `_Window`."""
    points = positions_of(sources)
    leaves, places = geometry.locate(points)
    return leaves, geometry.place(points), tangents_at(geometry.hexahedra, leaves, places)


def _windows(
    materials: ElementMaterials, sources: Sequence[PointSource]
) -> tuple[Integers, list[_Window]]:
    """The elements that hold the sources, and the windows of their loads."""
    degree = materials.geometry.degree
    leaves, centres, frames = _placed(materials.geometry, sources)
    of_source = zip(centres, frames, excite_stress(materials, sources), strict=True)
    return leaves, [
        _Window(centre, frame, reach(stress, degree), slack_of(degree if stress else WIDEST))
        for centre, frame, stress in of_source
    ]


def _sources_near(
    geometry: Geometry, sources: Sequence[PointSource], boxes: Sequence[Floats]
) -> list[int]:
    """The sources whose windows may meet boxes: they do if all are as wide as the widest."""
    radius = max(reach(stress, geometry.degree) for stress in (False, True))
    _, centres, frames = _placed(geometry, sources)
    spans = np.array([_span(frame, radius) for frame in frames]).reshape(-1, AXES)
    return np.unique(_pairs(boxes, centres, spans)[0]).tolist()


def _elements_near(boxes: Sequence[Floats], windows: list[_Window]) -> list[Integers]:
    """The elements whose boxes meet the box of each window."""
    centres = np.array([window.centre for window in windows]).reshape(-1, AXES)
    spans = np.array([_span(window.frame, window.radius) for window in windows]).reshape(-1, AXES)
    which, found = _pairs(boxes, centres, spans)
    return np.split(found, np.searchsorted(which, np.arange(1, len(windows))))


def _pairs(boxes: Sequence[Floats], centres: Floats, spans: Floats) -> tuple[Integers, Integers]:
    """Pairs of a window, ascending, and a box that its box meets.

    Args:
        boxes: lowest and highest corners, (boxes, 3) each, m.
        centres, spans: middles of the windows' boxes, and half their edges, (windows, 3), m.
    """
    (low, high), largest = boxes, spans.max(axis=0, initial=0)
    which, found = pairs_in_boxes(low - largest, high + largest, centres)
    at, span = centres[which], spans[which]
    close = ((low[found] <= at + span) & (high[found] >= at - span)).all(axis=1)
    return which[close], found[close]


def _span(frame: Floats, radius: float) -> Floats:
    """Half the edges of a box around the widest window, m, (3,); see `_Window`."""
    return np.asarray(COARSER * 2 * radius * np.linalg.norm(frame, axis=1))


@dataclass(frozen=True, eq=False)
class _Elements:
    """Elements around some sources; a table has a row for each.

    Args:
        numbers: of the elements, ascending.
        degree: of the elements.
        are_curved: whether they are not bricks.
        in_region: whether each is outside absorbing layers.
        logarithms: of mean P speed, S speed and density, (3, elements); -inf of 0.
        corners: positions of geometry nodes, m, (elements, places, 3).
        nodes: positions of nodes, m, (elements, nodes, 3).
        volumes: Jacobians at the nodes, (elements, nodes or 1), m^3.
    """

    numbers: Integers
    degree: int
    are_curved: bool
    in_region: Mask
    logarithms: Floats
    corners: Floats
    nodes: Floats
    volumes: Floats

    @classmethod
    def of(cls, materials: ElementMaterials, numbers: Integers) -> _Elements:
        geometry, material = materials.geometry, materials.at(numbers)
        means = [getattr(material, name).mean(axis=1) for name in ("vp", "vs", "rho")]
        with np.errstate(divide="ignore"):
            logarithms = np.log(means)
        return cls(
            numbers,
            geometry.degree,
            geometry.is_curved,
            geometry.in_region(numbers),
            logarithms,
            geometry.hexahedra.geometry_nodes(numbers),
            element_nodes(geometry.hexahedra, geometry.degree, numbers),
            element_volumes(geometry, numbers),
        )

    def similar(self, rows: Integers, own: int) -> Floats:
        """How similar materials are to that in row `own`: from 1 if equal to 0 at CONTRAST."""
        there, here = self.logarithms[:, rows], self.logarithms[:, own, None]
        with np.errstate(invalid="ignore"):
            difference = np.where(there == here, 0.0, np.abs(there - here)).max(axis=0)
        return np.asarray((1 - (difference / CONTRAST) ** 2).clip(0) ** 2)


def _load(there: _Elements, leaf: int, candidates: Integers, window: _Window) -> Load:
    """The load of a source in the element `leaf`."""
    own = int(np.searchsorted(there.numbers, leaf))
    rows, similar = _connected(there, own, np.searchsorted(there.numbers, candidates))
    corners = window.places(there.corners[rows])
    low, high = corners.min(axis=1), corners.max(axis=1)
    growth = _growth(low, high, rows == own)
    near = _distances(low / growth, high / growth) < REACH
    rows, similar = rows[near], similar[near]
    places = window.places(there.nodes[rows]) / growth
    values = window.at(places)
    used = values.max(axis=1) > FAINT
    rows, volumes = rows[used], there.volumes[rows[used]]
    weighted = (values * similar[:, None])[used] * volumes
    tests = moment_polynomials(places[used], there.degree, there.are_curved)
    found = moment_matched(tests, weighted, window.slack, there.degree)
    return Load(there.numbers[rows], found / volumes)


def _connected(there: _Elements, own: int, rows: Integers) -> tuple[Integers, Floats]:
    """The rows of elements over which a load may extend, and their weights: of similar material.

    Derivatives of the waves jump where materials do, and nothing reaches the medium from outside.
    """
    if there.in_region[own]:
        rows = rows[there.in_region[rows]]
    weights = there.similar(rows, own)
    return rows[weights > 0], weights[weights > 0]


def _growth(low: Floats, high: Floats, is_own: Mask) -> Floats:
    """Ratio by which the window is wider because of larger elements in it, (3,).

    Args:
        low, high: bounding boxes of elements, relative to the source and in units of the window,
            (elements, 3).
        is_own: which element holds the source.
    """
    spans = high - low
    ratio = spans[_distances(low, high) < 1].max(axis=0) / spans[is_own][0]
    return np.asarray(ratio.clip(1.0, COARSER))


def _distances(low: Floats, high: Floats) -> Floats:
    """Distances of boxes from the origin, (boxes,)."""
    return np.linalg.norm(np.maximum(low, -high).clip(0), axis=1)


def element_volumes(geometry: Geometry, elements: Integers) -> Floats:
    """Jacobians at the nodes of elements, (elements, nodes or 1), m^3."""
    if geometry.is_curved:
        return jacobians(np.asarray(geometry.shapes.metrics(elements, "float64"), np.float64))
    return np.prod(geometry.edges[elements] / 2, axis=1, keepdims=True)
