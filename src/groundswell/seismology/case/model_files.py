"""Sections `[medium]` of models on grids in files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from groundswell.case.common import DataFile, NotEmpty, Section
from groundswell.case.problems import Violation
from groundswell.case.units import Density, Length, Number, Positive, Speed
from groundswell.seismology.case.grid import Projection
from groundswell.seismology.case.medium_base import MediumBase, QRule, RhoRule, VsRule


class WaterSection(Section):
    """`water = { vp = "1510 m/s" }`: nodes of a model with at most this `vp` are water."""

    vp: Annotated[Speed, Positive]
    rho: Annotated[Density, Positive] = 1000.0
    qp: Annotated[Number, Positive] = 10_000.0


class GriddedBase(MediumBase):
    """Keys of models on grids: rules for properties that the file lacks, and its position.

    Attributes:
        corner: x and y, in the model, of the corner x = y = 0 of the region.
    """

    vs_rule: VsRule | None = None
    rho_rule: RhoRule | None = None
    q_rule: QRule | None = None
    water: WaterSection | None = None
    corner: tuple[Length, Length] | None = None

    def violations(self) -> Iterator[Violation]:
        """Water without a rule that it completes."""
        if self.water is not None and not (self.vs_rule or self.rho_rule or self.q_rule):
            rules = "vs_rule, rho_rule or q_rule"
            yield ("water",), f"completes rules, and there is none; add {rules}, or leave it out"


class VariablesSection(Section):
    """Names of the variables of a NetCDF file."""

    vp: str | None = None
    vs: str | None = None
    rho: str | None = None
    qp: str | None = None
    qs: str | None = None


class NetcdfSection(GriddedBase):
    """A model on a rectilinear grid in a NetCDF file."""

    kind: Literal["netcdf"]
    file: DataFile
    variables: VariablesSection | None = None


# --- SEG-Y ----------------------------------------------------------------------------------------

HeaderByte = Annotated[int, Field(strict=True, ge=1, le=237)]


class FilesSection(Section):
    """Further SEG-Y files, with the traces of the first one."""

    vs: DataFile | None = None
    rho: DataFile | None = None
    qp: DataFile | None = None
    qs: DataFile | None = None


class UnitsSection(Section):
    """Units of the values in SEG-Y files."""

    vp: str = "m/s"
    vs: str = "m/s"
    rho: str = "kg/m^3"


class HeaderBytes(Section):
    """First bytes of four-byte integers in trace headers, counted from 1."""

    inline: HeaderByte = 189
    crossline: HeaderByte = 193
    x: HeaderByte = 181
    y: HeaderByte = 185


def _listed(value: Any) -> Any:
    return value if isinstance(value, list | tuple) else (value,)


PositiveLength = Annotated[Length, Positive]


class SegySection(GriddedBase):
    """A line or a volume in depth in SEG-Y files.

    Attributes:
        file: P wave speeds.
        files: other properties, if not by rules.
        units: of the values.
        interval: distance between samples, instead of that in the header.
        top: depth of the first sample.
        spacing: distance between traces along x and y, or along a line, instead of coordinates.
        projection: coordinate system of the trace headers; without it, they have x and y.
        bytes: positions of numbers in trace headers.
    """

    kind: Literal["segy"]
    file: DataFile
    files: FilesSection = FilesSection()
    units: UnitsSection = UnitsSection()
    interval: PositiveLength | None = None
    top: Length = 0.0
    spacing: Annotated[tuple[PositiveLength, ...], BeforeValidator(_listed)] | None = None
    projection: Projection | None = None
    bytes: HeaderBytes = HeaderBytes()

    def violations(self) -> Iterator[Violation]:
        """Positions or properties given twice."""
        yield from super().violations()
        if self.spacing is not None and len(self.spacing) not in (1, 2):
            yield ("spacing",), "must be one distance, or two along x and y"
        for role, rule in (("vs", self.vs_rule), ("rho", self.rho_rule), ("qs", self.q_rule)):
            if getattr(self.files, role) is not None and rule is not None:
                yield ("files", role), f"is also given by the rule {rule!r}; give one of both"
        if self.spacing is not None and self.projection is not None:
            yield (
                ("projection",),
                "is that of coordinates, which spacing replaces; give one of both",
            )


# --- texts with one line for each point -----------------------------------------------------------


class PointsBase(GriddedBase):
    """Points of a grid, in any order.

    Attributes:
        projection: coordinate system of x and y; without it, they are those of the region.
    """

    file: DataFile
    projection: Projection | None = None


class SpecfemSection(PointsBase):
    """A tomographic model of SPECFEM3D."""

    kind: Literal["specfem"]


class ColumnsSection(PointsBase):
    """Points in columns, with a header line, or as UCVM writes them.

    Attributes:
        columns: names of the columns, if there is no header line.
    """

    kind: Literal["columns"]
    columns: Annotated[tuple[str, ...], NotEmpty] | None = None


GriddedSection = NetcdfSection | SegySection | SpecfemSection | ColumnsSection
