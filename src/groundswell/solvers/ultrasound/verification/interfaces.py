"""Reflection and transmission of plane waves at normal incidence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from groundswell.arrays import Complexes, Floats
from groundswell.backends import Backend
from groundswell.solvers.ultrasound.verification import simulation as sim
from groundswell.solvers.ultrasound.verification.simulation import SPEED, WATER
from groundswell.verify import Check

BONE = {"speed": 2800.0, "density": 1850.0}
MATERIALS = {"water": WATER, "bone": BONE}
FREQUENCY = 500e3  # Hz
THICKNESS = 6.5e-3  # of the plate, m: 1.2 wavelengths
SIDE = 3  # wavelengths in water on either side of the interface


def normal_incidence(backend: Backend, full: bool) -> Iterator[Check]:
    """Coefficients of the pressure, R = (Z2 - Z1) / (Z2 + Z1) and 1 + R, from either side."""
    for first, second in (("water", "bone"), ("bone", "water")):
        one, two = MATERIALS[first], MATERIALS[second]
        exact = (_impedance(two) - _impedance(one)) / (_impedance(two) + _impedance(one))
        beyond = {"kind": "layer", "axis": "x", "from": 0.0, **two}
        found = _coefficients(backend, full, one, beyond)
        yield from _compare(f"{first} to {second}", full, found, np.array([exact, 1 + exact]))


def plate(backend: Backend, full: bool) -> Iterator[Check]:
    """Coefficients of a plate of bone in water, in which reflected waves interfere.

    With the phase phi = k L across the plate, z = Z2 / Z1 and
    D = cos(phi) + i (z + 1 / z) sin(phi) / 2, the transmission is 1 / D, and the reflection
    i (z - 1 / z) sin(phi) / (2 D).
    """
    z, phase = _impedance(BONE) / _impedance(WATER), 2 * np.pi * FREQUENCY * THICKNESS / 2800
    divisor = np.cos(phase) + 0.5j * (z + 1 / z) * np.sin(phase)
    exact = np.array([0.5j * (z - 1 / z) * np.sin(phase), 1.0]) / divisor
    part = {"kind": "layer", "axis": "x", "from": 0.0, "to": THICKNESS, **BONE}
    yield from _compare("plate of bone", full, _coefficients(backend, full, WATER, part), exact)


def _compare(name: str, full: bool, found: Complexes, exact: Complexes) -> Iterator[Check]:
    """Checks of amplitudes and phases, whose errors fall with the square of the spacing."""
    within, turned = (0.002, 0.6) if full else (0.008, 2.4)
    for what, value, wanted in zip(("reflection", "transmission"), found, exact, strict=True):
        yield Check.near(f"{name}: {what}", abs(value), abs(wanted), within)
        phase = np.degrees(np.angle(value / wanted))
        yield Check.near(f"{name}: phase of {what}", phase, 0.0, turned, "degrees")


def _impedance(material: dict[str, float]) -> float:
    """Impedance of plane waves, Pa s/m."""
    return material["speed"] * material["density"]


def _coefficients(
    backend: Backend, full: bool, medium: dict[str, float], part: dict[str, Any]
) -> Complexes:
    """Reflected and transmitted pressure at FREQUENCY, divided by that of the incident wave.

    Phases refer to the ends of the part, which begins at x = 0, midway between two points.
    """
    runs = (_spectra(backend, 24 if full else 12, medium | {"shape": s}) for s in ([], [part]))
    (places, (near, far)), (_, (both, through)) = runs
    before, after = 2 * np.pi * FREQUENCY / medium["speed"], 2 * np.pi * FREQUENCY / part["speed"]
    length = part.get("to")
    back = -2 * before * places[0]
    forth = before * length if length else (before - after) * places[1]
    phases = np.exp(1j * np.array([back, -forth]))
    return np.array([(both - near) / near, through / far]) * phases


def _spectra(
    backend: Backend, per_wavelength: int, medium: dict[str, object]
) -> tuple[Floats, Complexes]:
    """Places on either side of x = 0 (m), and the pressure at FREQUENCY there."""
    spacing, side = SPEED / FREQUENCY / per_wavelength, SIDE * per_wavelength
    dt, left = 0.4 * spacing / BONE["speed"], (0.5 - side) * spacing
    steps = round((4 * SIDE + 10) / FREQUENCY / dt)
    burst = {"kind": "burst", "frequency": FREQUENCY, "cycles": 3, "window": "hann"}
    case = sim.make_case(
        grid={"points": [2 * side, sim.ACROSS], "spacing": spacing, "origin": [left, 0.0]},
        boundary={"width": [30, 0]},
        medium=medium,
        source=[{"shape": sim.plane(left, spacing), "pressure": 1.0, "signal": burst}],
        time={"duration": steps * dt, "step": dt, "reference_speed": BONE["speed"]},
    )
    places = np.array([per_wavelength, 2 * side - 2])
    series = sim.record(sim.build(case, backend), (0, 0), steps)[:, places]
    wave = np.exp(-2j * np.pi * FREQUENCY * dt * np.arange(steps))
    return left + spacing * places, wave @ series
