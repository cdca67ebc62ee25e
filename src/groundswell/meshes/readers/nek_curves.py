"""Curved sides of Nek5000's elements: parabolas through midpoints, arcs of circles, spheres.

Element maps blend the curves of edges bilinearly (Gordon & Hall 1973, Numer. Math. 21).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from groundswell.arrays import Floats, Integers
from groundswell.errors import InputError
from groundswell.meshes.gll import gll, interpolation_between
from groundswell.meshes.hexahedra import AXES, interpolate
from groundswell.meshes.node_orders import SIDES, TENSOR_8, VTK

PARABOLA, ARC, SPHERE = "m", "C", "s"
_ROUND = 7  # degree of elements with arcs or spheres, Nek5000's usual one
# The corners of edges 1 to 12, counted from 0: the first four and the last four around, upright.
EDGES = [(n, (n + 1) % 4) for n in range(4)]
EDGES += [(a + 4, b + 4) for a, b in EDGES] + [(n, n + 4) for n in range(4)]


@dataclass(frozen=True, eq=False)
class CurvedSides:
    """Curved edges and faces.

    Args:
        elements: numbers of their elements, (sides,).
        sides: numbers of edges, or of faces for spheres, (sides,).
        values: position of the midpoint; radius; or centre and radius, (sides, 5).
        kinds: characters.
    """

    elements: Integers
    sides: Integers
    values: Floats
    kinds: list[str]

    def of(self, kind: str, side: int) -> tuple[Integers, Floats]:
        """Elements whose side is curved in this way, and the values."""
        here = (self.sides == side) & (np.array(self.kinds, dtype="U1") == kind)
        return self.elements[here], self.values[here]

    @property
    def degree(self) -> int:
        """Degree of the element maps."""
        there = set(self.kinds) - {"", " ", "\0"}
        if unknown := there - {PARABOLA, ARC, SPHERE}:
            raise InputError(
                f"has curved sides {sorted(unknown)[0]!r}; allowed: m (midpoints), C (circles), "
                "s (spheres)"
            )
        return _ROUND if there & {ARC, SPHERE} else 2 if there else 1


def element_nodes(corners: Floats, curved: CurvedSides) -> Floats:
    """Positions of the GLL nodes of elements, (elements, (degree + 1)^3, 3).

    Args:
        corners: in VTK's order, (elements, 8, 3).

    Raises:
        InputError: curved sides are of elements that are not there, or no curves at all.
    """
    ends = np.where(np.array(curved.kinds, dtype="U1") == SPHERE, len(SIDES), len(EDGES))
    inside = (curved.elements >= 0) & (curved.elements < len(corners))
    if not (inside & (curved.sides >= 0) & (curved.sides < ends)).all():
        raise InputError("has curved sides of elements or edges that it lacks; write it again")
    degree = curved.degree
    nodes = interpolate(corners[:, TENSOR_8], interpolation_between(1, degree))
    for edge, (first, last) in enumerate(EDGES):
        weights = _edge_weights(edge, degree)
        for kind, curve in ((PARABOLA, _parabola), (ARC, _arc)):
            elements, values = curved.of(kind, edge)
            ends_of = corners[elements][:, [first, last]]
            bend = curve(ends_of, values, gll(degree).points)
            nodes[elements] += np.einsum("nu,eux->enx", weights, bend)
    for side in range(len(SIDES)):
        _round(nodes, corners, side, *curved.of(SPHERE, side))
    return nodes


def _places(degree: int) -> Floats:
    """(r, s, t) of the nodes, (nodes, 3)."""
    x = gll(degree).points
    t, s, r = np.meshgrid(x, x, x, indexing="ij")
    return np.stack([r, s, t], axis=-1).reshape(-1, AXES)


def _edge_weights(edge: int, degree: int) -> Floats:
    """How much nodes move with the points of an edge, from its first corner on, (nodes, n)."""
    first, last = (VTK[corner] for corner in EDGES[edge])
    along = np.flatnonzero(first != last)[0]
    places = _places(degree)
    hats = np.prod([(1 + places[:, a] * first[a]) / 2 for a in range(AXES) if a != along], axis=0)
    point = np.arange((degree + 1) ** AXES) // (degree + 1) ** along % (degree + 1)
    point = degree - point if first[along] > 0 else point
    return np.where(point[:, None] == np.arange(degree + 1), hats[:, None], 0.0)


# --- how far curves are from straight edges -------------------------------------------------------


def _parabola(ends: Floats, values: Floats, at: Floats) -> Floats:
    """Offsets of parabolas through midpoints, (edges, points, 3)."""
    height = values[:, :3] - ends.mean(axis=1)
    return (1 - at**2)[:, None] * height[:, None]


def _arc(ends: Floats, values: Floats, at: Floats) -> Floats:
    """Offsets of arcs at constant z, (edges, points, 3).

    A positive radius bulges outwards, to the right of the way along the edge.
    """
    chord = (ends[:, 1] - ends[:, 0])[:, :2]
    length, radius = np.linalg.norm(chord, axis=1), np.abs(values[:, 0])
    if not (2 * radius > length * (1 + 1e-6)).all():
        raise InputError("has arcs with a radius of less than half their chord; mesh it again")
    ahead = chord / length[:, None]
    out = np.stack([ahead[:, 1], -ahead[:, 0]], axis=1) * np.sign(values[:, :1])
    half = np.arcsin(length / (2 * radius))
    angle = half[:, None] * at
    rise = radius[:, None] * (np.cos(angle) - np.cos(half)[:, None])
    forward = radius[:, None] * np.sin(angle) - at * length[:, None] / 2
    found = np.zeros((len(ends), len(at), 3))
    found[:, :, :2] = rise[..., None] * out[:, None] + forward[..., None] * ahead[:, None]
    return found


def _round(nodes: Floats, corners: Floats, side: int, elements: Integers, values: Floats) -> None:
    """Move the nodes of a face to a sphere, and those behind it less and less."""
    if not len(elements):
        return
    degree = round(nodes.shape[1] ** (1 / AXES)) - 1
    face = VTK[SIDES[side]]
    axis = int(np.flatnonzero((face == face[0]).all(axis=0))[0])
    end = face[0, axis]
    flat = interpolate(corners[elements][:, TENSOR_8], interpolation_between(1, degree))
    on_face = _on_face(flat, axis, end)
    from_centre = on_face - values[:, None, None, :3]
    distance = np.linalg.norm(from_centre, axis=-1, keepdims=True)
    if not (distance > 0).all() or not (values[:, 3] > 0).all():
        raise InputError("has spheres without a radius, or through their centre; mesh it again")
    target = values[:, None, None, :3] + values[:, None, None, 3:4] * from_centre / distance
    move = target - _on_face(nodes[elements], axis, end)
    hat = (1 + end * gll(degree).points) / 2
    shape = [1, 1, 1, 1, 1]
    shape[AXES - axis] = degree + 1
    step = np.expand_dims(move, AXES - axis) * hat.reshape(shape)
    nodes[elements] += step.reshape(len(elements), -1, 3)


def _on_face(nodes: Floats, axis: int, end: int) -> Floats:
    """The nodes of a face, (elements, n, n, 3)."""
    n = round(nodes.shape[1] ** (1 / AXES))
    cubes = nodes.reshape(-1, n, n, n, 3)
    return np.take(cubes, 0 if end < 0 else n - 1, axis=AXES - axis)
