"""Outputs of faults: time series at points, and the history of the whole rupture."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from groundswell.case.common import NotEmpty, Section, repeated
from groundswell.case.problems import Violation
from groundswell.case.units import Length, NonNegative
from groundswell.seismology.case.fault import fault_name
from groundswell.seismology.case.outputs import Interval

PointFormat = Literal["netcdf", "scec"]


class FaultPoint(Section):
    """A point on a fault: the nearest one to this distance along strike and down dip.

    Distances are those of `fault.nc`. `fault` names the fault; it is the only one by default.
    """

    name: Annotated[str, AfterValidator(fault_name)]
    """Name of the point."""
    along_strike: Length
    """Distance along strike, as in fault.nc."""
    down_dip: Annotated[Length, NonNegative]
    """Distance down dip, as in fault.nc."""
    fault: Annotated[str, Field(min_length=1)] | None = None
    """Name of the fault, if there are several."""


class FaultPointsOutput(Section):
    """Time series of slip, slip rate, stress and state at points on faults.

    The interval is rounded to whole time steps; without one, every step is recorded.
    """

    point: Annotated[tuple[FaultPoint, ...], NotEmpty]
    """Points on faults. Repeat the table for more."""
    interval: Interval | None = None
    """Time between samples, rounded to whole steps; every step by default."""
    formats: Annotated[tuple[PointFormat, ...], NotEmpty] = ("netcdf",)
    """Formats of the files; "scec" is text for the SCEC/USGS code verification."""

    def violations(self) -> Iterator[Violation]:
        """Repeated formats or names of points."""
        yield from repeated("formats", self.formats)
        for n, name in enumerate(names := [point.name for point in self.point]):
            if name in names[:n]:
                yield ("point", n, "name"), f'"{name}" is taken; names must be unique'


class RuptureOutput(Section):
    """The slip of each face (or cell) of the faults over time, also as a source in SRF.

    The interval is rounded to whole time steps.
    """

    interval: Interval
    """Time between samples, rounded to whole steps."""
