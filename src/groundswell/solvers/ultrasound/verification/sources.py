"""Amplitudes of the waves that sources emit, for every mode."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import hankel2

from groundswell.arrays import Complexes, Floats
from groundswell.backends import Backend
from groundswell.solvers.ultrasound.verification import simulation as sim
from groundswell.solvers.ultrasound.verification.simulation import DENSITY, SPEED
from groundswell.verify import Check

FREQUENCY, PRESSURE = 500e3, 1e3  # Hz, Pa
PER_WAVELENGTH, PERIOD = 6, 12  # points of a wavelength, steps of a period
SPACING, STEP = SPEED / FREQUENCY / PER_WAVELENGTH, 1 / FREQUENCY / PERIOD
DISTANCE = 36  # from the source to the places on either side, points


@dataclass(frozen=True)
class PlaneSource:
    """A source on a plane.

    Args:
        kind: "pressure" or "velocity".
        mode: "additive", "uncorrected" or "dirichlet".
        offset: distance of the plane from one of grid points, cells.
    """

    kind: str
    mode: str
    offset: float = 0.0

    @property
    def position(self) -> float:
        """Position of the plane, m; velocity points are half a cell further than others."""
        half = 0.5 if self.kind == "velocity" else 0.0
        return (DISTANCE + half + self.offset) * SPACING

    @property
    def amplitude(self) -> float:
        """Pressure of its waves in theory, relative to PRESSURE.

        The correction of additive sources is a factor cos(omega dt / 2). A value that is set on the
        plane is the sum of the wave and of a near field of wavenumbers up to pi / d, a quarter of a
        period out of phase. The integral over these wavenumbers has a closed form.
        """
        phase, highest = 2 * np.pi / PERIOD, np.pi * PER_WAVELENGTH / PERIOD
        if self.mode == "additive":
            return 1.0
        if self.mode == "uncorrected":
            return float(1 / np.cos(phase / 2))
        sines = np.sin((highest + phase) / 2) / np.sin((highest - phase) / 2)
        return float(1 / np.hypot(1, np.log(sines) / np.pi))


def planes(backend: Backend, full: bool) -> Iterator[Check]:
    """Plane sources on and between planes of grid points, with long time steps.

    Between planes, the weights of grid points are accurate to 1e-3. Sources with the mode
    "dirichlet" set values at grid points, so they must lie on planes of points.
    """
    for kind in ("pressure", "velocity"):
        for mode in ("additive", "uncorrected", "dirichlet"):
            yield from _check(backend, PlaneSource(kind, mode), 5e-4)
        for mode in ("additive", "uncorrected"):
            yield from _check(backend, PlaneSource(kind, mode, 0.37), 1e-3)


def _check(backend: Backend, source: PlaneSource, within: float) -> Iterator[Check]:
    """Checks of the amplitudes on both sides, and of the delay.

    A velocity source causes opposite pressures on its two sides. Pressure signals act half a step
    late: a step adds the value at its beginning, not at its middle.
    """
    name = f"{source.kind}, {source.mode}{', off the grid' if source.offset else ''}"
    left, right = _waves(backend, source)
    yield Check.near(f"{name}: amplitude", abs(right), source.amplitude, within)
    sign = -1 if source.kind == "velocity" else 1
    yield Check.at_most(f"{name}: left from right", abs(left - sign * right), within)
    if source.mode != "dirichlet":
        late, steps = 0.5 * (source.kind == "pressure"), -np.angle(right) / (2 * np.pi) * PERIOD
        yield Check.near(f"{name}: delay", steps, late, 1e-3, "steps")


def _waves(backend: Backend, source: PlaneSource) -> Complexes:
    """Complex amplitudes of the waves to the left and the right of the source, at its plane."""
    steps = PERIOD * (4 + 2 * DISTANCE // PER_WAVELENGTH + 8)
    motion = {"velocity": PRESSURE / (DENSITY * SPEED), "direction": [1, 0]}
    section = {
        "shape": sim.plane(source.position, SPACING),
        "signal": {"kind": "sine", "frequency": FREQUENCY},
        "mode": source.mode,
        **({"pressure": PRESSURE} if source.kind == "pressure" else motion),
    }
    case = sim.channel(
        *(2 * DISTANCE + 2, SPACING, 40),
        source=[section],
        time={"duration": steps * STEP, "step": STEP},
    )
    places = np.array([0, 2 * DISTANCE + 1])
    found = sim.build(case, backend)
    sim.advance(found, steps - 3 * PERIOD)
    samples = sim.record(found, (0, 0), 3 * PERIOD)[:, places]
    travelled = np.abs(places * SPACING - source.position) / SPEED
    phases = 2j * np.pi * FREQUENCY * travelled + 0.5j * np.pi
    return sim.harmonics(samples, PERIOD)[0] * np.exp(phases) / PRESSURE


def point(backend: Backend, full: bool) -> Iterator[Check]:
    """Point sources off the grid, in two dimensions and, in the full tests, in three.

    A point adds mass at the rate of a piece of a surface of the area d^2, or of the length d in two
    dimensions. At the distance r, the pressure is k d^2 / (2 pi r) or (k d / 2) H(k r), with the
    Hankel function H of the second kind and order 0. d is the spacing along x.
    """
    k = 2 * np.pi * FREQUENCY / SPEED
    n = 192 if full else 72
    r, amplitudes = _from_point(backend, [n, n], [SPACING] * 2)
    error = np.abs(amplitudes / (k * SPACING / 2 * np.abs(hankel2(0, k * r))) - 1)
    far = r > 2 * SPEED / FREQUENCY
    yield Check.at_most("point: error", error[far].max(), 3e-3, note="from 2 wavelengths on")
    if full:
        spacing = [SPACING, 0.9 * SPACING, 0.8 * SPACING]
        r, amplitudes = _from_point(backend, [72, 80, 88], spacing)
        error, far = (
            np.abs(amplitudes * 2 * np.pi * r / (k * SPACING**2) - 1),
            r > SPEED / FREQUENCY,
        )
        yield Check.at_most("point in three dimensions: error", error[far].max(), 0.04)


def _from_point(backend: Backend, points: list[int], spacing: list[float]) -> tuple[Floats, Floats]:
    """Distances from a point source, m, and relative amplitudes of the pressure at all points."""
    places = zip(points, spacing, (0.3, -0.4, 0.2), strict=False)
    centre = [(0.5 * n + part) * h for n, h, part in places]
    steps = PERIOD * (4 + max(points) // PER_WAVELENGTH)
    section = {
        "shape": {"kind": "point", "position": centre},
        "pressure": PRESSURE,
        "signal": {"kind": "sine", "frequency": FREQUENCY},
    }
    case = sim.make_case(
        grid={"points": points, "spacing": spacing},
        source=[section],
        time={"duration": steps * STEP, "step": STEP},
    )
    found = sim.build(case, backend)
    sim.advance(found, steps - PERIOD)
    amplitudes = np.abs(sim.harmonics(sim.record(found, ..., PERIOD), PERIOD)[0]) / PRESSURE
    x, y, *z = (h * np.arange(n) - at for n, h, at in zip(points, spacing, centre, strict=True))
    squares = x**2 + y[:, None] ** 2 + sum(np.square(at)[:, None, None] for at in z)
    return np.sqrt(squares).reshape(amplitudes.shape), amplitudes


def elements(backend: Backend, full: bool) -> Iterator[Check]:
    """Samples for each element, with weights and delays, against a source for each element."""
    n, count, random = 24, 3, np.random.default_rng(2)
    samples, weights = random.standard_normal((20, count)), [1.0, -0.5, 2.0]
    shapes = [{"kind": "point", "position": [(6 + 4 * i) * SPACING, 9 * SPACING]} for i in range(3)]
    delays = [0.0, 0.3 * STEP, 2.6 * STEP]
    signal = {"kind": "samples", "interval": 1.5 * STEP}
    together = {"elements": shapes, "weights": weights, "delays": delays}
    alone = [
        {"shape": shapes[i], "weights": [weights[i]], "delays": [delays[i]]} for i in range(count)
    ]
    columns = [samples, *samples.T]
    pressures = []
    for sources in ([together], alone):
        sections = [
            {"pressure": PRESSURE, **source, "signal": {**signal, "values": columns.pop(0)}}
            for source in sources
        ]
        case = sim.make_case(
            grid={"points": [n, n], "spacing": SPACING},
            source=sections,
            time={"duration": 40 * STEP, "step": STEP},
        )
        found = sim.build(case, backend)
        sim.advance(found, 40)
        pressures.append(sim.pressure(found))
    error = np.abs(pressures[0] - pressures[1]).max() / np.abs(pressures[1]).max()
    yield Check.at_most("signals of elements: difference from single sources", error, 1e-10)
