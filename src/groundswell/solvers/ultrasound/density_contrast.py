"""How much a varying density shortens stable steps: the largest eigenvalue of the scheme.

A step without losses is p(n + 1) = 2 p(n) - p(n - 1) - dt^2 A p(n) with

    A = c^2 rho_0 sum_i G_i^T (1 / rho_i) G_i.

G_i is the derivative at the velocity points of axis i, with the k-space correction; rho_i is the
density there. Waves do not grow if dt^2 times the largest eigenvalue of A is at most 4. In a medium
of uniform density, this eigenvalue is at most c^2 K^2, with the largest c and K (see stability.py).
The contrast is the largest eigenvalue divided by this number. By the Rayleigh quotient of A, it is
at most the largest c^2 rho_0, divided by the largest c^2 and by the least rho_i.

Of a large grid, some parts are enough; see critical_parts.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import pi, sqrt

import numpy as np
from scipy import fft

from groundswell.arrays import Complexes, Floats
from groundswell.grids.cartesian import Grid
from groundswell.solvers.ultrasound.medium import AcousticMedium
from groundswell.solvers.ultrasound.operators import SpectralOperators
from groundswell.solvers.ultrasound.window import Window

TOLERANCE = 5e-3  # of the eigenvalue, relative


def has_uniform_density(medium: AcousticMedium) -> bool:
    """Whether the density is one number."""
    return not any(map(np.ndim, (medium.density, *(medium.staggered or ()))))


def contrast_bound(medium: AcousticMedium) -> float:
    """Upper bound of the contrast of density; 1 if the density is uniform."""
    if has_uniform_density(medium):
        return 1.0
    lightest = min(map(np.min, medium.staggered or [medium.density]))
    stiffest = max(float(np.max(np.square(c) * rho)) for c, rho in _planes(medium))
    return max(1.0, stiffest / float(np.max(medium.speed) ** 2 * lightest))


def _planes(medium: AcousticMedium) -> Iterator[tuple[Floats, Floats]]:
    """Speed and density of each plane z."""
    yield from zip(*np.broadcast_arrays(medium.speed, medium.density), strict=True)


def density_contrast(
    medium: AcousticMedium,
    operators: SpectralOperators,
    part: Window | None = None,
    fastest: float = 0.0,
) -> float:
    """The contrast of density in a part of a grid, by default in the whole grid.

    Args:
        medium: the medium in this part.
        operators: operators of the grid and of a time step.
        part: a part of the grid; see `critical_parts`.
        fastest: the largest sound speed outside this part, m/s.
    """
    grid, reach = operators.grid, operators.reference_speed * operators.dt
    part = part or Window.whole_of(grid.cells)
    inside = replace(operators, grid=Grid(part.extended, grid.spacing))
    largest = _largest_eigenvalue(medium, inside, part)
    k = min(pi / reach, largest_wavenumber(grid))  # of the largest K
    return (
        largest / float(max(np.max(medium.speed), fastest) * k * np.sinc(reach * k / (2 * pi))) ** 2
    )


def axes_of(grid: Grid) -> int:
    """Number of axes of the scheme."""
    return 3 if grid.cells[2] > 1 else 2


def largest_wavenumber(grid: Grid) -> float:
    """Largest wavenumber of a grid, rad/m."""
    return pi * sqrt(sum(grid.spacing[axis] ** -2 for axis in range(axes_of(grid))))


def smallest_wavenumber(grid: Grid) -> float:
    """Smallest wavenumber of a grid above 0, rad/m."""
    axes = range(axes_of(grid))
    return 2 * pi / max(grid.cells[axis] * grid.spacing[axis] for axis in axes)


# --- the largest eigenvalue -----------------------------------------------------------------------


def _largest_eigenvalue(
    medium: AcousticMedium, operators: SpectralOperators, window: Window
) -> float:
    """The largest eigenvalue of A, among pressures in the block of a window, 1/s^2."""
    from scipy.sparse.linalg import LinearOperator, eigsh  # takes long to import

    shape, axes = operators.grid.shape, range(axes_of(operators.grid))
    root = np.zeros(shape)
    stiffness = np.broadcast_to(np.asarray(medium.stiffness, float), shape)
    root[window.own] = np.sqrt(stiffness[window.own])
    kappa = operators.kappa() * operators.grid.count
    slopes = [_along(axis, operators.derivative(axis, 1)) * kappa for axis in axes]
    densities = [medium.staggered_density(axis) for axis in axes]
    pairs = list(zip(slopes, densities, strict=True))

    def apply(values: Floats) -> Floats:
        spectrum = fft.rfftn(root * values.reshape(shape))
        terms = (
            np.conj(slope) * fft.rfftn(fft.irfftn(slope * spectrum, shape) / density)
            for slope, density in pairs
        )
        return np.ravel(root * fft.irfftn(sum(terms), shape))

    operator = LinearOperator((root.size, root.size), matvec=apply, dtype=float)
    start = np.random.default_rng(0).standard_normal(root.size)
    values = eigsh(operator, 1, which="LA", v0=start, tol=TOLERANCE, return_eigenvectors=False)
    return float(values[0])


def _along(axis: int, factors: Complexes) -> Complexes:
    """Factors along an axis, for the multiplication of an array (z, y, x)."""
    return factors.reshape([-1 if dim == 2 - axis else 1 for dim in range(3)])
