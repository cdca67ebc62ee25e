"""Errors of absorption and dispersion: predictions against waves of the NumPy scheme."""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kspace_scheme import KSpaceScheme

from groundswell.solvers.ultrasound.absorption import nepers
from groundswell.solvers.ultrasound.dispersion import lossy_wave, most_absorbing, worst_wave
from groundswell.solvers.ultrasound.medium import AcousticMedium

SPEED, FREQUENCY, H = 1500.0, 1e6, 2.5e-4  # 6 points per wavelength
N, WIDTH, SOURCE = 220, 30, 40  # points, those of each absorbing layer, and the source


def tissue(absorption: float, power: float, **more: Any) -> AcousticMedium:
    """A homogeneous medium with this absorption in dB / (MHz^y cm)."""
    return AcousticMedium(SPEED, 1000.0, float(nepers(absorption, power)), power, **more)


def measured(medium: AcousticMedium, reference_speed: float, per_period: int) -> complex:
    """Wavenumber of a continuous wave that a smooth source emits in the scheme."""
    dt = 1 / FREQUENCY / per_period
    steps = 28 * per_period
    turns = np.arange(steps) / per_period
    signal = np.minimum(turns / 4, 1) * np.sin(2 * pi * turns)
    spread = np.arange(-8, 9)
    weights = np.exp(-((spread / 1.5) ** 2) / 2)
    scheme = KSpaceScheme(
        shape=(1, 1, N),
        d=(H,) * 3,
        dt=dt,
        c_ref=reference_speed,
        speed=SPEED,
        density=1000.0,
        layers=(WIDTH, 0, 0),
        tau=medium.tau if medium.is_absorbing else 0.0,
        eta=medium.eta if medium.is_dispersive else 0.0,
        power=medium.power,
        sources=[("p", SOURCE + spread, np.outer(signal, weights), "uncorrected")],
    )
    total = np.zeros(N, complex)
    for n in range(steps):
        scheme.step()
        if n >= steps - 2 * per_period:
            total += scheme.p[0, 0] * np.exp(-2j * pi * n / per_period)
    logarithm = np.log(np.abs(total)) + 1j * np.unwrap(np.angle(total))
    there = slice(SOURCE + 14, SOURCE + 90)
    slope = np.polyfit(H * np.arange(N)[there], logarithm[there], 1)[0]
    return complex(1j * slope)


@pytest.mark.parametrize(
    ("medium", "reference_speed", "per_period"),
    [
        (tissue(3.0, 1.5), SPEED, 11),
        (tissue(3.0, 1.5), 2400.0, 20),
        (tissue(8.0, 2.0), SPEED, 20),
        (tissue(5.0, 1.1), SPEED, 20),
        (tissue(5.0, 1.0, disperses=False), SPEED, 12),
    ],
)
def test_waves_of_the_scheme_have_the_predicted_wavenumber(
    medium: AcousticMedium, reference_speed: float, per_period: int
) -> None:
    wave = lossy_wave(medium, FREQUENCY, reference_speed, 1 / FREQUENCY / per_period)
    found = measured(medium, reference_speed, per_period)
    assert abs(found - wave.scheme) < 2e-3 * abs(wave.scheme - wave.power_law)
    error = found.imag / wave.power_law.imag - 1
    assert error == pytest.approx(wave.absorption_error, abs=5e-4)


def test_the_power_law_is_that_of_the_coefficient() -> None:
    law = lossy_wave(tissue(3.0, 1.5), FREQUENCY, SPEED, 1e-8).power_law
    alpha = 300 * np.log(10) / 20  # Np/m at 1 MHz
    assert law.imag == pytest.approx(-alpha)
    assert law.real == pytest.approx(2 * pi * FREQUENCY / SPEED - alpha)  # tan(3 pi / 4) = -1


def test_short_steps_and_weak_losses_have_no_error() -> None:
    for power in (0.7, 1.3, 2.0, 2.6):
        wave = lossy_wave(tissue(1e-3, power), FREQUENCY, SPEED, 1e-10)
        assert abs(wave.absorption_error) < 1e-3
        assert wave.phase_errors(0.1)["time_step"] == pytest.approx(0, abs=1e-3)


def test_the_parts_of_an_error_add_up() -> None:
    wave = lossy_wave(tissue(3.0, 1.5), FREQUENCY, 2400.0, 5e-8)
    assert sum(wave.absorption_errors().values()) == pytest.approx(wave.absorption_error)
    total = np.degrees(0.04 * (wave.scheme.real - wave.power_law.real))
    assert sum(wave.phase_errors(0.04).values()) == pytest.approx(total)


def test_the_error_of_the_time_step_is_of_order_two() -> None:
    first, second = (
        lossy_wave(tissue(0.01, 2.0), FREQUENCY, SPEED, dt).absorption_errors()["time_step"]
        for dt in (5e-8, 2.5e-8)
    )
    assert first == pytest.approx(-0.008, abs=5e-4) and first / second == pytest.approx(4, rel=0.05)


def test_the_points_with_the_largest_absorption_count() -> None:
    speed, density = np.full((2, 3, 4), 1500.0), np.full((2, 3, 4), 1000.0)
    absorption = np.zeros((2, 3, 4))
    speed[0, 0, :3], absorption[0, 0, :3] = (1600.0, 2000.0, 1800.0), 3e-6
    absorption[1, 1, 1], speed[1, 1, 1] = 1e-6, 2900.0
    points = most_absorbing(AcousticMedium(speed, density, absorption, 1.5))
    assert [point.speed for point in points] == [1600.0, 2000.0]
    assert all(point.absorption == 3e-6 for point in points)
    assert [p.speed for p in most_absorbing(tissue(1.0, 1.5))] == [SPEED]
    uniform = most_absorbing(AcousticMedium(speed, density, 3e-6, 1.5))
    assert [point.speed for point in uniform] == [1500.0, 2900.0]
    wave = worst_wave(points, FREQUENCY, 2000.0, 5e-8)
    each = [lossy_wave(point, FREQUENCY, 2000.0, 5e-8) for point in points]
    assert wave in each
    assert abs(wave.absorption_error) == max(abs(other.absorption_error) for other in each)


def residual(
    medium: AcousticMedium, k: complex, omega: float, reference_speed: float, dt: float
) -> float:
    """Relative residual of the dispersion relation; that of the equations if the step is 0."""
    modified, rate, acceleration = k, 1j * omega, omega**2
    if dt > 0:
        modified = 2 / (reference_speed * dt) * np.sin(reference_speed * k * dt / 2)
        rate = -np.expm1(-1j * omega * dt) / dt
        acceleration = (2 / dt * np.sin(omega * dt / 2)) ** 2
    eta = float(medium.eta) if medium.is_dispersive else 0.0
    losses = eta * k ** (medium.power - 1) + float(medium.tau) * rate * k ** (medium.power - 2)
    return float(abs((medium.speed * modified) ** 2 * (1 - losses) / acceleration - 1))


def decades(first: float, last: float) -> st.SearchStrategy[float]:
    """Numbers from 10^first to 10^last."""
    return st.floats(first, last).map(lambda exponent: 10.0**exponent)


ODD_POWERS = [0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 1.001, 1.01, 1.99, 2.0, 2.01, 2.9, 2.99]
MEDIA = st.builds(
    tissue,
    decades(-6, 4),
    st.floats(0.01, 2.99) | st.sampled_from(ODD_POWERS),
    disperses=st.booleans(),
)
STEPS = decades(-10, -6) | st.sampled_from([1e-7, 1e-6])  # with whole numbers of periods, too


@given(
    medium=MEDIA,
    frequency=decades(3, np.log10(5e7)) | st.sampled_from([1e6, 1e7, 3e7]),
    dt=STEPS,
    reference_speed=st.sampled_from([1000.0, SPEED, 3000.0]),
)
def test_in_any_medium_there_is_a_converged_wave_or_none(
    medium: AcousticMedium, frequency: float, dt: float, reference_speed: float
) -> None:
    wave, omega = lossy_wave(medium, frequency, reference_speed, dt), 2 * pi * frequency
    if wave is not None:
        for k, step in ((wave.equations, 0.0), (wave.scheme, dt)):
            assert k.real > 0 > k.imag
            assert residual(medium, k, omega, reference_speed, step) < 1e-9
        assert -1 <= wave.absorption_error <= 1


@pytest.mark.parametrize(
    ("absorption", "power"), [(51.0, 0.9), (5.0, 0.99), (1.0, 0.999), (20.0, 2.99)]
)
def test_strong_dispersion_leaves_no_wave(absorption: float, power: float) -> None:
    assert lossy_wave(tissue(absorption, power), FREQUENCY, SPEED, 1e-8) is None
    without = tissue(absorption, power, disperses=False)
    wave = lossy_wave(without, FREQUENCY, SPEED, 1e-8)
    assert wave is not None and abs(wave.absorption_errors()["equations"]) < 0.3
