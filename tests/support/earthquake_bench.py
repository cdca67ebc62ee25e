"""A bench for the hot kernels of earthquakes: random fields, materials and layers."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from earthquake_scheme import AXES, GHOSTS, ON_FACES, Layer, Scheme
from numpy.typing import NDArray

from groundswell.backends import open_backend
from groundswell.solvers.earthquake import EarthquakeCase
from groundswell.solvers.earthquake.setup import prepare
from groundswell.solvers.earthquake.solver import Earthquake

# Of a field's largest value. "half" is single precision with memory variables in 16 bits.
TOLERANCE = {"single": 3e-6, "double": 3e-14, "half": 3e-6}
HALF_ULP = 2.0**-10  # of binary16: numbers are rounded up or down
SPACING = {"x": 100.0, "y": 140.0, "z": 75.0}
PAIRS = ("xx", "yy", "zz", "xy", "xz", "yz")


VP, VS, SOFT_ROWS = 5000.0, {"rock": 2800.0, "soft": 700.0}, 2
SOFT_SHIFT = 0.4 * 2 * np.pi * VS["soft"] / (6 * max(SPACING.values()))  # 1/s


@cache
def make_solver(sides: str, top: str, q: bool, precision: str, region: Any) -> Earthquake:
    size = [n * h for n, h in zip(region, SPACING.values(), strict=True)]
    rock = {"vp": VP, "vs": VS["rock"], "rho": 2500.0} | ({"qp": 90, "qs": 40} if q else {})
    # Interfaces need corrections of depth rows; a homogeneous medium has none.
    medium: dict[str, Any] = {"kind": "homogeneous", **rock}
    if sides != "periodic":
        top_layer = {"vs": VS["soft"]} if sides == "soft" else {"rho": 2510.0}
        layers = [rock | {"top": 0.0, **top_layer}, rock | {"top": SOFT_ROWS * SPACING["z"]}]
        medium = {"kind": "layered", "layers": layers}
    sides = "pml" if sides == "soft" else sides
    case = EarthquakeCase(
        time={"duration": 1.0},
        grid={"size": size, "spacing": list(SPACING.values())},
        medium=medium,
        attenuation={"model": "power-law", "exponent": 0.5} if q else {"model": "none"},
        boundary={"sides": sides, "top": top, "width": 3},
        source=[
            {
                "kind": "explosion",
                "moment": 1e16 if precision == "half" else 1e12,  # it tells the range of 16 bits
                **{"x": 150.0, "y": 140.0, "depth": 75.0},
                "time_function": {"kind": "gaussian", "sigma": 0.1},
            }
        ],
        run={"precision": "single", "memory": "half"}
        if precision == "half"
        else {"precision": precision},
    )
    return Earthquake(prepare(case), open_backend("cpu"))


def readable(shape: tuple[int, ...], reach: dict[str, tuple[int, int]]) -> NDArray[np.bool_]:
    """The interior, and `reach` cells before and after it along each axis, corners not included."""
    mask = np.zeros(shape, bool)
    inner = tuple(slice(GHOSTS, n - GHOSTS) for n in shape)
    mask[inner] = True
    for axis, (low, high) in reach.items():
        dim = 2 - AXES.index(axis)
        box = list(inner)
        box[dim] = slice(GHOSTS - low, shape[dim] - GHOSTS + high)
        mask[tuple(box)] = True
    return mask


def stencil_reach(name: str, axes: str) -> dict[str, tuple[int, int]]:
    """How far the fourth-order differences of a field along `axes` reach beyond the interior."""
    return {axis: (1, 2) if axis in ON_FACES[name] else (2, 1) for axis in axes}


def along(values: NDArray[np.float64], dim: int) -> NDArray[np.float64]:
    """Values along an axis, to be broadcast over (nz, ny, nx)."""
    return values.reshape([-1 if n == dim else 1 for n in (2, 1, 0)])


class Bench:
    """One solver with random fields, of which a float64 copy goes to the NumPy scheme."""

    def __init__(self, solver: Earthquake, seed: int) -> None:
        self.solver = solver
        self.rng = np.random.default_rng(seed)
        setup = solver.setup
        self.grid, self.layout, self.dtype = setup.grid, setup.layout, setup.dtype

    def fill(self, field: Any, mask: NDArray[np.bool_], values: NDArray[Any]) -> NDArray[Any]:
        """Give a field these values where the mask is true, NaN everywhere else."""
        unit = self.unit(field)
        self.whole_rows(field)[...] = np.nan
        field.array[...] = np.where(mask, values / unit, np.nan)
        return field.array.astype(float) * unit

    def unit(self, field: Any) -> float:
        """The unit of the numbers in a field."""
        return self.solver.setup.memory_unit if field.array.dtype == np.float16 else 1.0

    def whole_rows(self, field: Any) -> NDArray[Any]:
        """A field with the padding at the end of its rows."""
        shape = (*field.array.shape[:2], self.layout.row)
        return np.lib.stride_tricks.as_strided(field.array, shape, field.array.strides)

    def fields(self, names: Any, scale: float, axes: dict[str, str]) -> dict[str, NDArray[Any]]:
        """Random fields, readable as far as differences along `axes[name]` reach."""
        found = {}
        for name in names:
            field = self.solver.fields[name]
            mask = readable(field.array.shape, stencil_reach(name, axes.get(name, "")))
            values = scale * self.rng.normal(size=mask.shape)
            found[name] = self.fill(field, mask, values)
        return found

    def material(
        self, name: str, low: float, high: float, shears: bool = False, fluids: float = 0.0
    ) -> NDArray[Any]:
        """A random material, readable in the cells before the interior where averages need it.

        Infinite in a share `fluids` of all cells: what water does to the compliance.
        """
        field = self.solver.materials.fields[name]
        mask = readable(field.array.shape, dict.fromkeys(AXES, (1, 0)))
        if shears:
            for a, b in ("xy", "xz", "yz"):
                box = [slice(GHOSTS, n - GHOSTS) for n in mask.shape]
                for axis in (a, b):
                    box[2 - AXES.index(axis)] = slice(1, 2)
                mask[tuple(box)] = True
        values = self.rng.uniform(low, high, mask.shape)
        values[self.rng.random(mask.shape) < fluids] = np.inf
        return self.fill(field, mask, values)

    def layer_memory(self, update: str, scale: float) -> dict[str, NDArray[Any]]:
        """Random memory variables in the layers: (3, nz, ny, nx) by axis, zero elsewhere."""
        found = {}
        for dim, (axis, array) in enumerate(
            zip(AXES, self.solver.layers.memory[update], strict=True)
        ):
            full = np.zeros((3, *self.grid.shape))
            if array.ndim > 1:
                mask = self.inside_layer(dim)
                full[:, mask] = scale * self.rng.normal(size=(3, mask.sum()))
                full = full.astype(self.dtype).astype(float)
                array[...] = full[self.kept(dim)]
            found[axis] = full
        return found

    def inside_layer(self, dim: int) -> NDArray[np.bool_]:
        n = np.moveaxis(np.indices(self.grid.shape), 0, -1)[..., 2 - dim]
        last = self.grid.cells[dim] - self.grid.after[dim]
        return (n < self.grid.before[dim]) | (n >= last)

    def kept(self, dim: int) -> Any:
        """Index of the cells that have memory along an axis: some more than the layers, along x."""
        index: list[Any] = [slice(None)] * 4
        index[3 - dim] = self.solver.layers.memory_cells(dim).tolist()
        return tuple(index)

    def scheme(self) -> Scheme:
        """The NumPy scheme with this case's boundaries."""
        setup, grid = self.solver.setup, self.grid
        ends = zip(AXES, grid.before, grid.after, grid.spacing, strict=True)
        if setup.case.boundary.sides == "sponge":
            return Scheme(
                SPACING, setup.dt, {}, self.sponge(), setup.ground.free_surface, self.rows()
            )
        # A run of 1 s shows waves above 1 Hz.
        shift = 2 * np.pi * min(2.0, 0.1 * setup.ground.resolved_frequency)
        fastest, factor = setup.ground.max_wave_speed, 1.0
        uniform = dict.fromkeys(AXES, 0.0)
        if self.is_soft:
            uniform = {"x": SOFT_SHIFT, "y": SOFT_SHIFT, "z": 0.2 * SOFT_SHIFT}
            factor = 5.5 * VS["soft"] / VS["rock"]
        layers = {
            axis: Layer(before, after, h, fastest, shift, uniform[axis], factor)
            for axis, before, after, h in ends
            if before + after
        }
        keep = 1 - self.loss_beside_soft_ground(layers)
        return Scheme(SPACING, setup.dt, layers, keep, setup.ground.free_surface, self.rows())

    def rows(self) -> NDArray[np.float64]:
        """Random corrections of the depth rows, if any; a float64 copy of those of the solver."""
        table = self.solver.materials.corrections
        if self.solver.materials.are_corrected:
            table[:, :2] = self.rng.uniform(0.5, 2, table[:, :2].shape)
            table[:, 2:] = self.rng.uniform(-5e8, 5e8, table[:, 2:].shape)
        else:
            assert (table == (1, 1, 0, 0)).all()
        return table.astype(float)

    def sponge(self) -> NDArray[np.float64]:
        """Cerjan's factor exp(-(a depth)^2), 0.92 at the outermost cell."""
        factor: Any = 1.0
        for dim in range(3):
            before, after, n = self.grid.before[dim], self.grid.after[dim], self.grid.cells[dim]
            low = (before - np.arange(n)) / max(before, 1)
            high = (np.arange(n) - (n - after) + 1) / max(after, 1)
            depth = np.clip(np.maximum(low, high), 0, 1)
            factor = factor * along(0.92 ** (depth**2), dim)
        return factor

    def loss_beside_soft_ground(self, layers: dict[str, Layer]) -> Any:
        """0.003 of the damping along x and y per unit of contrast beyond 1.2, less with a shift."""
        if not self.is_soft:
            return 0.0
        damping: Any = 0.0
        for dim, axis in enumerate("xy"):
            layer = layers[axis]
            damping = damping + along(layer.damping(layer.depth(self.grid.cells[dim], False)), dim)
        share = np.zeros(self.grid.cells[2])
        resonance = np.pi / 2 * VP / (SOFT_ROWS * SPACING["z"])
        weakened = 0.003 * np.exp(-2.6 * SOFT_SHIFT / resonance)
        share[:SOFT_ROWS] = weakened * (VS["rock"] / VS["soft"] - 1.2)
        return self.solver.setup.dt * damping * along(share, 2)

    @property
    def is_soft(self) -> bool:
        return self.solver.setup.ground.statistics.vs_min == VS["soft"]

    def assert_fields(self, wanted: dict[str, NDArray[Any]], precision: str) -> None:
        """The interiors are as wanted; around them nothing was written."""
        for name, values in wanted.items():
            field = self.solver.fields[name]
            found = field.interior.astype(float) * self.unit(field)
            tolerance = HALF_ULP if field.array.dtype == np.float16 else TOLERANCE[precision]
            self.assert_within(name, found, values, tolerance)
            rows = self.whole_rows(field)
            assert np.isfinite(rows).sum() == values.size, f"{name} was written outside"

    def assert_memory(self, update: str, wanted: dict[str, NDArray[Any]], precision: str) -> None:
        for dim, axis in enumerate(AXES):
            array = self.solver.layers.memory[update][dim]
            if array.ndim > 1:
                kept, tolerance = wanted[axis][self.kept(dim)], TOLERANCE[precision]
                self.assert_within(f"memory {axis}", array, kept, tolerance)

    @staticmethod
    def assert_within(name: str, found: Any, wanted: NDArray[Any], tolerance: float) -> None:
        error = np.abs(found - wanted).max() / np.abs(wanted).max()
        assert error < tolerance, f"{name}: {error:.2e}"
