"""Waves in a homogeneous medium: a ball of pressure, absorption and dispersion, phase errors."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from groundswell.arrays import Complexes, Floats
from groundswell.backends import Backend
from groundswell.solvers.ultrasound.absorption import nepers
from groundswell.solvers.ultrasound.verification import simulation as sim
from groundswell.solvers.ultrasound.verification.simulation import SPEED, WATER
from groundswell.verify import Check

# --- a ball of pressure ---------------------------------------------------------------------------

SPACINGS = (1.0e-3, 0.9e-3, 1.1e-3)  # m; different, so that a confusion of axes is detected
SIGMA = 2.2 * max(SPACINGS)  # the spectrum falls to 4e-11 at the highest wavenumber


def ball(backend: Backend, full: bool) -> list[Check]:
    """A Gaussian ball of pressure against the exact solution.

    With r the distance from the centre and f the pressure at the start,
    r p = ((r - ct) f(|r - ct|) + (r + ct) f(r + ct)) / 2. The scheme is exact for wavenumbers of
    the grid; the periodic images of the ball remain.
    """
    points, steps = ((160, 176, 144), 60) if full else ((46, 52, 42), 9)
    dt = 0.8 * min(SPACINGS) / SPEED
    centre = [0.52 * n * h for n, h in zip(points, SPACINGS, strict=True)]
    start = {"kind": "gaussian", "centre": centre, "width": SIGMA, "pressure": 1.0}
    case = sim.make_case(
        grid={"points": points, "spacing": SPACINGS},
        boundary={"width": 0},
        initial={**start, "smooth": False},
        time={"duration": steps * dt, "step": dt},
    )
    found = sim.build(case, backend)
    sim.advance(found, steps)
    x, y, z = (found.setup.coordinates(axis) - centre[axis] for axis in range(3))
    r = np.sqrt(z[:, None, None] ** 2 + y[:, None] ** 2 + x**2)
    exact = _spherical_wave(r, SPEED * steps * dt)
    error = np.abs(sim.pressure(found) - exact).max() / np.abs(exact).max()
    note = f"after {steps} steps of 0.8 of a cell"
    return [Check.at_most("ball of pressure: largest error", error, 1e-8, note=note)]


def _spherical_wave(r: Floats, distance: float) -> Floats:
    """Pressure after waves have travelled a distance; no point may be at the centre."""
    parts = ((r + d) * np.exp(-((r + d) ** 2) / (2 * SIGMA**2)) for d in (-distance, distance))
    return np.asarray(sum(parts) / (2 * r))


# --- absorption and dispersion --------------------------------------------------------------------

EDGE = 0.1e-3  # m
COURANT = 0.02  # absorption lags by half a step, which acts as dispersion
POINTS, STEPS, EVERY = 96, 400, 10
CYCLES = np.array([3, 4, 6])  # standing waves along the channel: 32, 24 and 16 points, 0.5 to 1 MHz
# dB / (MHz^y cm), by power: the equations follow the power law for weak absorption and dispersion
# only, and dispersion is strong near y = 1.
COEFFICIENTS = {0.9: 0.02, 0.999: 2e-4, 1.001: 2e-4, 1.1: 0.2, 1.5: 0.2, 2.0: 0.2}


def power_law(backend: Backend, full: bool) -> Iterator[Check]:
    """Absorption alpha_0 omega^y, and the dispersion that accompanies it.

    A standing wave of the wavenumber k is proportional to exp(s t). Its rate is
    s = i omega - alpha c with omega = k / (1 / c + alpha_0 tan(pi y / 2) omega^(y - 1)).
    """
    refinement = 4 if full else 1
    k = 2 * np.pi * CYCLES / (POINTS * EDGE)
    for power, coefficient in COEFFICIENTS.items():
        dt = COURANT * EDGE / SPEED / refinement
        rates = _rates(backend, {"absorption": coefficient, "power": power}, dt)
        omega, alpha_0 = SPEED * k, float(nepers(coefficient, power))
        decay = alpha_0 * omega**power * SPEED
        tangent = 0.0 if power == 2 else np.tan(np.pi * power / 2)
        shift = k / (1 / SPEED + alpha_0 * tangent * omega ** (power - 1)) - omega
        wrong = np.abs(-rates.real / decay - 1).max()
        yield Check.at_most(f"y = {power:g}: absorption, relative error", wrong, 1e-3)
        wrong = (np.abs(rates.imag - omega - shift) / np.maximum(np.abs(shift), decay)).max()
        yield Check.at_most(f"y = {power:g}: dispersion, relative error", wrong, 0.01)


def _rates(backend: Backend, losses: dict[str, float], dt: float) -> Complexes:
    """Rates s of the standing waves, 1/s."""
    shapes = np.cos(2 * np.pi * CYCLES[:, None] * np.arange(POINTS) / POINTS)
    case = sim.channel(
        *(POINTS, EDGE),
        medium=WATER | losses,
        initial=_initial(shapes.sum(axis=0)),
        time={"duration": STEPS * dt, "step": dt},
    )
    samples = sim.record(sim.build(case, backend), (0, 0), STEPS)[EVERY::EVERY]  # without t = 0
    amplitudes = samples @ shapes.T * 2 / POINTS
    return np.array([_rate(series, EVERY * dt) for series in amplitudes.T])


def _initial(values: Floats) -> dict[str, object]:
    rows = np.tile(values, (sim.ACROSS, 1))
    return {"kind": "array", "values": rows, "smooth": False}


def _rate(series: Floats, interval: float) -> complex:
    """Rate s of Re(a exp(s t)) from a series, which obeys a linear recurrence of two terms."""
    terms = np.column_stack([series[1:-1], series[:-2]])
    (first, second), *_ = np.linalg.lstsq(terms, series[2:], rcond=None)
    root = complex(np.roots([1, -first, -second])[0])
    rate = np.log(root) / interval
    return complex(rate.real, abs(rate.imag))


# --- phase errors ---------------------------------------------------------------------------------


def phase_error(backend: Backend, full: bool) -> Iterator[Check]:
    """Frequencies of standing waves for several speeds of the k-space correction.

    They obey sin(omega dt / 2) = (c / c_ref) sin(c_ref k dt / 2), hence omega = c k if c_ref = c.
    With c_ref near 0, the scheme is a leapfrog scheme.
    """
    dt = 0.4 * EDGE / SPEED
    for ratio in (1.0, 1.3, 0.9, 1e-3):
        n = POINTS * (8 if full else 1)
        k, reference = 2 * np.pi / (8 * EDGE), ratio * SPEED  # 8 points per wavelength
        case = sim.channel(
            *(n, EDGE),
            initial=_initial(np.cos(k * EDGE * np.arange(n))),
            time={"duration": 60 * dt, "step": dt, "reference_speed": reference},
        )
        series = sim.record(sim.build(case, backend), (0, 0, 0), 60)
        theory = 2 / dt * np.arcsin(np.sin(reference * k * dt / 2) / ratio)
        error = abs(_rate(series, dt).imag / theory - 1)
        note = f"phase error {theory / (SPEED * k) - 1:.1e}"
        yield Check.at_most(f"c_ref = {ratio:g} c: frequency from theory", error, 1e-9, note=note)
