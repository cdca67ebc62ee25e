"""Attenuation: Q and speed of plane waves on the grid, from two receivers.

A pulse starts in a periodic box and runs along one axis. Over a distance D, a plane wave changes by
exp(-i k D), so the ratio of the spectra there gives the complex wavenumber k. The speed
is omega / Re k, and Q = Re M / Im M of the modulus M = rho (omega / k)^2.

The band of two decades is divided into three runs, each with cells that suit its wavelengths. Only
ratios matter, so the cells remain the same and the frequencies are scaled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from groundswell.arrays import Complexes, Floats
from groundswell.backends import Backend
from groundswell.seismology.attenuation import Relaxation
from groundswell.seismology.problems import case_sections
from groundswell.solvers.earthquake.case import EarthquakeCase
from groundswell.solvers.earthquake.solver import STRESSES, VELOCITIES, Earthquake
from groundswell.solvers.earthquake.verification import simulation as sim
from groundswell.verify import Check

SPEEDS = {"P": 3000.0, "S": 1732.0}  # m/s
RHO = 2500.0
H, STEP = 100.0, 0.014  # m, s
POINTS = 10  # cells to the shortest wave
PULSE = 2 * H  # m, standard deviation of the pulse
START, FIRST, SECOND = 30, 60, 100  # cells along the axis: pulse, receivers

BAND = (0.1, 10.0)  # Hz
PARTS = np.geomspace(*BAND, 4)
REFERENCE = 1.0  # Hz, where the speeds hold; also where the power law begins
EXPONENT = 0.6
FADED = 0.4  # of a record

# Cells: the box along x or y and along z, and how far the wave runs. Along z the box is one pattern
# wide and ends in layers. Along x and y it is periodic and must be left before the pulse is back;
# the fronts end in layers, which let them pass along.
UPRIGHT, UPRIGHT_WAY = (2, 160), 240
SIDEWAYS, SIDEWAYS_WAY = (220, 120), 150


@dataclass(frozen=True)
class LossyMedium:
    """A medium: a model of Q, and Q of each wave."""

    model: str
    qp: float
    qs: float

    def q(self, wave: str) -> float:
        return self.qp if wave == "P" else self.qs

    @property
    def tolerance(self) -> float:
        """Of Q from the request, %.

        No fit of a power law has an error below 3.4 % at its corner. The lower Q is, the more it
        depends on the direction of a wave relative to the pattern of mechanisms.
        """
        return 5.0 if self.model == "power-law" or self.qs < 40 else 3.0

    def label(self, wave: str) -> str:
        """Label of the measurement."""
        law = f" f^{EXPONENT:g}" if self.model == "power-law" else ""
        return f"{wave} waves, Q{wave.lower()} = {self.q(wave):g}{law}"

    def section(self, scale: float) -> case_sections.Table:
        """`[attenuation]` with every frequency times `scale`."""
        section: case_sections.Table = {"model": self.model, "reference": scale * REFERENCE}
        if self.model == "power-law":
            section |= {"exponent": EXPONENT, "transition": scale * REFERENCE}
        return {**section, "band": tuple(scale * f for f in BAND)}


@dataclass(frozen=True)
class Walk:
    """A pulse of one wave along one axis; `part` is the lowest and highest frequency, Hz."""

    ground: LossyMedium
    wave: str
    axis: int
    part: tuple[float, float]

    @property
    def along(self) -> int:
        """The axis of particle motion."""
        return self.axis if self.wave == "P" else (self.axis + 1) % 3

    @property
    def speed(self) -> float:
        return SPEEDS[self.wave]

    @property
    def duration(self) -> float:
        """Of the record, in the grid's time, s."""
        return (UPRIGHT_WAY if self.axis == 2 else SIDEWAYS_WAY) * H / self.speed

    @property
    def cells(self) -> list[int]:
        """Of the box."""
        across, up = UPRIGHT if self.axis == 2 else SIDEWAYS
        return [across if axis == self.axis else 2 for axis in (0, 1)] + [up]

    @property
    def scale(self) -> float:
        """Frequencies on the grid over those of the band."""
        return self.speed / (POINTS * H) / self.part[1]

    def measure(self, backend: Backend, f: Floats) -> tuple[Relaxation, Complexes]:
        """The fit used on the grid, and the complex slowness k / omega at `f` (Hz), s/m."""
        found = sim.build(self._case(), backend)
        self._set_pulse(found)
        near, far = self._faded(sim.seismograms(found, round(self.duration / STEP))[:, self.along])
        omega = 2 * np.pi * self.scale * f
        phasor = np.exp(-1j * STEP * np.outer(omega, np.arange(near.size)))
        apart = (SECOND - FIRST) * H
        phase = 1j * np.log((phasor @ far) / (phasor @ near))
        turns = np.round((omega * apart / self.speed - phase.real) / (2 * np.pi))
        relaxation = found.setup.ground.relaxation
        assert relaxation is not None
        return relaxation, (phase + 2 * np.pi * turns) / (apart * omega)

    def _faded(self, records: Floats) -> Floats:
        place = np.linspace(0, 1, records.shape[-1])
        return records * np.cos(np.pi / 2 * np.clip((place - 1) / FADED + 1, 0, 1)) ** 2

    def _case(self) -> EarthquakeCase:
        size = [n * H for n in self.cells]
        places = [[edge / 2 for edge in size] for _ in range(2)]
        for place, cell in zip(places, (FIRST, SECOND), strict=True):
            place[self.axis] = cell * H
        return sim.make_case(
            grid={"size": size, "spacing": H},
            time={"duration": self.duration, "step": STEP},
            medium={
                "kind": "homogeneous",
                "vp": SPEEDS["P"],
                "vs": SPEEDS["S"],
                "rho": RHO,
                "qp": self.ground.qp,
                "qs": self.ground.qs,
            },
            attenuation=self.ground.section(self.scale),
            boundary={"top": "absorbing", "sides": "periodic"},
            source=[case_sections.SILENCE],
            receiver=case_sections.receivers(places),
        )

    def _set_pulse(self, found: Earthquake) -> None:
        """Set a velocity, and the stress with which it propagates along the axis."""
        sim.fill(found, VELOCITIES[self.along], self._pulse(0.0))
        for name in STRESSES:
            size = -self._stiffness(name) / self.speed
            shape = self._pulse(STEP / 2)
            sim.fill(found, name, lambda *xyz, a=size, s=shape: a * s(*xyz))

    def _pulse(self, time: float) -> Callable[..., Floats]:
        centre = START * H + self.speed * time
        return lambda *xyz: np.exp(-0.5 * ((xyz[self.axis] - centre) / PULSE) ** 2)

    def _stiffness(self, name: str) -> float:
        """Stress for a unit of strain in the wave's direction, Pa."""
        axes = {"xyz".index(letter) for letter in name[1:]}
        p, mu = (RHO * c**2 for c in SPEEDS.values())
        if self.wave == "S":
            return mu if axes == {self.axis, self.along} else 0.0
        return 0.0 if len(axes) == 2 else p if axes == {self.axis} else p - 2 * mu


def quality(backend: Backend, full: bool) -> Iterator[Check]:
    """Q and speed of P and S waves over the band along z, and a part of it along x and y."""
    grounds = [
        LossyMedium("constant", 40, 20),
        LossyMedium("constant", 200, 100),
        LossyMedium("power-law", 100, 50),
    ]
    if full:
        grounds += [LossyMedium("constant", 100, 50), LossyMedium("power-law", 40, 20)]
    for ground in grounds:
        for wave in "PS":
            yield from _along_z(ground, wave, backend)
    for axis in (0, 1):
        for wave in "PS":
            yield from _sideways(axis, wave, backend)


def _along_z(ground: LossyMedium, wave: str, backend: Backend) -> list[Check]:
    parts = [
        _deviations(Walk(ground, wave, 2, part), backend, np.geomspace(*part, 9))
        for part in pairwise(PARTS)
    ]
    from_request, from_fit, speed = np.concatenate(parts, axis=1)
    label, note = f"{ground.label(wave)}, along z", f"{BAND[0]:g} to {BAND[1]:g} Hz"
    at_reference = speed[speed.size // 2]  # the middle of the band
    return [
        _within(f"{label}: Q from the request", from_request, ground.tolerance, note),
        _within(f"{label}: Q from the fit", from_fit, 5.0 if ground.qs < 40 else 3.0, note),
        Check.near(f"{label}: speed at {REFERENCE:g} Hz", at_reference, 0, 0.1, "%"),
    ]


def _sideways(axis: int, wave: str, backend: Backend) -> list[Check]:
    ground, part = LossyMedium("constant", 100, 50), (PARTS[1], PARTS[2])
    walk = Walk(ground, wave, axis, part)
    from_request, _, speed = _deviations(walk, backend, np.geomspace(*part, 5))
    label, note = f"{ground.label(wave)}, along {'xyz'[axis]}", f"{part[0]:.2g} to {part[1]:.2g} Hz"
    return [
        _within(f"{label}: Q from the request", from_request, 3.0, note),
        Check.near(f"{label}: speed at {REFERENCE:g} Hz", speed[speed.size // 2], 0, 0.1, "%"),
    ]


def _deviations(walk: Walk, backend: Backend, f: Floats) -> Floats:
    """Q from the request and from the fit, speed from the given one, (3, frequencies), in %."""
    relaxation, slowness = walk.measure(backend, f)
    q0, here = walk.ground.q(walk.wave), walk.scale * f
    modulus = slowness**-2
    q = modulus.real / modulus.imag
    ratios = [q / relaxation.target(here, q0), q / relaxation.quality(here, q0)]
    return 100 * (np.array([*ratios, 1 / (slowness.real * walk.speed)]) - 1)


def _within(name: str, deviations: Floats, limit: float, note: str) -> Check:
    return Check.at_most(name, np.abs(deviations).max(), limit, "%", note)
