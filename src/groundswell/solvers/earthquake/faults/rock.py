"""The rock at a fault: masses and stiffnesses of the jumps across it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from groundswell.arrays import Floats, Indices
from groundswell.errors import InputError
from groundswell.grids.cartesian import GHOSTS
from groundswell.seismology.attenuation import Relaxation
from groundswell.solvers.earthquake.effective import UNCORRECTED
from groundswell.solvers.earthquake.faults.plane import REACH, FaultPlane, Kind, Z
from groundswell.solvers.earthquake.ground import Ground

NAMES = ("rho", "lam", "compliance", "inverse_qs")
ROWS = 4  # of stresses across which a jump acts


@dataclass(frozen=True, eq=False)
class FaultRock:
    """Density and unrelaxed moduli of the cells around a fault, in their order along the fault.

    Args:
        rho, lam, compliance: of the cells from one row above the fault, (depth, 2 REACH + 1 along
            the normal, strike from one cell before the fault).
        inverse_qs: 1/Qs of the same cells.
        corrections: of their depth rows, (depth, 4); see kernels/rows.h.
        relaxation: relaxation mechanisms; None without attenuation.
    """

    plane: FaultPlane
    rho: Floats
    lam: Floats
    compliance: Floats
    inverse_qs: Floats
    corrections: Floats
    relaxation: Relaxation | None = None

    @classmethod
    def read(cls, plane: FaultPlane, ground: Ground) -> FaultRock:
        """The rock around a fault.

        Raises:
            InputError: a part of it is fluid.
        """
        depths = range(plane.first[2] - 1, plane.first[2] + plane.shape[0])
        planes = [_cells(plane, ground, k) for k in depths]
        found = {key: np.stack([cells[key] for cells in planes]) for key in NAMES}
        if not np.isfinite(found["compliance"]).all():
            raise InputError(
                "a part of the fault is in or next to a fluid, which has no friction; move the "
                "ends of the fault"
            )
        corrections = np.tile(np.array(UNCORRECTED, float), (len(depths), 1))
        if ground.rows:
            corrections = ground.rows.corrections[np.array(depths) + GHOSTS].astype(float)
        return cls(plane, **found, corrections=corrections, relaxation=ground.relaxation)

    @cached_property
    def density(self) -> Floats:
        """At the points of both kinds, (KINDS, rows, columns), kg/m^3."""
        rho = self.rho[:, REACH]
        along = (rho[1:, :-1] + rho[1:, 1:]) / 2
        down = (rho[:-1, 1:] + rho[1:, 1:]) / 2 * self.corrections[1:, 0, None]
        return np.stack([along, down])

    @cached_property
    def shear_moduli(self) -> Floats:
        """Of the stresses in the rows across which a jump acts, (KINDS, ROWS, rows, columns), Pa.

        There are none on a free surface.
        """
        soft = _around_edges(self.compliance)
        soft[Kind.DOWN] *= self.corrections[1:, 1, None]
        moduli = 1 / soft
        if self.plane.at_surface:
            moduli[Kind.DOWN, :, 0] = 0
        return np.asarray(moduli)

    def relaxed_shares(self, dt: float) -> Floats:
        """The part of each of their rates that memory variables take, of the same shape.

        Memory variables change by minus this part, see `relax` in kernels/stress.h.
        """
        inverse_q = _around_edges(self.inverse_qs)
        if self.relaxation is None:
            return np.zeros(inverse_q.shape)
        linear, quadratic = self.relaxation.coefficients.T[:, self._mechanisms]
        decay = self.relaxation.decay(dt)[self._mechanisms]
        return np.asarray((1 - decay) / 2 * inverse_q * (inverse_q * quadratic + linear))

    @property
    def _mechanisms(self) -> Indices:
        """The relaxation mechanism of the cells of these stresses, (ROWS, rows, columns)."""
        plane, (rows, columns) = self.plane, self.plane.shape
        across, k, along = np.indices((ROWS, rows, columns))
        place = [k + plane.first[Z]] * 3
        place[plane.axis] = across - 1 + plane.first[plane.axis]
        place[plane.along] = along + plane.first[plane.along]
        i, j, k = (at & 1 for at in place)
        return np.asarray(i + 2 * j + 4 * k)

    @cached_property
    def stiffness(self) -> Floats:
        """Plane-stress stiffnesses of the jumps of stress, (4, rows, columns), Pa.

        Of the stress along strike, that along depth, both across, and the shear stress. Rows with
        corrections are transversely isotropic.
        """
        lam, mu = self.lam[1:, REACH, 1:], 1 / self.compliance[1:, REACH, 1:]
        along_z, across_z = self.corrections[1:, 2, None], self.corrections[1:, 3, None]
        level, upright = lam + 2 * mu + across_z, lam + 2 * mu + along_z
        beside = lam + across_z
        normal = np.stack(
            [level - beside**2 / level, upright - lam**2 / level, lam - beside * lam / level]
        )
        normal *= self.plane.slips(Kind.CENTRE)
        return np.concatenate([normal, self._shear_in_plane()[None]])

    def _shear_in_plane(self) -> Floats:
        """At the corners of cells, (rows, columns), Pa."""
        soft = self.compliance[:, REACH]
        pairs = soft[:, :-1] + soft[:, 1:]
        modulus = 4 / ((pairs[:-1] + pairs[1:]) * self.corrections[1:, 1, None])
        if self.plane.at_surface:
            modulus[0] = 0
        return np.asarray(modulus)

    @property
    def density_at_centres(self) -> Floats:
        """Density at the centres of cells that slip, (cells,), kg/m^3."""
        return self.rho[1:, REACH, 1:][self.plane.slips(Kind.CENTRE)]

    @property
    def at_centres(self) -> tuple[Floats, Floats]:
        """Shear modulus, Pa, and Poisson's ratio at the centres of cells that slip, (cells,)."""
        inside = self.plane.slips(Kind.CENTRE)
        mu = (1 / self.compliance[1:, REACH, 1:])[inside]
        lam = self.lam[1:, REACH, 1:][inside]
        return mu, lam / (2 * (lam + mu))


def _around_edges(cells: Floats) -> Floats:
    """Means over four cells at the stresses that a jump acts on, (KINDS, ROWS, rows, columns)."""
    beside = cells[:, :-1] + cells[:, 1:]  # pairs along the normal
    along = beside[1:, :, :-1] + beside[1:, :, 1:]
    down = beside[:-1, :, 1:] + beside[1:, :, 1:]
    return np.asarray(np.stack([along, down]).swapaxes(1, 2) / 4)


def _cells(plane: FaultPlane, ground: Ground, k: int) -> dict[str, Floats]:
    """Properties of the cells of a depth row around a fault, (normal, strike)."""
    properties = ground.padded_plane(k)
    normal, along = plane.first[plane.axis] + GHOSTS, plane.first[plane.along] + GHOSTS
    across = slice(normal - REACH, normal + REACH + 1)
    beside = slice(along - 1, along + plane.shape[1])
    index = (across, beside) if plane.axis == 1 else (beside, across)
    found = {name: np.asarray(properties[name][index], float) for name in NAMES}
    return found if plane.axis == 1 else {name: cells.T for name, cells in found.items()}
