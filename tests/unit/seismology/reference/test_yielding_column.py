"""The fine solution in one dimension of S waves in rock that yields."""

from __future__ import annotations

import numpy as np
import pytest

from groundswell.seismology.reference.yielding_column import YieldingColumn

VS, RHO, DEPTH = 1000.0, 2000.0, 4000.0


def pulse(z: np.ndarray) -> np.ndarray:
    return np.asarray(np.exp(-(((z - 1000) / 150) ** 2)))


def test_strong_rock_lets_the_pulse_pass() -> None:
    column = YieldingColumn(VS, RHO, lambda z: np.full(z.shape, 1e9), 0.0, DEPTH)
    z, v, between, stress, strain = column.propagate(pulse, 1.5, 2000)
    assert np.abs(v - pulse(z - 1500)).max() < 2e-3
    # half a step later, in which the pulse moves on by less than a metre
    assert np.abs(stress + RHO * VS * pulse(between - 1500)).max() < 1e-2 * RHO * VS
    assert not strain.any()


def test_the_stress_does_not_exceed_the_strength() -> None:
    """Of half the pulse; the momentum is that of the pulse until waves reach the ends."""
    limit = RHO * VS / 2
    column = YieldingColumn(VS, RHO, lambda z: np.full(z.shape, limit), 0.0, DEPTH)
    _, v, _, stress, strain = column.propagate(pulse, 0.4, 2000)
    assert np.abs(stress).max() <= limit and strain.max() > 1e-5
    assert v.sum() * DEPTH / 2000 == pytest.approx(150 * np.sqrt(np.pi), rel=1e-4)


def test_refinement_converges() -> None:
    column = YieldingColumn(VS, RHO, lambda z: 5e5 + 200 * z, 0.02, DEPTH)
    runs = [column.propagate(pulse, 1.2, n)[1][:: n // 250] for n in (1000, 2000, 4000)]
    first, second = (np.abs(runs[n] - runs[n + 1]).max() for n in (0, 1))
    assert second < 0.75 * first
