"""The cavity's equations in plain NumPy, with every wall point written out: an oracle for kernels.

Arrays are (z, y, x); axis names count x, y, z.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundswell.solvers.cavity.setup import Setup

Floats = NDArray[np.float64]
NAMES = ("p", "u", "v", "w", "T")


def padded(setup: Setup, axis: int, name: str, f: Floats) -> Floats:
    """A field with two more values at each end of an axis, which is put first."""
    f = np.moveaxis(f, 2 - axis, 0)
    low, high = setup.case.walls.pair(axis)
    if low.kind == "periodic":
        return np.concatenate([f, f, f, f, f])[2 * len(f) - 2 : 3 * len(f) + 2]
    below, above = (beyond(setup, axis, side, name, g) for side, g in ((low, f), (high, f[::-1])))
    return np.concatenate([below[::-1], f, above])


def beyond(setup: Setup, axis: int, side: Any, name: str, f: Floats) -> Floats:
    """The two values beyond the first point, the nearer one first."""
    if side.kind == "symmetry":
        sign = -1 if name == "uvw"[axis] else 1
        return sign * (np.stack([f[0], f[1]]) if len(f) > 1 else np.stack([f[0], f[0]]))
    if name == "p":
        wall = 2 * f[0] - f[1]
        # The fourth difference at the first point is that at the second.
        second = f[3] - 4 * f[2] + 6 * f[1] - 4 * f[0] + wall
        return np.stack([wall, second - (-4 * wall + 6 * f[0] - 4 * f[1] + f[2])])
    return np.stack([on_wall(setup, axis, side, name, f), np.full_like(f[0], np.nan)])


def on_wall(setup: Setup, axis: int, side: Any, name: str, f: Floats) -> Floats:
    if name in "uvw":
        return np.full_like(f[0], side.velocity["uvw".index(name)])
    if side.kind == "adiabatic":
        return (4 * f[0] - f[1]) / 3
    if side.kind == "fixed":
        return np.full_like(f[0], side.temperature)
    (along, low, high), size = setup.heat, setup.case.grid.size
    s = (setup.offsets[along][0] + np.arange(setup.grid.cells[along])) * setup.grid.spacing[along]
    profile = low + (high - low) * s / size[along]
    shape = [1, 1, 1]
    shape[2 - along] = -1
    whole = np.broadcast_to(profile.reshape(shape), setup.grid.shape)
    return np.moveaxis(whole, 2 - axis, 0)[0]


def rates(setup: Setup, fields: dict[str, Floats]) -> tuple[dict[str, Floats], Floats]:
    """Rates of change, and one over the longest stable step at each point."""
    fluid, time = setup.fluid, setup.case.time
    velocity = [fields[name] for name in "uvw"]
    beta2 = np.maximum(sum(q * q for q in velocity), setup.least_beta2)
    out = {name: np.zeros_like(fields[name]) for name in NAMES}
    for name, lift in zip("uvw", fluid.buoyancy, strict=True):
        out[name] += lift * (fields["T"] - fluid.neutral)
    fastest, crossing = np.zeros_like(beta2), np.zeros_like(beta2)
    for axis in filter(setup.varies, range(3)):
        h, speed = setup.grid.spacing[axis], velocity[axis]
        wave = (np.abs(speed) + np.sqrt(speed**2 + 4 * beta2)) / 2
        fastest, crossing = np.maximum(fastest, wave), np.maximum(crossing, wave / h)
        lines = {n: padded(setup, axis, n, fields[n]) for n in NAMES}
        back = {
            n: [np.moveaxis(q[s : len(q) - 4 + s], 0, 2 - axis) for s in range(5)]
            for n, q in lines.items()
        }
        for name in "uvwT":
            _, b, c, d, _ = back[name]
            spread = fluid.diffusivity if name == "T" else fluid.viscosity
            out[name] += spread * (b - 2 * c + d) / h**2 - speed * (d - b) / (2 * h)
        a, b, c, d, e = back["p"]
        out["uvw"[axis]] -= (d - b) / (2 * h)
        out["p"] -= time.dissipation / h * wave * (a - 4 * b + 6 * c - 4 * d + e)
        flow = back["uvw"[axis]]
        out["p"] -= beta2 * (flow[3] - flow[1]) / (2 * h)
    limit = np.maximum(
        np.maximum(crossing, setup.diffusion_limit), setup.undamped_limit * fastest**2
    )
    return out, limit


def pressure_lead(setup: Setup, fields: dict[str, Floats], limit: Floats) -> Floats:
    """How much longer the steps of pressure are than those of all else."""
    beta2 = np.maximum(sum(fields[name] ** 2 for name in "uvw"), setup.least_beta2)
    crossing = np.zeros_like(limit)
    for axis in filter(setup.varies, range(3)):
        speed, h = fields["uvw"[axis]], setup.grid.spacing[axis]
        crossing = np.maximum(crossing, (abs(speed) + np.sqrt(speed**2 + 4 * beta2)) / 2 / h)
    slack = limit / crossing
    damped = 0.5 * slack / (16 * setup.dimensions * setup.case.time.dissipation)
    return np.maximum(1.0, np.minimum(0.5 * slack**2, damped))


def step(
    setup: Setup,
    fields: dict[str, Floats],
    pace: float | None = None,
    forcing: dict[str, Floats] | None = None,
) -> dict[str, Floats]:
    """A step of all stages.

    Args:
        pace: the step of all points; None for each its own.
        forcing: more rates of change, that of pressure over beta squared.
    """
    latest = fields
    for share in setup.scheme.stages:
        change, limit = rates(setup, latest)
        if forcing:
            beta2 = np.maximum(sum(latest[n] ** 2 for n in "uvw"), setup.least_beta2)
            change = {n: change[n] + (beta2 if n == "p" else 1.0) * forcing[n] for n in NAMES}
        dt = share * (setup.courant / limit if pace is None else pace)
        leads = pace is None and setup.scheme.is_stable_for_waves
        ahead = pressure_lead(setup, latest, limit) if leads else 1.0
        latest = {n: fields[n] + dt * (ahead if n == "p" else 1.0) * change[n] for n in NAMES}
    return latest
