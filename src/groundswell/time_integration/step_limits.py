"""The largest stable step of the explicit schemes."""

from __future__ import annotations

from math import sqrt

FOURTH_ORDER_NORM = 9 / 8 + 1 / 24  # largest value of the staggered difference's symbol, times h/2


# What a free surface leaves of the limit, whatever Vp/Vs: from the spectra of the half-space's
# discrete operator. It bites above Vp/Vs = 2.5 only, and more where cells are deeper than wide.
FREE_SURFACE, FREE_SURFACE_DEEP_CELLS = 0.976, 0.933


def staggered_leapfrog(
    spacing: tuple[float, float, float], speed: float, *, free_surface: bool = False
) -> float:
    """Stability limit of the fourth-order staggered leapfrog scheme, s.

    `dt <= 6 / (7 c sqrt(1/hx^2 + 1/hy^2 + 1/hz^2))`, the von Neumann limit that Moczo et al. (2000,
    BSSA 90:587) give for equal spacing as `6 h / (7 sqrt(3) c)`.

    Args:
        spacing: cell edges (x, y, z), m.
        speed: fastest wave, m/s.
        free_surface: whether there is one, normal to z.
    """
    limit = 1 / (FOURTH_ORDER_NORM * speed * sqrt(sum(h**-2 for h in spacing)))
    if not free_surface:
        return limit
    return limit * (FREE_SURFACE if spacing[2] <= min(spacing[:2]) else FREE_SURFACE_DEEP_CELLS)
