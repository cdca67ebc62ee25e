"""How far faults with rate-and-state friction slip in a time step, in lengths of their state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from groundswell.arrays import Floats
from groundswell.seismology.faults.conditions import lengths_of
from groundswell.seismology.faults.estimates import FaultEstimates
from groundswell.seismology.faults.labels import fault_label
from groundswell.seismology.faults.points import FaultPoints

ACCURATE = 1.0  # lengths in a step up to which states are accurate


def step_warnings(
    label: str, estimates: FaultEstimates, dt: float, stable: float = np.inf
) -> Iterator[str]:
    """Time steps that are probably too long for the state of friction.

    Args:
        label: of the fault.
        dt: time step, s.
        stable: lengths in a step above which the scheme is unstable.
    """
    lengths = lengths_of([estimates.conditions])[estimates.may_slip]
    if not len(lengths) or not (counts := estimates.peak_rate * dt / lengths).max() > ACCURATE:
        return
    n = int(counts.argmax())
    rate, length, count = estimates.peak_rate[n], lengths[n], counts[n]
    fate = "stops the run" if count > stable else "makes the state of friction inaccurate"
    yield (
        f"{label} may slip at about {rate:.3g} m/s, {count:.3g} times friction.length = "
        f"{length:.3g} m in a time step of {dt:.3g} s, which {fate}; set time.step to at most "
        f"{length * ACCURATE / rate:.2g} s"
    )


@dataclass(frozen=True)
class FarthestStep:
    """Where a fault has slipped farthest in a time step, in lengths of its state.

    Args:
        fault: its label.
        place: of the point, for messages.
        rate: largest slip rate there, m/s.
        length: in which the state evolves, m.
        dt: time step, s.
    """

    fault: str
    place: str
    rate: float
    length: float
    dt: float

    @property
    def count(self) -> float:
        """Slip in the step over the length."""
        return self.rate * self.dt / self.length

    @property
    def description(self) -> str:
        """The slip in the step, for messages."""
        return (
            f"{self.fault} slips at {self.rate:.3g} m/s at {self.place}, {self.count:.3g} "
            f"times friction.length = {self.length:.3g} m in a time step of {self.dt:.3g} s"
        )

    @property
    def cure(self) -> str:
        """A step that is accurate."""
        return f"set time.step to at most {self.length * ACCURATE / self.rate:.2g} s"


def farthest_steps(
    faults: Mapping[str, FaultPoints], rates: Floats, lengths: Floats, dt: float
) -> Iterator[FarthestStep]:
    """Yield the farthest step of each fault.

    Args:
        faults: the points of each fault, by its name.
        rates: largest slip rate at the points of all faults, m/s.
        lengths: of the state there, m; see `lengths_of`.
        dt: time step, s.
    """
    ends = np.cumsum([len(points) for points in faults.values()])[:-1]
    labels = [fault_label(n, name) for n, name in enumerate(faults)]
    for label, points, rate, length in zip(
        labels, faults.values(), np.split(rates, ends), np.split(lengths, ends), strict=True
    ):
        n = int((rate / length).argmax())
        yield FarthestStep(label, points.describe(n), float(rate[n]), float(length[n]), dt)


def slip_warnings(steps: Iterable[FarthestStep]) -> Iterator[str]:
    """Faults that have slipped farther in a time step than is accurate."""
    for step in steps:
        if step.count > ACCURATE:
            yield (f"{step.description}, where the state of friction is inaccurate; {step.cure}")
