"""Numbers of points for which Fourier transforms are fast."""

from __future__ import annotations

from collections.abc import Iterable

LARGEST_FACTOR = 7  # largest prime factor for which FFT libraries have optimised code


def prime_factors(n: int) -> list[int]:
    """Prime factors of n, ascending."""
    found, factor = [], 2
    while n > 1:
        while n % factor == 0:
            found.append(factor)
            n //= factor
        factor = factor + 1 if factor * factor <= n else max(n, 2)
    return found


def is_fast(n: int) -> bool:
    """Whether the transform of n points is fast."""
    return max(prime_factors(n), default=1) <= LARGEST_FACTOR


def cost(n: int) -> float:
    """Estimated cost of a transform of n points: n times the sum of its prime factors."""
    return float(n * sum(prime_factors(n)))


def next_fast(n: int) -> int:
    """The smallest fast number of points that is at least n."""
    while not is_fast(n):
        n += 1
    return n


def cheapest_size(least: int, most: int) -> int:
    """The number of points from `least` to `most` with the fastest transform.

    Along the fastest axis, transforms of an even number of real values take half the time, and the
    fused step requires an even number.
    """
    return min(range(least, most + 1), key=lambda n: cost(n) * (1 + n % 2))


def cheapest_margin(counts: Iterable[int], margins: Iterable[int]) -> int:
    """The margin m with the least total cost of transforms of n + 2 m points, n in `counts`.

    Args:
        counts: numbers of points.
        margins: allowed margins.
    """
    sizes = list(counts)
    return min(margins, key=lambda margin: sum(cost(n + 2 * margin) for n in sizes))
