"""Plane waves, and the scheme's orders of convergence: fourth in space, second in time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import log

import numpy as np

from groundswell.arrays import Floats
from groundswell.backends import Backend
from groundswell.seismology.problems import case_sections
from groundswell.solvers.earthquake.case import EarthquakeCase
from groundswell.solvers.earthquake.solver import STRESSES, VELOCITIES, Earthquake
from groundswell.solvers.earthquake.verification import simulation as sim
from groundswell.verify import Check

VP, VS, RHO = 3000.0, 1700.0, 2500.0

# One wavelength along x and y fills the periodic box. Cells have three different edges, so that
# no axis can lend another its spacing. The waves run obliquely to all three.
BOX = (1200.0, 1500.0, 1920.0)
WAVE_NUMBERS = 2 * np.pi / np.array([1200.0, 1500.0, -1200.0])
TRANSVERSE = np.array([2.0, 1.0, 0.5])  # the S wave moves along its part normal to the ray

# Above and below the box ends. What is wrong there cannot have come nearer than this by the end.
TIME = 0.1
UNTOUCHED = 1.5 * VP * TIME

TENSOR = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))  # axes of each stress component


@dataclass(frozen=True)
class HarmonicWave:
    """Velocity `motion` cos(k x - omega t) and the corresponding stress."""

    motion: Floats
    speed: float

    @classmethod
    def p(cls) -> HarmonicWave:
        """A P wave: motion along the ray."""
        return cls(_unit(WAVE_NUMBERS), VP)

    @classmethod
    def s(cls) -> HarmonicWave:
        """An S wave: motion across the ray."""
        ray = _unit(WAVE_NUMBERS)
        return cls(_unit(TRANSVERSE - (TRANSVERSE @ ray) * ray), VS)

    def field(self, name: str, time: float) -> Callable[..., Floats]:
        """A field's values as a function of x, y and z (m)."""
        amplitude, omega = self.amplitude(name), self.speed * np.linalg.norm(WAVE_NUMBERS)
        k, m, n = WAVE_NUMBERS
        return lambda x, y, z: amplitude * np.cos(k * x + m * y + n * z - omega * time)

    def amplitude(self, name: str) -> float:
        """Of a velocity, m/s, or of a stress, Pa: -C : (motion k) / omega."""
        if name in VELOCITIES:
            return float(self.motion[VELOCITIES.index(name)])
        mu = RHO * VS**2
        slowness = WAVE_NUMBERS / np.linalg.norm(WAVE_NUMBERS) / self.speed
        a, b = TENSOR[STRESSES.index(name)]
        shear = mu * (self.motion[a] * slowness[b] + self.motion[b] * slowness[a])
        spreading = (RHO * VP**2 - 2 * mu) * (self.motion @ slowness) if a == b else 0.0
        return float(-shear - spreading)


def plane_waves(backend: Backend, full: bool) -> Iterator[Check]:
    """P and S waves through a periodic box, the step refined with the square of the cells."""
    counts = (32, 48, 72) if full else (16, 20, 28)
    for name, wave in (("P", HarmonicWave.p()), ("S", HarmonicWave.s())):
        yield _convergence(name, [_error(backend, n, wave) for n in counts], counts)


def _convergence(name: str, errors: list[float], counts: tuple[int, ...]) -> Check:
    orders = [
        log(coarse / fine) / log(n / m)
        for (coarse, fine), (m, n) in zip(pairwise(errors), pairwise(counts), strict=True)
    ]
    shown = ", ".join(f"{e:.2e} with {n}" for e, n in zip(errors, counts, strict=True))
    cells = f"relative errors: {shown} cells a box edge"
    return Check.at_least(f"plane {name} wave: order in space", min(orders), 3.8, note=cells)


def _error(backend: Backend, count: int, wave: HarmonicWave) -> float:
    """Relative error of all fields after TIME, away from the ends of the box."""
    steps = round(16 * (count / 16) ** 2)
    dt = TIME / steps
    found = sim.build(_box(count, dt), backend)
    for name in (*VELOCITIES, *STRESSES):
        sim.fill(found, name, wave.field(name, dt / 2 if name in STRESSES else 0.0))
    sim.advance(found, steps)
    wrong = [
        _norms(found, name, wave, TIME + (dt / 2 if name in STRESSES else 0.0))
        for name in (*VELOCITIES, *STRESSES)
    ]
    # Stresses count as velocities, by the impedance of the wave.
    scale = np.array([1.0] * 3 + [RHO * wave.speed] * 6)[:, None]
    difference, size = (np.array(wrong) / scale).T
    return float(np.linalg.norm(difference) / np.linalg.norm(size))


def _norms(found: Earthquake, name: str, wave: HarmonicWave, time: float) -> tuple[float, float]:
    x, y, z = sim.coordinates(found, name)
    clean = np.abs(z.ravel() - BOX[2] / 2) <= BOX[2] / 2 - UNTOUCHED
    exact = np.broadcast_to(wave.field(name, time)(x, y, z), found.fields[name].array.shape)
    inner = (clean, slice(2, -2), slice(2, -2))
    wrong = found.backend.to_host(found.fields[name].array) - exact
    return float(np.linalg.norm(wrong[inner])), float(np.linalg.norm(exact[inner]))


def _box(count: int, dt: float) -> EarthquakeCase:
    spacing = (BOX[0] / count, BOX[1] / count, BOX[2] / (2 * count))
    return sim.make_case(
        grid={"size": BOX, "spacing": spacing},
        time={"duration": TIME, "step": dt},
        medium={"kind": "homogeneous", "vp": VP, "vs": VS, "rho": RHO},
        boundary={"top": "absorbing", "sides": "periodic", "width": 1},
        source=[case_sections.SILENCE],
    )


def _unit(vector: Floats) -> Floats:
    return vector / np.linalg.norm(vector)


# --- order in time --------------------------------------------------------------------------------


def time_order(backend: Backend, full: bool) -> list[Check]:
    """Order in time from seismograms of a force and a moment, with the step halved twice.

    A time function half a step early or late would reduce the order to one.
    """
    refinements = (1, 2, 4)
    runs = [_motion(backend, n, full) for n in refinements]
    first, second = (np.linalg.norm(a - b) for a, b in pairwise(runs))
    note = f"the last halving changed the motion by {second / np.linalg.norm(runs[-1]):.1e}"
    return [Check.near("point sources: order in time", log(first / second, 2), 2.0, 0.1, note=note)]


def _motion(backend: Backend, refinement: int, full: bool) -> Floats:
    """Velocity at a receiver at times that all refinements share."""
    count = 48 if full else 20
    size, dt, steps = 100.0 * count, 0.01, 2 * count
    middle, pulse = size / 2, {"kind": "gaussian", "sigma": 0.05, "delay": 0.25}
    place = (middle, middle + 20, middle - 30)
    couple = {"strike": 20, "dip": 50, "rake": 70, "moment": 1e12}
    case = sim.make_case(
        grid={"size": (size, size, size), "spacing": 100.0},
        time={"duration": steps * dt, "step": dt / refinement},
        medium={"kind": "homogeneous", "vp": VP, "vs": VS, "rho": RHO},
        boundary={"top": "absorbing", "width": 4},
        source=[
            case_sections.point(place, pulse, kind="force", force=[2e9, 1e9, -1e9]),
            case_sections.point(place, pulse, kind="double-couple", **couple),
        ],
        receiver=case_sections.receivers([(middle + 400, middle + 300, middle - 300)]),
    )
    return sim.motion(case, backend)[1][..., ::refinement]
