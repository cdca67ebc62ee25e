"""Write pipe.re2: a pipe of radius 1 m and length 3 m in nekRS's format, with periodic ends.

    python make_pipe.py

A core with a square section lies in four blocks that lead to the wall (an O-grid). Edges at the
wall are arcs. Boundary tags are "W" at the wall and "P" at the ends, as in a run of nekRS.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Record = tuple[int, int, list[float], str]  # element, side, five values, letters

RADIUS, LENGTH, CORE = 1.0, 3.0, 0.45  # m; the core's corners are at (CORE, CORE)
ACROSS, ALONG = 2, 3  # elements across the core and out of each block, and along z


def sections() -> tuple[list[Array], list[bool]]:
    """Corners of the elements of a section, counterclockwise, and whether the second edge is wall.

    The second edge is that between the second and the third corner.
    """
    steps = np.linspace(-1, 1, ACROSS + 1)
    core = [
        [(a, c), (b, c), (b, d), (a, d)] for a, b in pairwise(steps) for c, d in pairwise(steps)
    ]
    found, walls = [CORE * np.array(square) for square in core], [False] * len(core)
    for quarter in range(4):
        for a, b in pairwise(steps):
            inner = [turned((CORE, CORE * s), quarter) for s in (a, b)]
            outer = [
                RADIUS * np.array([np.cos(angle), np.sin(angle)])
                for angle in np.pi / 4 * np.array([a, b]) + np.pi / 2 * quarter
            ]
            found.append(np.array([inner[0], outer[0], outer[1], inner[1]]))
            walls.append(True)
    return found, walls


def turned(point: tuple[float, float], quarter: int) -> Array:
    """A point after so many quarter turns."""
    x, y = point
    return np.array([(x, y), (-y, x), (-x, -y), (y, -x)][quarter])


def build() -> tuple[Array, list[Record], list[Record]]:
    """Corners of the elements, (elements, 8, 3), curved edges, and boundary tags."""
    squares, walls = sections()
    corners, curves, tags = [], [], []
    layer = len(squares)
    for k in range(ALONG):
        low, high = LENGTH * k / ALONG, LENGTH * (k + 1) / ALONG
        for n, (square, is_wall) in enumerate(zip(squares, walls, strict=True), k * layer + 1):
            corners.append([[*place, z] for z in (low, high) for place in square])
            if is_wall:
                curves += [(n, edge, [RADIUS, 0, 0, 0, 0], "C") for edge in (2, 6)]
                tags.append((n, 2, [0.0] * 5, "W"))
            other = (ALONG - 1) * layer
            if k == 0:
                tags.append((n, 5, [n + other, 6, 0, 0, 0], "P"))
            if k == ALONG - 1:
                tags.append((n, 6, [n - other, 5, 0, 0, 0], "P"))
    return np.array(corners, float), curves, tags


def content(corners: Array, curves: list[Record], tags: list[Record]) -> bytes:
    """The file: version 2, all numbers in double precision."""
    count = len(corners)
    header = f"#v002{count:9d}{3:3d}{count:9d} this is the hdr".ljust(80).encode()
    elements = np.column_stack([np.zeros(count), corners.transpose(0, 2, 1).reshape(count, -1)])
    test = np.array([6.54321], "<f4").tobytes()
    return header + test + elements.astype("<f8").tobytes() + packed(curves) + packed(tags)


def packed(records: Iterable[Record]) -> bytes:
    """Curved edges or boundary tags, after their number."""
    parts = [
        np.array([element, side, *values], "<f8").tobytes() + letters.ljust(8).encode()
        for element, side, values, letters in records
    ]
    return np.array([len(parts)], "<f8").tobytes() + b"".join(parts)


if __name__ == "__main__":
    target = Path(__file__).with_name("pipe.re2")
    mesh = build()
    target.write_bytes(content(*mesh))
    print(f"{target.name}: {len(mesh[0])} elements, {target.stat().st_size / 1e3:.0f} kB")
