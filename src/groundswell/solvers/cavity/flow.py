"""Numbers and profiles of a flow: heat fluxes, peaks, values on centre lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from groundswell.arrays import Floats, HostArray
from groundswell.backends.host_threads import in_threads
from groundswell.formats.atomic import atomic_write
from groundswell.formats.text import write_table
from groundswell.solvers.cavity.boxes import Box, around, middle_of
from groundswell.solvers.cavity.case import AXES, FIELDS
from groundswell.solvers.cavity.level_grid import LevelGrid
from groundswell.solvers.cavity.middle_plane import MiddlePlane, middle_plane
from groundswell.solvers.cavity.sides import WithSides
from groundswell.solvers.cavity.solid_heat import (
    released,
    solid_boxes,
    solid_name,
    temperatures,
    wall_conductivity,
    with_ends,
)
from groundswell.solvers.cavity.walls import SIDES, Wall

Place = tuple[str, Box]  # a field, and points of it


@dataclass(frozen=True)
class Flow:
    """Fields on the points that numbers and profiles need, or on all of them.

    Args:
        grid: all points.
        inside: stored values by place, (nz, ny, nx); temperature in K.
    """

    grid: LevelGrid
    inside: Mapping[Place, HostArray]

    @classmethod
    def of(cls, grid: LevelGrid, inside: Mapping[str, HostArray]) -> Flow:
        """The flow on all points, given all stored values by field, (nz, ny, nx)."""
        whole = [(name, Box.whole(grid)) for name in FIELDS]
        places = [*places_of_numbers(grid), *whole]
        return cls(grid, {(name, box): inside[name][box.slices] for name, box in places})

    @cached_property
    def fields(self) -> dict[str, HostArray]:
        """All fields on all points, walls included, by name, (nz, ny, nx)."""
        whole = Box.whole(self.grid)
        return dict(zip(FIELDS, in_threads(lambda name: self.at(name, whole), FIELDS), strict=True))

    @property
    def axes(self) -> tuple[Floats, Floats, Floats]:
        """Positions of all points along x, y and z, walls included, m."""
        x, y, z = (self.grid.positions(axis) for axis in range(3))
        return x, y, z

    @property
    def centre_pressure(self) -> float:
        """The stored pressure at the centre, which is subtracted from all."""
        return float(self.inside["p", Box.centre(self.grid)].item())

    def at(self, name: str, box: Box) -> HostArray:
        """A field on a box, with the sides that it adds; pressure is 0 at the centre."""
        inside = self.inside[name, box]
        if name == "p":
            inside = inside - inside.dtype.type(self.centre_pressure)
        return WithSides(self.grid, box, name, inside).values

    def _near(self, axis: int, high: bool) -> HostArray:
        """Temperatures of a wall and two layers of points, whose first axis leads away from it."""
        t = np.moveaxis(self.at("T", Box.near(self.grid, axis, high=high)), 2 - axis, 0)
        return t[::-1] if high else t

    def wall_flux(self, axis: int, high: bool) -> HostArray:
        """Heat flux along an axis through one of its walls, over k dT / L; axes as in `fields`.

        k is that of the fluid.
        """
        sign: float | Floats
        near, sign = self._near(axis, high).astype(float), -1.0 if high else 1.0
        if self.grid.case.solid:
            sign = sign * with_ends(self.grid, axis, wall_conductivity(self.grid, axis, high))
        slope = sign * self.grid.axes[axis].end(high).slope(*near)
        return np.asarray(
            -slope * self.grid.scales.length / self.grid.scales.temperature_difference
        )

    def wall_fluxes(self) -> tuple[HostArray, HostArray]:
        """Local Nusselt numbers on the hot and on the cold wall; axes as in `fields`."""
        assert self.grid.scales.heat is not None
        axis, low, high = self.grid.scales.heat
        sign = 1.0 if low > high else -1.0
        at_low, at_high = (sign * self.wall_flux(axis, high=end) for end in (False, True))
        return (at_low, at_high) if low > high else (at_high, at_low)

    def heat_in(self) -> dict[str, float]:
        """Heat that enters the fluid through each wall, over that of conduction, k dT A / L.

        L is the reference length, and A the area of the hot wall. The sums are over the cells of
        the points next to a wall, so that the heat of all walls is what the cells receive.
        """
        size, scales = self.grid.case.grid.size, self.grid.scales
        found = {}
        for axis, high, name in _walls(self.grid):
            flux = self.wall_flux(axis, high) * (-1.0 if high else 1.0)
            rows, columns = (a for a in (2, 1, 0) if a != axis)
            inside = flux[self._inside(rows), self._inside(columns)]
            mean = cell_parts(self.grid, rows) @ inside @ cell_parts(self.grid, columns)
            found[name] = float(mean) * prod(size) / size[axis] / scales.area
        return found

    def wall_temperatures(self, name: str) -> dict[str, float]:
        """Mean, lowest and highest temperature of a wall, K."""
        ((axis, high),) = ((a, pair.index(name)) for a, pair in enumerate(SIDES) if name in pair)
        t = self._near(axis, bool(high))[0]
        lowest, highest = float(t.min()), float(t.max())
        return {"mean": self._mean(t, axis), "lowest": lowest, "highest": highest}

    def solid_temperatures(self) -> dict[str, dict[str, float]]:
        """Mean, lowest and highest temperature of each solid, K, by name."""
        return {
            solid_name(n): temperatures(self.grid, n, box, self.inside["T", box])
            for n, box in enumerate(solid_boxes(self.grid))
        }

    def _inside(self, axis: int) -> slice:
        """The points of an axis without those on its ends."""
        return slice(0 if self.grid.periodic[axis] else 1, -1)

    @cached_property
    def plane(self) -> MiddlePlane:
        """The plane of the main motion."""
        return middle_plane(self.grid)

    def summary(self) -> dict[str, Any]:
        """Nusselt numbers and peak velocities; lengths and speeds in the units of the case."""
        summary: dict[str, object] = {"peaks": self.peaks()}
        if self.grid.scales.temperature_difference:
            summary |= _balance(self.heat_in(), released(self.grid))
            summary |= {"heat_unit": self.grid.scales.heat_unit}
        if exchanging := self.grid.case.walls.exchanging:
            found = {name: self.wall_temperatures(name) for name in exchanging}
            summary["wall_temperatures"] = found
        if self.grid.case.solid:
            summary["solids"] = self.solid_temperatures()
        if self.grid.scales.heat is None:
            return summary
        axis, (hot, cold) = self.grid.scales.heat.axis, self.wall_fluxes()
        middle = self._middle_line(hot, axis)
        return summary | {
            "nusselt": self._mean(hot, axis),
            "nusselt_cold": self._mean(cold, axis),
            "nusselt_mid_plane": self._mean_line(middle, axis),
            "nusselt_largest": float(middle.max()),
            "nusselt_smallest": float(middle.min()),
        }

    def peaks(self) -> dict[str, dict[str, object]]:
        """Largest velocities on the two centre lines of the middle plane, and their positions.

        Each is the largest along the directions of `plane`: of the component across on the
        vertical line, and of the other two on the horizontal line.
        """
        across, up, normal = self.plane.across, self.plane.up, self.plane.normal
        peaks: dict[str, dict[str, object]] = {}
        for along, line in ((across, up), (up, across), (normal, across)):
            if self.grid.varies(line.axis):
                name = "uvw"[along.axis]
                speeds = along.sign * self.centre_line(name, line.axis)
                position, value = _peak(self.axes[line.axis], speeds)
                peaks[name] = {AXES[line.axis]: position, "value": value, "direction": str(along)}
        return peaks

    def centre_line(self, name: str, axis: int) -> HostArray:
        """A field on the line along an axis through the centre of the box, (n,)."""
        box = Box.line(self.grid, axis)
        values = self.at(name, box)
        for other in range(3):
            if other != axis:
                middle = middle_of(self.axes[other])
                values = _interpolated(values, box.positions(self.grid, other), middle, 2 - other)
        return np.asarray(values.reshape(-1))

    def write_profiles(self, path: Path) -> Path:
        """Write all fields on the three centre lines as a CSV table."""
        rows = []
        for axis, name in enumerate(AXES):
            lines = [self.centre_line(field, axis) for field in FIELDS]
            for s, *values in zip(self.axes[axis], *lines, strict=True):
                rows.append(",".join([name, *(f"{v:.9g}" for v in (s, *values))]))
        with atomic_write(path) as part:
            part.write_text("\n".join([f"along,position,{','.join(FIELDS)}", *rows]) + "\n")
        return path

    def write_nusselt(self, path: Path) -> Path:
        """Write the local Nusselt numbers along the mid-lines of both walls as a CSV table."""
        assert self.grid.scales.heat is not None
        axis = self.grid.scales.heat.axis
        along = self.plane.other(axis)
        lines = [self._middle_line(flux, axis) for flux in self.wall_fluxes()]
        names = (AXES[along], "hot", "cold")
        return write_table(path, dict(zip(names, [self.axes[along], *lines], strict=True)))

    def _mean(self, flux: HostArray, axis: int) -> float:
        across = [self.axes[a] for a in (2, 1, 0) if a != axis]
        for positions in across:
            flux = np.trapezoid(flux, positions, axis=0) / (positions[-1] - positions[0])
        return float(flux)

    def _middle_line(self, flux: HostArray, axis: int) -> HostArray:
        """Values where the middle plane cuts the walls normal to an axis of the plane."""
        normal = self.plane.normal.axis
        dim = [a for a in (2, 1, 0) if a != axis].index(normal)
        positions = self.axes[normal]
        return np.asarray(_interpolated(flux, positions, middle_of(positions), dim).squeeze(dim))

    def _mean_line(self, line: HostArray, axis: int) -> float:
        positions = self.axes[self.plane.other(axis)]
        return float(np.trapezoid(line, positions) / (positions[-1] - positions[0]))


def cell_parts(grid: LevelGrid, axis: int) -> Floats:
    """Lengths of the cells of points along an axis over that of the box: some extend to walls."""
    along = grid.axes[axis]
    parts = along.lengths
    parts[0] += along.end_lengths[0]
    parts[-1] += along.end_lengths[1]
    return np.asarray(parts / parts.sum())


def places_of_numbers(grid: LevelGrid) -> Iterator[Place]:
    """What numbers and profiles need: the three centre lines, and temperatures next to walls."""
    yield "p", Box.centre(grid)
    for name, axis in product(FIELDS, range(3)):
        yield name, Box.line(grid, axis)
    for axis, high, _ in _walls(grid):
        yield "T", Box.near(grid, axis, high=high)
    for box in solid_boxes(grid):
        yield "T", box


def _walls(grid: LevelGrid) -> Iterator[tuple[int, bool, str]]:
    """Axis, end and name of each side that is a wall."""
    for axis, names in enumerate(SIDES):
        for high, (name, side) in enumerate(zip(names, grid.case.walls.pair(axis), strict=True)):
            if isinstance(side, Wall):
                yield axis, bool(high), name


def _balance(heat_in: dict[str, float], released: dict[str, float]) -> dict[str, object]:
    """The heat through all walls and of solids, and what does not leave, as a fraction."""
    flows = [*heat_in.values(), *released.values()]
    entering = sum(flow for flow in flows if flow > 0)
    missing = sum(flows) / entering if entering else 0.0
    by_solids = {"heat_released": released} if released else {}
    return {"heat_in": heat_in, **by_solids, "heat_imbalance": missing}


def _interpolated(values: HostArray, positions: Floats, at: float, dim: int) -> HostArray:
    """Values at a position of an axis by linear interpolation; the axis keeps length 1."""
    low, high = around(positions, at)
    width = positions[high] - positions[low]
    fraction = (at - positions[low]) / width if width else 0.0
    a, b = (np.take(values, [m], dim).astype(float) for m in (low, high))
    return np.asarray((1 - fraction) * a + fraction * b)


def _peak(positions: HostArray, values: HostArray) -> tuple[float, float]:
    """Position and value of the maximum of the cubic spline through a profile."""
    from scipy.interpolate import CubicSpline

    spline = CubicSpline(positions, values)
    extrema = spline.derivative().roots(extrapolate=False)
    candidates = np.concatenate([positions, extrema[np.isfinite(extrema)]])
    best = candidates[np.argmax(spline(candidates))]
    return float(best), float(spline(best))
