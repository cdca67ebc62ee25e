"""A closed box with soft soil in NumPy: its energy, and the stresses that its elements have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from groundswell.arrays import Floats
from groundswell.backends import Launch, open_backend
from groundswell.seismology.plasticity import Elements
from groundswell.solvers.earthquake.plasticity.soil_rank import SoilYield
from groundswell.solvers.earthquake.solver import STRESSES, VELOCITIES
from groundswell.solvers.earthquake.verification import simulation as sim
from groundswell.solvers.earthquake.verification.energy import (
    SPACING,
    SPEEDS,
    RandomBox,
    WaveState,
    X,
    Y,
    Z,
    _mean_with,
    push,
)
from groundswell.time_integration.step_limits import staggered_leapfrog

NORMAL, SHEAR = STRESSES[:3], {"sxy": (X, Y), "sxz": (X, Z), "syz": (Y, Z)}


@dataclass
class SoilBox:
    """A closed box of random cells in motion, the upper rows of which are soft soil.

    Energy is that of the velocities before and after a step with the stresses in between, which
    leapfrog steps conserve in linear rock.

    Args:
        rows: of soft soil.
        reference_strain: of all cells.
        surfaces: elements of a cell.

    Attributes:
        linear: stresses that linear rock would have after the same motion.
    """

    box: RandomBox
    rows: int
    reference_strain: float
    surfaces: int = 6

    def __post_init__(self) -> None:
        step = 0.9 * staggered_leapfrog(SPACING, SPEEDS[1], free_surface=True)
        content = self.box.case(step).model_dump(exclude_unset=True)
        soil = {"reference_strain": self.reference_strain, "surfaces": self.surfaces}
        soil |= {"model": "iwan", "depth": self.rows * SPACING[2]}
        case = sim.make_case(**content | {"plasticity": soil})
        self.found = sim.build(case, open_backend("cpu"), closed=True)
        self.box.fill(self.found)
        push(self.found)
        self.linear = {name: np.zeros(self.box.rho.shape) for name in STRESSES}
        self.carried = self._carried()
        self.soil_yield._tables_on_device["carried"][...] = self.carried
        self._run(self.found.update_velocities())

    @property
    def soil_yield(self) -> SoilYield:
        assert isinstance(self.found.rheology, SoilYield)
        return self.found.rheology

    @property
    def elements(self) -> Elements:
        assert self.found.setup.soil is not None
        return self.found.setup.soil.elements[0]

    def _carried(self) -> Floats:
        """The largest part of normal stiffness that elements may carry in a row, by eigenvalues."""
        found = np.ones(self.rows)
        deviator = np.eye(3) - 1 / 3
        for k in range(self.rows):
            inverse = np.linalg.inv(self.stiffness()[k])
            largest = np.linalg.eigvals(inverse @ deviator).real.max(axis=-1) * 2 * self.box.mu[k]
            found[k] = min(1.0, 1 / largest.max())
        return found

    def stiffness(self) -> Floats:
        """Of normal strains in each cell, (nz, ny, nx, 3, 3)."""
        lam, mu = self.box.lam, self.box.mu
        along, across = (self.box.corrections[:, n, None, None] for n in (2, 3))
        level, off, up = lam + 2 * mu + across, lam + across, lam + 2 * mu + along
        rows = [[level, off, lam], [off, level, lam], [lam, lam, up]]
        return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)

    def compliance(self, name: str) -> Floats:
        """1 / mu at the edges of a shear stress, (nz, ny, nx)."""
        first, second = SHEAR[name]
        mean = _mean_with(_mean_with(1 / self.box.mu, first), second)
        return self.box._at(second, mean, 1)

    def step(self) -> tuple[float, float]:
        """Advance by a step; all energy half a step after it, and that of the elements."""
        found = self.found
        velocities, stresses = sim.read(found, VELOCITIES), sim.read(found, STRESSES)
        yielding = self.soil_yield.advance(found._pick(*VELOCITIES), found.exchanges)
        self._run([*found._mirror_velocity(), *yielding])
        update, release = found._update_stress(found._boxes()[1])
        update()
        for name, now in sim.read(found, STRESSES).items():
            self.linear[name] += now - stresses[name]
        release()
        found.exchanges[1]()
        self._run([*found._mirror_stress(), *found.update_velocities()])
        return self._energy(velocities, sim.read(found, VELOCITIES))

    @staticmethod
    def _run(launches: list[Launch]) -> None:
        for launch in launches:
            launch()

    # --- energy -----------------------------------------------------------------------------------

    def _energy(self, before: WaveState, after: WaveState) -> tuple[float, float]:
        rest = {name: values.copy() for name, values in self.linear.items()}
        for name, axes in SHEAR.items():
            rest[name][: self.rows + (Z in axes)] = 0  # the elements have all of it
        elements = self._normal_elements() + sum(map(self._shear_elements, SHEAR))
        linear = self.box.strain(rest, rest) - self._deviators()
        return self._kinetic(before, after) + linear + elements, elements

    def _kinetic(self, before: WaveState, after: WaveState) -> float:
        """v . v' from those of their sum and difference."""
        sums = {name: before[name] + after[name] for name in before}
        differences = {name: before[name] - after[name] for name in before}
        return (self.box.kinetic(sums) - self.box.kinetic(differences)) / 4

    def _deviators(self) -> float:
        """What linear elements would store by normal strains."""
        deviator = self.deviators(self.linear)
        energy = (deviator**2).sum(axis=0) / (4 * self.box.mu)
        return float((energy[: self.rows] * self.carried[:, None, None]).sum())

    def deviators(self, stresses: WaveState) -> Floats:
        """Deviatoric stress, 2 mu times strain, of normal stresses, (3, nz, ny, nx)."""
        normal = np.stack([stresses[name] for name in NORMAL], axis=-1)
        strain = np.linalg.solve(self.stiffness(), normal[..., None])[..., 0]
        return np.moveaxis(
            2 * self.box.mu[..., None] * (strain - strain.mean(-1)[..., None]), -1, 0
        )

    def stored(self, component: int, below: int) -> Floats:
        """A component of all elements' stresses, (surfaces, rows + below, ny, nx)."""
        ny, nx = self.box.mu.shape[1:]
        s = self.soil_yield._elements[: self.rows + below, :ny, :, :nx]
        linear, *lost = np.moveaxis(s[:, :, component::5], 2, 0)
        return np.asarray(self.elements.shares[:, None, None, None] * linear - np.stack(lost))

    def _normal_elements(self) -> float:
        xx, yy = (self.stored(n, 0) for n in (0, 1))
        energy = (xx**2 + yy**2 + (xx + yy) ** 2) / (4 * self.box.mu[: self.rows])
        energy *= self.carried[:, None, None] / self.elements.shares[:, None, None, None]
        return float(energy.sum())

    def _shear_elements(self, name: str) -> float:
        below = int(Z in SHEAR[name])
        s = self.stored(2 + list(SHEAR).index(name), below)
        energy = s**2 * self.compliance(name)[: self.rows + below] / 2
        return float((energy / self.elements.shares[:, None, None, None]).sum())


@dataclass
class SoilElements:
    """The elements of a box in NumPy.

    Attributes:
        normal: of normal stresses, (surfaces, 3, rows, ny, nx).
        shear: of each shear stress, (surfaces, nz, ny, nx).
        lost: all that stresses have lost.
    """

    box: SoilBox

    def __post_init__(self) -> None:
        count, shape = self.box.surfaces, self.box.box.mu.shape
        self.normal = np.zeros((count, 3, self.box.rows, *shape[1:]))
        self.shear = {name: np.zeros((count, *shape)) for name in SHEAR}
        self.lost = {name: np.zeros(shape) for name in STRESSES}

    def advance(self, increments: WaveState) -> None:
        """Advance by a step in which linear rock would have these changes of stress."""
        shares, rows = self.box.elements.shares[:, None, None, None], self.box.rows
        normal = self.normal + shares[:, None] * self.box.deviators(increments)[:, :rows]
        shear = {name: s + shares * increments[name] for name, s in self.shear.items()}
        parts = self._parts(normal, shear)
        self.normal = normal * (1 - parts[:, None, :rows])
        taken = (normal * parts[:, None, :rows]).sum(axis=0) * self.box.carried[:, None, None]
        for name, values in zip(NORMAL, taken, strict=True):
            self.lost[name][:rows] += values
        for name, trial in shear.items():
            part = parts
            for axis in SHEAR[name]:
                part = (part + _before(part, axis)) / 2
            self.shear[name] = trial * (1 - part)
            self.lost[name] += (trial * part).sum(axis=0)

    def _parts(self, normal: Floats, shear: dict[str, Floats]) -> Floats:
        """The parts that elements lose in all cells, (surfaces, nz, ny, nx)."""
        rows, mu = self.box.rows, self.box.box.mu[: self.box.rows]
        square = (normal**2).sum(axis=1) / 2
        for name, trial in shear.items():
            mean = trial
            for axis in SHEAR[name]:
                mean = (mean + _after(mean, axis)) / 2
            square += mean[:, :rows] ** 2
        size = np.sqrt(square)
        strength = self.box.elements.strengths[:, None, None, None] * mu * self.box.reference_strain
        parts = np.zeros((len(square), *self.box.box.mu.shape))
        parts[:, :rows] = np.where(size > strength, 1 - strength / np.maximum(size, 1e-300), 0)
        return parts


def _after(values: Floats, axis: Any) -> Floats:
    """The values of the next cells along an axis; nothing below the box."""
    return _shifted(values, axis, -1)


def _before(values: Floats, axis: Any) -> Floats:
    """The values of the cells before along an axis; nothing above the box."""
    return _shifted(values, axis, 1)


def _shifted(values: Floats, axis: Any, by: int) -> Floats:
    dim = 1 + axis.index(1)
    shifted = np.roll(values, by, dim)
    if axis == Z:
        shifted[:, 0 if by == 1 else -1] = 0
    return shifted
