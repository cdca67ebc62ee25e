"""What a mesh file holds, in the same form for all formats, before it becomes a mesh."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from groundswell.arrays import Floats, Integers

# Dimensions of cells by the name of their kind without its digits.
_DIMENSIONS = {
    "vertex": 0,
    "line": 1,
    **dict.fromkeys(("triangle", "quad", "polygon", "pixel"), 2),
    **dict.fromkeys(("hexahedron", "tetra", "wedge", "pyramid", "polyhedron"), 3),
}


@dataclass(frozen=True, eq=False)
class CellBlock:
    """Cells of one kind.

    Args:
        kind: "hexahedron", "quad", "tetra" and so on, with the number of nodes if they are curved,
            such as "hexahedron27".
        nodes: indices of their points, (cells, nodes), in VTK's order; -1 for points that the file
            lacks.
        tags: number of the volume or surface of each cell, 0 if it is in none, (cells,).
    """

    kind: str
    nodes: Integers
    tags: Integers

    @classmethod
    def untagged(cls, kind: str, nodes: Integers) -> CellBlock:
        """Cells in no volume or surface."""
        return cls(kind, nodes, np.zeros(len(nodes), np.int64))

    @property
    def dimension(self) -> int:
        """Number of axes along the cells."""
        return _DIMENSIONS.get(self.kind.rstrip("0123456789"), 0)


@dataclass(frozen=True, eq=False)
class MeshContent:
    """The content of a mesh file.

    Args:
        points: their positions, (points, 3), m.
        blocks: cells of all dimensions.
        surfaces: names of surfaces by tag; one without a name is called by its number.
        volumes: the same for volumes.
        links: pairs of linked points of each periodic link, (pairs, 2).
        warnings: what the file holds that is ignored.
        fitted: positions of the GLL nodes of elements that are curved otherwise than by points,
            (elements, (degree + 1)^3, 3).
    """

    points: Floats
    blocks: list[CellBlock]
    surfaces: Mapping[int, str] = field(default_factory=dict)
    volumes: Mapping[int, str] = field(default_factory=dict)
    links: tuple[Integers, ...] = ()
    warnings: tuple[str, ...] = ()
    fitted: Floats | None = None

    def of_dimension(self, dimension: int) -> list[CellBlock]:
        """The blocks of cells of this dimension that are not empty."""
        return [b for b in self.blocks if b.dimension == dimension and len(b.nodes)]
