"""The kernels that record receivers, peaks and the surface, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from small_earthquake import (
    EXTENT,
    RECEIVERS,
    REGION,
    SPACING,
    WIDTH,
    assert_close,
    make_solver,
    precisions,
    randomise,
    set_clock,
)

from groundswell.backends import Items
from groundswell.solvers.earthquake.interpolation import SHEAR_REACH, SURFACE_SHIFT
from groundswell.solvers.earthquake.solver import VELOCITIES


@precisions
def test_receivers_read_cubics_exactly(precision: str) -> None:
    """Four points an axis carry any cubic, also beside the surface and its own two rows."""
    solver = make_solver(precision)
    rng = np.random.default_rng(9)
    exponents = [(a, b, c) for a in range(4) for b in range(4) for c in range(4)]
    nx, ny, nz = solver.setup.grid.cells
    wanted = np.zeros((len(RECEIVERS), 3))
    for component, name in enumerate(VELOCITIES):
        factors = rng.normal(size=len(exponents))

        def polynomial(x: Any, y: Any, z: Any, factors: Any = factors) -> Any:
            unit = [p / e for p, e in zip((x, y, z), EXTENT, strict=True)]
            return sum(
                f * unit[0] ** a * unit[1] ** b * unit[2] ** c
                for f, (a, b, c) in zip(factors, exponents, strict=True)
            )

        off = [0.0 if axis == component else 0.5 for axis in range(3)]
        z, y, x = np.meshgrid(
            (np.arange(-2, nz + 2) + off[2]) * SPACING[2],
            (np.arange(-2, ny + 2) + off[1] - WIDTH) * SPACING[1],
            (np.arange(-2, nx + 2) + off[0] - WIDTH) * SPACING[0],
            indexing="ij",
        )
        values = polynomial(x, y, z)
        if name != "vz":
            slope = values[1] - values[2]
            values[2] += SURFACE_SHIFT * slope
            values[1] = values[2] + SHEAR_REACH * slope
        solver.fields[name].array[...] = values
        places = [(r["x"], r["y"], r["depth"]) for r in RECEIVERS]
        wanted[:, component] = [polynomial(*place) for place in places]
    set_clock(solver, 0)
    solver.outputs.launches[0]()
    found = solver.outputs.ring("seismograms").buffer[0].T
    scale = 30 * np.abs(wanted).max()  # weights of both signs cancel digits
    assert_close(found, wanted, scale)


def cubic_weights(nodes: Any, at: float) -> NDArray[Any]:
    """Of the values at four nodes in that of the cubic through them."""
    powers = np.arange(4)
    return np.linalg.solve(np.power.outer(np.asarray(nodes, float), powers).T, at**powers)


def on_top(v: dict[str, NDArray[Any]], row: int, free_surface: bool) -> dict[str, NDArray[Any]]:
    """Velocity at the middle of each cell's upper face, over the region."""
    x, y = (slice(WIDTH + 2, WIDTH + 2 + n) for n in REGION[:2])
    down = cubic_weights((-0.5, 0.5, 1.5, 2.5), 0.0)
    if free_surface:  # rows -1 and 0 hold SHEAR_REACH and SURFACE_SHIFT rows of slope too much
        slope = (down[0] - SURFACE_SHIFT * (down[0] + down[1])) / SHEAR_REACH
        down[:2] = slope, down[:2].sum() - slope
    along = cubic_weights((-1, 0, 1, 2), 0.5)
    rows = {n: np.tensordot(down, v[n][row - 1 : row + 3], 1) for n in ("vx", "vy")}
    vx, vy = np.zeros((2, *REGION[1::-1]))
    for n, weight in zip((-1, 0, 1, 2), along, strict=True):
        east, north = (slice(s.start + n, s.stop + n) for s in (x, y))
        vx += weight * rows["vx"][y, east]
        vy += weight * rows["vy"][north, x]
    return {"vx": vx, "vy": vy, "vz": v["vz"][row, y, x]}


@precisions
@pytest.mark.parametrize("top", ["free-surface", "absorbing"])
def test_peaks_are_those_of_the_horizontal_vector(precision: str, top: str) -> None:
    solver = make_solver(precision, top=top)
    run, dt = solver.outputs.launches[-1], solver.setup.dt
    row = 2 if top == "free-surface" else 2 + WIDTH
    past, pgv, pga = np.zeros((2, *REGION[1::-1])), 0.0, 0.0
    shaking = solver.outputs.shaking_map
    assert shaking is not None
    shaking.peaks[...] = shaking.past[...] = 0
    for seed in (12, 13, 14):
        found = on_top(randomise(solver, seed), row, top == "free-surface")
        now = np.stack([found["vx"], found["vy"]])
        pgv = np.maximum(pgv, np.hypot(*now))
        pga = np.maximum(pga, np.hypot(*(now - past)) / dt)
        past = now
        run()
    for peaks, wanted in zip(shaking.peaks, (pgv, pga), strict=True):
        assert_close(peaks, wanted)


@precisions
@pytest.mark.parametrize(
    ("stride", "first"), [(1, (0, 0, 0)), (3, (0, 0, 0)), (3, (2, 0, 1)), (2, (1, 1, 0))]
)
def test_the_surface_is_sampled_every_stride(
    precision: str, stride: int, first: tuple[int, int, int]
) -> None:
    """From the first cell on that is due in a part of the grid."""
    solver = make_solver(precision)
    v = randomise(solver, seed=15)
    nx, ny, _ = (-(-(n - f) // stride) for n, f in zip(REGION, first, strict=True))
    slots, every, dtype = 3, 5, solver.setup.dtype
    surface = solver.backend.to_device(np.full((slots, 3, ny, nx), np.nan, dtype))
    fields = [solver.fields[name].interior for name in VELOCITIES]
    fields += solver.materials.arguments("compliance").values()
    when = (solver.clock, every, slots, stride)
    run = solver.module.launch(
        "record_surface", Items(nx * ny), surface, *fields, *when, *first[:2], nx, ny
    )
    for step in (1, 2, 9, 10):
        set_clock(solver, step)
        run()
    assert np.isnan(surface[:2]).all()
    taken = tuple(slice(f, None, stride) for f in first[::-1])
    wanted = np.stack([*on_top(v, 2, True).values()])[:, *taken[1:]]
    assert_close(surface[2], wanted)
