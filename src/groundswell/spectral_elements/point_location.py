"""Which element holds a position, and where in it: Newton's method on the elements' maps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from groundswell.arrays import Integers
from groundswell.backends.host_threads import for_each
from groundswell.meshes.gll import gll
from groundswell.meshes.hexahedra import AXES, Floats, Hexahedra
from groundswell.spectral_elements.geometry import chunks

NOWHERE = -1
ITERATIONS = 40
CONVERGED = 1e-9  # last change in [-1, 1]; Newton's method squares the error of an iteration
INSIDE = 1 + 1e-9  # places up to this count as inside, apart from rounding
FARTHEST = 2.0  # from an element's middle, that an iteration goes
COMPARED_AT_ONCE = 2**14  # pairs of a position and a box
BULGE = 0.2  # of an element's size, by which a curved face may pass its nodes


@dataclass(frozen=True, eq=False)
class Located:
    """Where positions lie among some elements.

    Args:
        elements: index of the first one that holds each, or NOWHERE, (points,).
        places: in it, (r, s, t), (points, 3).
    """

    elements: Integers
    places: Floats

    def weights(self, degree: int) -> Floats:
        """Of an element's nodes in the value at each position, (points, (degree + 1)^3)."""
        r, s, t = (gll(degree).interpolation(along) for along in self.places.T)
        cubes = t[:, :, None, None] * s[:, None, :, None] * r[:, None, None, :]
        return cubes.reshape(len(r), (degree + 1) ** AXES)


def locate(
    mesh: Hexahedra,
    elements: ArrayLike,
    positions: ArrayLike,
    ends: tuple[Floats, Floats] | None = None,
) -> Located:
    """Find the elements that hold positions (points, 3), m.

    Args:
        elements: numbers of those that are searched; indices in the result count in this list.
        ends: see `ends_of_nodes`, which takes long in large meshes, if they are known.
    """
    chosen, points = np.asarray(elements, np.int64), np.asarray(positions, np.float64)
    found = Located(np.full(len(points), NOWHERE), np.zeros((len(points), AXES)))
    if not len(points):
        return found
    boxes = _with_margins(*(ends or ends_of_nodes(mesh, chosen)), mesh.order)
    which, candidates = pairs_in_boxes(*boxes, points)
    for part in chunks(len(which), (mesh.order + 1) ** AXES):
        nodes = mesh.geometry_nodes(chosen[candidates[part]])
        places = _invert(nodes, mesh.order, points[which[part]])
        inside = (np.abs(places) < FARTHEST).all(axis=1)
        # Elements come in rising order for each position, and the first that holds it is taken.
        free = inside & (found.elements[which[part]] == NOWHERE)
        own, first = np.unique(which[part][free], return_index=True)
        found.elements[own] = candidates[part][free][first]
        found.places[own] = np.clip(places[free][first], -1.0, 1.0)
    return found


def tangents_at(mesh: Hexahedra, elements: ArrayLike, places: Floats) -> Floats:
    """Derivatives of x, y, z along r, s, t at places in elements, (points, 3 of x, 3 of r), m.

    Args:
        elements: the element of each place, (points,).
        places: (r, s, t), (points, 3).
    """
    return _map(mesh.geometry_nodes(elements), mesh.order, places)[1]


def pairs_in_boxes(low: Floats, high: Floats, points: Floats) -> tuple[Integers, Integers]:
    """Pairs of a position and a box that holds it, boxes rising, in any number of dimensions.

    Args:
        low, high: corners of the boxes, (boxes, dimensions).
        points: positions, (points, dimensions).
    """
    numbers = np.arange(len(points)), np.arange(len(low))
    found = [*_search(np.stack([low.T, high.T]), points.T, *numbers)]
    which, boxes = np.concatenate(found, axis=1) if found else np.empty((2, 0), np.int64)
    order = np.lexsort((boxes, which))
    return which[order], boxes[order]


def _search(
    corners: Floats, points: Floats, which: Integers, boxes: Integers
) -> Iterator[Integers]:
    """Yield pairs, (2, pairs), among some positions and boxes; halves the positions if need be.

    This is fast even if sizes of boxes differ by orders of magnitude.

    Args:
        corners: (low or high, dimensions, boxes).
        points: (dimensions, points).
        which, boxes: their numbers.
    """
    if not len(which) or not len(boxes):
        return
    first, last = points.min(axis=1, keepdims=True), points.max(axis=1, keepdims=True)
    near = np.flatnonzero(((corners[0] <= last) & (first <= corners[1])).all(axis=0))
    corners, boxes = corners.take(near, axis=2), boxes[near]
    if len(which) * len(boxes) <= COMPARED_AT_ONCE or len(which) == 1:
        (low, high), at = corners[:, :, None], points[..., None]
        of_point, of_box = np.nonzero(((low <= at) & (at <= high)).all(axis=0))
        yield np.stack([which[of_point], boxes[of_box]])
        return
    for half in _halves(points, corners[1] - corners[0]):
        yield from _search(corners, points.take(half, axis=1), which[half], boxes)


def _halves(points: Floats, sizes: Floats) -> tuple[Integers, Integers]:
    """Halves of positions (dimensions, points), along the axis that crosses the most boxes."""
    typical = sizes.mean(axis=1) + 1e-99  # which is not 0
    axis, middle = (np.ptp(points, axis=1) / typical).argmax(), points.shape[1] // 2
    order = points[axis].argpartition(middle)
    return order[:middle], order[middle:]


def bounding_boxes(mesh: Hexahedra, elements: ArrayLike) -> tuple[Floats, Floats]:
    """Lowest and highest corners of boxes around elements, (elements, 3) each, m."""
    return _with_margins(*ends_of_nodes(mesh, elements), mesh.order)


def ends_of_nodes(mesh: Hexahedra, elements: ArrayLike) -> tuple[Floats, Floats]:
    """Lowest and highest coordinates of the geometry nodes of elements, (elements, 3) each, m."""
    chosen = np.asarray(elements, np.int64)
    low, high = np.empty((2, len(chosen), AXES))

    def store(part: slice) -> None:
        low[part], high[part] = _ends(mesh.geometry_nodes(chosen[part]), mesh.order)

    for_each(store, list(chunks(len(chosen), (mesh.order + 1) ** AXES)))
    return low, high


def _with_margins(low: Floats, high: Floats, order: int) -> tuple[Floats, Floats]:
    """Boxes around elements of an order, from the ends of their nodes."""
    share = BULGE if order > 1 else 1e-9
    margin = share * (high - low).max(axis=1) + rounding(np.maximum(np.abs(low), np.abs(high)))
    return low - margin[:, None], high + margin[:, None]


def _ends(nodes: Floats, order: int) -> tuple[Floats, Floats]:
    """Lowest and highest coordinates of nodes, (elements, 3) each; fast because axis by axis."""
    low = high = nodes
    for _ in range(AXES):
        low, high = (ends.reshape(len(nodes), order + 1, -1) for ends in (low, high))
        low, high = low.min(axis=1), high.max(axis=1)
    return low, high


def _invert(nodes: Floats, order: int, points: Floats) -> Floats:
    """Where the maps of elements, one for each point, reach it; far away where they do not."""

    def step(active: Integers, places: Floats) -> Floats:
        reached, slopes = _map(nodes[active], order, places)
        return _solve(slopes, points[active] - reached)

    places = iterate(step, np.zeros((len(points), AXES)))
    reached, _ = _map(nodes, order, places)
    low, high = _ends(nodes, order)
    size = (high - low).max(axis=1)
    slack = rounding(points)
    missed = np.linalg.norm(points - reached, axis=1) > 1e-9 * size + slack
    missed |= np.abs(places).max(axis=1, initial=0) > INSIDE + 2 * slack / size
    return np.where(missed[:, None], FARTHEST, places)


def iterate(step: Callable[[Integers, Floats], Floats], places: Floats) -> Floats:
    """Move places by Newton's method until they no longer change, at most to FARTHEST.

    Args:
        step: the change of some places, which it gets with their numbers.
    """
    active: Integers = np.arange(len(places))
    for _ in range(ITERATIONS):
        if not len(active):
            break
        before = places[active]
        places[active] = np.clip(before + step(active, before), -FARTHEST, FARTHEST)
        active = active[np.abs(places[active] - before).max(axis=1) > CONVERGED]
    return places


def rounding(points: Floats) -> Floats:
    """Rounding errors of coordinates, which matter far from the origin, (points,), m."""
    return 8 * np.finfo(float).eps * np.abs(points).max(axis=1, initial=0)


def _map(nodes: Floats, order: int, places: Floats) -> tuple[Floats, Floats]:
    """Positions (points, 3) of places in elements, and derivatives (points, 3 of x, 3 of r)."""
    n, basis = order + 1, gll(order)
    values = [basis.interpolation(along)[:, None] for along in places.T]
    # A product for each point: the rounding of one for all would depend on their number.
    r, s, t = (np.concatenate([along, along @ basis.derivative], axis=1) for along in values)
    found = t @ nodes.reshape(len(nodes), n, -1)  # (points, value or slope along t, s r x)
    found = s[:, None] @ found.reshape(len(nodes), 2, n, -1)
    found = r[:, None, None] @ found.reshape(len(nodes), 2, 2, n, AXES)
    slopes = [found[:, 0, 0, 1], found[:, 0, 1, 0], found[:, 1, 0, 0]]
    return found[:, 0, 0, 0], np.stack(slopes, axis=-1)


def _solve(matrices: Floats, right: Floats) -> Floats:
    """Solutions of small systems; where a map is flat, a step out of the element."""
    determinants = np.linalg.det(matrices)
    flat = ~(np.abs(determinants) > 0)
    safe = np.where(flat[:, None, None], np.eye(AXES), matrices)
    found = np.linalg.solve(safe, right[..., None])[..., 0]
    return np.where(flat[:, None], FARTHEST, found)
