"""Intensity measures that a run computes: `[output.intensity]`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal, get_args

from pydantic import Field

from groundswell.case.common import NotEmpty, Section, repeated
from groundswell.case.problems import Violation
from groundswell.case.units import Positive, Time

Measure = Literal["pga", "pgv", "pgd", "psa", "rotd50", "rotd100", "arias", "cav", "d5-75", "d5-95"]
MapMeasure = Literal["psa", "rotd50", "rotd100", "arias", "cav"]
Period = Annotated[Time, Positive]

MEASURES: tuple[Measure, ...] = get_args(Measure)
PERIODS = (0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.5, 10.0)  # s
DAMPING = 0.05


class IntensityOutput(Section):
    """Intensity measures at the receivers, and `maps` of some at the surface.

    `periods` and `damping` are those of oscillators. Maps need two more choices: the number of
    `angles` from 0 to 180 degrees for RotD50 and RotD100, and the `interval` at which oscillators
    are advanced, by default a fiftieth of the shortest period.
    """

    measures: Annotated[tuple[Measure, ...], NotEmpty] = MEASURES
    """Measures at the receivers; all by default."""
    periods: Annotated[tuple[Period, ...], NotEmpty] = PERIODS
    """Natural periods of the oscillators of response spectra; by default 13 from 0.1 s to 10 s."""
    damping: Annotated[float, Field(ge=0, lt=1)] = DAMPING
    """Fraction of critical damping of the oscillators."""
    maps: tuple[MapMeasure, ...] = ()
    """Measures to map at the surface."""
    angles: Annotated[int, Field(strict=True, ge=2, le=180)] = 18
    """Number of directions from 0 to 180 degrees for maps of RotD50 and RotD100."""
    interval: Annotated[Time, Positive] | None = None
    """Time between steps of the oscillators of maps, rounded down to whole steps of the solver: at
    most a twentieth of the shortest period, a fiftieth by default."""

    def violations(self) -> Iterator[Violation]:
        """Repeated names and periods, and an interval too long for the shortest period."""
        for key in ("measures", "periods", "maps"):
            yield from repeated(key, getattr(self, key))
        if self.interval is not None and self.interval > min(self.periods) / FEWEST:
            yield (
                ("interval",),
                f"must be at most 1/{FEWEST} of the shortest period, {min(self.periods):g} s",
            )

    @property
    def has_oscillators(self) -> bool:
        """Whether maps need oscillators at the surface."""
        return bool({"psa", "rotd50", "rotd100"}.intersection(self.maps))

    @property
    def has_totals(self) -> bool:
        """Whether maps need integrals of the acceleration."""
        return bool({"arias", "cav"}.intersection(self.maps))

    @property
    def map_angles(self) -> int:
        """Number of directions in which maps keep peaks."""
        return self.angles if {"rotd50", "rotd100"}.intersection(self.maps) else 0

    @property
    def map_interval(self) -> float:
        """Time between steps of the oscillators of maps, s."""
        return self.interval or min(self.periods) / USUAL


FEWEST, USUAL = 20, 50  # steps of the oscillators of maps in their shortest period
