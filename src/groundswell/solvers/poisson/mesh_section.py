"""Section `[mesh]` of a case of the Poisson solver: boxes, and meshes from files."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import Annotated, Literal

from pydantic import Field

from groundswell.case.common import DataFile, Section, TaggedUnion, exactly_one, repeated
from groundswell.case.problems import Violation
from groundswell.case.recording import AxisName
from groundswell.case.units import Count, Flag, Length, Number, Positive

Fraction = Annotated[Number, Field(gt=0, le=1)]

AXES: tuple[AxisName, AxisName, AxisName] = ("x", "y", "z")
SIDES = (("west", "east"), ("south", "north"), ("bottom", "top"))  # low and high, by axis
UNIT = ((0.0, 0.0, 0.0), (1.0, 1.0, 1.0))


class KershawSection(Section):
    """`kershaw = { eps_y = 0.3, eps_z = 0.3 }`: thin and slanted elements in the unit cube."""

    eps_y: Fraction
    """Smallest thickness of elements along y, relative to even ones."""
    eps_z: Fraction
    """Smallest thickness of elements along z, relative to even ones."""
    smoothness: Literal[0, 1, 2] = 0
    """Number of continuous derivatives of the deformation."""


class BoxMesh(Section):
    """`kind = "box"`: a structured mesh from `low` to `high`, or of a `size`."""

    kind: Literal["box"]
    counts: tuple[Count, Count, Count]
    """Elements along x, y and z."""
    low: tuple[Length, Length, Length] = UNIT[0]
    """Lowest corner of the box."""
    high: tuple[Length, Length, Length] | None = None
    """Highest corner of the box; the unit cube by default."""
    size: (
        tuple[Annotated[Length, Positive], Annotated[Length, Positive], Annotated[Length, Positive]]
        | None
    ) = None
    """Lengths of the box, instead of the highest corner."""
    periodic: tuple[AxisName, ...] = ()
    """Periodic axes, such as ["x", "z"]."""
    kershaw: KershawSection | None = None
    """Thin and slanted elements in the unit cube, for tests of solvers."""

    @property
    def corners(self) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
        """The lowest and the highest point, m."""
        if self.size is None:
            return self.low, self.high or UNIT[1]
        x, y, z = (low + length for low, length in zip(self.low, self.size, strict=True))
        return self.low, (x, y, z)

    @property
    def sides(self) -> dict[str, int]:
        """Boundary tags of the sides, by name; periodic axes have none."""
        names = (name for pair in SIDES for name in pair)
        tags = {name: tag for tag, name in enumerate(names, 1)}
        return {n: tag for n, tag in tags.items() if AXES[(tag - 1) // 2] not in self.periodic}

    def violations(self) -> Iterator[Violation]:
        """Two upper ends, empty boxes, and a deformation that needs the unit cube."""
        yield from repeated("periodic", self.periodic)
        if self.size is not None and self.high is not None:
            yield from exactly_one(self, "high", "size")
        elif not all(a < b < inf for a, b in zip(*self.corners, strict=True)):
            yield ("high" if self.high else "low",), "must leave each axis a length: low below high"
        if self.kershaw and self.corners != UNIT:
            yield ("kershaw",), "is for the unit cube: leave out low, high and size"
        if self.kershaw and self.periodic:
            yield ("kershaw",), "cannot be periodic, because the sides would not meet"


class FileMesh(Section):
    """`kind = "file"`: hexahedra from a mesh file; its named surfaces are the sides.

    "gmsh" means the same. `periodic = false` ignores periodic links between sides. `partition`
    distributes the elements among ranks: bisection across the longest axes, or METIS.
    """

    kind: Literal["file", "gmsh"]
    file: DataFile
    """Hexahedra of orders 1 to 4: Gmsh, Abaqus, Exodus II, MED, VTK or nekRS."""
    periodic: Flag = True
    """Whether periodic links in the file join its sides."""
    partition: Literal["bisection", "metis"] = "bisection"
    """How elements are distributed among ranks; "metis" needs pip install 'groundswell[metis]'."""


MeshSection = Annotated[BoxMesh | FileMesh, TaggedUnion()]
