"""Outputs of a case that every solver of seismic waves has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from groundswell.case.common import NotEmpty, OutputSection, Section, repeated
from groundswell.case.problems import Violation
from groundswell.case.units import Count, Flag, Positive, Time
from groundswell.seismology.case.intensity import IntensityOutput

GREEN = "strain_green_tensor"  # name of the section, the output and the file
Format = Literal["hdf5", "sac", "mseed"]
Interval = Annotated[Time, Positive]


class SeismogramOutput(Section):
    """What the receivers record; without an interval, every time step.

    The interval is kept exactly: an automatic time step divides it.
    """

    interval: Interval | None = None
    formats: Annotated[tuple[Format, ...], NotEmpty] = ("hdf5",)

    def violations(self) -> Iterator[Violation]:
        """A format named twice."""
        yield from repeated("formats", self.formats)


class SurfaceOutput(Section):
    """Time series of velocity on the surface, at every `stride`-th cell.

    The interval is rounded to whole time steps.
    """

    interval: Interval
    stride: Count = 1


class SeismicOutput(OutputSection):
    """`[output]`: seismograms, the motion of the surface, intensity measures, and films."""

    seismograms: SeismogramOutput = SeismogramOutput()
    surface: SurfaceOutput | None = None
    intensity: IntensityOutput | None = None
    film: Flag = False

    def violations(self) -> Iterator[Violation]:
        """A film of nothing."""
        yield from super().violations()
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
