"""The case file of the Poisson solver: `PoissonCase`, made of the sections of this file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import inf
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from groundswell.case.common import (
    Case,
    DataFile,
    OutputSection,
    RunSection,
    Section,
    TaggedUnion,
    exactly_one,
    repeated,
    unsupported,
)
from groundswell.case.expressions import Formula
from groundswell.case.problems import Violation
from groundswell.case.recording import Recordable
from groundswell.case.units import Count, Flag, Length, NonNegative, Number, Positive, Unit
from groundswell.errors import did_you_mean, listed

Screening = Annotated[float, Unit("1/m^2", "a screening", "4 1/m^2"), NonNegative]
Share = Annotated[Number, Field(gt=0, le=1)]
Axis = Literal["x", "y", "z"]

AXES: tuple[Axis, Axis, Axis] = ("x", "y", "z")
SIDES = (("west", "east"), ("south", "north"), ("bottom", "top"))  # low and high, by axis
UNIT = ((0.0, 0.0, 0.0), (1.0, 1.0, 1.0))
TOLERANCES = {"double": 1e-10, "single": 1e-5}  # of the residual, unless the case says otherwise


# --- the domain -----------------------------------------------------------------------------------


class KershawSection(Section):
    """`kershaw = { eps_y = 0.3, eps_z = 0.3 }`: the unit cube in thin and slanted elements.

    See `grids.box.kershaw`; `smoothness` is of the change from one layer to the next.
    """

    eps_y: Share
    eps_z: Share
    smoothness: Literal[0, 1, 2] = 0


class BoxMesh(Section):
    """`kind = "box"`: elements in rows along x, y and z; `high` or `size` ends the box."""

    kind: Literal["box"]
    counts: tuple[Count, Count, Count]
    low: tuple[Length, Length, Length] = UNIT[0]
    high: tuple[Length, Length, Length] | None = None
    size: (
        tuple[Annotated[Length, Positive], Annotated[Length, Positive], Annotated[Length, Positive]]
        | None
    ) = None
    periodic: tuple[Axis, ...] = ()
    kershaw: KershawSection | None = None

    @property
    def corners(self) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
        """The lowest and the highest point, m."""
        if self.size is None:
            return self.low, self.high or UNIT[1]
        x, y, z = (low + length for low, length in zip(self.low, self.size, strict=True))
        return self.low, (x, y, z)

    @property
    def sides(self) -> dict[str, int]:
        """Tags of the sides that there are, by name."""
        names = (name for pair in SIDES for name in pair)
        tags = {name: tag for tag, name in enumerate(names, 1)}
        return {n: tag for n, tag in tags.items() if AXES[(tag - 1) // 2] not in self.periodic}

    def violations(self) -> Iterator[Violation]:
        """Two ends or none, and Kershaw's deformation of what is not the unit cube."""
        yield from repeated("periodic", self.periodic)
        if self.size is not None and self.high is not None:
            yield from exactly_one(self, "high", "size")
        elif not all(a < b < inf for a, b in zip(*self.corners, strict=True)):
            yield ("high" if self.high else "low",), "must leave each axis a length: low below high"
        if self.kershaw and self.corners != UNIT:
            yield ("kershaw",), "is for the unit cube: leave out low, high and size"
        if self.kershaw and self.periodic:
            yield ("kershaw",), "cannot be periodic: the sides would not meet"


class GmshMesh(Section):
    """`kind = "gmsh"`: hexahedra from a file of Gmsh; sides are its physical surfaces.

    `partition` is how several ranks share them, see `grids.partition`.
    """

    kind: Literal["gmsh"]
    file: DataFile
    partition: Literal["bisection", "metis"] = "bisection"


MeshSection = Annotated[BoxMesh | GmshMesh, TaggedUnion()]


# --- the equation ---------------------------------------------------------------------------------


class EquationSection(Section):
    """`[equation]`: -div grad u + screening u = source; `exact` is u, if it is known.

    `mean` is u's over the domain, where neither screening nor a fixed side determines u.
    Functions of position are numbers, or text such as "sin(pi * x)".
    """

    screening: Screening = 0.0
    source: Formula = 0.0
    exact: Formula | None = None
    mean: Number | None = None


class FixedSide(Section):
    """`kind = "fixed"`: u is given."""

    kind: Literal["fixed"]
    value: Formula = 0.0


class FluxSide(Section):
    """`kind = "flux"`: du/dn is given, n pointing out of the domain."""

    kind: Literal["flux"]
    value: Formula = 0.0


Side = Annotated[FixedSide | FluxSide, TaggedUnion()]


class MethodSection(Section):
    """`[method]`: polynomials on elements, and how the system of equations is solved.

    It is solved when the residual has fallen to `tolerance` times its first value, which is that of
    u = 0 inside; `iterations` is the most that are made.
    """

    degree: Annotated[int, Field(strict=True, ge=1, le=15)] = 7
    tolerance: Annotated[Number, Field(gt=0, lt=1)] | None = None
    iterations: Count = 10_000
    preconditioner: Literal["none", "jacobi", "multigrid"] = "jacobi"


# --- output, and all ------------------------------------------------------------------------------


class PoissonOutput(OutputSection):
    """`[output]`: residuals are always written, u on all elements if wanted."""

    recordable: ClassVar[Recordable] = Recordable(
        ("u",), ("points", "line", "plane"), ("final",), timed=False, files=("solution.vtkhdf",)
    )

    fields: Flag = True


class PoissonRun(RunSection):
    """`[run]`, in double precision unless it says otherwise.

    The whole solution is one step. `route` is how values travel between ranks, by `transport`:
    "auto" takes what is fastest.
    """

    precision: Literal["single", "double"] = "double"
    route: Literal["auto", "pairwise", "alltoall", "crystal"] = "auto"

    def violations(self) -> Iterator[Violation]:
        """What other solvers can do."""
        yield from super().violations()
        yield from unsupported(self, "checkpoint", "overlap", "narrow", "codec", "lossy")
        if "fused" in self.transport:
            yield ("transport",), 'is not for this solver; give another one, or "auto"'


class PoissonCase(Case):
    """-div grad u + lambda u = f: `[mesh]`, `[equation]`, `[boundaries]`, `[method]`.

    Sides that `[boundaries]` does not name have no flux. Raises `CaseError`.
    """

    solver: Literal["poisson"] = "poisson"
    time: None = None
    output: PoissonOutput = Field(default_factory=dict, validate_default=True)  # type: ignore
    run: PoissonRun = PoissonRun()
    mesh: MeshSection
    equation: EquationSection = EquationSection()
    boundaries: dict[str, Side] = Field(default_factory=dict)
    method: MethodSection = MethodSection()

    @property
    def tolerance(self) -> float:
        """Of the residual: what the case says, or what the precision allows."""
        return self.method.tolerance or TOLERANCES[self.run.precision]

    def violations(self) -> Iterator[Violation]:
        """Sides that a box does not have, and what leaves u undetermined."""
        if isinstance(self.mesh, BoxMesh):
            yield from unknown_sides(self.boundaries, self.mesh.sides)
        fixed = any(isinstance(side, FixedSide) for side in self.boundaries.values())
        determined = fixed or self.equation.screening > 0
        if not determined and self.equation.mean is None:
            allowed = (
                "must be above 0 where no side is fixed: any constant may be added to u; or give "
                "its mean"
            )
            yield ("equation", "screening"), allowed
        if determined and self.equation.mean is not None:
            allowed = (
                "is for cases without screening and fixed sides, which determine u: leave it out"
            )
            yield ("equation", "mean"), allowed
        if self.run.processes and not isinstance(self.mesh, BoxMesh):
            yield ("run", "processes"), "are of a box; leave them out"


def unknown_sides(
    boundaries: Mapping[str, object], sides: Mapping[str, int]
) -> Iterator[Violation]:
    """The faults of `[boundaries]` that names sides which the mesh does not have."""
    for name in boundaries:
        if name not in sides:
            there = f"its sides are {listed(sides)}" if sides else "it has none"
            allowed = f"is no side of the mesh{did_you_mean(name, sides)}; {there}"
            yield ("boundaries", name), allowed
