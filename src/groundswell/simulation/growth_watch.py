"""Detection of waves that grow although no source acts: the sign of an unstable run."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf

from groundswell.errors import Unstable, now_known

WINDOW = 3  # successive energies; the kinetic energy of standing waves vanishes for a moment
GROWTH = 100.0  # of the energy, 10 of the amplitude; between media, energy grows some tenfold
SHARE = 0.01  # of the largest energy so far; rounding errors may grow below it
SUPPLY = 10.0  # of the energy that waves have received since; its estimate has errors


@dataclass
class GrowthWatch:
    """Watches the kinetic energy of waves, which can hardly grow once all sources have ended.

    Faults that break also supply energy, so that it may grow by as much.

    Args:
        sources_end: time at which the last source ends, s.
        remedy: what may help.
    """

    sources_end: float
    remedy: str
    _largest: float = field(default=0.0, init=False)
    _recent: list[float] = field(default_factory=list, init=False)
    _lowest: float = field(default=inf, init=False)  # of the largest energies of windows
    _lowest_at: float = field(default=0.0, init=False)

    def add(self, energy: float, time: float, supplied: float = 0.0) -> None:
        """Add the energy of all ranks, in any unit, at a time (s).

        Args:
            supplied: energy that waves have received so far other than from sources.

        Raises:
            Unstable: the energy has grown by a large factor, and is not negligible.
        """
        self._largest = max(self._largest, energy)
        self._recent = [*self._recent, energy][-WINDOW:]
        if time <= self.sources_end or len(self._recent) < WINDOW:
            return
        allowed = GROWTH * self._lowest + SUPPLY * max(supplied, 0.0)
        if max(self._recent) < self._lowest:
            self._lowest, self._lowest_at = max(self._recent), time
        elif energy > max(allowed, SHARE * self._largest):
            raise now_known(Unstable(self._message(energy, time, supplied)))

    def _message(self, energy: float, time: float, supplied: float) -> str:
        times = f"{energy / self._lowest:.2g} times" if self._lowest else "infinitely many times"
        although = f"although the last source ended at t = {self.sources_end:.4g} s"
        if supplied != 0:
            although = "by more than faults release"
        return (
            f"waves grow {although}: by t = {time:.4g} s their energy has become {times} that at "
            f"t = {self._lowest_at:.4g} s, so the run is unstable; {self.remedy}"
        )
