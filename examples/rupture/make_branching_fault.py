"""Write branching_fault.msh: a block of rock with two upright faults that meet, for tpv24.toml.

    python make_branching_fault.py [PARTS]

The main fault strikes along x, from -16 to 12 km. A branch of 12 km leaves it at x = 0 towards
smaller y, at an angle of 30 degrees. Both reach from the surface to 15 km; z points down. Elements
are 1 km long at the faults, or 1 km / PARTS, and longer farther away. Seen from above, five lines
of nodes start where the faults meet; between two lines, the elements are parallelograms.

Physical surfaces are "main", "branch", "top" and "rest", and the physical volume is "rock". Gmsh
opens the file.
"""

from __future__ import annotations

import sys
from pathlib import Path

import meshio
import numpy as np
from fault_meshes import Array, Numbers, ends, with_groups, write

EAST, WEST, BRANCH, DEPTH = 12e3, 16e3, 12e3, 15e3  # lengths and depth of the faults, m
ANGLE = 30.0  # of the branch, degrees
FARTHER = [1500.0, 2e3, 3e3, 4e3]  # lengths of the elements beyond the faults, outwards, m
LINES = [0.0, 90.0, 180.0, 270.0 - ANGLE / 2, 360.0 - ANGLE]  # directions, degrees from x to y


def lengths(parts: int) -> list[Array]:
    """Distances of the nodes of each line from the place where the faults meet, m."""
    across = ends(2e3, 2, FARTHER, parts)
    east, west, branch = (
        ends(last, round(last / 1e3), FARTHER, parts) for last in (EAST, WEST, BRANCH)
    )
    return [east, across, west, across, branch]


def sector(first: int, along: list[Array]) -> Array:
    """Places of the nodes between a line and the next one, (nodes of the next, nodes, 2), m."""
    second = (first + 1) % len(LINES)
    angles = np.radians([LINES[first], LINES[second]])
    a, b = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    return along[second][:, None, None] * b + along[first][:, None] * a


def numbered(sectors: list[Array]) -> tuple[Array, list[Numbers]]:
    """All different places, (nodes, 2), and their numbers in each sector."""
    flat = np.concatenate([places.reshape(-1, 2) for places in sectors])
    _, first, numbers = np.unique(flat.round(3), axis=0, return_index=True, return_inverse=True)
    cuts = np.cumsum([places.shape[0] * places.shape[1] for places in sectors])[:-1]
    parts = np.split(numbers.ravel(), cuts)
    shapes = [places.shape[:2] for places in sectors]
    return flat[first], [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]


def upright(line: Numbers, levels: Numbers) -> Numbers:
    """Corners of the faces below a line of nodes, (faces, 4).

    Args:
        levels: what is added to the numbers of the surface at each depth.
    """
    pairs = np.stack([line[:-1], line[1:]], axis=-1)
    above, below = (pairs + levels[cut, None, None] for cut in (slice(-1), slice(1, None)))
    return np.concatenate([above, below], axis=-1).reshape(-1, 4)


def build(parts: int = 1) -> meshio.Mesh:
    """The mesh with its physical groups."""
    along, depths = lengths(parts), ends(DEPTH, 15, FARTHER[:3], parts)
    places, numbers = numbered([sector(n, along) for n in range(len(LINES))])
    levels = np.arange(len(depths)) * len(places)
    points = np.column_stack([np.tile(places, (len(depths), 1)), np.repeat(depths, len(places))])
    squares = np.concatenate(
        [
            np.stack([n[:-1, :-1], n[:-1, 1:], n[1:, :-1], n[1:, 1:]], axis=-1).reshape(-1, 4)
            for n in numbers
        ]
    )
    above, below = (squares + levels[cut, None, None] for cut in (slice(-1), slice(1, None)))
    elements = np.concatenate([above, below], axis=-1).reshape(-1, 8)
    faulted = levels[: 15 * parts + 1]

    def fault(line: int, length: float) -> Numbers:
        inside = along[line] <= length * (1 + 1e-9)
        return upright(numbers[line][0, inside], faulted)

    sides = [upright(n[-1], levels) for n in numbers] + [upright(n[:, -1], levels) for n in numbers]
    surfaces = {
        "main": np.concatenate([fault(0, EAST), fault(2, WEST)]),
        "branch": fault(4, BRANCH),
        "top": squares,
        "rest": np.concatenate([*sides, squares + levels[-1]]),
    }
    return with_groups(points, elements, surfaces)


if __name__ == "__main__":
    found = build(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
    write(found, Path(__file__).with_name("branching_fault.msh"))
