"""The longest stable step, against the growth of random pressures."""

from __future__ import annotations

from math import asin, inf, pi, sqrt

import numpy as np
import pytest

from groundswell.backends import open_backend
from groundswell.grids.cartesian import Grid
from groundswell.solvers.ultrasound.absorption import nepers
from groundswell.solvers.ultrasound.medium import AcousticMedium
from groundswell.solvers.ultrasound.operators import SpectralOperators
from groundswell.solvers.ultrasound.propagation import Propagation
from groundswell.solvers.ultrasound.stability import longest_step

H, SHAPE = 5e-4, (1, 16, 16)
K = pi / H * sqrt(2)


def growth(medium: AcousticMedium, reference_speed: float, dt: float, steps: int = 400) -> float:
    """Largest pressure after some steps, relative to that at the beginning."""
    operators = SpectralOperators(Grid(SHAPE[::-1], (H,) * 3), dt, reference_speed)
    waves = Propagation(open_backend("cpu"), operators, medium, "float64")
    waves.start(np.random.default_rng(5).standard_normal(SHAPE))
    for _ in range(steps):
        waves.step()
    return float(np.abs(waves.p).max())


def bone(speed: float, absorption: float, power: float) -> AcousticMedium:
    return AcousticMedium(speed, 1800.0, float(nepers(absorption, power)), power)


@pytest.mark.parametrize(
    ("medium", "reference_speed"),
    [
        (AcousticMedium(2000.0, 1000.0), 1500.0),
        (bone(2300.0, 40.0, 2.0), 2800.0),
        (bone(2800.0, 16.0, 2.0), 2800.0),
        (bone(2800.0, 20.0, 1.5), 2800.0),
        (bone(2800.0, 20.0, 1.2), 2400.0),
    ],
)
def test_waves_grow_above_the_limit_only(medium: AcousticMedium, reference_speed: float) -> None:
    limit = longest_step(medium, K, reference_speed)
    assert 0 < limit < inf
    assert growth(medium, reference_speed, 0.97 * limit) < 10
    assert growth(medium, reference_speed, 1.03 * limit) > 1e3


def test_lossless_steps_have_the_known_limit() -> None:
    for ratio in (0.5, 0.9, 0.999):
        limit = longest_step(AcousticMedium(1500.0, 1000.0), K, 1500.0 * ratio)
        assert limit == pytest.approx(2 / (1500.0 * ratio * K) * asin(ratio), rel=1e-6)
    assert longest_step(AcousticMedium(1500.0, 1000.0), K, 1500.0) == inf
    slow = np.full((2, 3, 4), 1400.0)
    assert longest_step(AcousticMedium(slow, slow), K, 1500.0) == inf


def test_the_worst_point_of_a_medium_counts() -> None:
    speed, absorption = np.full((2, 2, 2), 1500.0), np.zeros((2, 2, 2))
    speed[0, 0, 0], absorption[0, 0, 0] = 2300.0, float(nepers(40.0, 2.0))
    mixed = longest_step(AcousticMedium(speed, 1800.0, absorption), K, 2800.0)
    assert mixed == pytest.approx(longest_step(bone(2300.0, 40.0, 2.0), K, 2800.0), rel=1e-6)
