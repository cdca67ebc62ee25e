"""Interfaces on and off cell faces: reflection and transmission of plane waves, normal incidence.

A pulse in a periodic column meets an interface. The spectra of the reflected and the transmitted
pulse over that of the incident pulse, at 30 cells per wavelength, are compared with the exact
coefficients of velocities, R = (Z1 - Z2) / (Z1 + Z2) and T = 2 Z1 / (Z1 + Z2). Z = rho vp, or
rho vs for S waves, is the impedance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from groundswell.arrays import Floats
from groundswell.backends import Backend
from groundswell.seismology.problems import case_sections
from groundswell.solvers.earthquake.case import EarthquakeCase
from groundswell.solvers.earthquake.solver import Earthquake
from groundswell.solvers.earthquake.verification import simulation as sim
from groundswell.verify import Check

Material = tuple[float, float, float]  # vp, vs (m/s) and rho (kg/m^3)

WATER, SANDSTONE = (1500.0, 0.0, 1000.0), (3000.0, 1500.0, 2200.0)
SEDIMENT, ROCK = (2600.0, 1400.0, 2050.0), (6000.0, 3460.0, 2700.0)

H = 100.0  # m
POINTS = 30  # cells per wavelength above the interface
PULSE = POINTS * H / (2 * np.pi)  # length of a pulse whose spectrum peaks at that wavelength, m
DEPTH, START, NEAR, INTERFACE, FAR = 170, 40, 65, 105, 135  # cells
SHIFTS = (0.0, 0.25, 0.5, 0.75)  # of the interface below a face, cells


@dataclass(frozen=True)
class TransmittedWave:
    """A wave that propagates from one half-space into another.

    Args:
        wave: "P" or "S".
        above, below: materials of the two half-spaces.
        shift: depth of the interface below a face, cells.
    """

    wave: str
    above: Material
    below: Material
    shift: float

    def speed(self, material: Material) -> float:
        return material["PS".index(self.wave)]

    def exact(self) -> Floats:
        """Exact R and T, (2,)."""
        first, second = (m[2] * self.speed(m) for m in (self.above, self.below))
        return np.array([first - second, 2 * first]) / (first + second)

    def measure(self, backend: Backend) -> Floats:
        """Magnitudes of R and T on the grid, (2,)."""
        found = sim.build(self._case(), backend)
        self._set_pulse(found)
        setup = found.setup
        along = 2 if self.wave == "P" else 0
        near, far = sim.seismograms(found, setup.steps)[:, along]
        c = self.speed(self.above)
        time = setup.dt * np.arange(setup.steps)
        phasor = np.exp(-2j * np.pi * c / (POINTS * H) * time)
        is_first = time < (INTERFACE - START) * H / c  # between the pulse and its reflection
        incident, reflected = (np.sum((phasor * near)[part]) for part in (is_first, ~is_first))
        return np.abs([reflected, phasor @ far] / incident)

    def _case(self) -> EarthquakeCase:
        tops = (0.0, (INTERFACE + self.shift) * H)
        layers = [
            dict(zip(("top", "vp", "vs", "rho"), (top, *material), strict=True))
            for top, material in zip(tops, (self.above, self.below), strict=True)
        ]
        there_and_back = (2 * INTERFACE - START - NEAR + 25) * H
        return sim.make_case(
            grid={"size": (2 * H, 2 * H, DEPTH * H), "spacing": H},
            time={"duration": there_and_back / self.speed(self.above)},
            medium={"kind": "layered", "layers": layers},
            boundary={"top": "absorbing", "sides": "periodic"},
            source=[case_sections.SILENCE],
            receiver=case_sections.receivers([(H, H, n * H) for n in (NEAR, FAR)]),
        )

    def _set_pulse(self, found: Earthquake) -> None:
        """Set a velocity, and the stresses with which it propagates downwards."""
        vp, vs, rho = self.above
        if self.wave == "S":
            sim.fill(found, "vx", self._pulse(0.0))
            stresses = {"sxz": vs}
        else:
            sim.fill(found, "vz", self._pulse(0.0))
            stresses = {"szz": vp, **dict.fromkeys(("sxx", "syy"), vp - 2 * vs**2 / vp)}
        later = self._pulse(found.setup.dt / 2)
        for name, speed in stresses.items():
            sim.fill(found, name, lambda x, y, z, a=-rho * speed: a * later(x, y, z))

    def _pulse(self, time: float) -> Callable[..., Floats]:
        centre = START * H + self.speed(self.above) * time

        def shape(x: Floats, y: Floats, z: Floats) -> Floats:
            place = (z - centre) / PULSE
            return place * np.exp(-(place**2) / 2)  # its integral is zero

        return shape


def normal_incidence(backend: Backend, full: bool) -> Iterator[Check]:
    """P and S waves at interfaces on a face and up to three quarters of a cell below it."""
    for wave, above, below, name, limit in (
        ("P", WATER, SANDSTONE, "water over rock", 0.2),
        ("P", SEDIMENT, ROCK, "sediment over rock", 0.1),
        ("S", SEDIMENT, ROCK, "sediment over rock", 0.1),
    ):
        columns = [TransmittedWave(wave, above, below, shift) for shift in SHIFTS]
        exact = np.abs(columns[0].exact())
        errors = 100 * np.abs([column.measure(backend) / exact - 1 for column in columns])
        for coefficient, of_shifts in zip("RT", errors.T, strict=True):
            shown = ", ".join(f"{e:.2f}" for e in of_shifts)
            note = f"{shown} % with the interface 0, 1/4, 1/2, 3/4 of a cell below a face"
            label = f"{wave} wave, {name}: {coefficient} at {POINTS} cells per wavelength"
            yield Check.at_most(label, of_shifts.max(), limit, "%", note)
