"""Rates of magnitudes: totals, moments in closed form, and areas."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad

from groundswell.errors import InputError
from groundswell.seismology.hazard.magnitudes import equal_bins, truncated_gutenberg_richter
from groundswell.seismology.hazard.scaling import mechanism, peer, wells_coppersmith
from groundswell.seismology.sources.moment import moment_from_magnitude


@pytest.mark.parametrize("seed", range(5))
def test_bins_hold_all_earthquakes_of_the_range(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.uniform(2, 5), rng.uniform(0.5, 1.4)
    lowest, width = rng.uniform(4, 5.5), rng.uniform(0.05, 0.4)
    highest = lowest + rng.uniform(0.5, 3)
    found = truncated_gutenberg_richter(a, b, lowest, highest, width)
    step = found.magnitudes[1] - found.magnitudes[0]
    assert step <= width * (1 + 1e-6) and np.allclose(np.diff(found.magnitudes), step)
    assert found.magnitudes[0] - step / 2 == pytest.approx(lowest)
    assert found.magnitudes[-1] + step / 2 == pytest.approx(highest)
    assert found.rates.sum() == pytest.approx(10 ** (a - b * lowest) - 10 ** (a - b * highest))
    for m, rate in zip(found.magnitudes, found.rates, strict=True):  # the formula of the notes
        low, high = 10 ** (a - b * (m - step / 2)), 10 ** (a - b * (m + step / 2))
        assert rate == pytest.approx(low - high)


def test_the_moment_of_bins_is_that_of_the_distribution() -> None:
    """The error is of second order in the width of the bins."""
    a, b, lowest, highest = 4.0, 0.9, 5.0, 7.5

    def density(m: float) -> float:
        return b * np.log(10) * 10 ** (a - b * m) * moment_from_magnitude(m)

    c = 1.5 - b
    closed = b * 10 ** (a + 9.1) * (10 ** (c * highest) - 10 ** (c * lowest)) / c
    assert closed == pytest.approx(quad(density, lowest, highest)[0], rel=1e-8)
    errors = [
        truncated_gutenberg_richter(a, b, lowest, highest, width).moment_rate / closed - 1
        for width in (0.1, 0.05, 0.025)
    ]
    assert abs(errors[0]) < 0.01
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.05)
    assert errors[1] / errors[2] == pytest.approx(4, rel=0.05)


def test_the_range_need_not_be_a_multiple_of_the_width() -> None:
    found = truncated_gutenberg_richter(3.0, 1.0, 5.5, 6.5, 0.2)
    assert np.allclose(found.magnitudes, [5.6, 5.8, 6.0, 6.2, 6.4])
    assert len(truncated_gutenberg_richter(3.0, 1.0, 5.0, 6.1, 0.1).rates) == 11


@pytest.mark.parametrize(("lowest", "highest", "width"), [(6, 6, 0.1), (7, 6, 0.1), (5, 6, 0)])
def test_impossible_ranges(lowest: float, highest: float, width: float) -> None:
    with pytest.raises(InputError, match="Gutenberg-Richter from magnitude"):
        truncated_gutenberg_richter(3.0, 1.0, lowest, highest, width)


def test_incremental_bins() -> None:
    found = equal_bins(6.0, 0.5, np.array([1e-2, 1e-3, 1e-4]))
    assert found.magnitudes.tolist() == [6.0, 6.5, 7.0]
    wanted = sum(r * moment_from_magnitude(m) for r, m in ((1e-2, 6.0), (1e-3, 6.5), (1e-4, 7.0)))
    assert found.moment_rate == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("rake", "kind", "area"),
    # Areas at magnitude 7, from the coefficients of table 2A, km^2.
    [
        *[(0, "strike-slip", 759), (180, "strike-slip", 759), (90, "reverse", 741)],
        *[(-90, "normal", 741), (270, "normal", 741), (None, "unknown", 759)],
    ],
)
def test_areas(rake: float | None, kind: str, area: float) -> None:
    assert mechanism(rake) == kind
    assert wells_coppersmith(7.0, rake) == pytest.approx(area * 1e6, rel=2e-3)
    assert peer(6.5) == pytest.approx(10**2.5 * 1e6)
