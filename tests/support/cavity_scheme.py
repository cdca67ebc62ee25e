"""The cavity's equations in plain NumPy, with every wall point written out: an oracle for kernels.

Arrays are (z, y, x); axis names count x, y, z.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from cavity_solids import cell_means, face_conductivity, still

from groundswell.arrays import Floats
from groundswell.solvers.cavity.level_grid import LevelGrid

NAMES = ("p", "u", "v", "w", "T")


def padded(grid: LevelGrid, axis: int, name: str, f: Floats) -> Floats:
    """A field with two more values at each end of an axis, which is put first."""
    f = np.moveaxis(f, 2 - axis, 0)
    low, high = grid.case.walls.pair(axis)
    if low.kind == "periodic":
        return np.concatenate([f, f, f, f, f])[2 * len(f) - 2 : 3 * len(f) + 2]
    below, above = (beyond(grid, axis, side, name, g) for side, g in ((low, f), (high, f[::-1])))
    return np.concatenate([below[::-1], f, above])


def beyond(grid: LevelGrid, axis: int, side: Any, name: str, f: Floats) -> Floats:
    """The two values beyond the first point, the nearer one first."""
    if side.kind == "symmetry":
        sign = -1 if name == "uvw"[axis] else 1
        return sign * (np.stack([f[0], f[1]]) if len(f) > 1 else np.stack([f[0], f[0]]))
    if name == "p":
        return np.stack([f[0] + n * (f[0] - f[1]) for n in (1, 2)])
    return np.stack([on_wall(grid, axis, side, name, f), np.full_like(f[0], np.nan)])


def on_wall(grid: LevelGrid, axis: int, side: Any, name: str, f: Floats) -> Floats:
    if name in "uvw":
        return np.full_like(f[0], side.velocity["uvw".index(name)])
    h, k = grid.grid.spacing[axis], grid.case.conductivity
    if side.kind == "adiabatic":
        return (4 * f[0] - f[1]) / 3
    if side.kind == "fixed":
        return profile_on(grid, axis, side, side.temperature)
    if side.kind == "flux":  # k (3 t - 4 t1 + t2) / 2h enters
        return (2 * h / k * profile_on(grid, axis, side, side.flux) + 4 * f[0] - f[1]) / 3
    if side.kind == "robin":  # side.h (ambient - t) enters
        ambient = profile_on(grid, axis, side, side.ambient)
        return (side.h * ambient + k / (2 * h) * (4 * f[0] - f[1])) / (1.5 * k / h + side.h)
    (along, low, high), size = grid.scales.heat, grid.case.grid.size
    s = (grid.offsets[along][0] + np.arange(grid.grid.cells[along])) * grid.grid.spacing[along]
    profile = low + (high - low) * s / size[along]
    shape = [1, 1, 1]
    shape[2 - along] = -1
    whole = np.broadcast_to(profile.reshape(shape), grid.grid.shape)
    return np.moveaxis(whole, 2 - axis, 0)[0]


def profile_on(grid: LevelGrid, axis: int, side: Any, profile: float | str) -> Floats:
    """A function of x, y and z on a wall; the first axis of its points is left out."""
    z, y, x = np.meshgrid(*(grid.interior_positions(a) for a in (2, 1, 0)), indexing="ij")
    on = [x, y, z]
    high = side is grid.case.walls.pair(axis)[1]
    on[axis] = np.full_like(x, grid.case.grid.size[axis] * high)
    names = dict(zip("xyz", on, strict=True)) | {"sin": np.sin, "cos": np.cos, "pi": np.pi}
    values = eval(str(profile), {}, names) + np.zeros_like(x)  # the tests' own text
    return np.moveaxis(values, 2 - axis, 0)[0]


def mass_outflow(grid: LevelGrid, fields: dict[str, Floats]) -> Floats:
    """Mass that leaves the cells per unit time and volume."""
    total = np.zeros_like(fields["p"])
    for axis, flux in mass_fluxes(grid, fields).items():
        total += np.moveaxis(np.diff(flux, axis=0), 0, 2 - axis) / grid.grid.spacing[axis]
    return total


def heat_outflow(grid: LevelGrid, fields: dict[str, Floats]) -> Floats:
    """Heat that mass carries out of the cells less what their outflow takes, by volume.

    The volume is that of the cells, of which those of first points extend to the walls.
    """
    total, volume = np.zeros_like(fields["p"]), np.ones_like(fields["p"])
    for axis, flux in mass_fluxes(grid, fields).items():
        t = padded(grid, axis, "T", fields["T"])[1:-1]
        through = flux * (t[1:] + t[:-1]) / 2
        if not grid.periodic[axis]:
            through[0] = through[-1] = 0
        lost = np.diff(through, axis=0) - t[1:-1] * np.diff(flux, axis=0)
        total += np.moveaxis(lost, 0, 2 - axis) / grid.grid.spacing[axis]
    for axis in range(3):
        rows = np.moveaxis(volume, 2 - axis, 0)
        for row, side in zip((0, -1), grid.case.walls.pair(axis), strict=True):
            rows[row] *= 1.0 if side.kind in ("symmetry", "periodic") else 1.5
    return total / volume


def mass_fluxes(grid: LevelGrid, fields: dict[str, Floats]) -> dict[int, Floats]:
    """Mass fluxes through faces across each axis, which is put first.

    Cells of first points reach to the walls. The half cells there have the velocity of the wall.
    """
    fluxes = {}
    for axis in filter(grid.varies, range(3)):
        name = "uvw"[axis]
        speed = np.moveaxis(fields[name] + wall_rows(grid, axis), 2 - axis, 0)
        second = np.diff(padded(grid, axis, "p", fields["p"])[1:-1], 2, axis=0)
        rest, beside = at_rest(grid, axis)
        second[beside] = 0.0  # pressure is extrapolated linearly to solids
        if grid.periodic[axis]:
            speed, second = (np.concatenate([f[-1:], f, f[:1]]) for f in (speed, second))
            flux = (speed[1:] + speed[:-1]) / 2 + grid.damping * np.diff(second, axis=0)
        else:
            inner = (speed[1:] + speed[:-1]) / 2 + grid.damping * np.diff(second, axis=0)
            flux = np.concatenate([0 * speed[:1], inner, 0 * speed[:1]])
        flux[:-1][rest] = 0.0
        flux[1:][rest] = 0.0
        fluxes[axis] = flux
    return fluxes


def at_rest(grid: LevelGrid, axis: int) -> tuple[np.ndarray, np.ndarray]:
    """Points in solids, and those next to one along an axis, which is put first."""
    rest = np.moveaxis(still(grid), 2 - axis, 0)
    before, after = (np.roll(rest, n, axis=0) for n in (1, -1))
    if not grid.periodic[axis]:
        before[0] = after[-1] = False
    return rest, (before | after) & ~rest


def conduction(grid: LevelGrid, axis: int, t: Floats) -> Floats:
    """Heat that neighbours along an axis conduct to points, by volume."""
    t, k = padded(grid, axis, "T", t)[1:-1], face_conductivity(grid, axis)
    flow = grid.fluid.diffusivity * k * np.diff(t, axis=0) / grid.grid.spacing[axis]
    return np.moveaxis(np.diff(flow, axis=0) / grid.grid.spacing[axis], 0, 2 - axis)


def gradient(grid: LevelGrid, axis: int, p: Floats) -> Floats:
    """Gradient of pressure, whose values in solids follow by extrapolation."""
    rest, _ = at_rest(grid, axis)
    f, h = padded(grid, axis, "p", p)[1:-1], grid.grid.spacing[axis]
    low, high = np.diff(f, axis=0)[:-1], np.diff(f, axis=0)[1:]
    before, after = (np.roll(rest, n, axis=0) for n in (1, -1))
    if not grid.periodic[axis]:
        before[0] = after[-1] = False
    low, high = np.where(before, high, low), np.where(after, low, high)
    return np.moveaxis((low + high) / (2 * h), 0, 2 - axis)


def wall_rows(grid: LevelGrid, axis: int) -> Floats:
    """Flux along an axis in half cells on walls across other axes, per area of a point's cell."""
    out = np.zeros(grid.grid.shape)
    for other in range(3):
        rows = np.moveaxis(out, 2 - other, 0)
        for row, side in zip((0, -1), grid.case.walls.pair(other), strict=True):
            if other != axis and side.kind not in ("symmetry", "periodic"):
                rows[row] += side.velocity[axis] / 2
    return out


def rates(
    grid: LevelGrid, fields: dict[str, Floats]
) -> tuple[dict[str, Floats], dict[str, Floats]]:
    """Rates of change, and one over the longest stable steps of velocity and of heat."""
    fluid = grid.fluid
    velocity = [fields[name] for name in "uvw"]
    beta2 = beta_squared(grid, fields)
    out = {name: np.zeros_like(fields[name]) for name in NAMES}
    out["p"] = -beta2 * mass_outflow(grid, fields)
    for name, lift in zip("uvw", fluid.buoyancy, strict=True):
        out[name] += lift * (fields["T"] - fluid.neutral)
    for axis in filter(grid.varies, range(3)):
        h, speed = grid.grid.spacing[axis], velocity[axis]
        lines = {n: padded(grid, axis, n, fields[n]) for n in NAMES}
        back = {
            n: [np.moveaxis(q[s : len(q) - 2 + s], 0, 2 - axis) for s in range(3)]
            for n, q in ((n, q[1:-1]) for n, q in lines.items())
        }
        for name in "uvwT":
            b, c, d = back[name]
            spread = fluid.diffusivity if name == "T" else grid.viscosity
            carried = speed * (d - b) / (2 * h)
            if name == "T" and grid.case.conserves_heat:
                carried = 0.0
            if name == "T" and grid.case.solid:
                out["T"] += conduction(grid, axis, fields["T"])
            else:
                out[name] += spread * (b - 2 * c + d) / h**2 - carried
        out["uvw"[axis]] -= gradient(grid, axis, fields["p"])
    if grid.case.conserves_heat:
        out["T"] -= heat_outflow(grid, fields)
    capacity = cell_means(grid, "capacity") if grid.inertia else 1.0
    for name in "uvwT":  # in time: the new values' part of the time derivative
        change = fields[name] - (fluid.neutral if name == "T" else 0)
        out[name] -= grid.inertia * change * (capacity if name == "T" else 1.0)
    if grid.case.solid:
        out["T"] += cell_means(grid, "heat") * fluid.diffusivity / grid.case.conductivity
        for name in "puvw":
            out[name][still(grid)] = 0.0
    return out, step_limits(grid, fields)


def beta_squared(grid: LevelGrid, fields: dict[str, Floats]) -> Floats:
    return np.maximum(sum(fields[name] ** 2 for name in "uvw"), grid.least_beta2)


def crossings(grid: LevelGrid, fields: dict[str, Floats]) -> tuple[Floats, Floats]:
    """Spacings that the fastest wave crosses in unit time, and its speed."""
    beta2 = beta_squared(grid, fields)
    fastest, crossing = np.zeros_like(beta2), np.zeros_like(beta2)
    for axis in filter(grid.varies, range(3)):
        speed = fields["uvw"[axis]]
        wave = (np.abs(speed) + np.sqrt(speed**2 + 4 * beta2)) / 2
        fastest = np.maximum(fastest, wave)
        crossing = np.maximum(crossing, wave / grid.grid.spacing[axis])
    return crossing, fastest


def step_limits(grid: LevelGrid, fields: dict[str, Floats]) -> dict[str, Floats]:
    crossing, fastest = crossings(grid, fields)
    waves = np.maximum(crossing, grid.undamped_limit * fastest**2)
    diffusive = sum(2 / h**2 for a, h in enumerate(grid.grid.spacing) if grid.varies(a))
    decay = grid.inertia / 2
    velocity = np.maximum(waves, grid.viscosity * diffusive) + decay
    if not grid.case.solid:
        heat = np.maximum(waves, grid.fluid.diffusivity * diffusive) + decay
        return {"velocity": velocity, "heat": heat}
    spread = np.zeros_like(waves)
    for axis in filter(grid.varies, range(3)):
        k = face_conductivity(grid, axis) * grid.fluid.diffusivity
        spread += np.moveaxis(k[1:] + k[:-1], 0, 2 - axis) / grid.grid.spacing[axis] ** 2
    capacity = cell_means(grid, "capacity") if grid.inertia else 1.0
    heat = np.where(still(grid), spread, np.maximum(waves, spread)) + decay * capacity
    return {"velocity": velocity, "heat": heat}


def local_steps(grid: LevelGrid, fields: dict[str, Floats]) -> dict[str, Floats]:
    """The longest stable steps of all fields: waves and damping limit those of pressure."""
    velocity, heat = (1 / limit for limit in step_limits(grid, fields).values())
    if not grid.scheme.is_stable_for_waves:
        return {name: heat if name == "T" else velocity for name in NAMES}
    by_waves = 0.5 / (velocity * crossings(grid, fields)[0] ** 2)
    by_damping = grid.damped_step / beta_squared(grid, fields)
    pressure = np.maximum(velocity, np.minimum(by_waves, by_damping))
    return {"p": pressure, "u": velocity, "v": velocity, "w": velocity, "T": heat}


def step(
    grid: LevelGrid,
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
    for share in grid.scheme.stages:
        change, _ = rates(grid, latest)
        if forcing:
            beta2 = beta_squared(grid, latest)
            change = {n: change[n] + (beta2 if n == "p" else 1.0) * forcing[n] for n in NAMES}
        local = local_steps(grid, latest)
        dt = {n: share * (grid.courant * local[n] if pace is None else pace) for n in NAMES}
        latest = {n: fields[n] + dt[n] * change[n] for n in NAMES}
    return latest
