"""The cavity's equations in plain NumPy, with every wall point written out: an oracle for kernels.

Arrays are (z, y, x); axis names count x, y, z.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from cavity_solids import cell_means, face_conductivity, nodes, still

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


def column(values: Floats, axis: int) -> Floats:
    """Values along an axis with the axes of a field."""
    shape = [1, 1, 1]
    shape[2 - axis] = -1
    return values.reshape(shape)


def cells(grid: LevelGrid, axis: int) -> Floats:
    """Lengths of cells without half cells on walls, with the axes of a field."""
    x = nodes(grid, axis)
    return column((x[2:] - x[:-2]) / 2, axis)


def half_cells(grid: LevelGrid, axis: int) -> tuple[float, float]:
    """Lengths of half cells on both walls over those of the next cells; 0 without walls."""
    x = nodes(grid, axis)
    ends = x[1] - x[0], x[-1] - x[-2]
    twos = x[2] - x[0], x[-1] - x[-3]
    sides = grid.case.walls.pair(axis)
    low, high = (
        0.0 if side.kind in ("symmetry", "periodic") else one / two
        for one, two, side in zip(ends, twos, sides, strict=True)
    )
    return low, high


def on_wall(grid: LevelGrid, axis: int, side: Any, name: str, f: Floats) -> Floats:
    if name in "uvw":
        return np.full_like(f[0], side.velocity["uvw".index(name)])
    k, x = grid.case.conductivity, nodes(grid, axis)
    x = x[-1] - x[::-1] if side is grid.case.walls.pair(axis)[1] else x
    # weights of the derivative at x = 0 of the parabola through three values
    at, first, second = np.linalg.solve(np.vander(x[:3] - x[0], increasing=True).T, [0, 1, 0])
    inner = first * f[0] + second * f[1]
    if side.kind == "adiabatic":
        return -inner / at
    if side.kind == "fixed":
        return profile_on(grid, axis, side, side.temperature)
    if side.kind == "flux":  # - k (at t + inner) enters
        return (-profile_on(grid, axis, side, side.flux) / k - inner) / at
    if side.kind == "robin":  # side.h (ambient - t) enters
        ambient = profile_on(grid, axis, side, side.ambient)
        return (side.h * ambient + k * inner) / (side.h - k * at)
    (along, low, high), size = grid.scales.heat, grid.case.grid.size
    s = grid.interior_positions(along)
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
        total += np.moveaxis(np.diff(flux, axis=0), 0, 2 - axis) / cells(grid, axis)
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
        total += np.moveaxis(lost, 0, 2 - axis) / cells(grid, axis)
    for axis in filter(grid.varies, range(3)):
        rows = np.moveaxis(volume, 2 - axis, 0)
        for row, half in zip((0, -1), half_cells(grid, axis), strict=True):
            rows[row] *= 1 + half
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
    distances = np.diff(nodes(grid, axis))[:, None, None]
    flow = grid.fluid.diffusivity * k * np.diff(t, axis=0) / distances
    return np.moveaxis(np.diff(flow, axis=0), 0, 2 - axis) / cells(grid, axis)


def gradient(grid: LevelGrid, axis: int, p: Floats) -> Floats:
    """Gradient of pressure; next to a solid, that between the point and its other neighbour."""
    rest, _ = at_rest(grid, axis)
    x, f = nodes(grid, axis)[:, None, None], padded(grid, axis, "p", p)[1:-1]
    slopes = np.diff(f, axis=0) / np.diff(x, axis=0)
    before, after = (np.roll(rest, n, axis=0) for n in (1, -1))
    if not grid.periodic[axis]:
        before[0] = after[-1] = False
    central = np.moveaxis(pressure_gradient(grid, axis, p), 2 - axis, 0)
    found = np.where(before, slopes[1:], np.where(after, slopes[:-1], central))
    return np.moveaxis(found, 0, 2 - axis)


def wall_rows(grid: LevelGrid, axis: int) -> Floats:
    """Flux along an axis in half cells on walls across other axes, per area of a point's cell."""
    out = np.zeros(grid.grid.shape)
    for other in filter(grid.varies, range(3)):
        rows = np.moveaxis(out, 2 - other, 0)
        sides = grid.case.walls.pair(other)
        for row, side, half in zip((0, -1), sides, half_cells(grid, other), strict=True):
            if other != axis and half:
                rows[row] += side.velocity[axis] * half
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
        speed, x = velocity[axis], nodes(grid, axis)
        before, after = (column(np.diff(x)[s], axis) for s in (slice(-1), slice(1, None)))
        both = before + after
        lines = {n: padded(grid, axis, n, fields[n]) for n in NAMES}
        back = {
            n: [np.moveaxis(q[s : len(q) - 2 + s], 0, 2 - axis) for s in range(3)]
            for n, q in ((n, q[1:-1]) for n, q in lines.items())
        }
        for name in "uvwT":
            b, c, d = back[name]
            spread = fluid.diffusivity if name == "T" else grid.viscosity
            carried = speed * (d - b) / both
            if name == "T" and grid.conserves_heat:
                carried = 0.0
            if name == "T" and grid.case.solid:
                out["T"] += conduction(grid, axis, fields["T"])
            else:
                bends = 2 * ((d - c) / after - (c - b) / before) / both
                out[name] += spread * bends - carried
        slope = gradient if grid.case.solid else pressure_gradient
        out["uvw"[axis]] -= slope(grid, axis, fields["p"])
    if grid.conserves_heat:
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


def pressure_gradient(grid: LevelGrid, axis: int, p: Floats) -> Floats:
    """Central differences of pressure, which goes on straight to walls."""
    x, rows = nodes(grid, axis), np.moveaxis(p, 2 - axis, 0)
    found = np.empty_like(rows)
    lines = padded(grid, axis, "p", p)[1:-1]
    found[:] = (lines[2:] - lines[:-2]) / (x[2:] - x[:-2])[:, None, None]
    if half_cells(grid, axis)[0]:
        found[0] = (rows[1] - rows[0]) / (x[2] - x[1])
    if half_cells(grid, axis)[1]:
        found[-1] = (rows[-1] - rows[-2]) / (x[-2] - x[-3])
    return np.moveaxis(found, 0, 2 - axis)


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
        crossing = np.maximum(crossing, wave / cells(grid, axis))
    return crossing, fastest


def step_limits(grid: LevelGrid, fields: dict[str, Floats]) -> dict[str, Floats]:
    crossing, fastest = crossings(grid, fields)
    waves = np.maximum(crossing, grid.undamped_limit * fastest**2)
    diffusive = 0.0
    for axis in filter(grid.varies, range(3)):
        steps = np.diff(nodes(grid, axis))
        diffusive = diffusive + column(1 / steps[:-1] + 1 / steps[1:], axis) / cells(grid, axis)
    decay = grid.inertia / 2
    velocity = np.maximum(waves, grid.viscosity * diffusive) + decay
    if not grid.case.solid:
        heat = np.maximum(waves, grid.fluid.diffusivity * diffusive) + decay
        return {"velocity": velocity, "heat": heat}
    spread = np.zeros_like(waves)
    for axis in filter(grid.varies, range(3)):
        k = face_conductivity(grid, axis) * grid.fluid.diffusivity
        k = k / np.diff(nodes(grid, axis))[:, None, None]
        spread += np.moveaxis(k[1:] + k[:-1], 0, 2 - axis) / cells(grid, axis)
    capacity = cell_means(grid, "capacity") if grid.inertia else 1.0
    heat = np.where(still(grid), spread, np.maximum(waves, spread)) + decay * capacity
    return {"velocity": velocity, "heat": heat}


def local_steps(grid: LevelGrid, fields: dict[str, Floats]) -> dict[str, Floats]:
    """The longest stable steps of all fields: waves and damping limit those of pressure."""
    velocity, heat = (1 / limit for limit in step_limits(grid, fields).values())
    if not grid.scheme.is_stable_for_waves:
        return {name: heat if name == "T" else velocity for name in NAMES}
    by_waves = 0.5 / (velocity * crossings(grid, fields)[0] ** 2)
    inverse = sum(1 / cells(grid, axis) for axis in range(3) if grid.varies(axis))
    by_damping = 1 / (16 * grid.damping * inverse) / beta_squared(grid, fields)
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
