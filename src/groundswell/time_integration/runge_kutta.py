"""Explicit schemes in stages, each from the step's beginning along the latest rates."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Scheme:
    """Stage m makes u_m = u_0 + stages[m] dt f(u_(m-1)); the last one is the step.

    Such schemes keep u_0 and two stages at most (Jameson, Schmidt & Turkel 1981, AIAA 81-1259).

    Args:
        stages: share of the step in each stage.
        courant: share of the longest stable step that is safe.
        stands_waves: whether waves without any diffusion stay bounded.
    """

    stages: tuple[float, ...]
    courant: float
    stands_waves: bool

    @property
    def copies(self) -> int:
        """Copies of the fields: what is read cannot be written in the same sweep."""
        return min(len(self.stages) + 1, 3)

    @property
    def at_once(self) -> int:
        """Steps after which the result lies where the beginning did."""
        return 2 if len(self.stages) == 1 else 1

    def sweeps(self) -> list[tuple[int, int, int, int]]:
        """Sweeps of `at_once` steps: copies of u_0, of the latest stage, of the next; and stage.

        The last stage of several may write over u_0, of which it needs its own point only.
        """
        if len(self.stages) == 1:
            return [(0, 0, 1, 0), (1, 1, 0, 0)]
        ways, latest = [], 0
        for stage in range(len(self.stages)):
            last = stage == len(self.stages) - 1
            target = 0 if last else 2 if latest == 1 else 1
            ways.append((0, latest, target, stage))
            latest = target
        return ways


SCHEMES = {
    "euler": Scheme((1.0,), 0.5, stands_waves=False),
    "rk3": Scheme((1 / 3, 1 / 2, 1.0), 1.0, stands_waves=True),
    "rk4": Scheme((1 / 4, 1 / 3, 1 / 2, 1.0), 1.2, stands_waves=True),
}
