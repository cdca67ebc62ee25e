"""Running an ultrasound case in memory: pressures read as arrays, no files."""

from __future__ import annotations

from typing import Any

import numpy as np

from groundswell.arrays import Complexes, Floats
from groundswell.backends import Backend
from groundswell.solvers.ultrasound.case import UltrasoundCase
from groundswell.solvers.ultrasound.setup import prepare
from groundswell.solvers.ultrasound.solver import Ultrasound

SPEED, DENSITY = 1500.0, 1000.0  # of water, m/s and kg/m^3
WATER = {"speed": SPEED, "density": DENSITY}
ACROSS = 8  # points along y of a channel: the fewest that a grid may have


def make_case(**sections: object) -> UltrasoundCase:
    """A case of these sections without maps, by default of water in double precision."""
    defaults = {"medium": WATER, "output": {"maps": False}, "run": {"precision": "double"}}
    return UltrasoundCase(**defaults | sections)


def channel(points: int, spacing: float, width: int = 0, **sections: object) -> UltrasoundCase:
    """A case in which waves travel along x: a narrow grid in two dimensions, periodic along y.

    Args:
        points: number of points along x.
        spacing: distance of points, m.
        width: width of the absorbing layers at the ends of x, points; 0 makes it periodic.
    """
    return make_case(
        grid={"points": [points, ACROSS], "spacing": spacing},
        boundary={"width": [width, 0]},
        **sections,
    )


def plane(x: float, spacing: float) -> dict[str, object]:
    """The `shape` of a source on a plane x of a channel."""
    half = spacing / 2
    return {"kind": "line", "start": [x, -half], "end": [x, (ACROSS - 1) * spacing + half]}


def build(case: UltrasoundCase, backend: Backend) -> Ultrasound:
    """The solver of a case."""
    return Ultrasound(prepare(case), backend)


def advance(found: Ultrasound, steps: int) -> None:
    """Run `steps` steps."""
    found.backend.capture(found.step).replay(steps)
    found.backend.synchronize()


def pressure(found: Ultrasound, where: Any = ...) -> Floats:
    """Pressure of the region, (nz, ny, nx), or of the part `where` of it, Pa."""
    region = found.propagation.p[found.part.region_slices]
    return found.backend.to_host(region[where]).astype(float)


def record(found: Ultrasound, where: Any, steps: int) -> Floats:
    """Run `steps` steps; the pressure of a part of the region before each, (steps, ...), Pa."""
    step = found.backend.capture(found.step)
    samples = []
    for _ in range(steps):
        samples.append(pressure(found, where))
        step.replay(1)
    return np.stack(samples)


def harmonics(samples: Floats, period: int, count: int = 1) -> Complexes:
    """Complex amplitudes of the first harmonics of a periodic signal, (count, ...).

    Args:
        samples: values in whole periods, (n, ...).
        period: number of samples of a period.
    """
    spectrum = np.fft.rfft(samples, axis=0) * 2 / len(samples)
    periods = len(samples) // period
    return np.asarray(spectrum[periods : (count + 1) * periods : periods][:count])
