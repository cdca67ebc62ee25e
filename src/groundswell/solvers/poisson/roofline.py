"""Least memory traffic of the operator and of an iteration (Chalmers et al. 2023, eq. 4)."""

from __future__ import annotations

from dataclasses import dataclass

FACTORS = 6  # geometric factors at each node; with screening the mass is stored as well
INDEX = 4  # bytes

# Vectors that an iteration of the fused conjugate gradients moves: the operator reads u; every
# iteration updates two vectors (two read, two written); the last one of a CYCLE updates two more
# and reads all residuals of the cycle.
CYCLE = 10
VECTORS = 1 + 4 + (4 + CYCLE - 1) / CYCLE


@dataclass(frozen=True)
class MemoryTraffic:
    """Bytes that the operator and an iteration move.

    Args:
        assembled: values of a component.
        local: nodes of all elements.
        size: bytes of a value.
        factors: stored for each node; 0 if they are computed each time.
        components: of the vectors.
        points: of all elements, where factors are stored; the nodes by default.
    """

    assembled: int
    local: int
    size: int
    factors: int
    components: int = 1
    points: int | None = None

    @property
    def operator(self) -> float:
        """Bytes of the operator: reads u, indices and factors, writes the elements' results."""
        points = self.local if self.points is None else self.points
        shared = self.factors * self.size * points + INDEX * self.local  # by all components
        each = self.size * (self.assembled + self.local)
        return shared + self.components * each

    @property
    def iteration(self) -> float:
        """Bytes of an iteration: also gathers the elements' results and updates the vectors."""
        each = self.size * (self.local + (VECTORS - 1) * self.assembled)
        return self.operator + INDEX * self.local + self.components * each


def stored_factors(metric: str, screening: float) -> int:
    """Number of factors that are stored for each node."""
    return FACTORS + bool(screening) if metric == "stored" else 0
