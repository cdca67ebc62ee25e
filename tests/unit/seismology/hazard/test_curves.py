"""Rates of exceedance against closed forms and sampling errors; maps and fractiles."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from groundswell.seismology.hazard.curves import (
    exceedance_rates,
    fractile,
    level_at,
    probability,
    weighted_mean,
)
from groundswell.seismology.hazard.disaggregation import (
    EPSILONS,
    Contribution,
    disaggregate,
)
from groundswell.seismology.hazard.exceedance import Lognormal, Samples
from groundswell.seismology.hazard.ruptures import Rupture, Ruptures

LEVELS = np.geomspace(0.01, 3.0, 40)


@pytest.mark.parametrize("truncation", [None, 3.0, 1.0])
def test_one_fault_with_lognormal_motion(truncation: float | None) -> None:
    """In closed form: rate times the survival function of the (truncated) normal distribution."""
    mean, deviation, rate = np.log(0.2), 0.6, 0.01
    motion = Lognormal(np.array([[mean]]), np.array([[deviation]]), truncation)
    found = exceedance_rates(motion, np.array([rate]), LEVELS, 1)[0]
    epsilon = (np.log(LEVELS) - mean) / deviation
    wanted = norm.sf(epsilon)
    if truncation is not None:
        inside = norm.cdf(truncation) - norm.cdf(-truncation)
        wanted = np.clip((wanted - norm.sf(truncation)) / inside, 0, 1)
    assert found == pytest.approx(rate * wanted, abs=1e-15)


def test_without_scatter_a_rupture_exceeds_or_not() -> None:
    motion = Lognormal(np.log([[0.2]]), np.zeros((1, 1)))
    assert motion.probabilities(0, np.array([0.1, 0.199, 0.201])).tolist() == [[1, 1, 0]]


def test_ruptures_that_are_not_felt() -> None:
    motion = Lognormal(np.array([[-np.inf], [0.0]]), np.ones((2, 1)))
    assert motion.probabilities(0, np.array([1e-6, 1.0])).tolist()[0] == [0, 0]
    assert np.isfinite(motion.span).all()


def test_samples_agree_within_their_error() -> None:
    """1e5 samples: the error of each rate is binomial, and all are within 4.5 deviations."""
    rng, count = np.random.default_rng(7), 100_000
    means, deviations = np.log([0.3, 0.1, 0.05]), np.array([0.5, 0.6, 0.7])
    rates = np.array([1e-3, 5e-3, 2e-2])
    values = np.exp(means[:, None] + deviations[:, None] * rng.standard_normal((3, count)))
    exact = Lognormal(means[:, None], deviations[:, None])
    sampled = Samples(values[:, :, None])
    p = exact.probabilities(0, LEVELS)
    error = np.sqrt((rates[:, None] ** 2 * p * (1 - p) / count).sum(axis=0))
    difference = np.abs(
        exceedance_rates(sampled, rates, LEVELS, 1)[0]
        - exceedance_rates(exact, rates, LEVELS, 1)[0]
    )
    assert (difference <= 4.5 * error + 1e-12).all() and (difference > 0).any()
    fit = sampled.lognormal()
    assert fit.mean[:, 0] == pytest.approx(means, abs=4.5 * deviations.max() / np.sqrt(count))
    assert fit.deviation[:, 0] == pytest.approx(deviations, rel=0.02)


def test_samples_are_counted_as_they_are() -> None:
    """Against a plain count, with ruptures of fewer variations."""
    rng = np.random.default_rng(2)
    values = rng.lognormal(size=(4, 9, 3))
    values[1, 5:] = np.nan
    values[2, 0] = values[2, 1]
    levels = np.sort(np.append(rng.lognormal(size=6), values[2, 0, 0]))
    found = Samples(values)
    for site in range(3):
        for r in range(4):
            known = values[r, :, site][np.isfinite(values[r, :, site])]
            wanted = [(known > level).mean() for level in levels]
            assert found.probabilities(site, levels)[r] == pytest.approx(wanted)


def test_one_variation_has_no_scatter() -> None:
    assert Samples(np.full((1, 1, 1), 0.5)).lognormal().deviation.item() == 0


# --- probabilities and maps ---------------------------------------------------------------------


def test_probabilities_of_a_poisson_process() -> None:
    assert probability(1 / 475, 50) == pytest.approx(0.1, abs=1e-3)
    assert probability(4.04e-4, 50) == pytest.approx(0.02, abs=1e-4)
    assert probability(0.0, 50) == 0 and probability(1e-12, 1) == pytest.approx(1e-12, rel=1e-9)


def test_power_laws_are_interpolated_exactly() -> None:
    """A curve that is a straight line of logarithms, at any level."""
    rng = np.random.default_rng(5)
    k = rng.uniform(1, 4, (6, 1))
    rates = 1e-3 * (LEVELS / 0.1) ** -k
    for rate in (2e-3, 1e-3, 5e-4):
        assert level_at(LEVELS, rates, rate) == pytest.approx(0.1 * (1e-3 / rate) ** (1 / k[:, 0]))


def test_levels_outside_the_curve_are_unknown() -> None:
    levels, rates = np.array([0.1, 0.2, 0.4]), np.array([1e-2, 1e-3, 1e-4])
    assert np.isnan(level_at(levels, rates, 2e-2)) and np.isnan(level_at(levels, rates, 5e-5))
    assert level_at(levels, rates, 1e-2) == pytest.approx(0.1)
    assert level_at(levels, rates, 1e-3) == pytest.approx(0.2)
    assert level_at(levels, rates, 1e-4) == pytest.approx(0.4)


def test_steps_of_a_curve() -> None:
    """Curves of few samples are flat in parts, and end at a rate of 0."""
    levels, rates = np.array([0.1, 0.2, 0.3, 0.4]), np.array([1e-2, 1e-3, 1e-3, 0.0])
    assert level_at(levels, rates, 1e-3) == pytest.approx(0.3)
    assert level_at(levels, rates, 5e-4) == pytest.approx(0.3)
    assert 0.1 < level_at(levels, rates, 2e-3) < 0.2


def test_fractiles_of_equal_branches_are_order_statistics() -> None:
    values = np.random.default_rng(1).normal(size=(10, 4))
    weights = np.full(10, 0.1)
    ordered = np.sort(values, axis=0)
    for share, n in ((0.1, 0), (0.5, 4), (0.84, 8), (1.0, 9)):
        assert fractile(values, weights, share) == pytest.approx(ordered[n])


def test_weights_count_as_repetitions() -> None:
    values = np.random.default_rng(3).normal(size=(4, 5))
    weights = np.array([1, 4, 2, 3])
    repeated = np.repeat(values, weights, axis=0)
    assert weighted_mean(values, weights) == pytest.approx(repeated.mean(axis=0))
    for share in (0.15, 0.5, 0.85):
        wanted = fractile(repeated, np.ones(10), share)
        assert fractile(values, weights / 10, share) == pytest.approx(wanted)


# --- disaggregation -----------------------------------------------------------------------------


@pytest.fixture
def branches() -> list[Contribution]:
    rng = np.random.default_rng(9)
    found = []
    for weight in (0.3, 0.7):
        n = 30
        ruptures = Ruptures(
            [Rupture(f"R{k}", rng.uniform(5, 7.5), rng.uniform(1e-4, 1e-2)) for k in range(n)]
        )
        motion = Lognormal(rng.normal(-2, 1, (n, 2)), rng.uniform(0.4, 0.8, (n, 2)))
        found.append(Contribution(weight, ruptures, motion, rng.uniform(0, 95e3, n)))
    return found


def test_parts_add_up_to_the_rate(branches: list[Contribution]) -> None:
    level = 0.3
    found = disaggregate(branches, 1, level, (0.5, 10e3))
    wanted = sum(
        b.weight * exceedance_rates(b.motion, b.ruptures.rates, np.array([level]), 2)[1, 0]
        for b in branches
    )
    assert found.total == pytest.approx(wanted)
    assert sum(found.by_rupture.values()) == pytest.approx(wanted)
    assert list(found.by_rupture.values()) == sorted(found.by_rupture.values(), reverse=True)
    assert found.rates.shape[2] == len(EPSILONS) - 1
    low, high = found.magnitudes[[0, -1]]
    assert low <= found.means[0] <= high and 0 < found.means[1] < 95e3


def test_each_rupture_is_in_its_bin(branches: list[Contribution]) -> None:
    found = disaggregate(branches[:1], 0, 0.2, (0.25, 5e3))
    (branch,) = branches[:1]
    rates = branch.ruptures.rates * branch.motion.probabilities(0, np.array([0.2]))[:, 0]
    wanted, _, _ = np.histogram2d(
        branch.ruptures.magnitudes,
        branch.distances,
        [found.magnitudes, found.distances],
        weights=0.3 * rates,
    )
    assert np.allclose(found.rates.sum(axis=2), wanted)
    shares = branch.motion.parts(0, 0.2, EPSILONS)
    assert shares is not None and (shares >= 0).all()


def test_parts_by_epsilon_against_samples() -> None:
    rng, count = np.random.default_rng(4), 200_000
    epsilon = rng.standard_normal(count)
    values = np.exp(-1 + 0.5 * epsilon)
    motion = Lognormal(np.array([[-1.0]]), np.array([[0.5]]))
    found = motion.parts(0, 0.5, EPSILONS)
    counted, _ = np.histogram(epsilon[values > 0.5], np.nan_to_num(EPSILONS, posinf=9, neginf=-9))
    assert found is not None and found[0] == pytest.approx(counted / count, abs=5e-3)


def test_samples_and_unknown_distances_have_one_bin() -> None:
    ruptures = Ruptures([Rupture("A", 6.0, 0.1), Rupture("B", 6.0, 0.2)])
    motion = Samples(np.array([[[1.0], [3.0]], [[0.5], [0.6]]]))
    found = disaggregate([Contribution(1.0, ruptures, motion, np.full(2, np.nan))], 0, 0.55, (1, 1))
    assert found.rates.shape == (1, 1, 1) and found.total == pytest.approx(0.1 + 0.1)
    assert found.by_rupture == pytest.approx({"A": 0.1, "B": 0.1})
    assert found.means[0] == pytest.approx(6.0) and np.isnan(found.means[1])


@pytest.mark.parametrize("width", [0.1, 0.2, 0.5])
def test_values_on_an_edge_belong_to_the_bin_above(width: float) -> None:
    """Multiples of the width, which are not exact numbers."""
    ruptures = Ruptures([Rupture(f"R{n}", 5.0 + n * width, 1.0 + n) for n in range(8)])
    motion = Lognormal(np.zeros((8, 1)), np.ones((8, 1)))
    at = 1e3 * np.arange(8.0)
    found = disaggregate([Contribution(1.0, ruptures, motion, at)], 0, 1.0, (width, 1e3))
    assert found.rates.shape[:2] == (8, 8)
    assert found.rates.sum(axis=2) == pytest.approx(np.diag((1.0 + np.arange(8)) / 2))
