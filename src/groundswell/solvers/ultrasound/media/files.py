"""Values in files, interpolated at the points of a grid."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from pydantic_core import PydanticCustomError

from groundswell.arrays import Floats, Indices, Mask, Reals
from groundswell.case.units import Unit
from groundswell.errors import InputError
from groundswell.formats.damage import read_errors_reported
from groundswell.solvers.ultrasound.media.case import FileSection
from groundswell.solvers.ultrasound.media.points import AXES, GridPoints

if TYPE_CHECKING:
    import xarray

SLAB = 2**23  # values of a variable that are read at a time; up to two slabs are in memory
COVER = (
    "shrink the region, set offset or axes in medium.file, or set medium.file.outside to "
    '"uniform", for the uniform values of [medium] there'
)
ABSORPTION = "dB/(MHz^y cm)"  # the exponent y is that of the case


@dataclass(frozen=True)
class AxisPositions:
    """Positions of grid points on an axis of a file, for linear interpolation.

    Args:
        window: the samples needed.
        before, after: samples on both sides of each point, counted from the start of `window`.
        fraction: distance from `before` over the distance between the two.
    """

    window: slice
    before: Indices
    after: Indices
    fraction: Floats

    def interpolate(self, values: Reals, axis: int) -> Reals:
        """Values at the points from values in the window along an axis of an array."""
        first, second = (values.take(index, axis) for index in (self.before, self.after))
        fraction = self.fraction.reshape([-1 if n == axis else 1 for n in range(values.ndim)])
        return first + fraction * (second - first)

    def nearest(self) -> AxisPositions:
        """Positions that take the nearest sample."""
        chosen = np.where(self.fraction < 0.5, self.before, self.after)
        return AxisPositions(self.window, chosen, chosen, np.zeros(len(chosen)))

    def moved(self, by: int) -> AxisPositions:
        """Positions on samples that are counted from another one."""
        return AxisPositions(self.window, self.before + by, self.after + by, self.fraction)

    def __getitem__(self, point: int) -> AxisPositions:
        """The position of one point."""
        one = slice(point, point + 1)
        return AxisPositions(self.window, self.before[one], self.after[one], self.fraction[one])


class _Slab(NamedTuple):
    """Planes of samples (z, y, x), and the number of the first one."""

    first: int
    values: Reals


class GridFile:
    """A file with variables on a rectilinear grid.

    Points outside the file's extent take the nearest values. The file must cover the region, unless
    the section says what is outside.

    Args:
        section: the file and its position in the case.
        points: the grid.
        data: the content of the file.
        names: the variables that may be read.

    Attributes:
        variables: those of `names` that the file contains.

    Raises:
        InputError: the file is damaged, lacks coordinates, or does not cover the region.
    """

    def __init__(
        self, section: FileSection, points: GridPoints, data: xarray.Dataset, names: Iterable[str]
    ) -> None:
        self.path, self._points, self._data = section.file, points, data
        self._must_cover = section.outside is None
        self.variables = [name for name in names if name in self._data.data_vars]
        self._axes = [axis[-1] for axis in section.axes]
        self._reversed: dict[str, slice] = {}
        self._slabs: dict[str, list[_Slab]] = {}
        self._inside: list[Mask] = []  # whether the file covers the points, along each axis
        self._reading = Lock()  # threads request planes in roughly ascending order
        self._positions = [
            self._locate(n, -1.0 if axis[0] == "-" else 1.0, offset)
            for n, (axis, offset) in enumerate(zip(section.axes, section.offset, strict=True))
        ]

    def plane(self, k: int, name: str, unit: str = "", *, nearest: bool = False) -> Reals:
        """A variable at the points (ny, nx) of the plane with the index `k` along z.

        Args:
            name: the variable.
            unit: SI unit of the values; "" if they are not converted.
            nearest: take the nearest sample instead of interpolating.

        Raises:
            InputError: the variable is missing, or has wrong dimensions, gaps or an unknown unit.
        """
        x, y, z = self._nearest if nearest else self._positions
        at = z[k]
        slab = self._slab(name, int(at.before[0]), int(at.after[0]))
        factor = unit_factor(self._units(name), unit, f"{self.path}, variable {name}")
        plane = at.moved(-slab.first).interpolate(slab.values, 0)[0]
        return factor * x.interpolate(y.interpolate(plane, 0), 1)

    def inside(self, k: int) -> Mask:
        """Whether the file covers the points (ny, nx) of a plane.

        Points of absorbing layers count as the nearest point of the region.
        """
        x, y, z = self._inside
        return y[:, None] & x & z[k]

    @property
    def notes(self) -> list[str]:
        """Notes for users about the file's position."""
        parts = zip(self._inside, self._points.region, strict=True)
        return covered(float(np.prod([inside[part].mean() for inside, part in parts])))

    def samples(self, name: str) -> Iterator[Reals]:
        """The planes of samples (y, x) of a variable that the points need, in the file's unit."""
        for n in range(self._shape[0]):
            slab = self._slab(name, n, n)
            yield slab.values[n - slab.first]

    def release(self) -> None:
        """Forget samples; they are read again when needed."""
        self._slabs.clear()

    @property
    def _shape(self) -> tuple[int, int, int]:
        """Number of samples along z, y and x that the points need."""
        x, y, z = (at.window.stop - at.window.start for at in self._positions)
        return z, y, x

    def _slab(self, name: str, first: int, last: int) -> _Slab:
        """Planes of samples that include `first` and `last`, which is at most `first` + 1."""
        nz, ny, nx = self._shape
        count = max(SLAB // (ny * nx), 1)
        start = first - first % count
        with self._reading:
            kept = self._slabs.setdefault(name, [])
            if all(slab.first != start for slab in kept):
                del kept[:-1]  # other threads may still read from the last one
                planes = slice(start, min(start + count + 1, nz))
                kept.append(_Slab(start, self._read(name, planes)))
            return next(slab for slab in kept if slab.first == start)

    @cached_property
    def _nearest(self) -> list[AxisPositions]:
        return [at.nearest() for at in self._positions]

    def _read(self, name: str, planes: slice) -> Reals:
        """Some planes of the samples (z, y, x) that the points need."""
        if name not in self._data.data_vars:
            found = ", ".join(map(str, self._data.data_vars)) or "none of these names"
            raise InputError(f"{self.path} has no variable {name}; it has {found}")
        data = self._with_dimensions(name).isel(self._reversed)
        windows = zip(self._axes, self._positions, strict=True)
        data = data.isel({axis: at.window for axis, at in windows}).transpose(*self._axes[::-1])
        data = data.isel({self._axes[2]: planes})
        with read_errors_reported(self.path, f"numbers (variable {name})"):
            values: Reals = data.values.astype(np.result_type(data.dtype, np.float32), "C")
        if not np.isfinite(values).all():
            raise InputError(
                f"{self.path}: variable {name} has gaps (NaN or infinite values) where the grid "
                "needs it; fill them, or move or shrink the region"
            )
        return values

    def _with_dimensions(self, name: str) -> Any:
        """A variable with the dimensions x, y, z; the file may lack those with one grid point."""
        data, shape = self._data[name], self._points.shape[::-1]
        missing = [
            axis for n, axis in enumerate(self._axes) if shape[n] == 1 and axis not in data.dims
        ]
        if {*data.dims, *missing} != set(AXES) or data.dtype.kind not in "fiu":
            raise InputError(
                f"{self.path}: variable {name} has the dimensions {data.dims} and the type "
                f"{data.dtype}; it must have numbers and the dimensions x, y, z, in any order"
            )
        return data.expand_dims({axis: self._data.sizes.get(axis, 1) for axis in missing})

    def _units(self, name: str) -> str:
        return str(self._data[name].attrs.get("units", ""))

    def _locate(self, n: int, sign: float, offset: float) -> AxisPositions:
        """Locate the points along axis `n` of the case."""
        axis, at = self._axes[n], self._points.axes[n]
        if axis not in self._data.dims and len(at) == 1:
            samples = at
        else:
            samples = sign * self._coordinate(axis) + offset
        if len(samples) > 1 and samples[0] > samples[-1]:
            samples = samples[::-1]
            self._reversed[axis] = slice(None, None, -1)
        self._check_axis(axis, n, samples)
        return locate(samples, at)

    def _cover(self, n: int, samples: Floats) -> None:
        """Find the points along axis `n` that the samples cover."""
        at, rounding = self._points.in_region(n), 1e-6 * (samples[-1] - samples[0])
        alone = len(samples) == len(at) == 1
        within = (at >= samples[0] - rounding) & (at <= samples[-1] + rounding)
        self._inside.append(within | alone)

    def _coordinate(self, axis: str) -> Floats:
        """Coordinates of the samples along an axis of the file, m."""
        if axis not in self._data.coords or self._data[axis].dims != (axis,):
            raise InputError(
                f"{self.path} has no one-dimensional coordinate {axis}; add x, y and z with the "
                'attribute units, such as "mm"'
            )
        with read_errors_reported(self.path, f"numbers (coordinate {axis})"):
            samples = self._data[axis].values.astype(float)
        return samples * unit_factor(self._units(axis), "m", f"{self.path}, coordinate {axis}")

    def _check_axis(self, axis: str, n: int, samples: Floats) -> None:
        alone = len(samples) == len(self._points.axes[n]) == 1
        if not alone and (len(samples) < 2 or not (np.diff(samples) > 0).all()):
            raise InputError(
                f"{self.path}: coordinate {axis} must have two or more values in order; it has "
                f"{len(samples)}"
            )
        self._cover(n, samples)
        if self._must_cover and not self._inside[n].all():
            low, high = self._points.region_limits(n)
            raise InputError(
                f"{self.path} covers {AXES[n]} from {samples[0]:.6g} m to {samples[-1]:.6g} m, but "
                f"the points of the region extend from {low:.6g} m to {high:.6g} m; {COVER}"
            )


def covered(share: float) -> list[str]:
    """A note if a file covers only a share of the region."""
    return [f"covers {100 * share:.3g} % of the region"] if share < 1 else []


def locate(samples: Floats, at: Floats) -> AxisPositions:
    """Positions of the points `at` on the ascending coordinates `samples`, m."""
    at, last = np.clip(at, samples[0], samples[-1]), len(samples) - 1
    before = np.clip(np.searchsorted(samples, at, side="right") - 1, 0, max(last - 1, 0))
    after = np.minimum(before + 1, last)
    step = np.where(after > before, samples[after] - samples[before], 1.0)
    start = int(before.min())
    fraction = (at - samples[before]) / step
    return AxisPositions(
        slice(start, int(after.max()) + 1), before - start, after - start, fraction
    )


def unit_factor(given: str, unit: str, where: str) -> float:
    """The factor from the unit `given`, such as "km/s" or "kg m-3", to `unit`; 1 if empty.

    Raises:
        InputError: the unit is unknown or of another kind; the message starts with `where`.
    """
    named = all(part in given for part in ("dB", "MHz", "cm")) if unit == ABSORPTION else not unit
    if named or not given.strip():
        return 1.0
    power = re.sub(r"(?<=[A-Za-z])(-?[0-9])", r"^\1", given.strip())
    try:
        return float(Unit(unit).read(f"1 {power}"))
    except PydanticCustomError:
        raise InputError(
            f'{where}: the unit "{given}" does not convert to {unit}; correct the attribute units'
        ) from None
