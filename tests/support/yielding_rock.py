"""Yield on the staggered grid in NumPy, float64, and parts of a grid with random stresses.

Written from docs/methods/earthquake.md and docs/conventions.md. Padded arrays have two ghost
layers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from groundswell.arrays import Floats, Mask
from groundswell.backends import Backend
from groundswell.exchange.decomposition import Block
from groundswell.grids.cartesian import Field, Layout, Part
from groundswell.solvers.earthquake import EarthquakeCase
from groundswell.solvers.earthquake.absorbing_layers import AbsorbingLayers
from groundswell.solvers.earthquake.materials import Materials
from groundswell.solvers.earthquake.plasticity.rank import RankPlasticity
from groundswell.solvers.earthquake.plasticity.tiles import TILE, peaks_shape
from groundswell.solvers.earthquake.setup import Setup, prepare
from groundswell.solvers.earthquake.solver import STRESSES

CELLS, SPACING, WIDTH = (41, 11, 12), (100.0, 140.0, 75.0), 3
EXTENT = [n * h for n, h in zip(CELLS, SPACING, strict=True)]
TENSOR = {
    **{"xx": "-2e4 * depth - 1e5", "yy": "-1.5e4 * depth", "zz": "-2.2e4 * depth"},
    **{"xy": "2e3 * depth", "xz": "1e3 * depth", "yz": "-5e2 * depth"},
}
ROCK = {
    "model": "drucker-prager",
    "cohesion": "1e6 + 50 * x + where(y < 500, 1e6, 0)",
    "friction_angle": "20 + depth / 60",
    "relaxation_time": 0.01,
    "stress": {"tensor": TENSOR},
    "fluid_pressure": "9800 * depth",
}
FORCE = {
    **{"kind": "force", "x": 1000.0, "y": 500.0, "depth": 100.0, "force": [1e10, 0, 0]},
    "time_function": {"kind": "gaussian", "sigma": 0.1},
}


def small_setup(**sections: Any) -> Setup:
    """A grid of several tiles, with random-looking strength."""
    content: dict[str, Any] = {
        "time": {"duration": 1.0},
        "grid": {"size": EXTENT, "spacing": list(SPACING)},
        "medium": {"kind": "homogeneous", "vp": 3000.0, "vs": 1500.0, "rho": 2200.0},
        "boundary": {"width": WIDTH},
        "source": [FORCE],
        "plasticity": ROCK,
        "run": {"precision": "double"},
    }
    return prepare(EarthquakeCase(**(content | sections)))


# --- the formulas ---------------------------------------------------------------------------------


def moved(f: Floats, x: int = 0, y: int = 0, z: int = 0) -> Floats:
    """Values that many cells further along, with wrong ones at the ends."""
    return np.roll(f, (-z, -y, -x), axis=(0, 1, 2))


def tables_of(setup: Setup) -> dict[str, Any]:
    """Strength and initial stress of the region's cells, by the formulas of ROCK."""
    grid = setup.grid
    k, j, i = (np.arange(n) + 0.5 for n in grid.region[::-1])
    x, y = i * SPACING[0], (j * SPACING[1])[:, None]
    depth = (k * SPACING[2])[:, None, None]
    cohesion = 1e6 + 50 * x + np.where(y < 500, 1e6, 0) + 0 * depth
    angle = np.radians(20 + depth / 60)
    return {
        "cohesion_cos": cohesion * np.cos(angle),
        "sine": np.sin(angle),
        "depth": depth,
        "top": depth - SPACING[2] / 2,
    }


def initial(depth: Floats) -> dict[str, Floats]:
    return {
        "sxx": -2e4 * depth - 1e5,
        "syy": -1.5e4 * depth,
        "szz": -2.2e4 * depth,
        "sxy": 2e3 * depth,
        "sxz": 1e3 * depth,
        "syz": -5e2 * depth,
    }


def yielded(setup: Setup, stress: dict[str, Floats], can: Mask | None = None) -> dict[str, Floats]:
    """Stresses of the whole grid after yield, `lost` and `plastic_strain`, all padded.

    Args:
        stress: padded, (nz + 4, ny + 4, nx + 4), ghosts of periodic sides included.
        can: which cells of the region can yield; by default all.
    """
    tables, inside = (
        tables_of(setup),
        tuple(slice(s.start + 2, s.stop + 2) for s in setup.grid.region_slices),
    )
    s, first = stress, initial(tables["depth"])
    centre = {name: s[name] for name in ("sxx", "syy", "szz")}
    for name, (a, b) in {"sxy": "xy", "sxz": "xz", "syz": "yz"}.items():
        corners = [moved(s[name], **{a: m, b: n}) for m in (0, 1) for n in (0, 1)]
        centre[name] = sum(corners) / 4
    whole = {name: centre[name][inside] + first[name] for name in centre}
    mean = (whole["sxx"] + whole["syy"] + whole["szz"]) / 3
    deviator = {n: f - mean if n[1] == n[2] else f for n, f in whole.items()}
    squares = {n: f**2 * (0.5 if n[1] == n[2] else 1.0) for n, f in deviator.items()}
    tau = np.sqrt(sum(squares.values()))
    strength = np.maximum(
        tables["cohesion_cos"] - (mean + 9800 * tables["depth"]) * tables["sine"], 0
    )
    e = np.exp(-setup.dt / 0.01)
    part = np.where(tau > strength, (1 - e) * (1 - strength / tau), 0.0)
    part = part if can is None else np.where(can, part, 0.0)
    lost, strain = np.zeros_like(s["sxx"]), np.zeros_like(s["sxx"])
    lost[inside] = part
    strain[inside] = part * tau / (2 * 2200.0 * 1500.0**2)
    if setup.ground.periodic:
        lost[:, 2:-2, 2:-2] = lost[:, 2:-2, 2:-2]
        lost = np.pad(lost[:, 2:-2, 2:-2], ((0, 0), (2, 2), (2, 2)), mode="wrap")
    return relaxed(setup, s, lost, deviator, inside) | {"lost": lost, "plastic_strain": strain}


def relaxed(
    setup: Setup, s: dict[str, Floats], lost: Floats, deviator: dict[str, Floats], inside: Any
) -> dict[str, Floats]:
    found = {name: f.copy() for name, f in s.items()}
    for name in ("sxx", "syy", "szz"):
        found[name][inside] -= lost[inside] * deviator[name]
    k = np.arange(s["sxx"].shape[0])[:, None, None] - 2 - setup.grid.before[2]
    n = setup.grid.region[2]
    for name, (a, b) in {"sxy": "xy", "sxz": "xz", "syz": "yz"}.items():
        part = sum(moved(lost, **{a: -m, b: -p}) for m in (0, 1) for p in (0, 1)) / 4
        place = np.clip(k, 0, n) if "z" in name else np.clip(k, 0, n - 1) + 0.5
        found[name] -= part * (s[name] + initial(place * SPACING[2])[name])
    if setup.ground.free_surface:
        for name in ("sxz", "syz"):
            found[name][2] = s[name][2]
    return found


# --- parts ----------------------------------------------------------------------------------------


def random_stresses(setup: Setup, seed: int, size: float = 2e6) -> dict[str, Floats]:
    """Padded stresses of the whole grid, smooth enough that some regions do not yield at all."""
    rng = np.random.default_rng(seed)
    shape = tuple(n + 4 for n in setup.grid.shape)
    _, j, i = np.indices(shape)
    where = size * np.exp(-(((i - 20) / 14) ** 2) - ((j - 6) / 9.0) ** 2)
    found = {name: where * rng.normal(size=shape) for name in STRESSES}
    if setup.ground.periodic:
        inner = (slice(None), slice(2, -2), slice(2, -2))
        width = ((0, 0), (2, 2), (2, 2))
        found = {name: np.pad(f[inner], width, mode="wrap") for name, f in found.items()}
    if setup.ground.free_surface:
        found["sxz"][2] = found["syz"][2] = 0
    return found


class YieldingPart:
    """A part of the grid with its own stresses.

    Ghosts that the yield condition reads are filled from the whole grid, others are NaN.
    """

    def __init__(self, setup: Setup, backend: Backend, part: Part, **options: Any) -> None:
        self.setup, self.part, self.backend = setup, part, backend
        self.layout = layout = Layout(part.cells, np.dtype(setup.dtype).itemsize)
        stored = options.pop("stored", Materials)
        self.materials = materials = stored(setup.ground, setup.dtype, backend, part, layout)
        materials.load()
        self.layers = AbsorbingLayers(setup.absorption, setup.dtype, backend, part)
        assert setup.plasticity
        self.rank = RankPlasticity(setup, setup.plasticity, backend, part, materials)
        self.fields = {name: Field(backend, layout, setup.dtype) for name in STRESSES}

    def fill(self, whole: dict[str, Floats]) -> None:
        """Set the stresses of the part and the ghosts that it may read."""
        i, j, k = self.part.start
        nx, ny, nz = self.part.cells
        for name, field in self.fields.items():
            high = 1 if name in ("sxy", "sxz", "syz") else 0
            field.array[...] = np.nan
            own = tuple(slice(1, n + 2 + high) for n in (nz, ny, nx))
            there = tuple(slice(s + 1, s + n + 2 + high) for s, n in ((k, nz), (j, ny), (i, nx)))
            field.array[own] = whole[name][there]

    @property
    def stresses(self) -> dict[str, Any]:
        return {name: field.interior for name, field in self.fields.items()}

    def step(self, boxes: list[Block] | None = None) -> None:
        """One yield of the stresses, in these boxes or in all at once."""
        for peaks in self.rank.peaks.values():
            self.backend.assign(peaks, self.largest().view(np.uint32))
        for launch in self.rank.find(self.stresses):
            launch()
        for box in boxes or [Block((0, 0, 0), self.part.shape)]:
            for launch in self.rank.relax(self.stresses, box):
                launch()

    def largest(self, *, exact: bool = False) -> Any:
        """Largest magnitude of the stresses in each tile, as the update of stresses keeps it."""
        nx, ny, nz = self.part.cells
        shape = peaks_shape(self.part.cells)
        found = np.zeros((*shape[:2], (shape[2] - 1) * TILE), np.float32)
        for stress in self.stresses.values():
            own = np.abs(self.backend.to_host(stress)).astype(np.float32)
            inside = found[1 : nz + 1, 1 : ny + 1, TILE : TILE + nx]
            bound = own if exact else np.nextafter(own, np.float32(np.inf))
            np.maximum(inside, bound, out=inside)
        tiles = found.reshape(*shape[:2], -1, TILE).max(axis=3)
        return np.ascontiguousarray(np.pad(tiles, ((0, 0), (0, 0), (0, 1))))

    def of(self, whole: Floats) -> Floats:
        """The part's cells of padded values of the whole grid."""
        i, j, k = self.part.start
        nx, ny, nz = self.part.cells
        return whole[k + 2 : k + 2 + nz, j + 2 : j + 2 + ny, i + 2 : i + 2 + nx]
