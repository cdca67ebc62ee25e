"""Explicit multi-stage (low-storage Runge-Kutta) schemes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Scheme:
    """Scheme with stages u_m = u_0 + stages[m] dt f(u_(m-1)); the last stage is the new solution.

    It stores u_0 and at most two stages (Jameson, Schmidt & Turkel 1981, AIAA 81-1259).

    Args:
        stages: coefficient of the time step in each stage.
        courant: factor of the stability limit that gives a safe step.
        is_stable_for_waves: whether undamped waves stay bounded.
    """

    stages: tuple[float, ...]
    courant: float
    is_stable_for_waves: bool

    @property
    def copies(self) -> int:
        """Number of copies of the fields: a sweep cannot write to the copy that it reads."""
        return min(len(self.stages) + 1, 3)

    @property
    def steps_per_cycle(self) -> int:
        """Number of steps after which the solution is in its first copy again."""
        return 2 if len(self.stages) == 1 else 1

    def sweeps(self) -> list[tuple[int, int, int, int]]:
        """Sweeps of `steps_per_cycle` steps: copies of u_0, u_(m-1) and u_m, and the stage m.

        With several stages the last one overwrites u_0, which it reads at its own point only.
        """
        if len(self.stages) == 1:
            return [(0, 0, 1, 0), (1, 1, 0, 0)]
        sweeps, latest = [], 0
        for stage in range(len(self.stages)):
            last = stage == len(self.stages) - 1
            target = 0 if last else 2 if latest == 1 else 1
            sweeps.append((0, latest, target, stage))
            latest = target
        return sweeps


SCHEMES = {
    "euler": Scheme((1.0,), 0.5, is_stable_for_waves=False),
    "rk3": Scheme((1 / 3, 1 / 2, 1.0), 1.0, is_stable_for_waves=True),
    "rk4": Scheme((1 / 4, 1 / 3, 1 / 2, 1.0), 1.2, is_stable_for_waves=True),
}
