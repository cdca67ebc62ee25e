"""Attenuation: Q and speed of plane waves in a periodic box.

A wave of real wavenumber k has a complex frequency w: its fields are exp(i (w t - k x)) with
w^2 = k^2 M(w) / rho and the complex modulus M of the Maxwell body. Fields and memory variables
start as that wave, so that the ratio of the wave at two times gives w. The box is as long as the
wave, for each of the frequencies of a band of two decades.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from groundswell.arrays import Complexes, Floats
from groundswell.backends import Backend
from groundswell.backends.base import in_order
from groundswell.exchange.communicator import SerialCommunicator
from groundswell.meshes.gll import gll
from groundswell.seismology.attenuation import Relaxation
from groundswell.seismology.attenuation_fit import fit
from groundswell.seismology.media.material import Material
from groundswell.solvers.dgwave.attenuation import MaxwellBodies, fastest_relaxation, unrelaxed
from groundswell.solvers.dgwave.discretisation import Discretisation
from groundswell.solvers.dgwave.propagation import Propagation
from groundswell.solvers.dgwave.verification.boxes import Box, cubes
from groundswell.time_integration.step_limits import decay_step
from groundswell.verify import Check

VP, VS, RHO = 3000.0, 1700.0, 2500.0  # m/s, m/s, kg/m^3
QP, QS = 80.0, 50.0
BAND = (0.1, 10.0)  # Hz
REFERENCE = 1.0  # Hz, where the speeds hold
FREQUENCIES = np.geomspace(*BAND, 7)  # REFERENCE is among them
ELEMENTS, DEGREE = 2, 6  # to a wave
PERIODS = 2
FIELDS = {"sxx": (0, 0), "syy": (1, 1), "szz": (2, 2), "syz": (1, 2), "sxz": (0, 2), "sxy": (0, 1)}


@dataclass(frozen=True)
class AxisWave:
    """A wave along an axis.

    Args:
        kind: "P", "S", or "sound" in a fluid.
        frequency: of its length, at the given speed, Hz.
        relaxation: the mechanisms.
    """

    kind: str
    axis: int
    frequency: float
    relaxation: Relaxation

    @property
    def q(self) -> float:
        """Its quality factor."""
        return QS if self.kind == "S" else QP

    @property
    def speed(self) -> float:
        """At the reference frequency, m/s."""
        return VS if self.kind == "S" else VP

    @property
    def length(self) -> float:
        """Its wavelength, m."""
        return self.speed / self.frequency

    @property
    def motion(self) -> int:
        """The axis of particle motion."""
        return (self.axis + (self.kind == "S")) % 3

    @property
    def wavenumber(self) -> float:
        """k, rad/m."""
        return 2 * np.pi / self.length

    # --- the exact wave ---------------------------------------------------------------------------

    def modulus(self, omega: complex, speed: float, q: float) -> complex:
        """The complex modulus of a wave of this speed (m/s) and Q, Pa."""
        r = self.relaxation
        fractions = r.weights(1 / q) / len(r.tau)
        unrelaxed_modulus = RHO * speed**2 * r.modulus_ratio(1 / q, REFERENCE)
        return complex(unrelaxed_modulus * (1 - (fractions / (1 + 1j * omega * r.tau)).sum()))

    @cached_property
    def omega(self) -> complex:
        """The complex frequency, rad/s."""
        omega = complex(2 * np.pi * self.frequency)
        for _ in range(30):
            omega = self.wavenumber * np.sqrt(self.modulus(omega, self.speed, self.q) / RHO)
        return omega

    def fields(self, phase: Complexes) -> Complexes:
        """Amplitudes of the fields times exp(-i k x), (elements, fields, nodes)."""
        strain = -1j * self.wavenumber / (1j * self.omega)
        p = self.modulus(self.omega, VP, QP)
        velocity = np.eye(3)[self.motion]
        if self.kind == "sound":
            return np.einsum("f,en->efn", [-p * strain, *velocity], phase)
        mu = self.modulus(self.omega, VS, QS)
        normal, shear = (p - 2 * mu) * strain * (self.kind == "P"), mu * strain
        tensor = normal * np.eye(3, dtype=complex)
        tensor[self.axis, self.motion] += shear
        tensor[self.motion, self.axis] += shear
        return np.einsum("f,en->efn", [*(tensor[i] for i in FIELDS.values()), *velocity], phase)

    def memory(self, phase: Complexes) -> Complexes:
        """Amplitudes of the memory variables, (elements, mechanisms, strains, nodes)."""
        which = [{i, j} == {self.axis, self.motion} for i, j in FIELDS.values()]
        strains = [1] if self.kind == "sound" else which
        rate = -1j * self.wavenumber / (1 + 1j * self.omega * self.relaxation.tau)
        return np.einsum("l,s,en->elsn", rate, np.array(strains, float), phase)

    # --- the wave on elements ---------------------------------------------------------------------

    @cached_property
    def box(self) -> Box:
        """A periodic box of ELEMENTS along the axis, and one across, without attenuation."""
        edge = self.length / ELEMENTS
        counts = [ELEMENTS if axis == self.axis else 1 for axis in range(3)]
        forest = cubes(counts, edge * np.array(counts), (True,) * 3)
        return Box(forest, DEGREE, self._unrelaxed_media, self.kind == "sound")

    def _rock(self, count: int) -> Material:
        vs = 0.0 if self.kind == "sound" else VS
        return Material(*(np.full(count, value) for value in (VP, vs, RHO, QP, QS)))

    def _unrelaxed_media(self, centres: Floats) -> Sequence[Floats]:
        stiff = unrelaxed(self._rock(centres.shape[1]), self.relaxation, REFERENCE)
        return [np.asarray(values, float) for values in (stiff.vp, stiff.vs, stiff.rho)]

    @cached_property
    def problem(self) -> Discretisation:
        """The box with attenuation."""
        dt = min(self.box.dt, decay_step(fastest_relaxation(self.relaxation)))
        bodies = MaxwellBodies.of(self._rock(self.box.forest.count), self.relaxation)
        return replace(self.box.problem, dt=dt, bodies=bodies)

    def measure(self, backend: Backend) -> complex:
        """The complex frequency on the elements, rad/s."""
        found = Propagation(backend, SerialCommunicator(), self.problem)
        dt = self.problem.dt
        phase = np.exp(-1j * self.wavenumber * self.box.points[self.axis])
        backend.assign(found.u, self.fields(phase).real)
        backend.assign(found.memory, self.memory(phase).real)
        in_order(found.prepare)()
        steps = round(PERIODS / self.frequency / dt)
        backend.capture(in_order(found.step)).replay(steps)
        backend.synchronize()
        velocity = backend.to_host(found.u)[:, self.motion - 3]
        weights = gll(DEGREE).cube_weights
        change = 2 * np.mean((velocity * phase.conj()) @ weights) / weights.sum()
        expected = np.exp(1j * self.omega * steps * dt)
        return complex(self.omega - 1j * np.log(change / expected) / (steps * dt))


def quality(backend: Backend, full: bool) -> Iterator[Check]:
    """Q and speed of plane waves over the band, from the fit, and Q from the request."""
    for kind, axis in (("P", 0), ("S", 1), ("S", 2), ("sound", 2)):
        yield from _over_band(backend, kind, axis, fit(mechanisms=3))
    if not full:
        return
    for mechanisms in (2, 4, 6):
        yield from _over_band(backend, "S", 0, fit(mechanisms=mechanisms))
    yield from _over_band(backend, "P", 1, fit("power-law", 0.6, REFERENCE, mechanisms=4))


def _over_band(backend: Backend, kind: str, axis: int, relaxation: Relaxation) -> Iterator[Check]:
    waves = [AxisWave(kind, axis, float(f), relaxation) for f in FREQUENCIES]
    found = np.array([wave.measure(backend) for wave in waves])
    exact = np.array([wave.omega for wave in waves])
    count, q = len(relaxation.tau), found.real / (2 * found.imag)
    requested = relaxation.target(found.real / (2 * np.pi), waves[0].q)
    law = "" if relaxation.exponent == 0 else f" f^{relaxation.exponent:g}"
    label = f"{kind} along {'xyz'[axis]}, Q = {waves[0].q:g}{law}, {count} mechanisms"
    note = f"{BAND[0]:g} to {BAND[1]:g} Hz"
    for name, ratio, limit in (
        ("decay from the fit", found.imag / exact.imag, 0.1),
        ("speed from the fit", found.real / exact.real, 0.001),
        ("Q from the request", q / requested, 100 * relaxation.error + 0.5),
    ):
        worst = 100 * np.abs(ratio - 1).max()
        yield Check.at_most(f"{label}: {name}", worst, limit, "%", note)
    wave, omega = min(zip(waves, found, strict=True), key=lambda pair: abs(pair[0].frequency - 1))
    speed = 100 * (omega.real / wave.wavenumber / wave.speed - 1)
    yield Check.near(f"{label}: speed at {REFERENCE:g} Hz", speed, 0, 0.05, "%")
