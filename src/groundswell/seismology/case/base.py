"""The base of the cases of all solvers of seismic waves: `SeismicCase`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar

from pydantic import AfterValidator, ValidationInfo, field_validator

from groundswell.case.common import Case, NotEmpty, TimeSection
from groundswell.case.problems import Violation, reject
from groundswell.seismology.case.events import EventFile, EventSection, misplaced_event
from groundswell.seismology.case.grid import GridSection, Position
from groundswell.seismology.case.media import (
    ArraySection,
    Attenuation,
    AwpSection,
    MediumSection,
    NoAttenuation,
)
from groundswell.seismology.case.outputs import SeismicOutput
from groundswell.seismology.case.receivers import (
    Instrument,
    Receiver,
    ReceiverFile,
    long_codes,
    repeated_codes,
    wrong_instrument,
)
from groundswell.seismology.case.sources import RuptureFile, Source, misplaced_rupture


def _placed_source(source: Source, info: ValidationInfo) -> Source:
    grid = info.data.get("grid")
    if grid and isinstance(source, Position):
        reject(grid.misplaced(source))
    if grid and isinstance(source, RuptureFile):
        reject(misplaced_rupture(source, grid))
    if grid and isinstance(source, EventFile):
        reject(misplaced_event(source, grid))
    return source


PlacedSource = Annotated[Source, AfterValidator(_placed_source)]


def _placed_receiver(receiver: Receiver, info: ValidationInfo) -> Receiver:
    if grid := info.data.get("grid"):
        reject(grid.misplaced(receiver))
    if output := info.data.get("output"):
        reject(long_codes(receiver, output.seismograms.formats))
    return receiver


class SeismicCase(Case):
    """A case with `[grid]`, `[medium]`, `[attenuation]`, `[[source]]` and receivers.

    `output` of a subclass has `seismograms`; `instruments` are the kinds of receivers that it has.
    """

    instruments: ClassVar[tuple[Instrument, ...]] = ("seismometer",)

    time: TimeSection
    grid: GridSection
    """The region and its cells."""
    medium: MediumSection
    """Wave speeds, density and quality factors."""
    attenuation: Attenuation = NoAttenuation(model="none")
    """How quality factors act."""
    event: EventSection = EventSection()
    """Metadata of the earthquake."""
    source: Annotated[tuple[PlacedSource, ...], NotEmpty]
    """Sources of waves. Repeat the table for more."""
    receiver: tuple[Annotated[Receiver, AfterValidator(_placed_receiver)], ...] = ()
    """Stations that record seismograms. Repeat the table for more."""
    receivers: ReceiverFile | None = None
    """File of stations, instead of tables."""

    # A check of two sections belongs to the later one, so that it runs even if a third is invalid.

    @field_validator("output", check_fields=False)
    @classmethod
    def _within_duration(cls, output: SeismicOutput, info: ValidationInfo) -> SeismicOutput:
        if time := info.data.get("time"):
            reject(output.longer_than(time.duration))
        return output

    @field_validator("medium")
    @classmethod
    def _matches_the_grid(cls, medium: MediumSection, info: ValidationInfo) -> MediumSection:
        grid = info.data.get("grid")
        cells = getattr(grid, "cells", None)  # None for a mesh
        if cells and isinstance(medium, AwpSection | ArraySection) and medium.cells != cells:
            key = "cells" if isinstance(medium, AwpSection) else "vp"
            allowed = f"has {medium.cells} cells (nx, ny, nz), but the region {cells}"
            reject([((key,), allowed)])
        return medium

    @field_validator("attenuation")
    @classmethod
    def _has_q(cls, attenuation: Attenuation, info: ValidationInfo) -> Attenuation:
        medium = info.data.get("medium")
        if attenuation.model != "none" and medium and medium.has_q is False:
            reject([(("model",), 'needs qp and qs in [medium]; add them, or use "none"')])
        return attenuation

    @field_validator("receiver")
    @classmethod
    def _unique_and_known(cls, receiver: tuple[Receiver, ...]) -> tuple[Receiver, ...]:
        reject(repeated_codes(receiver))
        for n, each in enumerate(receiver):
            problems = wrong_instrument(each, cls.instruments)
            reject(((n, *location), text) for location, text in problems)
        return receiver

    @field_validator("receivers")
    @classmethod
    def _one_list(cls, receivers: ReceiverFile | None, info: ValidationInfo) -> ReceiverFile | None:
        if receivers and info.data.get("receiver"):
            reject([((), "give stations as [[receiver]] or in a file, not both")])
        grid = info.data.get("grid")
        if receivers and receivers.outside == "skip" and grid and not hasattr(grid, "size"):
            reject([(("outside",), 'cannot be "skip" on a mesh; leave out the stations beside it')])
        return receivers

    def violations(self) -> Iterator[Violation]:
        """A medium with Q but no `attenuation.model`, intensity of nothing, lines nowhere."""
        if "attenuation" not in self.model_fields_set and self.medium.has_q:
            models = '"constant", "power-law" or, to ignore them, "none"'
            yield (
                ("attenuation", "model"),
                f"is required since the medium has qp and qs: {models}",
            )
        wanted = getattr(self.output, "intensity", None)
        if wanted and not wanted.maps and not self._has_velocities:
            yield (
                ("output", "intensity"),
                "has nothing to measure; add a [[receiver]] that records velocity, or maps",
            )

        if getattr(self.output, "map_lines", ()) and self.grid.geography is None:
            yield (
                ("output", "map_lines"),
                "needs the position of the region on Earth; add [grid.geography], which meshes "
                "from files cannot have, or leave it out",
            )

    @property
    def _has_velocities(self) -> bool:
        """Whether receivers may record velocity."""
        return self.receivers is not None or any(
            receiver.kind != "hydrophone" for receiver in self.receiver
        )
