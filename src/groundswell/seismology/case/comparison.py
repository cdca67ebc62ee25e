"""Options of comparisons between observed and simulated motion."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from groundswell.case.common import Section
from groundswell.case.problems import Violation
from groundswell.case.units import Frequency, Positive, Time
from groundswell.seismology.case.events import Date
from groundswell.seismology.case.outputs import Frame

Compared = Literal["velocity", "displacement", "acceleration", "pressure"]
Ends = tuple[Time, Time]
Corner = Annotated[Frequency, Positive]


class ComparisonOptions(Section):
    """How observed and simulated motion are compared.

    `band` is that of a zero-phase Butterworth band-pass of order 4, applied forward and backward;
    None means no filter. `quantity` is that of the observed records, in SI units. `windows` are
    times after time 0 of the run; by default, all common times. `origin` is the date of time 0, by
    default that of the run. `max_shift` limits time shifts, by default to half a window. `channel`
    is a pattern for channel codes, such as "BH?".
    """

    band: tuple[Corner, Corner] | None = None
    quantity: Compared = "velocity"
    components: Frame = "ZNE"
    windows: tuple[Ends, ...] = ()
    origin: Date | None = None
    max_shift: Annotated[Time, Positive] | None = None
    channel: str = "*"

    def violations(self) -> Iterator[Violation]:
        """Ends in the wrong order, and directions of a pressure."""
        if self.band and not self.band[0] < self.band[1]:
            yield ("band",), "must be the lower and then the higher frequency"
        for n, (start, end) in enumerate(self.windows):
            if not start < end:
                yield ("windows", n), "must be the start and then the end, s"
        if self.quantity == "pressure" and self.components != "ZNE":
            yield ("components",), "do not apply to pressure; leave them out"
