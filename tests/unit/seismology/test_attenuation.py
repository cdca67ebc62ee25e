"""Attenuation: the fit of Q(f), its use in a time step, and the reference modulus."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from bloch_waves import WAVES, quality_factor, wavenumber
from scipy.optimize import linprog

from groundswell.errors import InputError
from groundswell.seismology.attenuation import MECHANISMS, Relaxation
from groundswell.seismology.attenuation_fit import _optimal_order, fit

pytestmark = pytest.mark.each_value

BAND = (0.1, 10.0)
FREQUENCIES = np.geomspace(*BAND, 801)  # 1 Hz, the transition, is among them
MODELS = {"constant": 0.0, "power-law": 0.6}

# Weights published for the eight mechanisms (Withers, Olsen & Day 2015; (a, b) of a/Q^2 + b/Q for
# Q <= 200 and W of 8 W/Q above), in the order of the relaxation times that PUBLISHED_RANK names.
PUBLISHED_RANK = np.array([1, 8, 7, 2, 6, 3, 4, 5])
PUBLISHED = {
    "constant": (
        "-27.5089 -82.8803 72.0312 -34.1779 -52.2607 -1.627 -27.777 14.6295",
        "7.4177 13.1952 .5298 6.0293 8.1754 4.6858 6.2852 3.8839",
        ".8867 1.7275 .0423 .8323 1.044 .5615 .811 .4641",
    ),
    "power-law": (
        "8.0848 -79.9715 35.7155 -13.0365 -13.2235 25.4548 -10.4478 -75.9179",
        "-.1968 12.7318 1.68 1.8101 6.3697 -.3947 7.657 6.1791",
        ".3112 1.6821 .1616 .0001 .8339 .0001 1.0117 .7123",
    ),
}


def published_pattern(model: str, q: float) -> tuple[np.ndarray, np.ndarray]:
    a, b, w = (np.array(row.split(), float) for row in PUBLISHED[model])
    shortest, longest = 0.02 / (2 * np.pi), 100 / (2 * np.pi)
    tau = shortest * (longest / shortest) ** ((PUBLISHED_RANK - 0.5) / MECHANISMS)
    return tau, a / q**2 + b / q if q <= 200 else 8 * w / q


def series_modulus(tau: np.ndarray, w: np.ndarray, f: np.ndarray) -> np.ndarray:
    """M / M_u of cells in series, written out cell by cell."""
    compliance = np.zeros(len(f), complex)
    for tau_m, w_m in zip(tau, w, strict=True):
        compliance += 1 / (1 - w_m / (1 + 2j * np.pi * f * tau_m)) / len(tau)
    return 1 / compliance


def mean_modulus(tau: np.ndarray, w: np.ndarray, f: np.ndarray) -> np.ndarray:
    """M / M_u half way between cells in series and cells side by side."""
    beside = np.zeros(len(f), complex)
    for tau_m, w_m in zip(tau, w, strict=True):
        beside += (1 - w_m / (1 + 2j * np.pi * f * tau_m)) / len(tau)
    return (beside + series_modulus(tau, w, f)) / 2


def worst(tau: np.ndarray, w: np.ndarray, q: float, exponent: float) -> float:
    return worst_of(mean_modulus(tau, w, FREQUENCIES), q, exponent)


def worst_of(modulus: np.ndarray, q: float, exponent: float) -> float:
    target = q * np.where(FREQUENCIES > 1, FREQUENCIES**exponent, 1.0)
    return float(np.max(np.abs(modulus.real / modulus.imag / target - 1)))


def step_pattern(relaxation: Relaxation, q: float, dt: float, rate: np.ndarray) -> np.ndarray:
    """Mean stress increments / (M_u dt) of cells in series and of cells side by side."""
    series, beside = (step(relaxation, q, dt, rate) for step in (step_series, step_beside))
    return (series + beside) / 2


def step_beside(relaxation: Relaxation, q: float, dt: float, rate: np.ndarray) -> np.ndarray:
    """Stress increments / (M_u dt), averaged, of eight cells that share one strain rate."""
    decay, w = relaxation.decay(dt), relaxation.weights(1 / q)
    memory, increments = np.zeros(MECHANISMS), np.empty(len(rate))
    for n, strain_rate in enumerate(rate):
        new = decay * memory - (1 - decay) * w / 2 * strain_rate
        increments[n] = np.mean(strain_rate + memory + new)
        memory = new
    return increments


def step_series(relaxation: Relaxation, q: float, dt: float, rate: np.ndarray) -> np.ndarray:
    """Stress increments / (M_u dt) of eight cells in series that share one stress.

    Every cell does the kernel's update; the strain rates of the cells average to `rate`.
    """
    decay, w = relaxation.decay(dt), relaxation.weights(1 / q)
    memory, increments = np.zeros(MECHANISMS), np.empty(len(rate))
    stiffness = 1 - (1 - decay) * w / 2  # of one step, with the memory's own answer to it
    for n, mean_rate in enumerate(rate):
        carried = (1 + decay) * memory
        increments[n] = (mean_rate + np.mean(carried / stiffness)) / np.mean(1 / stiffness)
        strain_rate = (increments[n] - carried) / stiffness
        new = decay * memory - (1 - decay) * w / 2 * strain_rate
        assert np.allclose(strain_rate + memory + new, increments[n])
        memory = new
    return increments


@pytest.mark.parametrize(("model", "tolerance"), [("constant", 0.0045), ("power-law", 0.041)])
@pytest.mark.parametrize("q", [10, 20, 50, 100, 200, 500, 1e6])
def test_quality_follows_target(model: str, tolerance: float, q: float) -> None:
    relaxation = fit(model, 0.6, 1.0, BAND)
    error = worst(relaxation.tau, relaxation.weights(1 / q), q, MODELS[model])
    assert error < tolerance
    assert error < 1.05 * relaxation.error + 1e-4


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("q", [20, 50, 100, 200, 500])
def test_fit_beats_published_weights(model: str, q: float) -> None:
    tau, w = published_pattern(model, q)  # made for cells in series
    published = worst_of(series_modulus(tau, w, FREQUENCIES), q, MODELS[model])
    assert published < 0.11  # the oracle itself is read right
    relaxation = fit(model, 0.6, 1.0, BAND)
    assert worst(relaxation.tau, relaxation.weights(1 / q), q, MODELS[model]) < published


def reachable(error: float, exponent: float) -> bool:
    """Whether positive Debye peaks, as many as one likes, hold 1/Q within `error` of the target."""
    f = np.union1d(np.geomspace(*BAND, 60), [1.0])
    peaks = np.geomspace(0.003, 300, 200)
    shape = 1 / (f[:, None] / peaks + peaks / f[:, None]) * np.maximum(1, f[:, None]) ** exponent
    limits = np.repeat([1 / (1 - error), -1 / (1 + error)], len(f))
    return linprog(np.zeros(len(peaks)), np.vstack([shape, -shape]), limits).status == 0


@pytest.mark.parametrize(("exponent", "bound"), [(0.3, 0.0125), (0.6, 0.0335), (0.8, 0.057)])
def test_corner_is_near_the_best_of_any_positive_spectrum(exponent: float, bound: float) -> None:
    assert not reachable(bound, exponent)
    assert reachable(bound + 0.002, exponent)
    assert bound < fit("power-law", exponent, 1.0, BAND).error < 1.35 * bound


def test_random_requests_are_met_by_passive_cells() -> None:
    rng = np.random.default_rng(20150601)
    for _ in range(6):
        lowest, exponent = 10 ** rng.uniform(-2, 1), rng.uniform(0, 1)
        band = (lowest, lowest * 10 ** rng.uniform(0.3, 3))
        transition, minimum_q = lowest * 10 ** rng.uniform(-3, 3), rng.uniform(8, 40)
        relaxation = fit("power-law", exponent, transition, band, minimum_q)
        w = relaxation.weights(np.append(np.linspace(0, 1 / minimum_q, 300), 1e-9))
        assert w.min() >= 0 and w.max() < 0.96
        assert np.all(relaxation.weights(np.float32(1 / minimum_q)) > 0)
        f = np.geomspace(*band, 333)
        q = minimum_q * rng.uniform(1, 50)
        error = np.max(np.abs(relaxation.quality(f, q) / relaxation.target(f, q) - 1))
        assert error < 1.1 * relaxation.error + 1e-3
        assert relaxation.error < 0.02 + 0.12 * exponent**2


def test_fit_scales_with_frequency() -> None:
    slow, fast = fit("constant", band=(0.01, 1.0)), fit("constant", band=(1.0, 100.0))
    assert slow.error < 0.0045 and fast.error < 0.0045


def test_single_precision_kernel_polynomial() -> None:
    relaxation = fit("power-law", 0.6)
    b, a = relaxation.coefficients.astype(np.float32).T
    for q in (10, 37, 1e4):
        x = np.float32(1 / q)
        w = x * (b + x * a)
        assert w.dtype == np.float32
        assert np.allclose(w, relaxation.weights(1 / q), rtol=1e-5, atol=1e-6 * x)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("q", [20, 150])
def test_time_step_has_the_analytic_quality(model: str, q: float) -> None:
    relaxation, dt = fit(model, 0.6), 0.005
    impulse = np.zeros(20000)
    impulse[0] = 1.0
    response = step_pattern(relaxation, q, dt, impulse)
    assert abs(response[-1]) < 1e-12  # the memory has run out: no growth, no truncation
    f = np.geomspace(*BAND, 40)
    modulus = np.exp(-2j * np.pi * dt * np.outer(f, np.arange(len(response)))) @ response
    discrete = modulus.real / modulus.imag
    assert np.max(np.abs(discrete / relaxation.quality(f, q) - 1)) < 0.005
    warped = np.tan(np.pi * f * dt) / (np.pi * dt)
    assert np.max(np.abs(modulus / relaxation.modulus(warped, q) - 1)) < 1e-9


def test_sinusoidal_strain_rate_lags_by_the_analytic_angle() -> None:
    relaxation, dt, f, q = fit(), 0.005, 0.8, 30.0
    t = dt * np.arange(16000)
    stress_rate = step_pattern(relaxation, q, dt, np.cos(2 * np.pi * f * t))[-5000:]  # 20 periods
    phase = np.exp(-2j * np.pi * f * t[-5000:])
    measured = 2 * np.mean(stress_rate * phase)
    assert measured == pytest.approx(complex(relaxation.modulus(f, q)), rel=1e-4)


def test_steps_longer_than_the_relaxation_times_decay_too() -> None:
    relaxation = fit()
    dt = 20 * relaxation.tau.min()
    impulse = np.zeros(4000)
    impulse[0] = 1.0
    assert np.all(np.abs(relaxation.decay(dt)) < 1)
    assert abs(step_pattern(relaxation, 10.0, dt, impulse)[-1]) < 1e-12


@pytest.mark.parametrize("f_ref", [0.2, 1.0, 7.0])
def test_phase_velocity_at_reference_is_the_given_one(f_ref: float) -> None:
    rng = np.random.default_rng(1964)
    relaxation, c, rho = fit("power-law", 0.6), 3200.0, 2700.0
    inv_q = rng.uniform(0, 0.1, (3, 5))
    unrelaxed = rho * c**2 * relaxation.modulus_ratio(inv_q, f_ref)
    for x, m_u in zip(inv_q.flat, unrelaxed.flat, strict=True):
        ratio = mean_modulus(relaxation.tau, relaxation.weights(x), np.array([f_ref]))[0]
        assert 1 / np.sqrt(rho / (m_u * ratio)).real == pytest.approx(c, rel=1e-7)
    assert np.all(unrelaxed > rho * c**2)
    assert relaxation.modulus_ratio(0.0, f_ref) == 1.0


def test_dispersion_obeys_kramers_and_kronig() -> None:
    """Constant Q: c(f2)/c(f1) = 1 + ln(f2/f1)/(pi Q) to first order (Aki & Richards, 5.5)."""
    q = 1000.0
    ratio = fit().modulus_ratio(1 / q, 0.5) / fit().modulus_ratio(1 / q, 5.0)
    assert np.sqrt(ratio) - 1 == pytest.approx(np.log(10) / (np.pi * q), rel=0.01)


def test_elastic_cells() -> None:
    relaxation = fit()
    assert np.all(relaxation.weights(0.0) == 0)
    assert relaxation.quality(1.0, np.inf) == np.inf


def test_shapes() -> None:
    relaxation = fit()
    assert relaxation.tau.shape == relaxation.decay(0.01).shape == (MECHANISMS,)
    assert relaxation.coefficients.shape == (MECHANISMS, 2)
    assert relaxation.weights(np.full((2, 3), 0.01)).shape == (MECHANISMS, 2, 3)
    assert relaxation.quality(FREQUENCIES, np.array([[20.0], [50.0]])).shape == (2, 801)
    assert relaxation.modulus_ratio(np.full((4, 1), 0.01, np.float32), 1.0).shape == (4, 1)
    assert np.allclose(relaxation.decay(1e-4), np.exp(-1e-4 / relaxation.tau), rtol=1e-5)


@pytest.mark.parametrize(("q", "tolerance"), [(20.0, 0.045), (60.0, 0.02), (200.0, 0.01)])
def test_waves_of_all_kinds_along_all_axes_meet_the_same_q(q: float, tolerance: float) -> None:
    relaxation = fit()
    for wave in WAVES:
        for f in (0.1, 0.3, 1.0, 3.0, 10.0):
            k = wavenumber(relaxation, wave, f, qp=1.5 * q, qs=q)
            asked = 1.5 * q if wave.motion == wave.axis else q
            assert quality_factor(k) == pytest.approx(asked, rel=tolerance), (wave, f)


@pytest.mark.parametrize(
    ("mechanisms", "constant", "power_law"), [(2, 0.18, 0.16), (3, 0.04, 0.045), (4, 0.013, 0.04)]
)
@pytest.mark.parametrize("q", [10, 50, 300])
def test_mechanisms_at_a_point_are_a_maxwell_body(
    mechanisms: int, constant: float, power_law: float, q: float
) -> None:
    """Debye peaks side by side, near the band, since the fastest one limits the time step."""
    for model, tolerance in (("constant", constant), ("power-law", power_law)):
        relaxation = fit(model, 0.6, 1.0, BAND, mechanisms=mechanisms)
        fractions = relaxation.weights(1 / q) / mechanisms
        assert relaxation.tau.shape == (mechanisms,) and (fractions > 0).all()
        modulus = np.ones(len(FREQUENCIES), complex)
        for tau, fraction in zip(relaxation.tau, fractions, strict=True):
            modulus -= fraction / (1 + 2j * np.pi * FREQUENCIES * tau)
        assert np.allclose(relaxation.modulus(FREQUENCIES, q), modulus, rtol=1e-14)
        error = worst_of(modulus, q, MODELS[model])
        assert error < tolerance and error < 1.05 * relaxation.error + 1e-4
        assert (2 * np.pi * relaxation.tau).min() > 1 / 30.1


def test_the_order_of_cells_does_not_depend_on_rounding() -> None:
    """Six orders that an exchange of axes turns into each other are equally good."""
    relaxation, rng = fit("power-law", 0.6, 1.0, BAND), np.random.default_rng(3)
    orders = {
        tuple(_optimal_order(replace(relaxation, tau=relaxation.tau * (1 + noise))))
        for noise in 1e-15 * rng.standard_normal((20, MECHANISMS))
    }
    assert len(orders) == 1


def test_fit_is_remembered_and_cannot_be_altered() -> None:
    assert fit("constant", 0.3, 2.0) is fit("constant")
    with pytest.raises(ValueError, match="read-only"):
        fit().tau[0] = 1.0


def test_a_smallest_q_that_no_fit_has_is_refused() -> None:
    with pytest.raises(InputError, match="smallest Q"):
        fit(minimum_q=1.0)


@pytest.mark.parametrize("inv_q", [0.2, -0.01, float("nan"), [0.01, 0.11]])
def test_quality_outside_the_fit_is_refused(inv_q: object) -> None:
    for use in (fit().weights, lambda x: fit().modulus_ratio(x, 1.0)):
        with pytest.raises(InputError, match="10 to infinity"):
            use(inv_q)
