"""Pressure on the axis of focused and plane transducers that emit continuous waves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np

from groundswell.arrays import Complexes, Floats
from groundswell.backends import Backend
from groundswell.solvers.ultrasound import reference
from groundswell.solvers.ultrasound.verification import simulation as sim
from groundswell.solvers.ultrasound.verification.simulation import SPEED
from groundswell.verify import Check

FREQUENCY, PRESSURE = 500e3, 60e3  # Hz, Pa
WAVELENGTH = SPEED / FREQUENCY  # 3 mm
K = 2 * np.pi / WAVELENGTH
BEFORE = 8  # points before the apex: the weights of off-grid points extend up to 7 cells
OFFSET = 0.3  # distance of the apex from a grid point, cells
WITHIN = 3e-3  # three times the error of the weights of off-grid points


@dataclass(frozen=True)
class Space:
    """The region around a transducer whose axis is the x axis and whose apex is near the origin.

    Args:
        length: distance of the far end from the origin, m.
        width: extent along y and z, m.
        per_wavelength: points of a wavelength.
        axes: 2 or 3.
        precision: floating-point type.
    """

    length: float
    width: float
    per_wavelength: int
    axes: int = 3
    precision: str = "single"

    @property
    def spacing(self) -> float:
        """Distance of points, m."""
        return WAVELENGTH / self.per_wavelength

    @property
    def apex(self) -> list[float]:
        """Position of the apex, m."""
        return [OFFSET * self.spacing, 0.0, 0.0][: self.axes]

    @property
    def grid(self) -> dict[str, Any]:
        """The section of a case; y = z = 0 is a line of points."""
        half = ceil(self.width / 2 / self.spacing)
        along = ceil(self.length / self.spacing) + 1 + BEFORE
        return {
            "points": [along, *[2 * half + 1] * (self.axes - 1)],
            "spacing": self.spacing,
            "origin": [-BEFORE * self.spacing, *[-half * self.spacing] * 2][: self.axes],
        }

    def axis(self, backend: Backend, shape: dict[str, object]) -> tuple[Floats, Complexes]:
        """Distances from the apex (m), and the pressure there relative to that of the source.

        The signal sin(omega t) is the real part of -i exp(i omega t); it acts half a step late.
        """
        period = 4 * self.per_wavelength
        steps = period * ceil(1.5 * (self.length + self.width) / WAVELENGTH + 6)
        dt, grid = 1 / FREQUENCY / period, self.grid
        signal = {"kind": "sine", "frequency": FREQUENCY}
        case = sim.make_case(
            grid=grid,
            source=[{"shape": shape, "pressure": PRESSURE, "signal": signal}],
            time={"duration": steps * dt, "step": dt},
            run={"precision": self.precision},
        )
        found = sim.build(case, backend)
        sim.advance(found, steps - period)
        middle = [n // 2 for n in grid["points"][:0:-1]]
        line = (*([0] if self.axes == 2 else []), *middle)
        source = -1j * PRESSURE * np.exp(-1j * np.pi / period)
        pressure = sim.harmonics(sim.record(found, line, period), period)[0] / source
        x = found.setup.coordinates(0)[found.setup.grid.region_slices[2]] - self.apex[0]
        return x, pressure


def arc(backend: Backend, full: bool) -> Iterator[Check]:
    """An arc in two dimensions against the integral over its points."""
    radius, diameter = (64e-3, 64e-3) if full else (30e-3, 30e-3)
    space = Space(1.5 * radius, 1.2 * diameter, 6 if full else 5, axes=2, precision="double")
    shape = _curved("arc", space, radius, diameter)
    x, found = space.axis(backend, shape)
    beyond = x > radius / 3
    exact = reference.focused_arc(x[beyond], radius, diameter, K)
    yield from _compare("arc", x[beyond], found[beyond], exact)


def bowl(backend: Backend, full: bool) -> Iterator[Check]:
    """A bowl against O'Neil's solution; with `full`, benchmark 1 with the bowl source.

    Aubry et al. (2022), J. Acoust. Soc. Am. 152, 1003-1019.
    """
    radius, diameter = (64e-3, 64e-3) if full else (15e-3, 15e-3)
    space = Space(120e-3, 70e-3, 6) if full else Space(23e-3, 18e-3, 4)
    x, found = space.axis(backend, _curved("bowl", space, radius, diameter))
    beyond = x > radius / 3
    exact = reference.focused_bowl(x[beyond], radius, diameter, K)
    yield from _compare("bowl", x[beyond], found[beyond], exact)


def piston(backend: Backend, full: bool) -> Iterator[Check]:
    """A plane disc against the exact solution."""
    diameter = 20e-3 if full else 12e-3
    space = Space(120e-3, 70e-3, 6) if full else Space(24e-3, 15e-3, 4)
    shape = {"kind": "disc", "centre": space.apex, "diameter": diameter, "normal": [1, 0, 0]}
    x, found = space.axis(backend, shape)
    beyond = x > WAVELENGTH
    yield from _compare(
        "piston", x[beyond], found[beyond], reference.piston(x[beyond], diameter, K)
    )


def _curved(kind: str, space: Space, radius: float, diameter: float) -> dict[str, object]:
    focus = [radius, 0.0, 0.0][: space.axes]
    shape = {"kind": kind, "apex": space.apex, "focus": focus}
    return {**shape, "radius": radius, "diameter": diameter}


def _compare(name: str, x: Floats, found: Complexes, exact: Complexes) -> Iterator[Check]:
    """Checks of the complex pressure on the axis, of its peak, and of the peak's position."""
    amplitude, wanted = np.abs(found), np.abs(exact)
    most, where = wanted.max(), f"{x[0] * 1e3:.3g} to {x[-1] * 1e3:.3g} mm from the apex"
    error = np.abs(found - exact).max() / most
    yield Check.at_most(f"{name}: largest error over the peak", error, WITHIN, note=where)
    yield Check.near(f"{name}: peak over exact peak", amplitude.max() / most, 1.0, WITHIN)
    moved = 1e3 * (x[amplitude.argmax()] - x[wanted.argmax()])
    yield Check.near(f"{name}: distance of the peak from the exact one", moved, 0.0, 0.5, "mm")
