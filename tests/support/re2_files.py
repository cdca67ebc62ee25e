"""Meshes as files of nekRS, of any version and order of bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Record = tuple[int, int, Any, str]  # element, side, five values, letters
EDGES = [(0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4)]


def write_re2(
    path: Path,
    corners: NDArray[Any],
    curves: list[Record] = [],  # noqa: B006
    tags: list[list[Record]] = [],  # noqa: B006
    *,
    version: str = "#v002",
    order: str = "<",
    fluid: int | None = None,
    dimensions: int = 3,
) -> Path:
    """Corners (elements, 8, 3), curved sides, and the boundary tags of each field as a file."""
    count, size = len(corners), 4 if version == "#v001" else 8
    real = np.dtype(f"{order}f{size}")
    whole = np.dtype(f"{order}i4") if size == 4 else real
    head = f"{version}{count:9d}{dimensions:3d}{fluid or count:9d} this is the hdr"
    if version == "#v004":
        head = f"{version}{count:16d}{dimensions:3d}{fluid or count:16d}{len(tags):4d} hdr"
    parts = [head.ljust(80).encode(), np.array([6.54321], f"{order}f4").tobytes()]
    for element in corners:
        parts += [np.array([0], whole).tobytes(), element.T.astype(real).tobytes()]
    for records in (curves, *tags):
        parts.append(np.array([len(records)], whole).tobytes())
        for element, side, values, letters in records:
            parts.append(np.array([element, side], whole).tobytes())
            parts += [np.array(values, real).tobytes(), letters.ljust(size).encode()]
    path.write_bytes(b"".join(parts))
    return path


class Ring:
    """A quarter of a ring of radii 1 and 2 and height 1, whose ends are periodic."""

    def __init__(self, out: int = 1, around: int = 2, up: int = 3) -> None:
        self.counts = out, around, up
        self.corners = np.zeros((out * around * up, 8, 3))
        self.tags: list[Record] = []
        for e in range(len(self.corners)):
            i, j, k = e % out, e // out % around, e // out // around
            ring = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)]
            self.corners[e] = [self._point(a, b, k + t) for t in (0, 1) for a, b in ring]
            self._tag(e, (i, j, k))

    def _point(self, i: int, j: int, k: int) -> list[float]:
        out, around, up = self.counts
        radius, angle = 1 + i / out, np.pi / 2 * j / around
        return [radius * np.cos(angle), radius * np.sin(angle), k / up]

    def _tag(self, e: int, place: tuple[int, int, int]) -> None:
        (i, j, k), (out, around, up) = place, self.counts
        layer, none = out * around, [0.0] * 5
        found = [(4, i == 0, none, "W"), (2, i == out - 1, none, "v")]
        found += [(1, j == 0, [0, 0, 0, 0, 7], "MSH"), (3, j == around - 1, none, "O")]
        found += [(5, k == 0, [e + 1 + (up - 1) * layer, 6, 0, 0, 0], "P")]
        found += [(6, k == up - 1, [e + 1 - (up - 1) * layer, 5, 0, 0, 0], "P")]
        self.tags += [(e + 1, side, values, tag) for side, there, values, tag in found if there]

    @property
    def arcs(self) -> list[Record]:
        """Circles around the axis, with a negative radius where they bulge inwards."""
        return [(e, edge, [sign * r, 0, 0, 0, 0], "C") for e, edge, r, sign, _ in self._round()]

    @property
    def midpoints(self) -> list[Record]:
        """Points on the circles, halfway along the edges."""
        return [(e, edge, [*middle, 0, 0], "m") for e, edge, _, _, middle in self._round()]

    def _round(self) -> Any:
        for e, corners in enumerate(self.corners, 1):
            for edge, (a, b) in enumerate(EDGES, 1):
                radius = np.hypot(*corners[a][:2])
                if edge % 2 == 0:  # edges 2, 4, 6 and 8 go around
                    middle = (corners[a] + corners[b]) / 2
                    middle[:2] *= radius / np.hypot(*middle[:2])
                    yield e, edge, radius, 1 if edge in (2, 6) else -1, middle


def shell(n: int = 2) -> tuple[NDArray[Any], list[Record]]:
    """A sixth of a spherical shell of radii 1 and 2, and its spheres."""
    ways = np.tan(np.pi / 4 * np.linspace(-1, 1, n + 1))

    def point(i: int, j: int, radius: float) -> NDArray[Any]:
        way = np.array([ways[i], ways[j], 1.0])
        return np.asarray(radius * way / np.linalg.norm(way))

    corners, spheres = [], []
    for e in range(n * n):
        i, j = e % n, e // n
        ring = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)]
        corners.append([point(a, b, radius) for radius in (1.0, 2.0) for a, b in ring])
        spheres += [(e + 1, 5, [0, 0, 0, 1, 0], "s"), (e + 1, 6, [0, 0, 0, 2, 0], "s")]
    return np.array(corners), spheres
