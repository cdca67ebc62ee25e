"""Outputs of a case that every solver of seismic waves has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from groundswell.case.common import NotEmpty, OutputSection, Section, repeated
from groundswell.case.problems import Violation
from groundswell.case.units import Count, Flag, Positive, Time
from groundswell.seismology.case.intensity import IntensityOutput
from groundswell.seismology.case.map_lines import MapLines

GREEN = "strain_green_tensor"  # name of the section, the output and the file
Format = Literal["hdf5", "sac", "mseed", "text", "segy"]
Motion = Literal["velocity", "displacement", "acceleration"]
Frame = Literal["ZNE", "ZRT"]
Interval = Annotated[Time, Positive]


class SeismogramOutput(Section):
    """What the receivers record; without an interval, every time step.

    The interval is kept exactly: an automatic time step divides it. `seismograms.h5` has velocity
    towards E, N and Z as recorded; the other keys apply to all other formats. Their default
    interval is that of the recording or, if that is no round number, the next shorter round one.
    `shot` is the field record number in SEG-Y.
    """

    interval: Interval | None = None
    """Sampling interval; every step by default. An automatic time step divides it."""
    formats: Annotated[tuple[Format, ...], NotEmpty] = ("hdf5",)
    """Formats of the files; HDF5 is always written."""
    quantities: Annotated[tuple[Motion, ...], NotEmpty] = ("velocity",)
    """What the files contain, except HDF5, which has velocity."""
    components: Frame = "ZNE"
    """Components up, north, east, or up, radial (away from the epicentre), transverse (to the right
    of radial, seen from above), except in HDF5."""
    export_interval: Interval | None = None
    """Sampling interval of all formats except HDF5; by default that of the recording, or the next
    shorter round one."""
    shot: Count = 1
    """Field record number in SEG-Y."""

    def violations(self) -> Iterator[Violation]:
        """A format or a quantity named twice, or an interval that SEG-Y cannot express."""
        yield from repeated("formats", self.formats)
        yield from repeated("quantities", self.quantities)
        given = self.export_interval
        if "segy" in self.formats and given and not _is_whole(1e6 * given):
            allowed = "must be a whole number of microseconds, for the format segy"
            yield ("export_interval",), allowed


def _is_whole(value: float) -> bool:
    return abs(value - round(value)) <= 1e-6 * value and round(value) > 0


class SurfaceOutput(Section):
    """Time series of velocity on the surface, at every `stride`-th cell.

    The interval is rounded to whole time steps.
    """

    interval: Interval
    """Time between samples, rounded to whole steps."""
    stride: Count = 1
    """Record every stride-th cell along both axes."""


class SeismicOutput(OutputSection):
    """`[output]`: seismograms, the motion of the surface, intensity measures, and films."""

    seismograms: SeismogramOutput = SeismogramOutput()
    """Sampling and formats of the receivers' records."""
    surface: SurfaceOutput | None = None
    """Time series of velocity at the surface."""
    intensity: IntensityOutput | None = None
    """Response spectra and other intensity measures, at receivers and as maps."""
    film: Flag = False
    """Whether to make films of the surface and of slip rates."""
    map_lines: MapLines = ()
    """Lines that maps show: "coastlines", "borders", or GeoJSON, GMT, KML and shapefiles."""

    def violations(self) -> Iterator[Violation]:
        """A film of nothing, and lines named twice."""
        yield from super().violations()
        yield from repeated("map_lines", self.map_lines)
        if self.film and not (self.surface or getattr(self, "rupture", None)):
            yield (
                ("film",),
                "has nothing to show; record the slip of faults, such as "
                'rupture = { interval = "0.05 s" }, or the surface, or leave film out',
            )

    def longer_than(self, duration: float) -> Iterator[Violation]:
        """Intervals in which a run of `duration` s would record nothing."""
        for name in ("seismograms", "surface", "volumes", "fault_points", "rupture", GREEN):
            interval = getattr(getattr(self, name, None), "interval", None)
            if interval is not None and interval > duration:
                yield (name, "interval"), f"must be at most the duration, {duration:g} s"
