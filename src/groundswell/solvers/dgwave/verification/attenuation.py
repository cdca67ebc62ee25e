"""Attenuation: Q and speed of plane waves in a periodic box.

A wave of real wavenumber k has a complex frequency w: its fields are exp(i (w t - k x)) with
w^2 = k^2 M(w) / rho and the complex modulus M of the Maxwell body. Fields and memory variables
start as that wave, so that the ratio of the wave at two times gives w. The box is as long as the
wave, for each of the frequencies of a band of two decades.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from groundswell.backends import Backend
from groundswell.backends.base import in_order
from groundswell.exchange.communicator import SerialCommunicator
from groundswell.meshes.gll import gll
from groundswell.meshes.octree import uniform_forest
from groundswell.meshes.octree_faces import QUARTERS
from groundswell.seismology.attenuation import Relaxation
from groundswell.seismology.attenuation_fit import fit
from groundswell.seismology.media.material import Material
from groundswell.solvers.dgwave.attenuation import MaxwellBodies, fastest_relaxation, unrelaxed
from groundswell.solvers.dgwave.elements import RankElements
from groundswell.solvers.dgwave.equations import ACOUSTIC, ELASTIC, FaceSides
from groundswell.solvers.dgwave.propagation import Discretisation, Propagation
from groundswell.solvers.dgwave.terms import Terms
from groundswell.time_integration.step_limits import decay_step, dg_step
from groundswell.verify import Check

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]

VP, VS, RHO = 3000.0, 1700.0, 2500.0  # m/s, m/s, kg/m^3
QP, QS = 80.0, 50.0
BAND = (0.1, 10.0)  # Hz
REFERENCE = 1.0  # Hz, where the speeds hold
FREQUENCIES = np.geomspace(*BAND, 7)  # REFERENCE is among them
ELEMENTS, DEGREE = 2, 6  # to a wave
PERIODS = 2
FIELDS = {"sxx": (0, 0), "syy": (1, 1), "szz": (2, 2), "syz": (1, 2), "sxz": (0, 2), "sxy": (0, 1)}


@dataclass(frozen=True)
class PlaneWave:
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
    def problem(self) -> Discretisation:
        """A periodic box of ELEMENTS along the axis, and one across."""
        edge = self.length / ELEMENTS
        counts = [ELEMENTS if axis == self.axis else 1 for axis in range(3)]
        forest = uniform_forest([edge * np.arange(n + 1) for n in counts], 0, (True,) * 3)
        elements = RankElements(forest, np.array([0, forest.count]), 0)
        rock = self._material(forest.count)
        stiff = unrelaxed(rock, self.relaxation, REFERENCE)
        equations = ACOUSTIC if self.kind == "sound" else ELASTIC
        waves = float(dg_step((edge,) * 3, stiff.vp[0], DEGREE))
        return Discretisation(
            equations,
            DEGREE,
            "float64",
            min(waves, decay_step(fastest_relaxation(self.relaxation))),
            elements,
            stiff,
            _sides(stiff, (forest.count, 6)),
            _sides(stiff, (0, QUARTERS)),
            Terms(DEGREE, len(equations.fields), forest.count),
            MaxwellBodies.of(rock, self.relaxation),
        )

    def _material(self, count: int) -> Material:
        vs = 0.0 if self.kind == "sound" else VS
        return Material(*(np.full(count, value) for value in (VP, vs, RHO, QP, QS)))

    @property
    def _phase(self) -> Complexes:
        """exp(-i k x) at the nodes, (elements, nodes)."""
        elements, n = self.problem.elements, DEGREE + 1
        corners = elements.forest.boxes(elements.numbers)
        lower, upper = (corner[:, self.axis] for corner in corners)
        along = (gll(DEGREE).points + 1) / 2
        inside = np.moveaxis(np.broadcast_to(along, (n, n, n)), 2, 2 - self.axis).ravel()
        return np.exp(-1j * self.wavenumber * (lower[:, None] + np.outer(upper - lower, inside)))

    def measure(self, backend: Backend) -> complex:
        """The complex frequency on the elements, rad/s."""
        found = Propagation(backend, SerialCommunicator(), self.problem)
        phase, dt = self._phase, self.problem.dt
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


def _sides(material: Material, shape: tuple[int, int]) -> FaceSides:
    """Faces between elements of the same material, with the Riemann flux."""
    same = Material(*(np.full(shape, v[0]) for v in (material.vp, material.vs, material.rho)))
    return FaceSides(same, np.zeros(shape, bool), np.zeros(shape), 1.0)


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
    waves = [PlaneWave(kind, axis, float(f), relaxation) for f in FREQUENCIES]
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
