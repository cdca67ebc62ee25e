"""Samples of distributions: reproducible, and distributed as they should be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from groundswell.ensembles.samples import SampleSection
from groundswell.errors import CaseError

UNIFORM = {"kind": "uniform", "low": "1 km", "high": "3 km"}
NORMAL = {"kind": "normal", "mean": 30, "deviation": 5}
LOGNORMAL = {"kind": "lognormal", "median": "2.5 km/s", "sigma": 0.1}
CHOICE = {"kind": "choice", "of": ["a", "b", "c"], "weights": [1, 2, 1]}
METHODS = ("random", "latin-hypercube")


def sample(count: int, seed: int, method: str = "random", **values: Any) -> SampleSection:
    return SampleSection(count=count, seed=seed, method=method, values=values)


def number(value: Any) -> float:
    return float(str(value).split()[0])


@given(st.integers(0, 2**63), st.integers(1, 20), st.sampled_from(METHODS))
def test_a_seed_gives_the_same_sample_again(seed: int, count: int, method: str) -> None:
    values = {"u": UNIFORM, "n": NORMAL, "l": LOGNORMAL, "c": CHOICE}
    drawn = sample(count, seed, method, **values).draw()
    assert drawn == sample(count, seed, method, **values).draw()
    assert len(drawn) == count and all(list(row) == list(values) for row in drawn)
    if count > 5:
        assert drawn != sample(count, seed + 1, method, **values).draw()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (UNIFORM, stats.uniform(1, 2)),
        (NORMAL, stats.norm(30, 5)),
        (LOGNORMAL, stats.lognorm(s=0.1, scale=2.5)),
    ],
)
def test_values_follow_their_distribution(method: str, values: Any, expected: Any) -> None:
    """Test of Kolmogorov and Smirnov; with a fixed seed, it cannot fail by chance."""
    drawn = [number(row["x"]) for row in sample(2000, 7, method, x=values).draw()]
    assert stats.kstest(drawn, expected.cdf).pvalue > 0.05


def test_choices_follow_their_weights() -> None:
    drawn = [row["x"] for row in sample(4000, 3, x=CHOICE).draw()]
    counts = np.array([drawn.count(value) for value in "abc"])
    assert stats.chisquare(counts, [1000, 2000, 1000]).pvalue > 0.05


@given(st.integers(0, 2**32), st.integers(1, 30))
def test_each_stratum_of_a_hypercube_has_one_value(seed: int, count: int) -> None:
    drawn = sample(count, seed, "latin-hypercube", x=UNIFORM, y=NORMAL).draw()
    for key, law in (("x", stats.uniform(1, 2)), ("y", stats.norm(30, 5))):
        strata = np.floor(law.cdf([number(row[key]) for row in drawn]) * count - 1e-9)
        assert sorted(strata.clip(0)) == list(range(count))


def test_values_keep_the_unit() -> None:
    [row] = sample(1, 1, u=UNIFORM, n=NORMAL).draw()
    assert row["u"].endswith(" km") and isinstance(row["n"], float)


@pytest.mark.parametrize(
    ("values", "told"),
    [
        (UNIFORM | {"high": "3 m"}, "high.*: must be in the unit of low, 'km'"),
        (UNIFORM | {"high": "1 km"}, "high.*: must be greater than low"),
        (UNIFORM | {"low": "deep"}, "low.*: must be a number, or text with a unit"),
        (NORMAL | {"deviation": 0}, "deviation.*: must be greater than 0"),
        (LOGNORMAL | {"sigma": -1}, "sigma.*: must be greater than 0"),
        (LOGNORMAL | {"median": 0}, "median.*: must be greater than 0"),
        (CHOICE | {"weights": [1]}, "weights.*: must have 3 entries"),
        (CHOICE | {"of": []}, "of.*: must not be empty"),
        ({"kind": "unifrom"}, 'kind.*did you mean "uniform"'),
    ],
)
def test_a_distribution_that_is_wrong(values: Any, told: str) -> None:
    with pytest.raises(CaseError, match=told):
        sample(1, 1, x=values)


def test_a_sample_needs_a_distribution() -> None:
    with pytest.raises(CaseError, match="values: must have a distribution"):
        sample(1, 1)
