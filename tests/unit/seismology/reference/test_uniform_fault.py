"""A uniform fault between half-spaces, against exact solutions and published numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from groundswell.errors import InputError
from groundswell.seismology.friction import FastWeakening, FrictionLaw, RateAndState, SlipWeakening
from groundswell.seismology.reference.uniform_fault import OverstressedFault, UniformFault

ETA = 2670.0 * 3464.0 / 2.0  # Pa s/m
WEAKENING = SlipWeakening(static=0.677, dynamic=0.525, distance=0.4)  # of TPV3
PATCH = OverstressedFault(WEAKENING, load=81.6e6, sigma=120e6, eta=ETA)


def loaded(law: FrictionLaw, tau: float, added: float, rate: float) -> UniformFault:
    """A fault that slips at `rate` until the load grows by `added` within a second."""

    def load(time: float) -> float:
        if 0.0 < time < 1.0:
            return tau + added * float(np.exp((time - 1.0) ** 2 / (time * (time - 2.0))))
        return tau + added * (time >= 1.0)

    return UniformFault(law, load, 120e6, ETA, float(law.initial_state(tau, 120e6, rate)))


FAST = loaded(
    FastWeakening(
        direct=0.01, evolution=0.014, length=0.4, weakened_friction=0.2, weakening_speed=0.1
    ),
    40e6,
    45e6,
    1e-16,
)
RATE = [
    loaded(RateAndState(direct=0.008, evolution=0.012, length=0.02, law=law), 75e6, 25e6, 1e-12)
    for law in ("ageing", "slip")
]


def test_the_nucleation_patch_of_tpv3() -> None:
    assert PATCH.growth_rate == pytest.approx(9.861, abs=5e-4)
    assert PATCH.weakened_time == pytest.approx(0.4001, abs=5e-5)
    assert PATCH.final_rate == pytest.approx(4.022, abs=5e-4)


@pytest.mark.parametrize("cohesion", [0.0, 2e5])
def test_growth_of_slip(cohesion: float) -> None:
    """The closed form against the integration, across the time when friction is weakened."""
    law = SlipWeakening(static=0.677, dynamic=0.525, distance=0.4, cohesion=cohesion)
    exact = OverstressedFault(law, load=81.6e6, sigma=120e6, eta=ETA)
    times = np.linspace(0.0, 0.9, 91)
    found = UniformFault(law, lambda _: 81.6e6, 120e6, ETA, 0.0).history(times)
    assert np.abs(found.slip - exact.slip(times)).max() < 1e-10 * exact.slip(times)[-1]
    assert np.abs(found.rate - exact.rate(times)).max() < 1e-10 * exact.final_rate
    assert exact.rate(times)[-1] == pytest.approx(exact.final_rate, rel=1e-13)
    assert (found.state == found.slip).all()


def test_fast_weakening_reaches_the_published_rate() -> None:
    """Figures of an independent script: 1 mm/s at 0.5714 s, 13.125 m/s, psi = 0.0386 after 3 s.

    The script found the first time from steps of a fraction of a millisecond.
    """
    found = FAST.history(np.array([0.0, 0.5712, 0.5714, 2.0, 3.0]))
    assert found.rate[0] == pytest.approx(1e-16, rel=1e-10)
    assert found.rate[1] < 1e-3 < found.rate[2]
    assert found.rate[3:] == pytest.approx([13.125, 13.125], abs=5e-4)
    assert found.state[-1] == pytest.approx(0.0386, abs=5e-5)


@pytest.mark.most(1)
@pytest.mark.parametrize("fault", [FAST, *RATE])
def test_the_history_satisfies_the_equations(fault: Any) -> None:
    """Traction balances strength; slip and state are the integrals of their rates."""
    times = np.linspace(0.0, 2.0, 4001)
    found = fault.history(times)
    strength = fault.law.strength(found.rate, fault.sigma, found.state)
    assert np.abs(strength - found.shear).max() < 1e-12 * found.shear.max()
    changes = fault.law.state_rate(found.rate, found.state)
    for value, rates in ((found.slip, found.rate), (found.state, changes)):
        gained = simpson(rates, times[1] - times[0])
        # Simpson's rule has an error of h^4 where the fault breaks within some 10 ms.
        assert np.abs(value[::2] - value[0] - gained).max() < 1e-5 * np.ptp(value)


def simpson(rates: Any, step: float) -> Any:
    """Running integral at every second sample."""
    pieces = rates[:-1:2] + 4 * rates[1::2] + rates[2::2]
    return np.concatenate([[0.0], np.cumsum(pieces) * step / 3])


@pytest.mark.most(1)
@pytest.mark.parametrize("fault", [FAST, *RATE])
def test_histories_do_not_depend_on_the_times_asked_for(fault: Any) -> None:
    """Other steps: to the accuracy that the docstring states."""
    times = np.linspace(0.0, 2.0, 41)
    whole, first = fault.history(times), fault.history(times[:28])
    for name in ("slip", "rate", "state", "shear"):
        one, other = getattr(whole, name), getattr(first, name)
        assert np.abs(one[:28] - other).max() < 1e-10 * np.abs(one).max()


def test_what_has_no_solution() -> None:
    with pytest.raises(InputError, match=r"load of 8e\+07 Pa is not above .* 8\.124e\+07 Pa"):
        OverstressedFault(WEAKENING, load=80e6, sigma=120e6, eta=ETA)
    rising = SlipWeakening(static=0.3, dynamic=0.4, distance=0.4)
    with pytest.raises(InputError, match=r"friction rises from 0\.3 to 0\.4"):
        OverstressedFault(rising, load=80e6, sigma=120e6, eta=ETA)
    with pytest.raises(InputError, match="must not decrease"):
        FAST.history(np.array([0.0, 1.0, 0.5]))
