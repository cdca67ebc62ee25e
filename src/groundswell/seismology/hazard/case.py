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


Measured = Annotated[Measure, PlainValidator(_measure)]


class RupturesSection(Section):
    """`[[ruptures]]`: a branch of ruptures with rates, from a table or from NRML.

    `spacing`, `bin_width` and `area_spacing` divide the sources of NRML into ruptures.
    """

    name: Name = "ruptures"
    weight: Weight = 1.0
    file: DataFile
    spacing: Annotated[Length, Positive] = 2000.0
    bin_width: Annotated[Number, Field(ge=1e-3, le=5)] = 0.1
    area_spacing: Annotated[Length, Positive] = 10_000.0


class SitesSection(Section):
    """`[sites]`: a table of sites, or a grid; by default the sites of the simulations.

    A grid has the first and last `longitude` and `latitude`, or `x` and `y`, and the number of
    `points` along each.
    """

    file: DataFile | None = None
    longitude: tuple[Longitude, Longitude] | None = None
    latitude: tuple[Latitude, Latitude] | None = None
    x: tuple[Length, Length] | None = None
    y: tuple[Length, Length] | None = None
    points: tuple[Count, Count] | None = None
    vs30: Annotated[Speed, Positive] = 760.0

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
    weight: Weight = 1.0
    # Simulated motion: a NetCDF file or a Zarr store.
    file: FileName | None = None
    distribution: Literal["samples", "lognormal"] = "samples"
    component: Literal["E", "N", "Z", "geometric-mean", "larger"] | None = None
    rupture: str = "rupture"
    # A ground-motion model.
    model: str | None = None
    parameters: dict[str, str | float] = Field(default_factory=dict)
    truncation: Annotated[Number, Positive] | None = None
    maximum_distance: Annotated[Length, Positive] = 300e3

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
    pga: Range | None = None
    psa: Range | None = None
    pgv: SpeedRange | None = None

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
    sites: Annotated[tuple[str, ...], NotEmpty]
    magnitude_bin: Annotated[Number, Field(ge=0.01)] = 0.5
    distance_bin: Annotated[Length, Field(ge=100.0)] = 10e3


class OutputSection(Section):
    """`[output]`: the folder, the sites of curves and spectra, and optional files.

    `relief` is a NetCDF file with the variable `elevation`, `topography` or `z`, drawn below maps.
    `map_lines` are names or files of lines that maps show; see `map_lines.files`.
    """

    directory: FileName = Field(default=Path("hazard"), validate_default=True)
    sites: tuple[str, ...] = ()
    relief: DataFile | None = None
    map_lines: MapLines = ()
    pictures: Flag = True
    openquake: Flag = False


class HazardCase(Section):
    """The description of a hazard analysis."""

    title: str = ""
    measures: Annotated[tuple[Measured, ...], NotEmpty]
    return_periods: Annotated[tuple[Annotated[Number, Positive], ...], NotEmpty] = (475.0, 2475.0)
    exposure: Annotated[Number, Positive] = 50.0
    fractiles: tuple[Share, ...] = (0.16, 0.5, 0.84)
    ruptures: Annotated[tuple[RupturesSection, ...], NotEmpty]
    sites: SitesSection = SitesSection()
    intensities: Annotated[tuple[IntensitiesSection, ...], NotEmpty]
    levels: LevelsSection = LevelsSection()
    disaggregation: DisaggregationSection | None = None
    output: OutputSection = Field(default_factory=dict, validate_default=True)  # type: ignore
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
