"""The smaller kernels: free surface, sources, recorders, clock, guard, periodic sides."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from groundswell.backends import Items, open_backend
from groundswell.errors import RunFailed
from groundswell.exchange.decomposition import decompose
from groundswell.exchange.exchange import Exchange
from groundswell.exchange.messages import GhostField
from groundswell.exchange.overlap import Box
from groundswell.exchange.pattern import Ghosts
from groundswell.exchange.world import Alone
from groundswell.grids.cartesian import Field, Layout
from groundswell.solvers.earthquake import EarthquakeCase
from groundswell.solvers.earthquake.interpolation import SHEAR_REACH, SURFACE_SHIFT
from groundswell.solvers.earthquake.setup import Setup
from groundswell.solvers.earthquake.solver import STRESSES, VELOCITIES, Earthquake

TOLERANCE = {"float32": 2e-6, "float64": 1e-14}
REGION, SPACING, WIDTH = (13, 9, 7), (100.0, 140.0, 75.0), 3
EXTENT = [n * h for n, h in zip(REGION, SPACING, strict=True)]
SOURCE = {
    "kind": "explosion",
    "moment": 1e12,
    **{"x": 150.0, "y": 140.0, "depth": 75.0},
    "time_function": {"kind": "gaussian", "sigma": 0.1},
}
RECEIVERS = [
    {"name": f"R{n}", "x": x, "y": y, "depth": z}
    for n, (x, y, z) in enumerate([(700, 700, 300), (0, 0, 0), (*EXTENT[:2], 10), (333, 1111, 525)])
]
precisions = pytest.mark.parametrize("precision", ["single", "double"])


@cache
def make_solver(precision: str, sides: str = "pml", top: str = "free-surface") -> Earthquake:
    case = EarthquakeCase(
        time={"duration": 1.0},
        grid={"size": EXTENT, "spacing": list(SPACING)},
        medium={"kind": "homogeneous", "vp": 5000.0, "vs": 2800.0, "rho": 2500.0},
        boundary={"sides": sides, "top": top, "width": WIDTH},
        source=[SOURCE],
        receiver=RECEIVERS,
        run={"precision": precision},
    )
    return Earthquake(Setup.from_case(case), open_backend("cpu"))


def randomise(solver: Earthquake, seed: int, names: Any = VELOCITIES) -> dict[str, NDArray[Any]]:
    """Random values everywhere, ghosts included; float64 copies of them."""
    rng = np.random.default_rng(seed)
    for name in names:
        array = solver.fields[name].array
        array[...] = rng.normal(size=array.shape)
    return {name: solver.fields[name].array.astype(float) for name in names}


def assert_close(found: NDArray[Any], wanted: NDArray[Any], scale: float | None = None) -> None:
    error = np.abs(found - wanted).max() / (scale or np.abs(wanted).max())
    assert error < TOLERANCE[str(found.dtype)], f"{error:.2e}"


def set_clock(solver: Earthquake, step: int) -> None:
    solver.clock[0] = step


# --- free surface ---------------------------------------------------------------------------------


# The region in padded arrays: layers around it stretch what the mirrors take derivatives of.
LAYERS = slice(2 + WIDTH, -2 - WIDTH)
INSIDE = (LAYERS, LAYERS)


def random_moduli(solver: Earthquake, seed: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Lambda and 1/mu with some water; float64 copies of row 0."""
    rng = np.random.default_rng(seed)
    lam, soft = (solver.materials.fields[n].array for n in ("lam", "compliance"))
    lam[...] = rng.uniform(1e9, 5e10, lam.shape)
    soft[...] = rng.uniform(2e-11, 2e-9, soft.shape)
    soft[2, 6:8, 7:9] = np.inf
    return lam[2].astype(float), soft[2].astype(float)


@precisions
def test_mirrored_velocities_leave_the_surface_without_traction(precision: str) -> None:
    """szz = 0 on z = 0 with the divergence half a cell below; vx and vy reach up their slopes."""
    solver = make_solver(precision)
    before = randomise(solver, seed=1)
    lam, soft = random_moduli(solver, seed=2)
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
    szz = lam * (spreading + stretching) + 2 / soft * stretching
    assert_close(szz[INSIDE].astype(solver.setup.dtype), 0, scale=1e11 / min(SPACING))

    for name in VELOCITIES:
        changed = solver.fields[name].array != before[name]
        assert changed[1, 2:-2, 2:-2].all() and changed.sum() == changed[1, 2:-2, 2:-2].size


@precisions
def test_mirrored_stresses_do_the_work_that_mirrored_velocities_take(precision: str) -> None:
    """Odd about z = 0, and the transpose of what the mirrors of vx, vy and vz add to the strain."""
    solver = make_solver(precision)
    before = randomise(solver, seed=3, names=STRESSES)
    lam, soft = random_moduli(solver, seed=4)
    for run in solver._mirror_stress():
        run()
    hx, hy, hz = SPACING
    szz, sxz, syz = (before[name] for name in ("szz", "sxz", "syz"))
    freed = lam / (lam + 2 / soft) * szz[2]
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


# --- sources --------------------------------------------------------------------------------------


class Tables:
    """Random shares of random sources, and what they add up to at a time."""

    def __init__(self, solver: Earthquake, components: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        layout, dtype = solver.layout, solver.setup.dtype
        nx, ny, nz = layout.cells
        cells = rng.choice(nx * ny * nz, 40, replace=False)
        self.k, self.j, self.i = np.unravel_index(cells, (nz, ny, nx))
        self.targets = self.k * layout.plane + self.j * layout.row + self.i
        self.components = rng.integers(0, components, 40)
        counts = rng.integers(0, 5, 40)
        self.starts = np.concatenate([[0], np.cumsum(counts)])
        self.source = rng.integers(0, 6, counts.sum())
        self.weight = rng.normal(size=counts.sum()).astype(dtype)
        self.times = np.stack([rng.uniform(-0.1, 0.3, 6), rng.uniform(0.003, 0.05, 6)], axis=1)
        self.firsts = np.concatenate([[0], np.cumsum(rng.integers(1, 9, 6))])
        self.samples = rng.normal(size=self.firsts[-1]).astype(dtype)

    def arguments(self, solver: Earthquake) -> list[Any]:
        integers = (self.targets, self.components, self.starts, self.source)
        tables = [*integers, self.weight, self.times, self.firsts, self.samples]
        return [*map(solver.backend.to_device, tables), solver.clock, len(self.targets)]

    def sums(self, when: float) -> NDArray[np.float64]:
        """Each target's sum of weight times time function: linear between samples, zero outside."""
        strength = np.zeros(6)
        for n, (start, step) in enumerate(self.times):
            values = self.samples[self.firsts[n] : self.firsts[n + 1]].astype(float)
            at = start + step * np.arange(len(values))
            strength[n] = np.interp(when, at, values, left=0, right=0)
        shares = self.weight * strength[self.source]
        return np.array(
            [shares[a:b].sum() for a, b in zip(self.starts, self.starts[1:], strict=False)]
        )


@precisions
@pytest.mark.parametrize("step", [0, 7, 19, 31])
def test_moments_take_stress_away(precision: str, step: int) -> None:
    """ds = -dt M' at the time of the velocities, (step + 1) dt."""
    solver = make_solver(precision)
    wanted = randomise(solver, 4, STRESSES)
    tables = Tables(solver, len(STRESSES), seed=5 + step)
    set_clock(solver, step + 1)  # the velocity update has moved it
    fields = [solver.fields[name].interior for name in STRESSES]
    solver.module.launch("inject_moments", Items(40), *fields, *tables.arguments(solver))()
    dt = solver.setup.dt
    for n, total in enumerate(tables.sums((step + 1) * dt)):
        name = STRESSES[tables.components[n]]
        wanted[name][tables.k[n] + 2, tables.j[n] + 2, tables.i[n] + 2] -= dt * total
    for name in STRESSES:
        assert_close(solver.fields[name].array, wanted[name])


@precisions
@pytest.mark.parametrize("step", [0, 7, 19])
def test_forces_push_the_density_of_their_face(precision: str, step: int) -> None:
    """dv = dt f / rho at the time of the stresses, (step + 1/2) dt."""
    solver = make_solver(precision)
    wanted = randomise(solver, 6)
    rho = solver.materials.fields["rho"].array
    rho[...] = np.random.default_rng(7).uniform(0.001, 0.01, rho.shape)  # so that pushes are strong
    tables = Tables(solver, 3, seed=8 + step)
    set_clock(solver, step)  # the velocity update has yet to move it
    fields = [*(solver.fields[name].interior for name in VELOCITIES), solver.materials["rho"]]
    solver.module.launch("inject_forces", Items(40), *fields, *tables.arguments(solver))()
    dt = solver.setup.dt
    for n, total in enumerate(tables.sums((step + 0.5) * dt)):
        c = tables.components[n]
        here = np.array([tables.k[n], tables.j[n], tables.i[n]]) + 2
        beside = here - np.eye(3, dtype=int)[2 - c]
        density = (float(rho[tuple(here)]) + float(rho[tuple(beside)])) / 2
        wanted[VELOCITIES[c]][tuple(here)] += dt / density * total
    for name in VELOCITIES:
        assert_close(solver.fields[name].array, wanted[name])


# --- recorders ------------------------------------------------------------------------------------


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
    solver.outputs._peaks[...] = solver.outputs._past[...] = 0
    for seed in (12, 13, 14):
        found = on_top(randomise(solver, seed), row, top == "free-surface")
        now = np.stack([found["vx"], found["vy"]])
        pgv = np.maximum(pgv, np.hypot(*now))
        pga = np.maximum(pga, np.hypot(*(now - past)) / dt)
        past = now
        run()
    for peaks, wanted in zip(solver.outputs._peaks, (pgv, pga), strict=True):
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


@pytest.mark.parametrize("ticks", [0, 1])
def test_the_last_launch_of_a_step_moves_the_clock(ticks: int) -> None:
    solver = make_solver("single")
    boxes = [Box((0, 0, 0), solver.part.shape)]
    set_clock(solver, 2**40)
    for run in solver._update_velocity(boxes, ticks):
        run()
    assert solver.clock[0] == 2**40 + ticks


def test_a_step_moves_the_clock_once() -> None:
    solver = make_solver("single")
    set_clock(solver, 2**40)
    solver.step()
    assert solver.clock[0] == 2**40 + 1


# --- guard ----------------------------------------------------------------------------------------


@precisions
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_value_that_is_not_finite_is_found_and_named(precision: str, value: float) -> None:
    solver = make_solver(precision)
    randomise(solver, seed=16)
    solver._finite_check._found[0] = -1
    solver.fields["vy"].array[0] = solver.fields["vy"].array[:, :2] = np.nan  # ghosts do not count
    solver.enqueue_finite_check()
    solver.check_health(3)
    i, j, k = 4, 11, 8
    solver.fields["vy"].interior[k, j, i] = value
    solver.enqueue_finite_check()
    with pytest.raises(
        RunFailed, match=r"vy is not finite at x = 150 m, y = 1190 m, depth = 637.5 m"
    ):
        solver.check_health(64)
    solver._finite_check._found[0] = -1


def test_the_largest_finite_value_is_finite() -> None:
    solver = make_solver("single")
    solver.fields["vx"].interior[...] = np.finfo(np.float32).max
    solver.fields["vy"].interior[...] = solver.fields["vz"].interior[...] = 0
    solver.enqueue_finite_check()
    solver.check_health(1)


# --- periodic sides -------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("axes", ["x", "y", "xy"])
@pytest.mark.parametrize("beyond", [0, 2], ids=["inside", "rows beyond other ends too"])
@pytest.mark.parametrize("cells", [(13, 9, 7), (2, 3, 1), (1, 2, 3), (1, 1, 1)])
def test_ghosts_of_periodic_axes_come_from_the_far_side(
    cells: Any, beyond: int, axes: str, dtype: str
) -> None:
    backend, rng = open_backend("cpu"), np.random.default_rng(17)
    layout = Layout(cells, np.dtype(dtype).itemsize)
    wraps = tuple(axis in axes for axis in "zyx")
    rows = zip(cells[::-1], wraps, strict=True)
    within = tuple(None if wrap else (-beyond, n + beyond) for n, wrap in rows)
    ghosts = Ghosts((2, 2, 2), (2, 2, 2), corners=True, within=within)
    fields = [Field(backend, layout, dtype) for _ in range(4)]
    wanted = []
    inside = tuple(
        slice(2, -2) if wrap else slice(2 - beyond, beyond - 2 or None) for wrap in wraps
    )
    reach = tuple(slice(None) if wrap else s for wrap, s in zip(wraps, inside, strict=True))
    for field in fields:
        field.array[...] = rng.normal(size=field.array.shape)
        values = field.array.copy()
        width = [(2, 2) if wrap else (0, 0) for wrap in wraps]
        values[reach] = np.pad(field.array[inside], width, "wrap")
        wanted.append(values)
    cut = decompose(layout.cells[::-1], 1, wraps)
    asked = [GhostField(field.array, field.origin, ghosts) for field in fields]
    Exchange(backend, Alone(), cut, asked)()
    for field, values in zip(fields, wanted, strict=True):
        assert (field.array == values).all()


@pytest.mark.parametrize("region", [REGION, (1, 2, 3)])
def test_a_step_between_periodic_sides_does_not_know_where_they_are(region: Any) -> None:
    """Random fields rolled along x and y give the rolled step."""
    silent = {"kind": "brune", "rise": 0.1, "onset": 0.9}
    case = EarthquakeCase(
        time={"duration": 1.0},
        grid={"size": [n * h for n, h in zip(region, SPACING, strict=True)], "spacing": [*SPACING]},
        medium={"kind": "homogeneous", "vp": 5000.0, "vs": 2800.0, "rho": 2500.0},
        boundary={"sides": "periodic", "width": WIDTH},
        source=[SOURCE | {"x": 50.0, "time_function": silent}],
        run={"precision": "double"},
    )
    solver = Earthquake(Setup.from_case(case), open_backend("cpu"))
    shifts, rng = (region[1] // 2 + 1, region[0] // 3 + 1), np.random.default_rng(18)
    start = {name: rng.normal(size=solver.part.shape) for name in solver.fields}

    def stepped(roll: tuple[int, int]) -> dict[str, NDArray[Any]]:
        for memory in (*solver.layers.memory.values(), [*solver.layers.surface_memory.values()]):
            for array in memory:
                array[...] = 0
        for name, field in solver.fields.items():
            field.array[...] = 0
            field.array[2:-2] = np.nan  # what the exchange does not reach would show
            field.interior[...] = np.roll(start[name], roll, (1, 2))
        for exchange in solver.exchanges:
            exchange()
        solver.step()
        return {name: field.interior.copy() for name, field in solver.fields.items()}

    still, moved = stepped((0, 0)), stepped(shifts)
    for name, values in still.items():
        assert np.isfinite(values).all()
        assert (moved[name] == np.roll(values, shifts, (1, 2))).all(), name
