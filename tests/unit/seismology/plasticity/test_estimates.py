"""What `check` says of rock that yields."""

from __future__ import annotations

import numpy as np
import pytest

from groundswell.seismology.plasticity import DruckerPrager
from groundswell.seismology.plasticity.estimates import (
    RockState,
    YieldEstimates,
    plasticity_quantities,
    plasticity_warnings,
)


def estimates(cohesion: float, time: float = 0.0) -> YieldEstimates:
    """Three planes of 4 points under shear of 1, 2 and 3 MPa; one point per plane is a fluid."""
    states = []
    for n in (1, 2, 3):
        cohesions = np.array([cohesion, np.inf, cohesion, 2 * cohesion])
        rock = DruckerPrager(cohesion=cohesions, friction_angle=0.0, relaxation_time=time)
        stress = np.array([-5e7, -5e7, -5e7, n * 1e6, 0, 0])[:, None]
        states.append(RockState(rock, stress, np.zeros(1), np.array([100.0 * n])))
    return YieldEstimates.of(time, states)


@pytest.mark.parametrize(("cohesion", "words"), [(4e6, ""), (3.03e6, "reaches"), (2e6, "exceeds")])
def test_initial_stress_near_the_strength(cohesion: float, words: str) -> None:
    found = estimates(cohesion)
    assert found.load == pytest.approx(3e6 / cohesion) and found.depth == 300.0
    assert found.cohesion == (cohesion, 2 * cohesion) and found.strong == 3 and found.points == 12
    warnings = [*plasticity_warnings(found, 0.01)]
    assert len(warnings) == bool(words) and all(words in text for text in warnings)
    if words:
        assert "2 points, most at a depth of 300 m" in warnings[0]


def test_rock_without_strength() -> None:
    """Fluid pressure above the pressure of rock without cohesion; no shear stress is needed."""
    rock = DruckerPrager(cohesion=np.array([0.0, 1e9]), friction_angle=30.0)
    state = RockState(rock, np.array([-5e6] * 3 + [0] * 3)[:, None], np.full(1, 8e6), np.ones(1))
    found = YieldEstimates.of(0.0, [state])
    assert found.load == np.inf and found.beyond == 1
    (warning,) = plasticity_warnings(found, 0.01)
    assert "no strength at a depth of 1 m" in warning
    shown = {q.key: q for q in plasticity_quantities(found, 0.01, "Rock")}["initial_load"]
    assert shown.value is None and "no strength" in str(shown)  # JSON has no infinity


def test_short_relaxation() -> None:
    assert [*plasticity_warnings(estimates(9e6, 0.02), 0.01)] == []
    assert "shorter than the time step" in next(plasticity_warnings(estimates(9e6, 0.005), 0.01))


def test_quantities() -> None:
    found = {q.key: q for q in plasticity_quantities(estimates(4e6, 0.03), 0.01, "Rock")}
    assert found["cohesion"].value == [4e6, 8e6] and "4 to 8 MPa" in str(found["cohesion"])
    assert "3 time steps" in str(found["relaxation_time"])
    assert found["strong_points"].value == 3


def test_rock_that_never_yields() -> None:
    found = {q.key: q for q in plasticity_quantities(estimates(np.inf), 0.01, "Rock")}
    assert found["plasticity_points"].value == 0
    assert [*plasticity_warnings(estimates(np.inf), 0.01)] == []
