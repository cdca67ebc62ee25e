"""Parameters and initial conditions that have no meaning."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from groundswell.errors import InputError
from groundswell.seismology.friction import FastWeakening, RateAndState, SlipWeakening

WEAKENING = {"static": 0.6, "dynamic": 0.5, "distance": 0.4}
RATE = {"direct": 0.01, "evolution": 0.014, "length": 0.4}
FAST = {**RATE, "weakened_friction": 0.2, "weakening_speed": 0.1}


@pytest.mark.parametrize(
    ("law", "given", "wrong", "message"),
    [
        (SlipWeakening, WEAKENING, {"distance": 0.0}, r"distance = 0: give finite values above 0"),
        (SlipWeakening, WEAKENING, {"static": -0.1}, r"static = -0\.1: .* at least 0"),
        (SlipWeakening, WEAKENING, {"cohesion": np.inf}, r"cohesion = inf"),
        (
            SlipWeakening,
            WEAKENING,
            {"healing_speed": -1e-3},
            r"healing_speed = -0\.001: .* at least",
        ),
        (SlipWeakening, WEAKENING, {"forced_onset": np.nan}, r"forced_onset is NaN"),
        (RateAndState, RATE, {"direct": np.array([1, 0, 2.0])}, r"direct = 0 at point 1"),
        (RateAndState, RATE, {"law": "aging"}, r'law = \'aging\': give "ageing" or "slip"'),
        (RateAndState, RATE, {"reference_speed": -1e-6}, "rate and state: reference_speed"),
        (FastWeakening, FAST, {"weakening_speed": 0.0}, "fast weakening: weakening_speed = 0"),
        (FastWeakening, FAST, {"weakened_friction": np.nan}, r"weakened_friction = nan"),
        (FastWeakening, FAST, {"length": 0.0}, "fast weakening: length = 0"),
    ],
)
def test_parameters_outside_their_range(law: Any, given: Any, wrong: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        law(**given | wrong)


def test_parameters_of_another_number_of_points() -> None:
    law = SlipWeakening(**WEAKENING | {"distance": np.full(3, 0.4)})
    with pytest.raises(InputError, match=r"distance has the shape \(3,\), but the fault has 4"):
        law.table(4)


@pytest.mark.parametrize(
    ("tau", "sigma", "rate", "message"),
    [
        (1e6, 1e6, 0.0, r"initial slip rate = 0: give values above 0 m/s"),
        (1e6, np.array([1e6, 0.0]), 1e-9, r"normal stress = 0 at point 1"),
        (1e5, 1e6, 1e-9, r"shear stress = 100000: give values above the cohesion"),
    ],
)
def test_initial_conditions_without_a_state(tau: Any, sigma: Any, rate: Any, message: str) -> None:
    law = RateAndState(**RATE, cohesion=2e5)
    with pytest.raises(InputError, match=message):
        law.initial_state(tau, sigma, rate)


def test_slip_weakening_starts_without_slip() -> None:
    law = SlipWeakening(**WEAKENING)
    assert (law.initial_state(np.ones(4), 1.0, 0.0) == np.zeros(4)).all()
