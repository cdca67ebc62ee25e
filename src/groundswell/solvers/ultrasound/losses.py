"""Whether waves of the sources are absorbed, and how the scheme absorbs them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from groundswell.solvers.ultrasound.dispersion import LossyWave, most_absorbing, worst_wave
from groundswell.solvers.ultrasound.medium import AcousticMedium

FEWEST_STEPS = 4.0  # per period, below which there is no estimate of the error of the absorption


@dataclass(frozen=True)
class SourceLosses:
    """Losses of the waves that the sources emit.

    Args:
        materials: the medium, or the points of it that matter.
        frequencies: of the sources, Hz.
        reference_speed: sound speed of the k-space correction, m/s.
        dt: time step, s.
    """

    materials: AcousticMedium
    frequencies: Sequence[float]
    reference_speed: float
    dt: float

    @property
    def present(self) -> bool:
        """Whether the medium absorbs and a source has a frequency."""
        return self.materials.is_absorbing and bool(self.frequencies)

    @property
    def highest(self) -> float:
        """The highest frequency, Hz."""
        return max(self.frequencies)

    @property
    def steps_per_period(self) -> float:
        """Time steps per period of the highest frequency."""
        return 1 / (self.highest * self.dt)

    def wave(self, dt: float | None = None) -> LossyWave | None:
        """The wave of the highest frequency at the points with the largest absorption.

        None if no wave resembles that of the power law, or there are too few steps per period.

        Args:
            dt: time step, s; by default that of the case.
        """
        if dt is None and self.steps_per_period < FEWEST_STEPS:
            return None
        step = self.dt if dt is None else dt
        return worst_wave(most_absorbing(self.materials), self.highest, self.reference_speed, step)
