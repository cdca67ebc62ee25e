"""The section `[time]` of a case."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from typing import Annotated

from pydantic import Field

from groundswell.case.common import Section
from groundswell.case.problems import Violation
from groundswell.case.units import InRange, Positive, Time

MAX_STEPS = 1_000_000
ROUNDING = 1e-9  # relative, of a duration over a step


class TimeSection(Section):
    """`[time]`: implicit steps of order 1, 2 or 3 through the duration.

    The number of steps is rounded up.
    """

    duration: Annotated[Time, Positive, InRange]
    """Duration of the solution in time."""
    step: Annotated[Time, Positive, InRange]
    """Length of the implicit steps."""
    order: Annotated[int, Field(strict=True, ge=1, le=3)] = 2
    """Order of accuracy in time."""

    @property
    def steps(self) -> int:
        """Number of steps."""
        return ceil(self.duration / self.step * (1 - ROUNDING))

    def violations(self) -> Iterator[Violation]:
        """A step that is longer than the duration, or too short."""
        if self.step > self.duration:
            yield ("step",), f"must be at most the duration, {self.duration:g} s"
        elif self.steps > MAX_STEPS:
            yield ("step",), f"must be at least duration / {MAX_STEPS:,}"
