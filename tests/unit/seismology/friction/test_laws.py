"""Laws of friction against their formulas, written differently, and published numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from friction_points import NUMBERS, powers, random_law
from scipy.optimize import brentq

from groundswell.seismology.friction import FastWeakening, RateAndState, SlipWeakening

COUNT = 200
ETA = 2670.0 * 3464.0 / 2.0  # Pa s/m, of the rock of problems TPV3 to TPV104
TPV104 = FastWeakening(
    direct=0.01, evolution=0.014, length=0.4, weakened_friction=0.2, weakening_speed=0.1
)
TPV101 = RateAndState(direct=0.008, evolution=0.012, length=0.02)
laws = pytest.mark.parametrize("number", NUMBERS)
of_rate = pytest.mark.parametrize("number", NUMBERS[1:])


def sample(number: int) -> tuple[Any, Any, Any]:
    """A law at points, slip rates, and states within reach of those of steady slip."""
    rng = np.random.default_rng(10 + number)
    law, rate = random_law(number, rng, COUNT), powers(rng, -8, 1, COUNT)
    if number == 1:
        return replace(law, healing_speed=0.0), rate, powers(rng, -4, 1, COUNT)
    return law, rate, law.steady_state(rate) + rng.uniform(-0.1, 0.1, COUNT)


# --- strength -------------------------------------------------------------------------------------


def test_friction_weakens_linearly_with_slip() -> None:
    law, _, slip = sample(1)
    found = law.strength(0.0, 7e6, slip, time=-1.0)
    for n in range(COUNT):
        friction = np.interp(slip[n], [0, law.distance[n]], [law.static[n], law.dynamic[n]])
        assert found[n] == pytest.approx(law.cohesion[n] + 7e6 * friction, rel=1e-14)


@pytest.mark.parametrize("duration", [0.0, 0.5])
def test_forced_friction_weakens_with_time(duration: float) -> None:
    law = SlipWeakening(
        static=0.18, dynamic=0.12, distance=0.3, forced_onset=2.0, forced_duration=duration
    )
    times = np.array([0.0, 1.999, 2.0 + duration / 2, 2.0 + duration + 1e-9, 9.0])
    part = np.array([0.0, 0.0, 0.5 if duration else 0.0, 1.0, 1.0])
    assert law.strength(0.0, 1e6, 0.0, times) == pytest.approx(1e6 * (0.18 - 0.06 * part))
    # Slip has weakened the fault by a third; the larger weakening counts.
    assert law.strength(0.0, 1e6, 0.1, times) == pytest.approx(
        1e6 * (0.18 - 0.06 * part.clip(1 / 3))
    )


def test_nothing_is_forced_by_default() -> None:
    law = SlipWeakening(static=0.6, dynamic=0.5, distance=0.4)
    assert law.strength(0.0, 1e6, 0.0, time=1e9) == 0.6e6


def test_friction_recovers_where_slip_has_stopped() -> None:
    law = SlipWeakening(static=0.6, dynamic=0.5, distance=0.4, healing_speed=1e-3)
    rates, slip = np.array([0.0, 0.9e-3, 1e-3, 2.0]), 1.0
    path = law.advance_state(rates, slip, 0.1)
    assert path == pytest.approx([0.0, 0.0, 1.0001, 1.2])
    assert law.strength(rates, 1e6, path) == pytest.approx([0.6e6, 0.6e6, 0.5e6, 0.5e6])
    assert law.strength(0.0, 1e6, law.advance_state(2.0, 0.0, 0.1)) == pytest.approx(0.55e6)


@of_rate
def test_the_strength_of_rate_and_state(number: int) -> None:
    law, rate, state = sample(number)
    speeds = rate / (2 * law.reference_speed)
    wanted = law.cohesion + 3e7 * law.direct * np.arcsinh(speeds * np.exp(state / law.direct))
    assert law.strength(rate, 3e7, state) == pytest.approx(wanted, rel=1e-13)


@laws
def test_open_faults_keep_their_cohesion(number: int) -> None:
    law, rate, state = sample(number)
    assert (law.strength(rate, -1e6, state) == law.cohesion).all()
    excess = np.maximum(2e5 - law.cohesion, 0)
    assert law.slip_rate(2e5, -1e6, ETA, state) == pytest.approx(excess / ETA)


# --- slip rate ------------------------------------------------------------------------------------


@laws
def test_slip_rates_balance_the_traction(number: int) -> None:
    """Against Brent's method, point by point."""
    law, _, state = sample(number)
    rng = np.random.default_rng(number)
    tau, sigma = rng.uniform(1e7, 2e8, COUNT), rng.uniform(1e6, 3e8, COUNT)
    found = law.slip_rate(tau, sigma, ETA, state)
    for n, parameters in enumerate(law.table(COUNT).T):
        one = replace(law, **dict(zip(law.names, parameters, strict=True)))

        def missing(y: float, one=one, n=n) -> float:
            return one.strength(np.exp(y), sigma[n], state[n]) + ETA * np.exp(y) - tau[n]

        if missing(-300.0) > 0:
            assert found[n] < np.exp(-300.0)
        else:
            y = brentq(missing, -300.0, np.log(2 * tau[n] / ETA), xtol=1e-13, rtol=1e-15)
            assert found[n] == pytest.approx(np.exp(y), rel=1e-10)


@of_rate
def test_the_initial_state_gives_the_initial_rate(number: int) -> None:
    law, rate, _ = sample(number)
    tau = np.random.default_rng(2).uniform(2e7, 9e7, COUNT)
    state = law.initial_state(tau, 1.2e8, rate)
    assert law.strength(rate, 1.2e8, state) == pytest.approx(tau, rel=1e-13)
    assert law.slip_rate(tau + ETA * rate, 1.2e8, ETA, state) == pytest.approx(rate, rel=1e-11)


# --- state ----------------------------------------------------------------------------------------


@laws
def test_the_rate_of_the_state_is_its_derivative(number: int) -> None:
    law, rate, state = sample(number)
    dt = 1e-4 * time_scale(law, rate, state)
    once, twice = (law.advance_state(rate, state, n * dt) - state for n in (1, 2))
    slope = (4 * once - twice) / (2 * dt)  # of second order
    scale = np.abs(law.state_rate(rate, state)) + 1e-3 / time_scale(law, rate, state)
    assert (np.abs(slope - law.state_rate(rate, state)) < 1e-6 * scale).all()


def time_scale(law: Any, rate: Any, state: Any) -> Any:
    """In which the state changes, s."""
    if law.number == 1:
        return 1 / rate
    age = np.exp((state - law.reference_friction) / law.evolution) / law.reference_speed
    return law.length * (np.minimum(1 / rate, age) if law.number == 2 else 1 / rate)


@laws
def test_two_steps_are_one_at_a_constant_rate(number: int) -> None:
    """With the derivative, this makes steps of any length exact."""
    law, rate, state = sample(number)
    first, second = (
        time_scale(law, rate, state) * powers(np.random.default_rng(1), -2, 1, COUNT),
        3.0,
    )
    stepped = law.advance_state(rate, law.advance_state(rate, state, first), second)
    assert stepped == pytest.approx(law.advance_state(rate, state, first + second), rel=1e-12)
    assert (law.advance_state(rate, state, 0.0) == state).all()


@pytest.mark.parametrize("law", ["ageing", "slip"])
def test_the_state_evolves_as_theta_does(law: str) -> None:
    """With psi = f0 + b ln(V0 theta / L), from d theta / dt."""
    friction, rate, state = sample(2 if law == "ageing" else 3)
    age = np.exp((state - friction.reference_friction) / friction.evolution)
    theta = age * friction.length / friction.reference_speed
    share = rate * theta / friction.length
    change = 1 - share if law == "ageing" else -share * np.log(share)
    found = friction.state_rate(rate, state)
    assert np.abs(found / (friction.evolution / theta * change) - 1).max() < 1e-9


def test_fast_weakening_has_the_published_steady_state() -> None:
    law, rate, _ = sample(4)
    f0, fw = law.reference_friction, law.weakened_friction
    slow = f0 + (law.direct - law.evolution) * np.log(rate / law.reference_speed)
    friction = fw + (slow - fw) / (1 + (rate / law.weakening_speed) ** 8) ** (1 / 8)
    speeds = 2 * law.reference_speed / rate
    steady = law.direct * np.log(speeds * np.sinh(friction / law.direct))
    assert law.steady_state(rate) == pytest.approx(steady, rel=1e-12)
    assert law.steady_friction(rate) == pytest.approx(friction, rel=1e-14)
    sliding = law.strength(rate, 1e8, law.steady_state(rate))
    assert sliding == pytest.approx(law.cohesion + 1e8 * friction, rel=1e-13)


@of_rate
def test_steady_states_rest(number: int) -> None:
    law, rate, state = sample(number)
    steady = law.steady_state(rate)
    for found in (
        law.advance_state(rate, steady, 5.0),
        law.advance_state(rate, state, 80 * law.length / rate),  # exp(-80) is far below rounding
    ):
        assert found == pytest.approx(steady, rel=1e-13)
    assert (np.abs(law.state_rate(rate, steady)) <= 1e-12 * rate / law.length).all()


@of_rate
def test_a_fault_at_rest_heals_by_the_ageing_law_only(number: int) -> None:
    law, _, state = sample(number)
    healed = law.advance_state(0.0, state, 7.0)
    if number > 2:
        assert (healed == state).all()
        return
    theta = np.exp((state - law.reference_friction) / law.evolution) * law.length
    wanted = law.reference_friction + law.evolution * np.log(
        theta / law.length + 7.0 * law.reference_speed / law.length
    )
    assert healed == pytest.approx(wanted, rel=1e-12)


# --- published numbers ----------------------------------------------------------------------------


def test_tpv104_starts_from_the_published_state() -> None:
    """psi in the centre, from a script of the problem's own formula."""
    assert TPV104.initial_state(40e6, 120e6, 1e-16) == pytest.approx(0.563591842632738, rel=1e-14)


def test_tpv101_starts_from_the_published_state() -> None:
    """theta in the centre, s, in the description of the problem."""
    psi = TPV101.initial_state(75e6, 120e6, 1e-12)
    theta = TPV101.length / 1e-6 * np.exp((psi - 0.6) / TPV101.evolution)
    assert theta == pytest.approx(1.606238999213454e9, rel=1e-12)
