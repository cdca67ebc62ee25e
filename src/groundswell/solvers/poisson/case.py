"""The case file of the Poisson solver: `PoissonCase` and its sections."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from groundswell.case.common import (
    Case,
    OutputSection,
    RunSection,
    Section,
    TaggedUnion,
)
from groundswell.case.expressions import Formula, FormulaInTime, depends_on_time
from groundswell.case.problems import Violation, locate
from groundswell.case.recording import Recordable
from groundswell.case.units import Count, Flag, Number
from groundswell.errors import did_you_mean, listed
from groundswell.solvers.poisson.coefficient_types import (
    CapacityValue,
    ConductivityValue,
    ScreeningValue,
    TransferValue,
)
from groundswell.solvers.poisson.mesh_section import AXES as AXES
from groundswell.solvers.poisson.mesh_section import SIDES as SIDES
from groundswell.solvers.poisson.mesh_section import UNIT as UNIT
from groundswell.solvers.poisson.mesh_section import BoxMesh as BoxMesh
from groundswell.solvers.poisson.mesh_section import FileMesh as FileMesh
from groundswell.solvers.poisson.mesh_section import MeshSection
from groundswell.solvers.poisson.time_section import TimeSection

DTYPES = {"double": "float64", "single": "float32"}
TOLERANCES = {"double": 1e-10, "single": 1e-5}  # default tolerances of the residual
MAX_DEGREE = 15
UNIT_TEXT = re.compile(r"[^\s$\\][^$\\\n]{0,19}|")  # without what matplotlib takes for formulas
VARYING = ("source", "exact", "value", "ambient")  # keys of functions that may contain the time

Preconditioner = Literal["none", "jacobi", "multigrid"]
Precision = Literal["single", "double"]
RouteName = Literal["auto", "pairwise", "alltoall", "crystal"]


# --- the equation ---------------------------------------------------------------------------------


class EquationSection(Section):
    """`[equation]`: -div(conductivity grad u) + screening u = source.

    `exact` is the exact u, if known. `mean` is the mean of u over the domain, where neither the
    screening nor a side determines u. Functions of position are numbers, or text such as
    "sin(pi * x)". The conductivity may be a list of six, a symmetric tensor.

    With `[time]`, capacity du/dt is added on the left, and u begins with `initial`; by default they
    are 1 and 0. The source, `exact` and values of sides may then contain the time `t`.
    """

    conductivity: ConductivityValue = 1.0
    """k, W/(m K) for heat: a number, an expression of x, y and z, or the six entries xx, xy, xz,
    yy, yz, zz of a symmetric tensor."""
    screening: ScreeningValue = 0.0
    """c, at least 0, a number or an expression of x, y and z."""
    source: FormulaInTime = 0.0
    """f, W/m^3 for heat: a number or an expression of x, y, z and, with `[time]`, t."""
    exact: FormulaInTime | None = None
    """Exact solution, if known; the results then include the error."""
    mean: Number | None = None
    """Mean of u over the domain, where neither the screening nor a side determines u."""
    capacity: CapacityValue | None = None
    """Factor of du/dt, J/(m^3 K) for heat, with `[time]`; 1 by default."""
    initial: Formula | None = None
    """u at time 0, with `[time]`; 0 by default."""


class MaterialSection(Section):
    """`[material.NAME]`: what differs from `[equation]` in a named volume of the mesh."""

    conductivity: ConductivityValue | None = None
    """k in this volume."""
    screening: ScreeningValue | None = None
    """c in this volume."""
    source: FormulaInTime | None = None
    """f in this volume."""
    capacity: CapacityValue | None = None
    """Factor of du/dt in this volume."""
    initial: Formula | None = None
    """u at time 0 in this volume."""


class BoundarySection(Section):
    """`kind = "fixed"` prescribes u, `kind = "flux"` the flux k du/dn; n points outwards."""

    kind: Literal["fixed", "flux"]
    value: FormulaInTime = 0.0
    """u on a fixed side; k du/dn with the outward normal n on one with a flux, W/m^2 for heat.
    Where fixed sides meet, the last one in the case applies."""


class RobinSection(Section):
    """`kind = "robin"`: k du/dn + h (u - ambient) = 0, such as heat that passes to the air."""

    kind: Literal["robin"]
    h: TransferValue
    """Transfer coefficient, W/(m^2 K) for heat."""
    ambient: FormulaInTime = 0.0
    """u of the surroundings."""


SideSection = Annotated[BoundarySection | RobinSection, TaggedUnion()]


class MethodSection(Section):
    """`[method]`: degree of the polynomials, and how the linear system is solved.

    The iteration stops when the residual is `tolerance` times that of u = 0 in the interior, or
    after `iterations` iterations.
    """

    degree: Annotated[int, Field(strict=True, ge=1, le=MAX_DEGREE)] = 7
    """Polynomial degree of the elements."""
    tolerance: Annotated[Number, Field(gt=0, lt=1)] | None = None
    """Residual at which the iteration stops, relative to that of u = 0 in the interior; 1e-10 by
    default, 1e-5 in single precision."""
    iterations: Count = 10_000
    """Largest number of iterations."""
    preconditioner: Preconditioner = "jacobi"
    """Preconditioner of the conjugate gradients: "multigrid" for large meshes and thin elements."""


# --- output, and all ------------------------------------------------------------------------------


class PoissonOutput(OutputSection):
    """`[output]`: `fields` writes u on all elements; residuals are always written.

    `film` is for cases with `[time]`: a film of the middle plane across y. `unit` is that of u, for
    files and colour bars.
    """

    recordable: ClassVar[Recordable] = Recordable(
        ("u",),
        ("points", "line", "plane"),
        files=("solution.vtkhdf", "film.nc", "flows.nc"),
        on_elements=True,
    )

    fields: Flag = True
    """Whether to write u on all elements."""
    film: Flag = False
    """Whether to make a film of the middle plane across y, with `[time]`."""
    unit: str = ""
    """Unit of u, at most 20 characters, for files and colour bars."""

    def violations(self) -> Iterator[Violation]:
        """Texts that are no unit."""
        yield from super().violations()
        if not UNIT_TEXT.fullmatch(self.unit):
            text = 'must be plain text of at most 20 characters, such as "K" or "°C"'
            yield ("unit",), f"{text}, without $ and \\"


STEADY = replace(PoissonOutput.recordable, what=("final",), timed=False)


class PoissonRun(RunSection):
    """`[run]`, by default in double precision.

    `transport` and `route` choose how ranks exchange values; "auto" measures the fastest.
    """

    unsupported: ClassVar[tuple[str, ...]] = ("overlap", "narrow", "codec", "lossy")

    precision: Precision = "double"
    route: RouteName = "auto"
    """How ranks exchange shared nodes; "auto" measures for a second and stores the fastest."""

    def violations(self) -> Iterator[Violation]:
        """A transport that only other solvers have."""
        yield from super().violations()
        if "fused" in self.transport:
            yield ("transport",), 'is not for this solver; give another one, or "auto"'


class PoissonCase(Case):
    """-div(k grad u) + c u = f: `[mesh]`, `[equation]`, `[boundaries]`, `[method]`, `[time]`.

    >>> import groundswell as gs
    >>> case = gs.poisson.PoissonCase(
    ...     mesh={"kind": "box", "counts": [4, 4, 4]},
    ...     equation={"source": "sin(pi * x)"},
    ...     boundaries={"west": {"kind": "fixed"}, "east": {"kind": "fixed", "value": 1.0}},
    ... )
    >>> case.boundaries["east"].value, case.method.degree
    (1.0, 7)

    Sides without a boundary condition have no flux. Raises `CaseError`.
    """

    solver: Literal["poisson"] = "poisson"
    time: TimeSection | None = None
    """Solution in time; without it, the solution is steady."""
    output: PoissonOutput = Field(default_factory=dict, validate_default=True)  # type: ignore
    run: PoissonRun = PoissonRun()
    mesh: MeshSection
    """The box and its elements, or a mesh from a file."""
    equation: EquationSection = EquationSection()
    """Coefficients and source of the equation."""
    material: dict[str, MaterialSection] = Field(default_factory=dict)
    """What differs from `[equation]` in a volume of the mesh, by name."""
    boundaries: dict[str, SideSection] = Field(default_factory=dict)
    """Conditions at the sides, by name; without one, a side has no flux."""
    method: MethodSection = MethodSection()
    """Degree of the elements, and how the linear system is solved."""

    @property
    def tolerance(self) -> float:
        """Of the residual; the default depends on the precision."""
        return self.method.tolerance or TOLERANCES[self.run.precision]

    def violations(self) -> Iterator[Violation]:
        """Sides that a box does not have, and equations that do not determine u."""
        if isinstance(self.mesh, BoxMesh):
            yield from unknown_sides(self.boundaries, self.mesh.sides)
        if self.material and not isinstance(self.mesh, FileMesh):
            yield ("material",), "is for the named volumes of a mesh file; leave it out"
        yield from self._violations_in_time()
        determined = self._may_determine
        if not determined and self.equation.mean is None:
            allowed = (
                "must be above 0 where no side is fixed or robin, because u is determined only up "
                "to a constant; or give the mean of u"
            )
            yield ("equation", "screening"), allowed
        if determined and self.equation.mean is not None:
            allowed = "is for cases without screening, fixed or robin sides; leave it out"
            if self.time is not None:
                allowed = "is for cases without [time]: initial values determine it; leave it out"
            yield ("equation", "mean"), allowed
        if self.run.processes and not isinstance(self.mesh, BoxMesh):
            yield ("run", "processes"), "are only for boxes; leave them out"

    def _violations_in_time(self) -> Iterator[Violation]:
        """What is only for cases with `[time]`: one violation."""
        if self.time is not None:
            return
        found = [*self._only_in_time()]
        if len(found) > 1:
            keys = [locate(place, self)[0] for place, _ in found]
            others = f"{len(keys) - 1} other keys" if len(keys) > 2 else keys[1]
            cure = "give its step and duration, or leave them out"
            yield ("time",), f"is required by {keys[0]} and {others}; {cure}"
            return
        yield from found

    def _only_in_time(self) -> Iterator[Violation]:
        """Keys and functions that are only for cases with `[time]`."""
        for given, value in self._given_values():
            if given[-1] in ("capacity", "initial") and value is not None:
                yield given, "is for cases with [time]; leave it out"
            elif depends_on_time(value):
                yield given, "contains the time t, which is for cases with [time]"
        for place, text in STEADY.violations(self.output.record):
            yield ("output", *place), f"{text} without [time]"
        if self.output.film:
            yield ("output", "film"), "is for cases with [time]; leave it out"
        if self.run.checkpoint is not None:
            yield ("run", "checkpoint"), "is for cases with [time]; leave it out"

    @property
    def depends_on_time(self) -> bool:
        """Whether the source or the value of a side does."""
        return any(depends_on_time(value) for _, value in self._given_values())

    def _given_values(self) -> Iterator[tuple[tuple[str, ...], object]]:
        """The values of the equation, its materials and its sides, by place."""
        tables: dict[tuple[str, ...], Section] = {("equation",): self.equation}
        tables |= {("material", name): table for name, table in self.material.items()}
        tables |= {("boundaries", name): table for name, table in self.boundaries.items()}
        for place, table in tables.items():
            for key, value in table:
                if key in (*VARYING, "capacity", "initial"):
                    yield (*place, key), value

    @property
    def _may_determine(self) -> bool:
        """Whether a side or a screening may determine u; functions of position may be 0."""
        if self.time is not None:
            return True
        screenings = [self.equation.screening, *(m.screening for m in self.material.values())]
        sides = self.boundaries.values()
        holds = (s.kind == "fixed" or (isinstance(s, RobinSection) and s.h != 0) for s in sides)
        return any(holds) or any(c for c in screenings)


def unknown_sides(
    boundaries: Mapping[str, object], sides: Mapping[str, int]
) -> Iterator[Violation]:
    """Violations of `[boundaries]` that names sides the mesh does not have."""
    for name in boundaries:
        if name not in sides:
            there = f"its sides are {listed(sides)}" if sides else "it has none"
            allowed = f"is not a side of the mesh{did_you_mean(name, sides)}; {there}"
            yield ("boundaries", name), allowed
