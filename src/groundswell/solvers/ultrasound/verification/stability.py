"""Time steps at which waves begin to grow, in media of varying density."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

import numpy as np

from groundswell.arrays import Floats
from groundswell.backends import Backend
from groundswell.grids.cartesian import Grid
from groundswell.solvers.ultrasound.medium import AcousticMedium
from groundswell.solvers.ultrasound.operators import SpectralOperators
from groundswell.solvers.ultrasound.propagation import Propagation
from groundswell.solvers.ultrasound.stability import SAFETY, stable_step
from groundswell.verify import Check

SPACING, STEPS = 1e-4, 600  # m
SIZE = 6  # points of a bubble, and of the thickness of a plate
TISSUE, GAS, BONE = (1540.0, 1000.0), (340.0, 1.2), (3000.0, 1900.0)  # speed and density


def density(backend: Backend, full: bool) -> Iterator[Check]:
    """Random waves at the largest automatic step, and at a step 5 % above the limit.

    The limit is that of the eigenvalues of the scheme. Growth is relative to the initial pressure.
    """
    shape = (36, 36, 36) if full else (1, 32, 32)
    for name, medium in _media(shape).items():
        grid, fastest = Grid(shape[::-1], (SPACING,) * 3), float(np.max(medium.speed))
        limit = stable_step(medium, grid, fastest, inf)
        note = f"Courant number {fastest * limit / SPACING:.3f} at the limit"
        grown = _growth(backend, grid, medium, SAFETY * limit)
        yield Check.at_most(f"{name}: growth at 90 % of the limit", grown, 1e3, note=note)
        grown = _growth(backend, grid, medium, 1.05 * limit)
        yield Check.at_most(f"{name}: 1 / growth at 105 % of the limit", 1 / grown, 1e-6)


def _media(shape: tuple[int, ...]) -> dict[str, AcousticMedium]:
    middle = [slice((n - SIZE) // 2, (n + SIZE) // 2) if n > 1 else slice(None) for n in shape]
    plate, bubble = (..., middle[2]), tuple(middle)
    inside = (*middle[:2], slice(middle[2].start + 2, middle[2].stop - 2))
    return {
        "bubble": _medium(shape, [(bubble, (1540.0, GAS[1]))]),
        "bone plate": _medium(shape, [(plate, BONE)]),
        "gas in bone": _medium(shape, [(plate, BONE), (inside, GAS)]),
    }


def _medium(
    shape: tuple[int, ...], parts: list[tuple[tuple[object, ...], tuple[float, float]]]
) -> AcousticMedium:
    """Tissue with parts of other materials."""
    speed, density = np.full(shape, TISSUE[0]), np.full(shape, TISSUE[1])
    for where, (c, rho) in parts:
        speed[where], density[where] = c, rho  # type: ignore[index]
    return AcousticMedium(speed if np.ptp(speed) else TISSUE[0], density)


def _growth(backend: Backend, grid: Grid, medium: AcousticMedium, dt: float) -> float:
    """Largest pressure after some steps from random pressures of about 1."""
    operators = SpectralOperators(grid, dt, float(np.max(medium.speed)))
    waves = Propagation(backend, operators, medium, "float64")
    start: Floats = np.random.default_rng(1).standard_normal(grid.shape)
    waves.start(start)
    backend.capture(waves.step).replay(STEPS)
    found = float(np.abs(backend.to_host(waves.p)).max())
    return found if np.isfinite(found) else inf
