"""What the operator and an iteration move at the least (as Chalmers et al. 2023, eq. 4, count)."""

from __future__ import annotations

from dataclasses import dataclass

FACTORS = 6  # of the metric, at each node of an element; with screening its mass, too
PLACE = 4  # bytes

# Values of a vector that a merged iteration moves: the operator reads u; all iterations go on with
# two vectors (two read, two written), the last one of a CYCLE with two more, for which it reads the
# residuals before.
CYCLE = 10
VECTORS = 1 + 4 + (4 + CYCLE - 1) / CYCLE


@dataclass(frozen=True)
class Traffic:
    """Of vectors with `components` that the operator is applied to together.

    Args:
        assembled, local: values of a component, and nodes of all elements.
        size: bytes of a value.
        factors: that are stored for each node; 0 if they are worked out each time.
    """

    assembled: int
    local: int
    size: int
    factors: int
    components: int = 1

    @property
    def operator(self) -> float:
        """Bytes: u, places and factors are read, elements' parts are written."""
        once = self.factors * self.size + PLACE  # for all components
        each = self.size * (self.assembled + self.local)
        return once * self.local + self.components * each

    @property
    def iteration(self) -> float:
        """Bytes: elements' parts are read again, by their places, and vectors go forward."""
        each = self.size * (self.local + (VECTORS - 1) * self.assembled)
        return self.operator + PLACE * self.local + self.components * each


def stored_factors(metric: str, screening: float) -> int:
    """How many there are for each node."""
    return FACTORS + bool(screening) if metric == "stored" else 0
