"""The input file of `groundswell hazard`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, PlainValidator, PrivateAttr, ValidationError
from pydantic_core import PydanticCustomError

from groundswell.case import Settings, read_document, set_values
from groundswell.case.common import DataFile, FileName, NotEmpty, Section, exactly_one
from groundswell.case.problems import Violation, format_value, problems_in
from groundswell.case.section import repeated
from groundswell.case.units import (
    Acceleration,
    Accepts,
    Count,
    Flag,
    Length,
    Number,
    Positive,
    Speed,
)
from groundswell.errors import CaseError, InputError
from groundswell.seismology.case.grid import Latitude, Longitude
from groundswell.seismology.case.map_lines import MapLines
from groundswell.seismology.hazard.measures import Measure

Weight = Annotated[Number, Positive]
Share = Annotated[Number, Field(gt=0, lt=1)]
Name = Annotated[str, Field(min_length=1, max_length=60)]


def _measure(value: object) -> Measure:
    try:
        return value if isinstance(value, Measure) else Measure.parse(str(value))
    except InputError as error:
        raise PydanticCustomError("quantity", "{text}", {"text": str(error)}) from None


Measured = Annotated[Measure, PlainValidator(_measure), Accepts("the name of a measure")]


class RupturesSection(Section):
    """`[[ruptures]]`: a branch of ruptures with rates, from a table or from NRML.

    Several `[[ruptures]]` and `[[intensities]]` are the branches of a logic tree, which combines
    each set of ruptures with each source of ground motion.
    """

    name: Name = "ruptures"
    """Name of the branch."""
    weight: Weight = 1.0
    """Weight of the branch; the weights of all `[[ruptures]]` are scaled to a sum of 1."""
    file: DataFile
    """Table of ruptures (CSV or TOML), or a source model in NRML (.xml)."""
    spacing: Annotated[Length, Positive] = 2000.0
    """Largest step by which ruptures float over a simple fault in NRML."""
    bin_width: Annotated[Number, Field(ge=1e-3, le=5)] = 0.1
    """Largest width of the bins of Gutenberg-Richter distributions in NRML, in magnitudes."""
    area_spacing: Annotated[Length, Positive] = 10_000.0
    """Largest distance between the points of an area source in NRML."""


class SitesSection(Section):
    """`[sites]`: a table of sites, or a grid; by default the sites of the simulations.

    A grid has the first and last `longitude` and `latitude`, or `x` and `y`, and the number of
    `points` along each.
    """

    file: DataFile | None = None
    """Table of sites (CSV or TOML), instead of a grid."""
    longitude: tuple[Longitude, Longitude] | None = None
    """First and last longitude of a grid."""
    latitude: tuple[Latitude, Latitude] | None = None
    """First and last latitude of a grid."""
    x: tuple[Length, Length] | None = None
    """First and last x of a grid, instead of longitudes."""
    y: tuple[Length, Length] | None = None
    """First and last y of a grid, instead of latitudes."""
    points: tuple[Count, Count] | None = None
    """Number of sites of a grid along each axis. Their names are "row-column", counted from 0 in
    the lower left corner."""
    vs30: Annotated[Speed, Positive] = 760.0
    """Mean S wave speed of the upper 30 m at sites without their own."""

    def violations(self) -> Iterator[Violation]:
        """A table and a grid at once, or an incomplete or empty grid."""
        keys = ("longitude", "latitude", "x", "y", "points")
        given = tuple(name for name in keys if getattr(self, name) is not None)
        if given and (self.file or given not in (keys[:2] + keys[4:], keys[2:])):
            yield (), "give a file, or points with longitude and latitude, or points with x and y"
        for name in given[:-1]:
            low, high = getattr(self, name)
            if not low < high:
                yield (name,), "must go from a lower to a higher number"
        if self.points and max(self.points) > 10_000:
            yield ("points",), "must be at most 10,000 along each axis"


_NOT_FOR = {  # keys of the other kind of intensities
    "file": ("parameters", "truncation", "maximum_distance"),
    "model": ("distribution", "component", "rupture"),
}


class IntensitiesSection(Section):
    """`[[intensities]]`: a branch of ground motion, simulated or from a model."""

    name: Name | None = None
    """Name of the branch; by default that of the model or of the file."""
    weight: Weight = 1.0
    """Weight of the branch; the weights of all `[[intensities]]` are scaled to a sum of 1."""
    file: FileName | None = None
    """NetCDF file or Zarr store of simulated intensities, instead of a model."""
    distribution: Literal["samples", "lognormal"] = "samples"
    """Probabilities from the fraction of simulated variations that exceed a level ("samples"), or
    from the mean and the standard deviation of their logarithms ("lognormal")."""
    component: Literal["E", "N", "Z", "geometric-mean", "larger"] | None = None
    """Component of simulated intensities that have several: one of them, or the geometric mean or
    the larger of both horizontal ones."""
    rupture: str = "rupture"
    """Coordinate of the file that names the rupture of each simulation."""
    model: str | None = None
    """Ground-motion model of pyGMM: "ASB14", "ASK14", "BSSA14", "CB14", "CY14" or "I14"."""
    parameters: dict[str, str | float] = Field(default_factory=dict)
    """Further parameters of pyGMM, such as { region = "japan" }."""
    truncation: Annotated[Number, Positive] | None = None
    """Largest number of standard deviations of a model from its median; unlimited by default."""
    maximum_distance: Annotated[Length, Positive] = 300e3
    """Distance beyond which ruptures do not contribute to the motion of a model."""

    @property
    def label(self) -> str:
        """The name of the branch."""
        return self.name or self.model or (self.file.stem if self.file else "")

    def violations(self) -> Iterator[Violation]:
        """Not exactly one of simulations and a model, or keys that belong to the other."""
        yield from exactly_one(self, "file", "model")
        kind = "file" if self.file else "model" if self.model else ""
        for name in _NOT_FOR.get(kind, ()):
            if name in self.model_fields_set:
                yield (name,), f"is not for a {kind}; leave it out"


Range = tuple[Annotated[Acceleration, Positive], Annotated[Acceleration, Positive]]
SpeedRange = tuple[Annotated[Speed, Positive], Annotated[Speed, Positive]]


class LevelsSection(Section):
    """`[levels]`: the number of levels of a curve, and ranges that replace the default ones."""

    count: Annotated[Count, Field(ge=2, le=10_000)] = 60
    """Number of levels of each curve."""
    pga: Range | None = None
    """Lowest and highest peak acceleration; by default it follows from the ground motion."""
    psa: Range | None = None
    """Lowest and highest level of all measures with a period; by default it follows from the ground
    motion."""
    pgv: SpeedRange | None = None
    """Lowest and highest peak velocity; by default it follows from the ground motion."""

    def violations(self) -> Iterator[Violation]:
        """An empty range."""
        for name in ("pga", "psa", "pgv"):
            if (given := getattr(self, name)) and not given[0] < given[1]:
                yield (name,), "must go from a lower to a higher level"

    def given(self, measure: Measure) -> tuple[float, float] | None:
        """The range for a measure, if there is one."""
        if measure.is_spectral:
            return self.psa
        return self.pgv if measure.base == "pgv" else self.pga if measure.base == "pga" else None


class DisaggregationSection(Section):
    """`[disaggregation]`: the contributions of ruptures at some sites, at one return period."""

    return_period: Annotated[Number, Positive]
    """Return period of the level that is disaggregated, in years."""
    sites: Annotated[tuple[str, ...], NotEmpty]
    """Names of the sites."""
    magnitude_bin: Annotated[Number, Field(ge=0.01)] = 0.5
    """Width of the bins of magnitude."""
    distance_bin: Annotated[Length, Field(ge=100.0)] = 10e3
    """Width of the bins of distance."""


class OutputSection(Section):
    """`[output]`: the folder, the sites of curves and spectra, and optional files."""

    directory: FileName = Field(default=Path("hazard"), validate_default=True)
    """Folder of the results."""
    sites: tuple[str, ...] = ()
    """Names of up to three sites whose curves and spectra are drawn; by default the first three."""
    relief: DataFile | None = None
    """NetCDF file with the variable elevation, topography or z on longitude and latitude or on x
    and y; maps show its relief."""
    map_lines: MapLines = ()
    """Lines that maps show: coastlines, borders, GeoJSON, GMT, KML or shapefiles."""
    pictures: Flag = True
    """Whether to draw pictures."""
    openquake: Flag = False
    """Whether to write tables in the formats of OpenQuake, too."""


class HazardCase(Section):
    """The description of a hazard analysis."""

    title: str = ""
    """Title of the pictures."""
    measures: Annotated[tuple[Measured, ...], NotEmpty]
    """Intensity measures; those with a period include it in seconds, as in "psa(1.0)"."""
    return_periods: Annotated[tuple[Annotated[Number, Positive], ...], NotEmpty] = (475.0, 2475.0)
    """Return periods of maps and spectra, in years."""
    exposure: Annotated[Number, Positive] = 50.0
    """Exposure time of the probabilities, in years."""
    fractiles: tuple[Share, ...] = (0.16, 0.5, 0.84)
    """Fractiles over the branches of the logic tree."""
    ruptures: Annotated[tuple[RupturesSection, ...], NotEmpty]
    """Ruptures with their annual rates. Repeat the table for more branches."""
    sites: SitesSection = SitesSection()
    """Sites; by default those of the simulated intensities."""
    intensities: Annotated[tuple[IntensitiesSection, ...], NotEmpty]
    """Ground motion of the ruptures. Repeat the table for more branches."""
    levels: LevelsSection = LevelsSection()
    """Levels of the hazard curves."""
    disaggregation: DisaggregationSection | None = None
    """Contributions of the ruptures at some sites; none by default."""
    output: OutputSection = Field(default_factory=dict, validate_default=True)  # type: ignore
    """Folder, pictures and optional files."""
    _settings: Settings = PrivateAttr(default_factory=dict)

    def violations(self) -> Iterator[Violation]:
        """Repeated measures, return periods or names, or no sites without simulations."""
        yield from repeated("measures", self.measures)
        yield from repeated("return_periods", self.return_periods)
        yield from repeated("fractiles", self.fractiles)
        yield from self._repeated_names()
        sites = self.sites
        if not (sites.file or sites.points or any(each.file for each in self.intensities)):
            yield ("sites",), "is required without simulated intensities; give a file or a grid"

    def _repeated_names(self) -> Iterator[Violation]:
        for key, names in (
            ("ruptures", [each.name for each in self.ruptures]),
            ("intensities", [each.label for each in self.intensities]),
        ):
            for n, name in enumerate(names):
                if name in names[:n]:
                    yield (key, n, "name"), "is the name of another branch; give each its own"

    @property
    def settings(self) -> dict[str, str]:
        """The values that replace those of the file, as text in TOML, by path."""
        return {path: format_value(value) for path, value in self._settings.items()}

    @classmethod
    def from_dict(
        cls, content: Mapping[str, Any], folder: Path, source: str, settings: Settings
    ) -> Self:
        """Validate the tables of a file; relative file names start in `folder`.

        Raises:
            CaseError: the content is invalid; lists every problem.
        """
        try:
            case = cls.model_validate(content, context={"folder": folder.absolute()})
        except ValidationError as error:
            raise CaseError(problems_in(error, content), source) from None
        case._settings = settings
        return case


def load_hazard_case(path: str | Path, settings: Settings | None = None) -> HazardCase:
    """Read and validate the input file of a hazard analysis.

    Args:
        path: a TOML file.
        settings: values to replace, by path; see `groundswell.case.set_values`.

    Raises:
        InputError: the file cannot be read, or a setting has a wrong path.
        CaseError: the content is invalid; lists every problem.
    """
    path = Path(path)
    content = set_values(read_document(path), settings or {})
    return HazardCase.from_dict(content, path.parent, path.name, settings or {})
