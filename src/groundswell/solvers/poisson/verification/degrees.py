"""Errors by degree: they decrease exponentially, to rounding.

Rounding errors may reach about 1e-12: the double-precision epsilon, 2e-16, times a condition of
some thousands.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from groundswell.verify import Check

FINEST = 11  # from which degree on rounding is all
LARGEST, LEAST_GAIN = 1e-11, 3.0  # an error; from one degree to the next
SMALL = 1e-9  # errors above which the next one is smaller


def decrease(name: str, errors: Mapping[int, float]) -> list[Check]:
    """Checks of the largest error at high degrees, and of the least gain of a degree.

    Args:
        errors: by degree, in rising order.
    """
    pairs = [(a, b) for a, b in pairwise(errors) if errors[a] > SMALL]
    gains = [(errors[a] / errors[b]) ** (1 / (b - a)) for a, b in pairs]
    worst = max(error for degree, error in errors.items() if degree >= FINEST)
    found = ", ".join(f"{error:.0e}" for error in errors.values())
    return [
        Check.at_most(f"{name}: error, N = {FINEST} and more", worst, LARGEST, note=found),
        Check.at_least(f"{name}: least gain of a degree", min(gains), LEAST_GAIN),
    ]
