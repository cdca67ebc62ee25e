"""Nonlinear plane waves: harmonics of a sine before the shock, without and with losses."""

from __future__ import annotations

from collections.abc import Iterator
from math import log, pi

import numpy as np

from groundswell.arrays import Floats
from groundswell.backends import Backend
from groundswell.solvers.ultrasound import reference
from groundswell.solvers.ultrasound.verification import simulation as sim
from groundswell.solvers.ultrasound.verification.simulation import DENSITY, SPEED, WATER
from groundswell.verify import Check

FREQUENCY, PRESSURE = 1e6, 8e6  # Hz, Pa
NONLINEARITY = 5.0  # B/A
BETA = 1 + NONLINEARITY / 2
SHOCK = DENSITY * SPEED**3 / (BETA * 2 * pi * FREQUENCY * PRESSURE)  # distance, m: 13 wavelengths
HARMONICS = 4

# Allowed error, relative to the pressure of the source. The solutions neglect terms of the order of
# p / (rho c^2) = 4e-3. An error of 2 % in beta would change harmonics by more than this.
WITHIN = 1.5e-3


def fubini(backend: Backend, full: bool) -> Iterator[Check]:
    """Harmonics of a lossless wave against Fubini's solution, up to 0.8 of the shock distance."""
    sigma, found = _harmonics(backend, full, np.array([0.2, 0.5, 0.8]), {})
    exact = reference.fubini(np.arange(1, HARMONICS + 1)[:, None], sigma)
    yield from _compare("Fubini", found, exact)


def mendousse(backend: Backend, full: bool) -> Iterator[Check]:
    """Harmonics of a thermoviscous wave against Mendousse's solution, beyond the shock distance."""
    goldberg = 8.0
    decibels = 20 / log(10) / (goldberg * SHOCK) / 100 * (1e6 / FREQUENCY) ** 2
    wanted = np.array([0.5, 1.0, 1.5])
    sigma, found = _harmonics(backend, full, wanted, {"absorption": decibels})
    phases = 2 * pi * np.arange(128)[:, None] / 128
    exact = sim.harmonics(reference.mendousse(phases, sigma, goldberg), 128, HARMONICS)
    yield from _compare("Mendousse", found, np.abs(exact))


def _compare(name: str, found: Floats, exact: Floats) -> Iterator[Check]:
    for n, (values, wanted) in enumerate(zip(found, exact, strict=True), start=1):
        shown = ", ".join(f"{a:.4f} ({b:.4f})" for a, b in zip(values, wanted, strict=True))
        worst = np.abs(values - wanted).max()
        yield Check.at_most(f"{name}: error of harmonic {n}", worst, WITHIN, note=shown)


def _harmonics(
    backend: Backend, full: bool, wanted: Floats, losses: dict[str, float]
) -> tuple[Floats, Floats]:
    """Harmonics (n, place) of the wave of a plane source, relative to its pressure.

    The absorbing layers are a wavelength wide: in media with losses, thinner layers reflect 1e-3.

    Args:
        wanted: distances divided by SHOCK. Those of the nearest points are returned first.
    """
    per_wavelength = 48 if full else 20
    spacing, period = SPEED / FREQUENCY / per_wavelength, 4 * per_wavelength
    places = np.rint(wanted * SHOCK / spacing).astype(int)
    far, dt = int(places.max()), 1 / FREQUENCY / period
    steps = 4 * (far + 5 * per_wavelength)
    source = {
        "shape": sim.plane(0.0, spacing),
        "pressure": PRESSURE,
        "signal": {"kind": "sine", "frequency": FREQUENCY, "ramp": 2},
    }
    case = sim.channel(
        *(far + 1, spacing, per_wavelength),
        medium=WATER | {"nonlinearity": NONLINEARITY} | losses,
        source=[source],
        time={"duration": steps * dt, "step": dt},
    )
    found = sim.build(case, backend)
    sim.advance(found, steps - period)
    samples = sim.record(found, (0, 0), period)[:, places]
    amplitudes = np.abs(sim.harmonics(samples, period, HARMONICS)) / PRESSURE
    return places * spacing / SHOCK, amplitudes
