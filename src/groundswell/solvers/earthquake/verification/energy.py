"""Elastic energy in a closed box.

The leapfrog scheme conserves one quadratic form if, and only if, its divergence of stress is minus
the transpose of its gradient of velocity: kinetic energy plus the strain energy that the stresses
half a step before and half a step after have in common. It differs from the energy at one time by
the square of the step.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np

from groundswell.arrays import Floats
from groundswell.backends import Backend
from groundswell.grids.cartesian import GHOSTS
from groundswell.seismology.media.layered import Layer
from groundswell.seismology.problems import case_sections
from groundswell.solvers.earthquake.case import EarthquakeCase
from groundswell.solvers.earthquake.solver import STRESSES, VELOCITIES, Earthquake
from groundswell.solvers.earthquake.verification import simulation as sim
from groundswell.time_integration.step_limits import staggered_leapfrog
from groundswell.verify import Check

SPACING = (100.0, 120.0, 90.0)  # m
SPEEDS = (3200.0, 4800.0)  # m/s, between which vp lies, with vp/vs between 1.6 and 2.4

# The solver is built for these; their interface, inside a cell, needs corrections.
LAYERS = (Layer(0.0, 3200.0, 1600.0, 2500.0), Layer(400.0, 3600.0, 1800.0, 2500.0))

WaveState = Mapping[str, Floats]  # components of velocity or stress, (nz, ny, nx)

X, Y, Z = (0, 0, 1), (0, 1, 0), (1, 0, 0)  # steps from a cell to its neighbour in (z, y, x)


@dataclass(frozen=True)
class RandomBox:
    """A medium of random cells, (nz, ny, nx), periodic, with or without a free surface.

    Args:
        corrections: corrections of depth rows, (nz, 4); see kernels/rows.h.
    """

    rho: Floats
    lam: Floats
    mu: Floats
    corrections: Floats
    free_surface: bool

    @classmethod
    def random(cls, count: int, free_surface: bool) -> RandomBox:
        """`count` cells along x, fewer along y and z, each with properties of its own."""
        rng = np.random.default_rng(11)
        shape = (count - 4, count - 2, count)
        vp, ratio, rho = (
            rng.uniform(*bounds, shape) for bounds in (SPEEDS, (1.6, 2.4), (2000.0, 3000.0))
        )
        vp.flat[0] = SPEEDS[1]
        mu = rho * (vp / ratio) ** 2
        lam = rho * vp**2 - 2 * mu
        spread = np.array([0.05, 0.05, 0.05 * lam.min(), 0.05 * lam.min()])
        corrections = rng.uniform(-1, 1, (shape[0], 4)) * spread + (1, 1, 0, 0)
        return cls(rho, lam, mu, corrections, free_surface)

    @classmethod
    def of(cls, found: Earthquake) -> RandomBox:
        """The medium that a solver has on its device, absorbing layers included."""
        rho, lam, compliance, corrections = (
            found.backend.to_host(array).astype(float)
            for array in (
                *(found.materials[name] for name in ("rho", "lam", "compliance")),
                found.materials.corrections,
            )
        )
        return cls(rho, lam, 1 / compliance, corrections, found.setup.ground.free_surface)

    def case(self, step: float, **sections: Any) -> EarthquakeCase:
        """The case of this box, but for its medium, with other sections."""
        return sim.make_case(
            grid={"size": np.multiply(self.rho.shape[::-1], SPACING).tolist(), "spacing": SPACING},
            time={"duration": 1e3 * step, "step": step},
            medium=case_sections.layered_medium(LAYERS),
            boundary={
                "top": "free-surface" if self.free_surface else "absorbing",
                **{"sides": "periodic", "width": 1},
            },
            source=[case_sections.SILENCE],
            **sections,
        )

    def fill(self, found: Earthquake) -> None:
        """Replace the medium of a solver, in its ghost cells by that of the nearest cells."""
        for name, values in {"rho": self.rho, "lam": self.lam, "compliance": 1 / self.mu}.items():
            wrapped = np.pad(values, ((0, 0), (GHOSTS, GHOSTS), (GHOSTS, GHOSTS)), "wrap")
            padded = np.pad(wrapped, ((GHOSTS, GHOSTS), (0, 0), (0, 0)), "edge")
            found.backend.assign(found.materials.fields[name].array, padded)
        found.backend.assign(found.materials.corrections, self.corrections)

    def energy(self, before: WaveState, velocity: WaveState, after: WaveState) -> float:
        """The conserved energy; stresses are half a step before and after the velocities."""
        return self.kinetic(velocity) + self.strain(before, after)

    def kinetic(self, v: WaveState) -> float:
        """Kinetic energy over the volume of a cell; vz on a free surface moves half a cell."""
        total = 0.0
        for name, axis in zip(VELOCITIES, (X, Y, Z), strict=True):
            density = v[name] ** 2 * self._at(axis, _mean_with(self.rho, axis), 0)
            total += density.sum() / 2
            if name == "vz" and self.free_surface:
                total -= density[0].sum() / 4
        return float(total)

    def strain(self, a: WaveState, b: WaveState) -> float:
        """Work of the stresses a on the strains that belong to b, over the volume of a cell."""
        total = self._normal_strain(a, b)
        for name, axes in (("sxy", (X, Y)), ("sxz", (X, Z)), ("syz", (Y, Z))):
            compliance = _mean_with(_mean_with(1 / self.mu, axes[0]), axes[1])
            total = total + a[name] * b[name] * self._at(axes[1], compliance, 1) / 2
        return float(np.sum(total))

    def _normal_strain(self, a: WaveState, b: WaveState) -> Floats:
        """Work of the normal stresses of `a` on the strains of `b` in each cell, per volume.

        Strains follow from the inverse of the stiffness of a transversely isotropic cell.
        """
        lam, mu = self.lam, self.mu
        along, across = (self.corrections[:, n, None, None] for n in (2, 3))
        horizontal, vertical = 2 * (lam + mu + across), lam + 2 * mu + along
        determinant = horizontal * vertical - 2 * lam**2
        sums, differences = ([s["sxx"] + sign * s["syy"] for s in (a, b)] for sign in (1, -1))
        spreading = (vertical * sums[1] - 2 * lam * b["szz"]) / determinant
        stretching = (horizontal * b["szz"] - lam * sums[1]) / determinant
        shearing = differences[0] * differences[1] / (4 * mu)
        return (sums[0] * spreading / 2 + a["szz"] * stretching + shearing) / 2

    def _at(self, axis: tuple[int, int, int], values: Floats, column: int) -> Floats:
        """Values on faces normal to an axis, corrected on faces between depth rows."""
        return values * self.corrections[:, column, None, None] if axis == Z else values


def step_through(found: Earthquake) -> tuple[WaveState, WaveState, WaveState]:
    """Take one step: the stresses before it, its velocities and the stresses after it."""
    before = sim.read(found, STRESSES)
    sim.advance(found, 1)
    return before, sim.read(found, VELOCITIES), sim.read(found, STRESSES)


def conservation(backend: Backend, full: bool) -> Iterator[Check]:
    """Energy over many steps, with and without a free surface."""
    for free_surface in (True, False):
        yield from _checks(backend, RandomBox.random(48 if full else 20, free_surface), full)


def _checks(backend: Backend, box: RandomBox, full: bool) -> list[Check]:
    top = "free surface" if box.free_surface else "rigid lid"
    longest = 0.9 * staggered_leapfrog(SPACING, SPEEDS[1], free_surface=True)
    drift, coarse = _energy_changes(backend, box, longest, 4000 if full else 400)
    _, fine = _energy_changes(backend, box, longest / 2, 800)
    return [
        Check.at_most(
            f"energy under a {top}: drift",
            drift,
            1e-12,
            note="random medium, relative to all of it",
        ),
        Check.near(
            f"energy under a {top}: order in time of its ripple",
            log(coarse / fine, 2),
            2.0,
            0.1,
            note=f"ripples by {fine:.1e} of all of it with the smaller step",
        ),
    ]


def _energy_changes(
    backend: Backend, box: RandomBox, step: float, steps: int
) -> tuple[float, float]:
    """Largest change of the conserved energy, and its difference from the energy at one time."""
    found = sim.build(box.case(step), backend, closed=True)
    box.fill(found)
    push(found)
    conserved, rippling = [], []
    for _ in range(20):
        sim.advance(found, steps // 20 - 1)
        before, velocity, after = step_through(found)
        mean = {name: (before[name] + after[name]) / 2 for name in STRESSES}
        conserved.append(box.energy(before, velocity, after))
        rippling.append(box.energy(mean, velocity, mean))
    ripple = np.subtract(rippling, conserved)
    return float(np.ptp(conserved) / conserved[0]), float(np.abs(ripple).mean() / conserved[0])


def push(found: Earthquake) -> None:
    """Set a ball in motion near the top, so that waves soon reach the surface."""
    x, y, z = np.multiply(found.setup.grid.region, SPACING) * (0.5, 0.55, 0.3)
    for name, speed in zip(VELOCITIES, (1.0, -0.7, 1.3), strict=True):
        places = np.broadcast_arrays(*sim.coordinates(found, name))
        distance = sum((place - at) ** 2 for place, at in zip(places, (x, y, z), strict=True))
        ball = (speed * np.exp(-distance / 300.0**2))[(slice(GHOSTS, -GHOSTS),) * 3]
        found.backend.assign(found.fields[name].interior, np.ascontiguousarray(ball))


def _mean_with(values: Floats, towards: tuple[int, int, int]) -> Floats:
    """Mean of each cell and the one before it along an axis; outside, cells repeat or wrap."""
    width = [(n, 0) for n in towards]
    padded = np.pad(values, width, "edge") if towards == Z else np.pad(values, width, "wrap")
    before = padded[tuple(slice(0, n) for n in values.shape)]
    return (values + before) / 2
