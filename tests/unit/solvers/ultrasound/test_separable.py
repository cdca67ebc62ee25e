"""Sources as sums of products of a signal and weights of points."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix, random_array

from groundswell.solvers.ultrasound.point_source import PointSource
from groundswell.solvers.ultrasound.separable import MOST_TERMS, separate

SAMPLES, POINTS = 40, 30
TOLERANCE = {"float32": 1e-6, "float64": 1e-14}  # of the largest value


def source(signals: Any, mode: Any = "additive", **others: Any) -> PointSource:
    return PointSource("p", np.arange(POINTS), np.asarray(signals), mode, **others)


def values(terms: Any) -> Any:
    """Values of all points at all times, (samples, points)."""
    return sum(np.outer(term.signal, term.weights) for term in terms)


@given(st.integers(1, MOST_TERMS), st.integers(0, 2**32), st.sampled_from(["float32", "float64"]))
def test_terms_are_as_many_as_independent_signals(rank: int, seed: int, dtype: str) -> None:
    rng = np.random.default_rng(seed)
    signals = rng.standard_normal((SAMPLES, rank)) @ rng.standard_normal((rank, 20))
    weights = random_array((POINTS, 20), density=0.5, rng=rng, format="csr")
    terms, others = separate([source(signals, weights=weights)], dtype)
    assert len(terms) == rank and not others
    wanted = signals @ weights.toarray().T
    assert np.abs(values(terms) - wanted).max() <= TOLERANCE[dtype] * np.abs(wanted).max()


def test_steady_waves_of_any_phase_need_two_terms() -> None:
    phases = np.random.default_rng(1).uniform(0, 7, POINTS)
    signals = np.sin(0.3 * np.arange(SAMPLES)[:, None] + phases)
    terms, _ = separate([source(signals)], "float32")
    assert len(terms) == 2
    np.testing.assert_allclose(values(terms), signals, atol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_long_steady_waves_need_two_terms(dtype: str) -> None:
    """Their phases are rounded: 1e3 periods of 20 steps."""
    phases = np.random.default_rng(4).uniform(0, 7, POINTS)
    times = 2 * np.pi / 20 * np.arange(20_000)[:, None]
    terms, _ = separate([source(np.sin(times + phases))], dtype)
    assert len(terms) == 2


def test_weak_signals_with_large_weights_count() -> None:
    rng = np.random.default_rng(5)
    signals = rng.standard_normal((SAMPLES, 2)) * [1.0, 4e-7]
    weights = csr_matrix(np.diag([1e-6, 1.0]))
    terms, _ = separate([PointSource("p", np.arange(2), signals, weights=weights)], "float32")
    wanted = signals * [1e-6, 1.0]
    assert np.abs(values(terms) - wanted).max() < 1e-6 * np.abs(wanted).max()
    assert len(terms) == 2


def test_one_signal_is_one_term_at_all_points() -> None:
    signal = np.random.default_rng(2).standard_normal(SAMPLES)
    (term,), others = separate([source(signal)], "float64")
    assert not others
    np.testing.assert_allclose(values([term]), np.outer(signal, np.ones(POINTS)), atol=1e-14)


def test_silence_needs_no_term() -> None:
    assert separate([source(np.zeros((SAMPLES, POINTS)))], "float32") == ([], [])


def test_terms_of_a_field_are_limited() -> None:
    """Later sources without room for their terms remain as they are."""
    rng = np.random.default_rng(3)
    sources = [source(rng.standard_normal((SAMPLES, POINTS))) for _ in range(2)]
    sources += [source(rng.standard_normal(SAMPLES)) for _ in range(MOST_TERMS + 1)]
    terms, others = separate(sources, "float32")
    assert len(terms) == MOST_TERMS
    assert others == [sources[0], sources[1], sources[-1]]


def test_sources_keep_their_order() -> None:
    """What is added to values that another source has set is added afterwards."""
    signal = np.ones(SAMPLES)
    first, late = source(signal), source(signal)
    sets = source(signal, "dirichlet")
    terms, others = separate([first, sets, late], "float32")
    assert len(terms) == 1 and others == [sets, late]


@pytest.mark.parametrize("mode", ["uncorrected", "dirichlet"])
def test_other_modes_have_no_terms(mode: str) -> None:
    sources = [source(np.ones(SAMPLES), mode)]
    assert separate(sources, "float32") == ([], sources)
