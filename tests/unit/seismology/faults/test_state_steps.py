"""Time steps that are too long for the state of friction."""

from __future__ import annotations

import numpy as np
import pytest
from fault_cases import TPV3, TPV104, random_points, section

from groundswell.seismology.faults.build import conditions_of
from groundswell.seismology.faults.conditions import lengths_of
from groundswell.seismology.faults.estimates import FaultEstimates
from groundswell.seismology.faults.state_steps import (
    farthest_steps,
    slip_warnings,
    step_warnings,
)

MU, ETA = 2670 * 3464.0**2, 2670 * 3464.0 / 2


def estimates(content: dict[str, object]) -> FaultEstimates:
    fault = section(content)
    points = random_points(fault, 500)
    medium = (np.full(500, value) for value in (MU, 0.25, ETA))
    return FaultEstimates(points, conditions_of(fault, points), *medium)


def test_the_expected_slip_rate_is_that_of_published_problems() -> None:
    """Codes of the SCEC/USGS project find some 10 m/s in TPV104, and 3 m/s to 6 m/s in TPV3."""
    assert 8 < np.median(estimates(TPV104).peak_rate) < 16
    assert 2 < np.median(estimates(TPV3).peak_rate) < 6


def test_long_steps_are_named_before_a_run() -> None:
    found = estimates(TPV104)
    rate = found.peak_rate.max()
    assert not [*step_warnings("main", found, 0.99 * 0.4 / rate)]
    (text,) = step_warnings("main", found, 2 * 0.4 / rate, stable=4.0)
    assert "2 times friction.length = 0.4 m" in text and "makes the state" in text
    assert f"at most {0.4 / rate:.2g} s" in text
    (text,) = step_warnings("main", found, 5 * 0.4 / rate, stable=4.0)
    assert "which stops the run" in text
    assert not [*step_warnings("main", estimates(TPV3), 1e3)]  # slip weakening


def test_long_steps_are_named_after_a_run() -> None:
    """For each fault, where slip over the length is largest."""
    rng = np.random.default_rng(1)
    faults = {"one": random_points(section(TPV3), 20, 1), "two": random_points(section(TPV3), 30)}
    rates, lengths = rng.uniform(0, 1, 50), rng.uniform(0.1, 0.2, 50)
    rates[[7, 33]], lengths[[7, 33]] = (5.0, 9.0), (0.1, 0.3)
    one, two = farthest_steps(faults, rates, lengths, 0.03)
    assert (one.count, two.count) == pytest.approx((1.5, 0.9))
    assert one.place == faults["one"].describe(7) and two.place == faults["two"].describe(13)
    (text,) = slip_warnings([one, two])
    assert text.startswith("fault[0] (one) slips at 5 m/s at x, y, depth =")
    assert text.endswith("is inaccurate; set time.step to at most 0.02 s")


def test_slip_weakening_has_no_such_length() -> None:
    weakening, law = estimates(TPV3).conditions, estimates(TPV104).conditions
    lengths = lengths_of([weakening, law])
    assert np.isinf(lengths[:500]).all() and (lengths[500:] == 0.4).all()
