"""A flow as arrays that include the walls: profiles, heat fluxes, files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import hypot, prod
from pathlib import Path
from typing import Any

import numpy as np

from groundswell.arrays import Floats, HostArray
from groundswell.backends.host_threads import in_threads
from groundswell.formats.atomic import atomic_write
from groundswell.formats.netcdf import Variable
from groundswell.formats.text import write_table
from groundswell.outputs.files import write_fields
from groundswell.solvers.cavity.case import AXES, FIELDS
from groundswell.solvers.cavity.level_grid import LevelGrid
from groundswell.solvers.cavity.middle_plane import MiddlePlane, middle_plane, plane_attributes
from groundswell.solvers.cavity.recording import RECORDABLE
from groundswell.solvers.cavity.wall_temperature import positions_on, wall_temperature
from groundswell.solvers.cavity.walls import SIDES, Wall


@dataclass(frozen=True)
class Flow:
    """Fields on all points, walls included.

    Args:
        grid: its points.
        fields: by name, (nz, ny, nx).
        axes: positions along x, y and z, m.
    """

    grid: LevelGrid
    fields: dict[str, HostArray]
    axes: tuple[HostArray, HostArray, HostArray]

    @classmethod
    def of(cls, grid: LevelGrid, inside: Mapping[str, HostArray]) -> Flow:
        """Add values on walls to the fields inside, (nz, ny, nx); pressure is 0 at the centre."""
        centre = inside["p"][grid.centre[::-1]]
        values = {name: inside[name] for name in FIELDS} | {"p": inside["p"] - centre}
        with_walls = in_threads(lambda name: _with_walls(grid, name, values[name]), FIELDS)
        fields = dict(zip(FIELDS, with_walls, strict=True))
        x, y, z = (grid.positions(axis) for axis in range(3))
        return cls(grid, fields, (x, y, z))

    def wall_flux(self, axis: int, high: bool) -> HostArray:
        """Heat flux along an axis through one of its walls, over k dT / L; axes as in `fields`."""
        t = np.moveaxis(self.fields["T"], 2 - axis, 0)
        near, sign = (t[:-4:-1], -1.0) if high else (t[:3], 1.0)
        near = near.astype(float)
        slope = sign * (4 * near[1] - 3 * near[0] - near[2]) / (2 * self.grid.grid.spacing[axis])
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
        t = np.moveaxis(self.fields["T"], 2 - axis, 0)[-high]
        lowest, highest = float(t.min()), float(t.max())
        return {"mean": self._mean(t, axis), "lowest": lowest, "highest": highest}

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
            summary |= _balance(self.heat_in()) | {"heat_unit": self.grid.scales.heat_unit}
        if exchanging := self.grid.case.walls.exchanging:
            found = {name: self.wall_temperatures(name) for name in exchanging}
            summary["wall_temperatures"] = found
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
        values = self.fields[name]
        for other in range(3):
            if other != axis:
                values = _at_middle(values, self.axes[other], 2 - other)
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

    def write(self, path: Path) -> Path:
        """Write all fields as NetCDF, which ParaView and xarray open."""
        dims = AXES[::-1]
        coordinates = {
            name: Variable((name,), self.axes[AXES.index(name)], attrs=_axis_attributes(name))
            for name in dims
        }
        fields = {
            name: Variable(dims, field, attrs=RECORDABLE[name].attrs)
            for name, field in self.fields.items()
        }
        return write_fields(path, coordinates, fields, plane_attributes(self.grid))

    def _mean(self, flux: HostArray, axis: int) -> float:
        across = [self.axes[a] for a in (2, 1, 0) if a != axis]
        for positions in across:
            flux = np.trapezoid(flux, positions, axis=0) / (positions[-1] - positions[0])
        return float(flux)

    def _middle_line(self, flux: HostArray, axis: int) -> HostArray:
        """Values where the middle plane cuts the walls normal to an axis of the plane."""
        normal = self.plane.normal.axis
        dim = [a for a in (2, 1, 0) if a != axis].index(normal)
        return np.asarray(_at_middle(flux, self.axes[normal], dim).squeeze(dim))

    def _mean_line(self, line: HostArray, axis: int) -> float:
        positions = self.axes[self.plane.other(axis)]
        return float(np.trapezoid(line, positions) / (positions[-1] - positions[0]))


def cell_parts(grid: LevelGrid, axis: int) -> Floats:
    """Lengths of the cells of points along an axis over that of the box: some extend to walls."""
    parts = np.ones(grid.points[axis])
    for end, side in zip((0, -1), grid.case.walls.pair(axis), strict=True):
        parts[end] += 0.5 * isinstance(side, Wall)
    return np.asarray(parts / parts.sum())


def _walls(grid: LevelGrid) -> Iterator[tuple[int, bool, str]]:
    """Axis, end and name of each side that is a wall."""
    for axis, names in enumerate(SIDES):
        for high, (name, side) in enumerate(zip(names, grid.case.walls.pair(axis), strict=True)):
            if isinstance(side, Wall):
                yield axis, bool(high), name


def _balance(heat_in: dict[str, float]) -> dict[str, object]:
    """The heat through all walls, and what enters but does not leave, as a fraction."""
    entering = sum(flow for flow in heat_in.values() if flow > 0)
    missing = sum(heat_in.values()) / entering if entering else 0.0
    return {"heat_in": heat_in, "heat_imbalance": missing}


def _axis_attributes(name: str) -> dict[str, str]:
    return {"units": "m", "axis": name.upper()}


def _slowest_first(grid: LevelGrid) -> list[int]:
    """The axes by the speed of their fastest wall: where two walls meet, the faster one counts."""
    sides = (grid.case.walls.pair(axis) for axis in range(3))
    speeds = [max(hypot(*s.velocity) if isinstance(s, Wall) else 0.0 for s in p) for p in sides]
    return sorted(range(3), key=speeds.__getitem__)


def _with_walls(grid: LevelGrid, name: str, inside: HostArray) -> HostArray:
    """A field with the values at both ends of all axes added."""
    before = [0 if grid.periodic[axis] else 1 for axis in (2, 1, 0)]
    whole = np.empty([b + n + 1 for b, n in zip(before, inside.shape, strict=True)], inside.dtype)
    within = [slice(b, b + n) for b, n in zip(before, inside.shape, strict=True)]
    whole[tuple(within)] = inside
    for axis in _slowest_first(grid):
        f = np.moveaxis(whole[tuple(within)], 2 - axis, 0)
        within[2 - axis] = slice(None)
        _set_ends(grid, axis, name, f, np.moveaxis(whole[tuple(within)], 2 - axis, 0))
    return whole


def _set_ends(grid: LevelGrid, axis: int, name: str, f: HostArray, whole: HostArray) -> None:
    """Set the ends of `whole` along its first axis, given the values `f` between them."""
    if grid.periodic[axis]:
        whole[-1] = f[0]
        return
    for high, side in enumerate(grid.case.walls.pair(axis)):
        inward = f[::-1] if high else f
        if name == "T" and isinstance(side, Wall):
            whole[-high] = _temperature(grid, axis, bool(high), inward)
        else:
            whole[-high] = _at_side(axis, side, name, inward)


def _at_side(axis: int, side: object, name: str, f: HostArray) -> HostArray:
    """The values on a side, extrapolated from `f`, whose first axis leads away from it."""
    if not isinstance(side, Wall):
        changes_sign = name in "uvw" and "uvw".index(name) == axis
        return (
            np.zeros_like(f[0]) if changes_sign else (9 * f[0] - f[1]) / 8 if len(f) > 1 else f[0]
        )
    if name == "p":
        return np.asarray(2 * f[0] - f[1])
    return np.full_like(f[0], side.velocity["uvw".index(name)])


def _temperature(grid: LevelGrid, axis: int, high: bool, f: HostArray) -> HostArray:
    """Temperature of a wall, K, given `f`, whose first axis leads away from it."""
    wall = grid.case.walls.pair(axis)[high]
    assert isinstance(wall, Wall)
    of, others = wall_temperature(grid, axis, wall), [a for a in (2, 1, 0) if a != axis]
    along = {a: _points_of(grid, a, n) for a, n in zip(others, f.shape[1:], strict=True)}
    values = of.at(*positions_on(grid, axis, high, along)).astype(f.dtype)
    return np.asarray(values + f.dtype.type(of.share) * (4 * f[0] - f[1]) / 3)


def _points_of(grid: LevelGrid, axis: int, count: int) -> Floats:
    """Positions of points along an axis, m: with both ends, unless they are added later."""
    positions = grid.positions(axis)
    return positions if positions.size == count else grid.interior_positions(axis)


def _at_middle(values: HostArray, positions: HostArray, dim: int) -> HostArray:
    """Values at the middle of an axis by linear interpolation; the axis keeps length 1."""
    middle = (positions[0] + positions[-1]) / 2
    high = int(np.searchsorted(positions, middle - 1e-9 * abs(middle)))
    low = high if np.isclose(positions[high], middle) else high - 1
    fraction = (
        0.0 if low == high else (middle - positions[low]) / (positions[high] - positions[low])
    )
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
