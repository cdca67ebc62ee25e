"""Energy of a closed box with soft soil: what elements and the rest of the stiffness store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from groundswell.arrays import Floats
from groundswell.backends import Launch, open_backend
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
    _push,
)
from groundswell.time_integration.step_limits import staggered_leapfrog

NORMAL, SHEAR = STRESSES[:3], {"sxy": (X, Y), "sxz": (X, Z), "syz": (Y, Z)}


@dataclass
class SoilBox:
    """A closed box of random cells in motion, the upper rows of which are soft soil.

    Energy is that of the velocities before and after a step with the stresses in between, which
    leapfrog steps conserve in linear rock. A linear solver that moves as the soil does stores too
    much by what its stresses at cell centres would store, less what the elements store.

    Args:
        soil: other keys of `[plasticity]`.
    """

    box: RandomBox
    soil: dict[str, Any]

    def __post_init__(self) -> None:
        step = 0.9 * staggered_leapfrog(SPACING, SPEEDS[1], free_surface=True)
        content = self.box.case(step).model_dump(exclude_unset=True)
        case = sim.make_case(**content | {"plasticity": {"model": "iwan", **self.soil}})
        self.found = sim.build(case, open_backend("cpu"), closed=True)
        self.box.fill(self.found)
        _push(self.found)
        self.linear = {name: np.zeros(self.box.rho.shape) for name in STRESSES}
        self._set_carried()
        self._run(self.found.update_velocities())

    def _set_carried(self) -> None:
        """Let the elements carry what they may in these rows."""
        assert self.found.setup.soil is not None
        self.carried = carried_in(self.box)[: self.found.setup.soil.layer.cells[2]]
        self.soil_yield._tables_on_device["carried"][...] = self.carried

    @property
    def soil_yield(self) -> SoilYield:
        assert isinstance(self.found.rheology, SoilYield)
        return self.found.rheology

    def step(self) -> tuple[float, float]:
        """Advance by a step; all energy half a step after it, and that of the elements."""
        found = self.found
        velocities, stresses = sim.read(found, VELOCITIES), sim.read(found, STRESSES)
        yielding = self.soil_yield.advance(found._pick(*VELOCITIES), found.exchanges)
        self._run([*found._mirror_velocity(), *yielding])
        update, release = found._update_stress(found._boxes()[1])
        update()
        self._follow(stresses)
        release()
        found.exchanges[1]()
        self._run([*found._mirror_stress(), *found.update_velocities()])
        return self._energy(velocities, sim.read(found, VELOCITIES))

    @staticmethod
    def _run(launches: list[Launch]) -> None:
        for launch in launches:
            launch()

    def _follow(self, before: WaveState) -> None:
        """Add the increments of linear rock."""
        for name, now in sim.read(self.found, STRESSES).items():
            self.linear[name] += now - before[name]

    def _energy(self, before: WaveState, after: WaveState) -> tuple[float, float]:
        kinetic = self._kinetic(before, after)
        stored, carried = self.box.strain(self.linear, self.linear), self._centres()
        elements = self._elements()
        return kinetic + stored - carried + elements, elements

    def _kinetic(self, before: WaveState, after: WaveState) -> float:
        """v . v' from those of their sum and difference."""
        sums = {name: before[name] + after[name] for name in before}
        differences = {name: before[name] - after[name] for name in before}
        return (self.box.kinetic(sums) - self.box.kinetic(differences)) / 4

    def _centres(self) -> float:
        """What linear elements would store: half of stress times strain of deviators."""
        rows = len(self.carried)
        normal = np.stack([self.linear[name] for name in NORMAL])
        strain = self._strain_of(normal)
        deviator = 2 * self.box.mu * (strain - strain.mean(axis=0))
        shear = np.stack([self._at_centres(name, axes) for name, axes in SHEAR.items()])
        energy = ((deviator**2).sum(axis=0) + 2 * (shear**2).sum(axis=0)) / (4 * self.box.mu)
        return float((energy[:rows] * self.carried[:, None, None]).sum())

    def _strain_of(self, normal: Floats) -> Floats:
        """Normal strains of normal stresses, (3, nz, ny, nx), in transversely isotropic rows."""
        lam, mu = self.box.lam, self.box.mu
        along, across = (self.box.corrections[:, n, None, None] for n in (2, 3))
        level, off, up = lam + 2 * mu + across, lam + across, lam + 2 * mu + along
        rows = [[level, off, lam], [off, level, lam], [lam, lam, up]]
        matrix = np.stack([np.stack(np.broadcast_arrays(*row)) for row in rows])
        solved = np.linalg.solve(
            matrix.transpose(2, 3, 4, 0, 1), normal.transpose(1, 2, 3, 0)[..., None]
        )
        return np.asarray(solved[..., 0].transpose(3, 0, 1, 2))

    def _at_centres(self, name: str, axes: Any) -> Floats:
        """Means over four edges; stresses of rows with corrected compliance as without it."""
        corrections = self.box.corrections[:, 1, None, None] if Z in axes else 1.0
        edges = self.linear[name] * corrections
        for axis in axes:
            edges = (edges + _next(edges, axis)) / 2
        return edges

    def _elements(self) -> float:
        soil, model = self.soil_yield, self.found.setup.soil
        assert model is not None
        rows, (ny, nx) = len(self.carried), self.box.mu.shape[1:]
        s = soil._elements.reshape(rows, ny, model.surfaces, 5, -1)[..., :nx]
        xx, yy, xy, xz, yz = s.transpose(3, 0, 2, 1, 4)
        squares = xx**2 + yy**2 + (xx + yy) ** 2 + 2 * (xy**2 + xz**2 + yz**2)
        stiffness = 4 * model.elements[0].shares[:, None, None] * self.box.mu[:rows, None]
        return float((squares / stiffness * self.carried[:, None, None, None]).sum())


def carried_in(box: RandomBox) -> Floats:
    """The largest part of the stiffness of each row that elements may carry, by eigenvalues."""
    found = np.ones(len(box.rho))
    for k, (_, soft, along, across) in enumerate(box.corrections):
        lam, mu = box.lam[k].ravel(), box.mu[k].ravel()
        level, off, up = lam + 2 * mu + across, lam + across, lam + 2 * mu + along
        stiffness = np.array([[level, off, lam], [off, level, lam], [lam, lam, up]])
        deviator = np.eye(3) - 1 / 3
        inverse = np.linalg.inv(stiffness.transpose(2, 0, 1))
        largest = np.linalg.eigvals(inverse @ deviator).real.max(axis=1) * 2 * mu
        below = box.corrections[min(k + 1, len(found) - 1), 1]
        found[k] = min(1.0, 1 / largest.max(), 1 / soft, 1 / below)
    return found


def _next(values: Floats, axis: tuple[int, int, int]) -> Floats:
    """The values of the next cells along an axis; 0 below the box, periodic along x and y."""
    dim = axis.index(1)
    shifted = np.roll(values, -1, dim)
    if axis == Z:
        shifted[-1] = 0
    return shifted
