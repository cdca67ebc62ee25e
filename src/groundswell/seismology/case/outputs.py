"""Outputs of a case that every solver of seismic waves has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from groundswell.case.common import NotEmpty, Section, repeated
from groundswell.case.problems import Violation
from groundswell.case.units import Positive, Time

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
