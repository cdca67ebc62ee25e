"""Running an earthquake case in memory: fields set and read as arrays, seismograms, no files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundswell.backends import Backend
from groundswell.grids.cartesian import GHOSTS, Grid
from groundswell.seismology.reference.misfit import envelope_misfit, phase_misfit
from groundswell.solvers.earthquake.case import EarthquakeCase
from groundswell.solvers.earthquake.interpolation import STRESS_OFFSETS, VELOCITY_OFFSETS
from groundswell.solvers.earthquake.setup import Setup
from groundswell.solvers.earthquake.solver import STRESSES, VELOCITIES, Earthquake
from groundswell.verify import needs

Floats = NDArray[np.float64]
Point = tuple[float, float, float]

OFFSETS = dict(zip((*VELOCITIES, *STRESSES), (*VELOCITY_OFFSETS, *STRESS_OFFSETS), strict=True))
STEPS_AT_ONCE = 1000  # fewer than a ring of samples holds

needs_misfits = needs("obspy", extra="seismology")

# A case must have a source; this one does nothing that rounding could show.
SILENCE = {
    "kind": "force",
    "force": [1e-300, 0.0, 0.0],
    "x": 0.0,
    "y": 0.0,
    "depth": 0.0,
    "time_function": {"kind": "gaussian", "sigma": 1.0},
}


def build(case: EarthquakeCase, backend: Backend, *, closed: bool = False) -> Earthquake:
    """The solver of a case; `closed` takes the absorbing layers away, so that nothing gets lost."""
    setup = Setup.from_case(case)
    if closed:
        setup = replace(setup, grid=Grid(setup.grid.region, setup.grid.spacing))
    return Earthquake(setup, backend)


def receivers(positions: Any) -> list[dict[str, Any]]:
    """The `[[receiver]]` tables of positions (x, y, depth), m."""
    return [
        {"name": f"R{n}", "x": float(x), "y": float(y), "depth": float(z)}
        for n, (x, y, z) in enumerate(positions)
    ]


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
    """Where a field's values lie, ghosts included: x, y, z (m), which broadcast to its array."""
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


def assign_inside(found: Earthquake, name: str, values: Floats) -> None:
    """Set a field, but not its ghosts, to `values` of the shape (nz + 4, ny + 4, nx + 4)."""
    inner = (slice(GHOSTS, -GHOSTS),) * 3
    found.backend.assign(
        found.fields[name].interior, np.ascontiguousarray(values[inner], found.setup.dtype)
    )


def read(found: Earthquake, name: str) -> Floats:
    """A field with its ghosts, (nz + 4, ny + 4, nx + 4)."""
    return found.backend.to_host(found.fields[name].array).astype(float)


def worst_misfits(
    series: Any, exact: Any, time: Floats, band: tuple[float, float]
) -> tuple[float, float]:
    """Largest envelope and phase misfit, %, of any component of any receiver, (receivers, 3, n).

    Components are measured by the strongest one of their receiver.
    """
    step = float(time[1] - time[0])
    pairs = list(zip(series, exact, strict=True))
    envelope = max(envelope_misfit(a, b, step, band).max() for a, b in pairs)
    phase = max(phase_misfit(a, b, step, band).max() for a, b in pairs)
    return 100 * float(envelope), 100 * float(phase)
