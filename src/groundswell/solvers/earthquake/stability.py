"""Stability limit of the time step in a medium that varies with depth only; errors of speeds."""

from __future__ import annotations

from collections.abc import Iterator
from math import hypot, pi, sin, sqrt

import numpy as np

from groundswell.arrays import Floats
from groundswell.solvers.earthquake.effective import DepthRows, mean_of_two
from groundswell.time_integration.step_limits import FOURTH_ORDER_NORM

POINTS_PER_WAVELENGTH = 6.0  # of waves that count as resolved, see `speed_error`
SPAN, MARGIN = 48, 12  # rows that are analysed together, and additional rows on either side


def speed_error(points: float) -> float:
    """Relative error of the speed of a wave along an axis, at `points` cells per wavelength.

    It is that of fourth-order staggered differences (Levander 1988, Geophysics 53, 1425-1436). In
    the slowest ground, time steps are short, and their error is far smaller.
    """
    half = pi / points  # phase over half a cell
    return (9 / 8 * sin(half) - 1 / 24 * sin(3 * half)) / half - 1


def equivalent_speed(rows: DepthRows, spacing: tuple[float, float, float]) -> float:
    """P speed of the uniform medium that has the same stable time step as the rows, m/s.

    Waves that are guided by rows with corrections can be faster than those of each material. A
    stack of rows does not couple horizontal wavenumbers, so the largest frequency is that at the
    largest horizontal wavenumber.

    Args:
        rows: parameters of the depth rows.
        spacing: cell edges (x, y, z), m.

    Returns:
        The speed; zero if no row has corrections.
    """
    largest = max((_largest_frequency(part, spacing) for part in _parts(rows)), default=0.0)
    return largest / (2 * FOURTH_ORDER_NORM * sqrt(sum(h**-2 for h in spacing)))


def _parts(rows: DepthRows) -> Iterator[DepthRows]:
    """Yield the rows with corrections and those around them, in parts of similar size."""
    corrected = np.flatnonzero(rows.are_corrected)
    for start in np.unique(corrected // SPAN) * SPAN:
        part = slice(max(start - MARGIN, 0), start + SPAN + MARGIN)
        yield DepthRows(
            {name: values[part] for name, values in rows.properties.items()},
            rows.corrections[part],
        )


def _largest_frequency(rows: DepthRows, spacing: tuple[float, float, float]) -> float:
    """Largest angular frequency of P and SV waves, rad/s, with the surrounding rows at rest."""
    density, compliance_factor, along, across = rows.corrections.T
    rho, lam = rows.properties["rho"], rows.properties["lam"]
    with np.errstate(divide="ignore"):
        mu = 1 / rows.properties["compliance"]
        mu_at_faces = 1 / (compliance_factor * mean_of_two(rows.properties["compliance"]))
    n = len(rho)
    down = difference(n) / spacing[2]  # derivative at centres of values on faces
    level = np.eye(n) * 2 * FOURTH_ORDER_NORM * hypot(1 / spacing[0], 1 / spacing[1])
    none = np.zeros((n, n))
    # Strains of the velocities (vx, vz), and their stiffness.
    xx, zz = np.hstack([level, none]), np.hstack([none, down])
    xz = np.hstack([-down.T, -level])
    energy = (
        xx.T * (lam + 2 * mu + across) @ xx
        + zz.T * (lam + 2 * mu + along) @ zz
        + xx.T * lam @ zz
        + zz.T * lam @ xx
        + xz.T * mu_at_faces @ xz
    )
    mass = np.sqrt(np.concatenate([rho, density * mean_of_two(rho)]))
    return float(np.sqrt(np.linalg.eigvalsh(energy / mass / mass[:, None])[-1]))


def difference(n: int) -> Floats:
    """Matrix of fourth-order differences at the centres of `n` cells of values on faces, (n, n).

    Values outside are zero. The negative transpose gives differences on faces of values at centres.
    """
    weights = {-1: 1 / 24, 0: -9 / 8, 1: 9 / 8, 2: -1 / 24}
    return np.sum([weight * np.eye(n, k=k) for k, weight in weights.items()], axis=0)
