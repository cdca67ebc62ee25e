"""The wall time of the phases of a run, which it shows as they begin."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

from groundswell.simulation.progress import phase_progress

SHOWN = {  # of the phases of a run, which `summary.json` names
    "read": "Reading the case",
    "open device": "Opening the device",
    "measure bandwidth": "Measuring the memory bandwidth",
    "build": "Building the solver",
    "write": "Writing results",
}


@dataclass
class Clock:
    """Wall time by phase, and what the phases show.

    Args:
        quiet: show nothing.
    """

    quiet: bool
    started: datetime = field(default_factory=lambda: datetime.now(UTC))
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def __call__(self, phase: str, shown: str = "") -> Iterator[None]:
        """Measure a phase, and show `shown` or the usual text."""
        begun, text = time.perf_counter(), shown or SHOWN.get(phase, "")
        try:
            with phase_progress(text, quiet=self.quiet or not text):
                yield
        finally:
            self.seconds[phase] = self.seconds.get(phase, 0.0) + time.perf_counter() - begun
