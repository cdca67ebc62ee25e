"""Effective parameters of a medium that varies with depth only, on the staggered grid.

Velocity and the traction on horizontal planes are continuous across an interface. The equations of
motion and Hooke's law can be solved for the discontinuous quantities. The coefficients of the
continuous ones are then

    rho,  1/mu,  1/M,  lambda/M,  mu  and  mu (3 lambda + 2 mu)/M,    M = lambda + 2 mu.

Depth averages of these coefficients are therefore exact for long waves at any angle of incidence
(Backus 1962, J. Geophys. Res. 67, 4427-4440). A row with several materials is transversely
isotropic.

Waves that are scattered by the rows add up with the phases exp(2ikz) (Born approximation). So sums
over rows must also have the correct moments over depth. The medium is therefore distributed to rows
as point sources are, by the adjoint of an interpolation. Material at a distance of t cells below
the centre of a cell contributes 1 - t^2 of itself to that cell, t (t - 1)/2 to the cell above and
t (t + 1)/2 to the cell below. Sums over rows of the medium times a parabola in depth are then
exact. Averages over single cells have wrong first moments, which depend on where an interface cuts
a cell, and means of two cells have wrong second moments. Both change the reflection coefficient by
up to (2kh)^2/12.

A solid slips along a fluid, so horizontal velocity is not continuous there. A row then belongs to
the phase at its centre. The material of the other phase is added to the adjacent row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from groundswell.arrays import Indices, Mask, Reals
from groundswell.grids.cartesian import GHOSTS, Grid
from groundswell.seismology.media.material import Material
from groundswell.seismology.media.profile import SLIVER, Profile

Properties = Callable[[Material], dict[str, Reals]]  # see moduli.py

REACH = 3  # rows on either side of a row that its parameters depend on
MAX_CHANGE = 0.25  # relative change of the average over a cell by the distribution
UNCORRECTED = (1.0, 1.0, 0.0, 0.0)  # see kernels/rows.h


@dataclass(frozen=True)
class DepthRows:
    """Parameters of depth rows: those of the cells, and corrections at the other positions.

    Args:
        properties: rho, lam, compliance, inverse_qp and inverse_qs of the cells, (rows,) each.
        corrections: ratio of the density at vz to the mean of two cells, the same of the compliance
            at sxz and syz, and stiffnesses added along z and across z, Pa, (rows, 4); see
            kernels/rows.h.
    """

    properties: dict[str, Reals]
    corrections: Reals

    @property
    def are_corrected(self) -> Mask:
        """Whether a row has a correction, (rows,)."""
        changed: Mask = (self.corrections != UNCORRECTED).any(axis=1)
        return changed

    def with_rows_of(self, other: DepthRows, chosen: Mask) -> DepthRows:
        """The same with the parameters of `other` in the chosen rows, (rows,)."""
        properties = {
            name: np.where(chosen, other.properties[name], values)
            for name, values in self.properties.items()
        }
        corrections = np.where(chosen[:, None], other.corrections, self.corrections)
        return DepthRows(properties, corrections)


def effective_rows(
    profile: Profile, grid: Grid, properties: Properties, *, mirrored: bool
) -> DepthRows:
    """Parameters of all depth rows of a grid, ghost rows included.

    Args:
        profile: the medium.
        grid: the grid.
        properties: function that returns PROPERTIES of a material.
        mirrored: whether z = 0 is a free surface.
    """
    h, bottom = grid.spacing[2], grid.region[2] * grid.spacing[2]
    ground = extend(profile, bottom, mirrored=mirrored)
    rows = np.arange(grid.cells[2] + 2 * (GHOSTS + REACH) + 1) - grid.before[2] - GHOSTS - REACH
    cells, faces = (Stack.sample(ground, (rows + shift) * h, properties) for shift in (0.0, -0.5))
    mixed, plain, homogeneous = (
        combine(cells, faces),
        cells.first_samples(),
        cells.are_homogeneous(),
    )
    inner = slice(REACH, -REACH)
    return DepthRows(
        {
            n: np.where(homogeneous, plain[n], values)[inner]
            for n, values in mixed.properties.items()
        },
        np.where(homogeneous[:, None], UNCORRECTED, mixed.corrections)[inner],
    )


def extend(profile: Profile, bottom: float, *, mirrored: bool) -> Profile:
    """The profile of the whole grid: constant outside the region, or mirrored at a free surface.

    With the mirror image, the average around a free surface is that over the half cell below it.

    Args:
        profile: the medium in the region.
        bottom: depth of the region, m.
        mirrored: whether z = 0 is a free surface.
    """
    depths = profile.interfaces
    last = bottom * (1 - 2 * SLIVER)  # just above an interface at the bottom

    def sample(depth: Reals) -> Material:
        return profile.sample(np.clip(np.abs(depth) if mirrored else depth, 0, last))

    within = depths[(depths > 0) & (depths < bottom)]
    interfaces = np.concatenate([-within[::-1], within]) if mirrored else within
    return replace(profile, interfaces=interfaces, sample=sample)


@dataclass(frozen=True)
class Stack:
    """Samples of the medium in a stack of cells.

    Args:
        count: number of cells.
        cell: index of the cell of each sample, (n,), ascending.
        weight: quadrature weight; those of a cell add up to 1, (n,).
        place: distance below the centre of the cell, cells, (n,).
        material: PROPERTIES of the samples, (n,) each.
        is_fluid: whether the centre of each cell is in a fluid, (count,).
    """

    count: int
    cell: Indices
    weight: Reals
    place: Reals
    material: dict[str, Reals]
    is_fluid: Mask

    @classmethod
    def sample(cls, ground: Profile, edges: Reals, properties: Properties) -> Stack:
        """Sample the cells of equal height between `edges`, m."""
        depth, weight, cell = ground.quadrature(edges)
        centres, h = (edges[:-1] + edges[1:]) / 2, edges[1] - edges[0]
        # If an interface passes through the centre, the cell belongs to the solid.
        speeds = [ground.sample(centres + side * 2 * SLIVER * h).vs for side in (-1, 1)]
        return cls(
            len(centres),
            cell,
            weight,
            (depth - centres[cell]) / h,
            {
                name: np.broadcast_to(values, depth.shape)
                for name, values in properties(ground.sample(depth)).items()
            },
            np.maximum(*speeds) == 0,
        )

    @cached_property
    def mu(self) -> Reals:
        """Shear modulus of the samples, Pa, (n,)."""
        return 1 / self.material["compliance"]

    def average(self, values: Reals) -> Reals:
        """Averages of values (n,) over the cells, (count,)."""
        return np.asarray(np.bincount(self.cell, self.weight * values, self.count), float)

    def deposit(self, values: Reals, no_flux: Mask | None = None) -> Reals:
        """Distribute values (n,) to the cells with exact sums, first and second moments, (count,).

        Args:
            values: values at the samples.
            no_flux: whether nothing may pass a boundary between two cells, (count - 1,).
        """
        below = self.average(values * self.place * (self.place + 1) / 2)
        above = self.average(values * self.place * (self.place - 1) / 2)
        flux: Reals = below[:-1] - above[1:]
        if no_flux is not None:
            flux = np.where(no_flux, 0.0, flux)
        average = self.average(values)
        change: Reals = np.diff(_limit(flux, np.abs(average)), prepend=0.0, append=0.0)
        return average - change

    def by_phase(self) -> tuple[Stack, Mask]:
        """The stack with one phase, solid or fluid, in each cell.

        Returns:
            The stack, and whether a boundary between two cells is next to a cell that changed or
            separates the phases, (count - 1,).
        """
        fluid = self.mu == 0
        aside = np.clip(self.cell + np.where(self.place < 0, -1, 1), 0, self.count - 1)
        moves = (fluid != self.is_fluid[self.cell]) & (fluid == self.is_fluid[aside])
        touched = np.zeros(self.count, bool)
        touched[self.cell[moves]] = touched[aside[moves]] = True
        no_flux = touched[1:] | touched[:-1] | (self.is_fluid[1:] != self.is_fluid[:-1])
        return replace(self, cell=np.where(moves, aside, self.cell)), no_flux

    def first_samples(self) -> dict[str, Reals]:
        """PROPERTIES of the first sample of each cell, (count,) each."""
        first = np.searchsorted(self.cell, np.arange(self.count))
        return {name: values[first] for name, values in self.material.items()}

    def are_homogeneous(self) -> Mask:
        """Whether a row and all rows that its parameters depend on have one material, (count,)."""
        homogeneous = np.ones(self.count, bool)
        for name, first in self.first_samples().items():
            varies = np.bincount(self.cell, self.material[name] != first[self.cell], self.count) > 0
            steps = varies[1:] | varies[:-1] | (first[1:] != first[:-1])
            for shift in (-2, -1, 0):
                homogeneous &= ~np.roll(np.append(steps, True), -shift)
        return homogeneous


def combine(cells: Stack, faces: Stack) -> DepthRows:
    """Parameters of rows.

    Args:
        cells: stack of cells around the centres of the rows.
        faces: stack of cells around the upper faces of the rows.
    """
    rho, lam, mu = cells.material["rho"], cells.material["lam"], cells.mu
    p_modulus = lam + 2 * mu
    stiffness = 1 / cells.deposit(1 / p_modulus)
    level, no_flux = cells.by_phase()
    density, ratio, rigidity, areal = (
        level.deposit(values, no_flux)
        for values in (rho, lam / p_modulus, mu, mu * (3 * lam + 2 * mu) / p_modulus)
    )
    lam = ratio * stiffness
    with np.errstate(divide="ignore"):
        compliance = 1 / rigidity
    return DepthRows(
        {
            "rho": density,
            "lam": lam,
            "compliance": compliance,
            **{q: cells.average(cells.material[q]) for q in ("inverse_qp", "inverse_qs")},
        },
        np.column_stack(
            [
                faces.deposit(faces.material["rho"]) / mean_of_two(density),
                _compliance_factor(faces, mean_of_two(compliance)),
                stiffness - lam - 2 * rigidity,
                areal - rigidity + ratio * lam - lam,
            ]
        ),
    )


def _compliance_factor(faces: Stack, mean: Reals) -> Reals:
    """Compliance on the faces over `mean`; infinite on faces that touch a fluid, 1 in a fluid."""
    wet = faces.average(faces.mu == 0) > 0
    solid = np.where(faces.mu > 0, faces.material["compliance"], 0.0)
    compliance = np.where(wet, np.inf, faces.deposit(solid, wet[1:] | wet[:-1]))
    return np.where(np.isinf(mean), 1.0, compliance / np.where(np.isinf(mean), 1.0, mean))


def mean_of_two(values: Reals) -> Reals:
    """Mean of each row and the row above it; the first row has no row above."""
    return (values + np.append(values[:1], values[:-1])) / 2


def _limit(flux: Reals, average: Reals) -> Reals:
    """Limit the fluxes between rows, so that no row changes by more than MAX_CHANGE.

    Otherwise large contrasts could make compliances negative, or waves too fast for the time step.
    All losses of a row, or all gains, are reduced by the same factor (flux-corrected transport:
    Zalesak 1979, J. Comput. Phys. 31, 335-362).

    Args:
        flux: flux from each row to the next, positive downwards, (n - 1,).
        average: magnitude of the average over each row, (n,).
    """
    down, up = np.maximum(flux, 0), np.maximum(-flux, 0)
    n = len(average)
    lost = np.append(down, 0) + np.append(0, up)
    gained = np.append(0, down) + np.append(up, 0)
    kept, taken = (
        np.minimum(1, np.divide(MAX_CHANGE * average, change, np.ones(n), where=change > 0))
        for change in (lost, gained)
    )
    return down * np.minimum(kept[:-1], taken[1:]) - up * np.minimum(kept[1:], taken[:-1])
