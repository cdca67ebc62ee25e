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
    """Largest P wave speed of water. Rules do not apply to nodes with at most this speed; with
    vs_rule, their vs is 0."""
    rho: Annotated[Density, Positive] = 1000.0
    """Density of water, with rho_rule."""
    qp: Annotated[Number, Positive] = 10_000.0
    """Quality factor of P waves in water, with q_rule."""


class GriddedBase(MediumBase):
    """Keys of models on grids: rules for properties that the file lacks, and its position."""

    vs_rule: VsRule | None = None
    """Rule for S wave speeds that the file lacks: "brocher" (2005, eq. 6, for vp from 1.5 to 8
    km/s), "poisson" (vp / sqrt(3)) or "fluid" (0)."""
    rho_rule: RhoRule | None = None
    """Rule for densities that the file lacks: "brocher" (2005, eq. 1), the Nafe-Drake curve, for vp
    from 1.5 to 8.5 km/s."""
    q_rule: QRule | None = None
    """Rule for quality factors that the file lacks: Qs = vs / 20 with vs in m/s, and Qp = 2 Qs."""
    water: WaterSection | None = None
    """Water in the model, to which the rules do not apply."""
    corner: tuple[Length, Length] | None = None
    """x and y, in the model, of the corner x = y = 0 of the region."""

    def violations(self) -> Iterator[Violation]:
        """Water without a rule that it completes."""
        if self.water is not None and not (self.vs_rule or self.rho_rule or self.q_rule):
            rules = "vs_rule, rho_rule or q_rule"
            yield ("water",), f"completes rules, and there is none; add {rules}, or leave it out"


class VariablesSection(Section):
    """Names of the variables of a NetCDF file."""

    vp: str | None = None
    """Name of the variable of P wave speeds."""
    vs: str | None = None
    """Name of the variable of S wave speeds."""
    rho: str | None = None
    """Name of the variable of densities."""
    qp: str | None = None
    """Name of the variable of quality factors of P waves."""
    qs: str | None = None
    """Name of the variable of quality factors of S waves."""


class NetcdfSection(GriddedBase):
    """A model on a rectilinear grid in a NetCDF file."""

    kind: Literal["netcdf"]
    file: DataFile
    """NetCDF file with coordinates depth and x, y or longitude, latitude."""
    variables: VariablesSection | None = None
    """Names of its variables, if they differ from those of the properties."""


# --- SEG-Y ----------------------------------------------------------------------------------------

HeaderByte = Annotated[int, Field(strict=True, ge=1, le=237)]


class FilesSection(Section):
    """Further SEG-Y files, with the traces of the first one."""

    vs: DataFile | None = None
    """File of S wave speeds."""
    rho: DataFile | None = None
    """File of densities."""
    qp: DataFile | None = None
    """File of quality factors of P waves."""
    qs: DataFile | None = None
    """File of quality factors of S waves."""


class UnitsSection(Section):
    """Units of the values in SEG-Y files."""

    vp: str = "m/s"
    """Unit of the P wave speeds."""
    vs: str = "m/s"
    """Unit of the S wave speeds."""
    rho: str = "kg/m^3"
    """Unit of the densities."""


class HeaderBytes(Section):
    """First bytes of four-byte integers in trace headers, counted from 1."""

    inline: HeaderByte = 189
    """First byte of the inline number."""
    crossline: HeaderByte = 193
    """First byte of the crossline number."""
    x: HeaderByte = 181
    """First byte of the x coordinate."""
    y: HeaderByte = 185
    """First byte of the y coordinate."""


def _listed(value: Any) -> Any:
    return value if isinstance(value, list | tuple) else (value,)


PositiveLength = Annotated[Length, Positive]


class SegySection(GriddedBase):
    """A line or a volume in depth in SEG-Y files."""

    kind: Literal["segy"]
    file: DataFile
    """SEG-Y file of P wave speeds."""
    files: FilesSection = FilesSection()
    """Files of other properties with the same traces, instead of rules."""
    units: UnitsSection = UnitsSection()
    """Units of the values."""
    interval: PositiveLength | None = None
    """Distance between samples, instead of that in the header, which is in m, or in feet if the
    header says so."""
    top: Length = 0.0
    """Depth of the first sample."""
    spacing: Annotated[tuple[PositiveLength, ...], BeforeValidator(_listed)] | None = None
    """Distance between traces along both axes, or one for each of x (crosslines) and y (inlines),
    instead of coordinates in the headers."""
    projection: Projection | None = None
    """Coordinate system of the trace headers. By default they have x and y of the region."""
    bytes: HeaderBytes = HeaderBytes()
    """Positions of numbers in the trace headers."""

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
    """Points of a grid, in any order."""

    file: DataFile
    """Text file with one line for each point of a grid, in any order."""
    projection: Projection | None = None
    """Coordinate system of x and y. By default they are those of the region."""


class SpecfemSection(PointsBase):
    """A tomographic model of SPECFEM3D."""

    kind: Literal["specfem"]


class ColumnsSection(PointsBase):
    """Points in columns, with a header line, or as UCVM writes them."""

    kind: Literal["columns"]
    columns: Annotated[tuple[str, ...], NotEmpty] | None = None
    """Names of the columns, "-" for those to skip, if the file has no header line. By default,
    such a file has the 17 columns of UCVM."""


GriddedSection = NetcdfSection | SegySection | SpecfemSection | ColumnsSection
