"""Quantities and warnings of topography for `groundswell check`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from groundswell.case.quantities import Quantity
from groundswell.solvers.dgwave.mesh.topography import SurfacePolynomials

MISFIT = 0.02  # of the surface, over the shortest wavelength: a shift of phase by 7 degrees


def terrain_quantities(surface: SurfacePolynomials, group: str) -> Iterator[Quantity]:
    """Elevations, and how well the elements follow them."""
    low, high = surface.range
    text = f"elevations of {low:,.1f} to {high:,.1f} m, {surface.mean:,.1f} m on average"
    yield Quantity("topography", [low, high], "topography", "m", text, group)
    yield Quantity("mean_elevation", surface.mean, unit="m", group=group)
    changes = [factor - 1 for factor in surface.stretching]
    text = " to ".join(f"{change:+.3g} %" for change in 100 * np.array(changes))
    yield Quantity("stretching", changes, "layers stretched by", text=text, group=group)
    gap = surface.misfit[0]
    text = f"within {gap:.3g} m of the topography"
    yield Quantity("terrain_misfit", gap, "surface of elements", "m", text, group)


def terrain_warnings(surface: SurfacePolynomials, wavelength: float) -> Iterator[str]:
    """A surface of elements that is too far from the topography for the shortest waves.

    Args:
        wavelength: of these waves, m.
    """
    gap, x, y = surface.misfit
    if gap > MISFIT * wavelength:
        yield (
            f"between its nodes, the surface of the elements is up to {gap:.3g} m away from the "
            f"topography, at x = {x:.6g} m, y = {y:.6g} m; that is {gap / wavelength:.2g} of the "
            f"shortest wavelength, {wavelength:.3g} m, and should be at most {MISFIT:g} of it; use "
            "smaller elements in [grid], raise method.degree, or smooth the topography"
        )
