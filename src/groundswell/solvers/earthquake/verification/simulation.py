"""Running an earthquake case in memory: fields set and read as arrays, seismograms, no files."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from groundswell.arrays import Floats
from groundswell.backends import Backend
from groundswell.grids.cartesian import GHOSTS, Grid
from groundswell.solvers.earthquake.case import EarthquakeCase
from groundswell.solvers.earthquake.interpolation import STRESS_OFFSETS, VELOCITY_OFFSETS
from groundswell.solvers.earthquake.setup import Setup, prepare
from groundswell.solvers.earthquake.solver import STRESSES, VELOCITIES, Earthquake

OFFSETS = dict(zip((*VELOCITIES, *STRESSES), (*VELOCITY_OFFSETS, *STRESS_OFFSETS), strict=True))
STEPS_AT_ONCE = 1000  # fewer than a ring of samples holds


def make_case(**sections: Any) -> EarthquakeCase:
    """A case of these sections without a shaking map, by default in double precision."""
    return EarthquakeCase(
        **{"output": {"shaking_map": False}, "run": {"precision": "double"}} | sections
    )


def build(case: EarthquakeCase, backend: Backend, *, closed: bool = False) -> Earthquake:
    """The solver of a case; `closed` removes the absorbing layers, so that energy is conserved."""
    setup = prepare(case)
    return Earthquake(without_layers(setup) if closed else setup, backend)


def without_layers(setup: Setup) -> Setup:
    """The same set-up on its region alone."""
    grid, layer = Grid(setup.grid.region, setup.grid.spacing), setup.ground.soil
    ground = replace(setup.ground, grid=grid, soil=replace(layer, grid=grid) if layer else None)
    parts: dict[str, Any] = {
        "absorption": setup.absorption,
        "plasticity": setup.plasticity,
        "soil": setup.soil,
    }
    on_region = {name: replace(part, ground=ground) for name, part in parts.items() if part}
    return replace(setup, ground=ground, **on_region)


def motion(case: EarthquakeCase, backend: Backend) -> tuple[Floats, Floats]:
    """Run a case: times (n,), s, and velocity (receivers, 3, n) along x, y and down, m/s."""
    found = build(case, backend)
    steps = found.setup.steps
    return found.setup.time_axis.times(steps), seismograms(found, steps)


def seismograms(found: Earthquake, steps: int) -> Floats:
    """Run `steps` steps; velocity (receivers, 3, steps) along x, y and down, m/s, from t = 0."""
    ring = found.outputs.ring("seismograms")
    step = found.backend.capture(found.step)
    blocks = []
    for begin in range(0, steps, STEPS_AT_ONCE):
        end = min(begin + STEPS_AT_ONCE, steps)
        step.replay(end - begin)
        blocks.append(ring.read(begin, end, None))
    return np.concatenate(blocks).astype(float).transpose(2, 1, 0)


def advance(found: Earthquake, steps: int) -> None:
    """Run `steps` steps."""
    found.backend.capture(found.step).replay(steps)
    found.backend.synchronize()


def coordinates(found: Earthquake, name: str) -> tuple[Floats, Floats, Floats]:
    """Positions of a field's values, ghosts included: x, y, z (m), which broadcast to its array."""
    grid = found.setup.grid
    x, y, z = (
        np.asarray((np.arange(-GHOSTS, n + GHOSTS) - before + offset) * h, float)
        for n, before, offset, h in zip(
            grid.cells, grid.before, OFFSETS[name], grid.spacing, strict=True
        )
    )
    return x, y[:, None], z[:, None, None]


def fill(found: Earthquake, name: str, function: Callable[..., Floats]) -> None:
    """Set a field, its ghosts included, to `function(x, y, z)`."""
    array = found.fields[name].array
    values = np.broadcast_to(function(*coordinates(found, name)), array.shape)
    found.backend.assign(array, np.ascontiguousarray(values, found.setup.dtype))


def read(found: Earthquake, names: Iterable[str]) -> dict[str, Floats]:
    """Fields without their ghosts, (nz, ny, nx)."""
    return {
        name: found.backend.to_host(found.fields[name].interior).astype(float) for name in names
    }
