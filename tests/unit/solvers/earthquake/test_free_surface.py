"""The free surface of an earthquake: velocities and stresses mirrored above it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from small_earthquake import SPACING, WIDTH, assert_close, make_solver, precisions, randomise

from groundswell.solvers.earthquake.interpolation import SHEAR_REACH
from groundswell.solvers.earthquake.solver import STRESSES, VELOCITIES, Earthquake

# The region in padded arrays: layers around it stretch what the mirrors take derivatives of.
LAYERS = slice(2 + WIDTH, -2 - WIDTH)
INSIDE = (LAYERS, LAYERS)


def random_moduli(solver: Earthquake, seed: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Lambda, and lambda + 2 mu with some water and a correction; float64 copies of row 0."""
    rng = np.random.default_rng(seed)
    lam, soft = (solver.materials.fields[n].array for n in ("lam", "compliance"))
    lam[...] = rng.uniform(1e9, 5e10, lam.shape)
    soft[...] = rng.uniform(2e-11, 2e-9, soft.shape)
    soft[2, 6:8, 7:9] = np.inf
    solver.materials.corrections[:, 2] = along_z = -3e8
    return lam[2].astype(float), lam[2] + 2 / soft[2].astype(float) + along_z


@precisions
def test_mirrored_velocities_leave_the_surface_without_traction(precision: str) -> None:
    """szz = 0 on z = 0 with the divergence half a cell below; vx and vy reach up their slopes."""
    solver = make_solver(precision)
    before = randomise(solver, seed=1)
    lam, p_modulus = random_moduli(solver, seed=2)
    for run in solver._mirror_velocity():
        run()
    vx, vy, vz = (solver.fields[n].array.astype(float) for n in VELOCITIES)
    hx, hy, hz = SPACING
    above, row, below = 1, 2, 3  # rows -1, 0 and 1 of padded arrays

    sxz = (vx[row] - vx[above]) / (SHEAR_REACH * hz) + np.diff(vz[row], axis=1, prepend=np.nan) / hx
    syz = (vy[row] - vy[above]) / (SHEAR_REACH * hz) + np.diff(vz[row], axis=0, prepend=np.nan) / hy
    assert_close(sxz[INSIDE].astype(solver.setup.dtype), 0, scale=1 / min(SPACING))
    assert_close(syz[INSIDE].astype(solver.setup.dtype), 0, scale=1 / min(SPACING))

    spreading = np.diff(vx[row], axis=1, append=np.nan) / hx
    spreading += np.diff(vy[row], axis=0, append=np.nan) / hy
    stretching = (vz[below] - vz[above]) / (2 * hz)
    szz = lam * spreading + p_modulus * stretching
    assert_close(szz[INSIDE].astype(solver.setup.dtype), 0, scale=1e11 / min(SPACING))

    for name in VELOCITIES:
        changed = solver.fields[name].array != before[name]
        assert changed[1, 2:-2, 2:-2].all() and changed.sum() == changed[1, 2:-2, 2:-2].size


@precisions
def test_mirrored_stresses_do_the_work_that_mirrored_velocities_take(precision: str) -> None:
    """Odd about z = 0, and the transpose of what the mirrors of vx, vy and vz add to the strain."""
    solver = make_solver(precision)
    before = randomise(solver, seed=3, names=STRESSES)
    lam, p_modulus = random_moduli(solver, seed=4)
    for run in solver._mirror_stress():
        run()
    hx, hy, hz = SPACING
    szz, sxz, syz = (before[name] for name in ("szz", "sxz", "syz"))
    freed = lam / p_modulus * szz[2]
    dx = np.diff(freed, axis=1, prepend=np.nan) / hx
    dy = np.diff(freed, axis=0, prepend=np.nan) / hy
    pull = np.diff(sxz[3], axis=1, append=np.nan) / hx + np.diff(syz[3], axis=0, append=np.nan) / hy
    wanted = {
        ("szz", 1): -szz[2],
        ("szz", 0): -szz[3] + 2 * SHEAR_REACH * hz * pull,
        ("sxz", 1): -sxz[3] + 2 * hz * dx,
        ("syz", 1): -syz[3] + 2 * hz * dy,
    }
    for (name, row), values in wanted.items():
        assert_close(solver.fields[name].array[row][INSIDE], values[INSIDE])
    for name in STRESSES:
        changed = solver.fields[name].array != before[name]
        rows = [row for other, row in wanted if other == name]
        assert changed.sum() == len(rows) * changed[1, 2:-2, 2:-2].size
        assert all(changed[row, 2:-2, 2:-2].all() for row in rows)


def test_an_absorbing_top_has_no_mirrors() -> None:
    solver = make_solver("single", top="absorbing")
    assert solver._mirror_velocity() == solver._mirror_stress() == []
