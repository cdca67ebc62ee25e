"""Stability limits of the time step."""

from __future__ import annotations

from math import inf, sqrt

import numpy as np
from numpy.typing import ArrayLike

from groundswell.arrays import Floats

FOURTH_ORDER_NORM = 9 / 8 + 1 / 24  # largest symbol of the staggered difference, times h/2

# Reduction of the limit by a free surface, for any Vp/Vs, from the spectra of the discrete operator
# of a half-space. It is needed only above Vp/Vs = 2.5, and larger if cells are deeper than wide.
FREE_SURFACE_FACTOR, FREE_SURFACE_FACTOR_DEEP_CELLS = 0.976, 0.933


def staggered_leapfrog(
    spacing: tuple[float, float, float], speed: float, *, free_surface: bool = False
) -> float:
    """Stability limit of the fourth-order staggered leapfrog scheme, s.

    `dt <= 6 / (7 c sqrt(1/hx^2 + 1/hy^2 + 1/hz^2))`, the von Neumann limit that Moczo et al. (2000,
    BSSA 90:587) give for equal spacing as `6 h / (7 sqrt(3) c)`.

    Args:
        spacing: cell edges (x, y, z), m.
        speed: speed of the fastest wave, m/s.
        free_surface: whether there is a free surface normal to z.
    """
    limit = 1 / (FOURTH_ORDER_NORM * speed * sqrt(sum(h**-2 for h in spacing)))
    if not free_surface:
        return limit
    deep_cells = spacing[2] > min(spacing[:2])
    return limit * (FREE_SURFACE_FACTOR_DEEP_CELLS if deep_cells else FREE_SURFACE_FACTOR)


# Courant numbers of `dg_step`, from spectra of periodic cubes: the Riemann flux is stable up to 2.2
# for N = 3 and 1.8 for N = 7, the central flux up to 3.5 and 3.3.
RIEMANN_COURANT, CENTRAL_COURANT = 1.6, 3.0

# The five-stage scheme is stable for eigenvalues down to -4.65 / dt. Those of the Riemann flux
# reach -3.9 / dt with this Courant number, and damping shifts all of them.
UNDAMPED_SHARE, LARGEST_DECAY = 0.85, 4.6


def dg_step(
    edges: ArrayLike, speed: ArrayLike, degree: int, upwind: float = 1.0, decay: float = 0.0
) -> Floats:
    """Stable time steps of discontinuous Galerkin on bricks with GLL nodes, s, (...).

    `dt = C h / (c (N + 1)^2)` with `3 / h = 1/hx + 1/hy + 1/hz`, for the five-stage scheme of
    Carpenter & Kennedy (see low_storage.py). Strong damping shortens it.

    Args:
        edges: of the elements along x, y, z, (..., 3), m.
        speed: speed of the fastest wave in each, (...), m/s.
        degree: N.
        upwind: share of the Riemann flux, 0 to 1.
        decay: largest rate of damping, 1/s.
    """
    courant = RIEMANN_COURANT if upwind > 0 else CENTRAL_COURANT
    inverse = np.sum(1 / np.asarray(edges, float), axis=-1)
    undamped = 3 * courant / (inverse * np.asarray(speed, float) * (degree + 1) ** 2)
    return np.minimum(undamped, 1 / (UNDAMPED_SHARE / undamped + decay / LARGEST_DECAY))


def decay_step(rate: float) -> float:
    """Stable time step of the same scheme for u' = -rate u, s; infinite if nothing decays.

    Args:
        rate: the largest, 1/s.
    """
    return LARGEST_DECAY / rate if rate else inf
