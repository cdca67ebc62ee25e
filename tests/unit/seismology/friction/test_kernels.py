"""friction.h against the laws in NumPy, and a bisection in long double."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from friction_points import (
    LEAST,
    NUMBERS,
    Points,
    bisect_log_rate,
    evaluate,
    random_law,
    random_points,
    residual,
    rounding,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from groundswell.backends import Backend
from groundswell.backends.cpu import CpuBackend
from groundswell.seismology.friction import RateAndState

COUNT = 3000
laws = pytest.mark.parametrize("number", NUMBERS)


@pytest.fixture(scope="module")
def cpu() -> CpuBackend:
    return CpuBackend()


@laws
def test_the_header_agrees_with_the_laws(cpu: CpuBackend, number: int) -> None:
    check_header(cpu, number)


@laws
@pytest.mark.gpu
def test_the_header_agrees_with_the_laws_on_a_gpu(gpu: Any, number: int) -> None:
    check_header(gpu, number)


def check_header(backend: Backend, number: int) -> None:
    rng = np.random.default_rng(number)
    law, points = random_law(number, rng, COUNT), random_points(number, rng, COUNT)
    found, wanted = evaluate(backend, law, points), points.evaluate(law)
    # Same formulas: only the last bits of functions differ, and grow where terms cancel.
    spread = np.abs(points.state) + 2.0
    scales = (np.abs(wanted[0]), 0, points.rate / law.table(COUNT)[2] * spread, spread)
    for n in (0, 2, 3):
        error = np.abs(found[n] - wanted[n])
        assert (error <= 1e-11 * np.abs(wanted[n]) + 1e-12 * scales[n]).all()
    if number == 1:
        np.testing.assert_allclose(found[1], wanted[1], rtol=1e-10)
    else:
        check_slip_rate(law, points, found[1])
        check_slip_rate(law, points, wanted[1])


def check_slip_rate(law: Any, points: Points, rate: Any) -> None:
    """Right to the rounding of the traction's terms, hence 1e-10 where this determines the rate."""
    log_rate = bisect_log_rate(law, points)
    assert (rate[np.isneginf(log_rate)] == 0).all()
    normal = log_rate > np.log(LEAST)
    assert (rate[~normal] <= LEAST).all()
    error = np.abs(rate / np.exp(np.where(normal, log_rate, 0)) - 1)[normal]
    doubt = rounding(law, rate, points)[normal] / slope(law, points, rate)[normal]
    # The rate is the exponential of a logarithm of up to 700 in magnitude.
    doubt += np.finfo(float).eps * np.abs(log_rate[normal]).astype(float)
    assert (error <= 8 * doubt).all()
    assert (error[doubt < 1e-11] <= 1e-10).all()
    assert np.mean(doubt < 1e-11) > 0.9
    balance = np.abs(residual(law, rate, points))[normal]
    assert (balance <= 8 * rounding(law, rate, points)[normal]).all()


def slope(law: Any, points: Points, rate: Any) -> Any:
    """Derivative of S + eta V with respect to ln V, Pa, from a difference that never cancels."""
    with np.errstate(over="ignore"):
        power = rate / (2 * law.reference_speed) * np.exp(points.state / law.direct)
    friction = np.where(power > 1e8, 1.0, power / np.hypot(1.0, power))
    return np.maximum(points.sigma, 0) * law.direct * friction + points.eta * rate


def decades(low: float, high: float) -> st.SearchStrategy[float]:
    return st.floats(low, high).map(lambda power: 10.0**power)


@settings(max_examples=400, deadline=None, derandomize=True)
@given(
    direct=decades(-5, 0),
    speed=decades(-12, 0),
    cohesion=st.just(0.0) | decades(-3, 9),
    tau=st.just(0.0) | decades(-320, 12),
    sigma=st.just(0.0) | decades(-320, 12) | decades(0, 9).map(float.__neg__),
    eta=decades(0, 10),
    state=st.floats(-1e3, 1e3) | decades(-300, 0),
)
def test_no_input_fails(cpu: CpuBackend, **given: float) -> None:
    law = RateAndState(
        direct=given["direct"],
        evolution=0.01,
        length=0.1,
        reference_speed=given["speed"],
        cohesion=given["cohesion"],
    )
    names = ("tau", "sigma", "eta", "state")
    values = {name: np.array([given[name]]) for name in names}
    points = Points(rate=np.ones(1), time=np.zeros(1), **values)
    arguments = (getattr(points, name) for name in names)
    for rate in (evaluate(cpu, law, points)[1], law.slip_rate(*arguments)):
        check_balance(law, points, rate)


def check_balance(law: RateAndState, points: Points, rate: Any) -> None:
    """The residual is rounding, or the rate 0 or denormal: it would be too small a number."""
    assert np.isfinite(rate).all()
    least, most = (residual(law, v, points) for v in (np.array([LEAST]), rate))
    allowed = 8 * rounding(law, rate, points)
    if rate[0] <= LEAST:
        assert points.tau[0] <= law.cohesion or least[0] <= allowed[0]
    else:
        assert np.abs(most[0]) <= allowed[0]


@pytest.mark.parametrize("number", NUMBERS[1:])
@pytest.mark.parametrize("name", ["tau", "sigma", "state"])
def test_what_is_no_number_stays_so(cpu: CpuBackend, number: int, name: str) -> None:
    """Thus the run stops."""
    rng = np.random.default_rng(3)
    law = random_law(number, rng, 1)
    values = {"tau": 1e8, "sigma": 1e8, "eta": 4e6, "state": 0.5, "rate": 1.0, "time": 0.0}
    points = Points(**{key: np.array([value]) for key, value in (values | {name: np.nan}).items()})
    assert np.isnan(evaluate(cpu, law, points)[1]).all()
    assert np.isnan(law.slip_rate(points.tau, points.sigma, points.eta, points.state)).all()


def test_a_point_at_rest_keeps_its_state(cpu: CpuBackend) -> None:
    for number in NUMBERS[2:]:
        rng = np.random.default_rng(4)
        law, points = random_law(number, rng, 50), random_points(number, rng, 50)
        still = Points(np.zeros(50), *(getattr(points, n) for n in list(vars(points))[1:]))
        _, _, rate, state = evaluate(cpu, law, still)
        assert (rate == 0).all()
        assert (state == points.state).all()
