"""Content of an SRF file in SI units, the slip on the subfaults of a rupture, and its checks."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import NamedTuple

import numpy as np

from groundswell.arrays import Floats, Integers
from groundswell.errors import InputError


class Column(NamedTuple):
    """A number on the first line of a point.

    Args:
        name: name of the quantity.
        scale: the unit of the file in SI units.
        unit: SI unit.
        file_unit: unit in the file.
        low, high: valid range in SI units.
    """

    name: str
    scale: float
    unit: str
    file_unit: str
    low: float
    high: float


COLUMNS = (
    Column("longitude", 1.0, "degrees", "degrees", -180, 360),
    Column("latitude", 1.0, "degrees", "degrees", -90, 90),
    Column("depth", 1e3, "m", "km", -1e4, 1e6),
    Column("strike", 1.0, "degrees", "degrees", -360, 360),
    Column("dip", 1.0, "degrees", "degrees", 0, 90),
    Column("area", 1e-4, "m^2", "cm^2", 1e-6, 1e12),
    Column("onset", 1.0, "s", "s", 0, 1e6),
    Column("step", 1.0, "s", "s", 1e-9, 1e6),
    Column("vs", 1e-2, "m/s", "cm/s", 1, 1e5),
    Column("density", 1e3, "kg/m^3", "g/cm^3", 1, 1e5),
)
_RAKE = Column("rake", 1.0, "degrees", "degrees", -360, 360)
COLUMN_COUNTS = {"1.0": 8, "2.0": 10}  # numbers on the first line of a point, by version
_NEGLIGIBLE_SLIP = 1e-4  # m; rupture generators give no slip rates for less
# Slip rates below this fraction of the peak rate of their subfault, and peak rates below this
# fraction of the largest, count as zero: dynamic rupture simulations write small nonzero rates
# everywhere.
_REST = 1e-3


@dataclass(frozen=True)
class Plane:
    """A planar segment: centre of its top edge, subfaults, size (m) and hypocentre.

    The hypocentre lies `along_strike` (m) from the centre and `down_dip` (m) from the top edge.
    """

    longitude: float
    latitude: float
    strike_count: int
    dip_count: int
    length: float
    width: float
    strike: float
    dip: float
    top: float
    along_strike: float
    down_dip: float


@dataclass(frozen=True, eq=False)
class Srf:
    """A rupture of n points in SI units.

    Slip has three components: along rake, along rake + 90 degrees, and along the fault normal
    (opening).

    Args:
        longitude, latitude: degrees, (n,).
        depth: m, (n,).
        strike, dip, rake: degrees after Aki & Richards, (n,).
        area: m^2, (n,).
        onset, step: time of the first slip rate and between slip rates, s, (n,).
        slip: m, (n, 3).
        counts: number of slip rates of each component, (n, 3).
        rates: slip rates by point and component, m/s, (counts.sum(),).
        vs, density: m/s and kg/m^3, (n,); NaN if unknown.
        planes: the segments, if the file has them.
        version: "1.0" or "2.0".

    Raises:
        InputError: shapes do not match, or a point is unphysical; names the first one.
    """

    longitude: Floats
    latitude: Floats
    depth: Floats
    strike: Floats
    dip: Floats
    rake: Floats
    area: Floats
    onset: Floats
    step: Floats
    slip: Floats
    counts: Integers
    rates: Floats
    vs: Floats
    density: Floats
    planes: tuple[Plane, ...] = ()
    version: str = "1.0"

    def __post_init__(self) -> None:
        _check_shapes(self)
        _check_points(self)

    def __len__(self) -> int:
        return self.longitude.size

    @cached_property
    def _ends(self) -> Integers:
        return np.cumsum(self.counts.ravel())

    @cached_property
    def _components(self) -> Integers:
        """3 point + component of each slip rate, (counts.sum(),)."""
        return np.repeat(np.arange(self.counts.size), self.counts.ravel())

    def rate(self, point: int, component: int) -> Floats:
        """Slip rates (m/s) of a component of a point, a view; empty without slip."""
        index = 3 * point + component
        end = int(self._ends[index])
        return self.rates[end - int(self.counts[point, component]) : end]

    @cached_property
    def rigidity(self) -> Floats:
        """Rigidity mu = density vs^2 of the points, Pa, (n,); NaN if unknown."""
        return self.density * self.vs**2

    @cached_property
    def integrated_slip(self) -> Floats:
        """Time integral of the slip rates, m, (n, 3): every rate lasts for one step."""
        sums = np.bincount(self._components, self.rates, minlength=self.counts.size)
        return self.step[:, None] * sums.reshape(-1, 3)

    @cached_property
    def slip_times(self) -> Floats:
        """Times of the first and the last slip rate of each point, s, (n, 2); NaN without slip.

        Rates below a thousandth of the point's largest do not count, nor do points whose largest
        rate is below a thousandth of the rupture's.
        """
        point, rate = self._components // 3, np.abs(self.rates)
        peak = np.zeros(len(self))
        np.maximum.at(peak, point, rate)
        least = _REST * np.where(peak > _REST * peak.max(initial=0.0), peak, np.inf)
        moving = np.flatnonzero(rate > least[point])
        sample = moving - (self._ends - self.counts.ravel())[self._components[moving]]
        point = point[moving]
        time = self.onset[point] + self.step[point] * sample
        times = np.full((len(self), 2), np.nan)
        np.fmin.at(times[:, 0], point, time)
        np.fmax.at(times[:, 1], point, time)
        return times


def _check_shapes(rupture: Srf) -> None:
    n = len(rupture)
    shapes = {"slip": (n, 3), "counts": (n, 3), "rates": (int(rupture.counts.sum()),)}
    for field in fields(rupture):
        value = getattr(rupture, field.name)
        expected = shapes.get(field.name, (n,))
        if isinstance(value, np.ndarray) and value.shape != expected:
            raise InputError(f"{field.name} has shape {value.shape}; {n} points need {expected}")
    if rupture.version not in COLUMN_COUNTS:
        raise InputError(f"SRF version = {rupture.version!r}; allowed: 1.0, 2.0")


def _check_points(rupture: Srf) -> None:
    silent = rupture.counts.sum(axis=1) == 0  # onset and step are then undefined
    vs, density = np.isnan(rupture.vs), np.isnan(rupture.density)
    exempt = {"onset": silent, "step": silent, "vs": vs, "density": density}
    for column in (*COLUMNS, _RAKE):
        values = getattr(rupture, column.name)
        valid = (values >= column.low) & (values <= column.high) | exempt.get(column.name, False)
        if not valid.all():
            point = int(np.argmin(valid))
            raise InputError(f"subfault {point + 1}: {_out_of_range(column, float(values[point]))}")
    _check_slip(rupture)


def _out_of_range(column: Column, value: float) -> str:
    text = (
        f"{column.name} = {value:g} {column.unit}; it must be between {column.low:g} and "
        f"{column.high:g} {column.unit}"
    )
    if column.unit == column.file_unit:
        return text
    written = f"{value / column.scale:.6g}"
    return f"{text}; the file has {written}, and the unit in SRF is {column.file_unit}"


def _check_slip(rupture: Srf) -> None:
    without_rates = (np.abs(rupture.slip) > _NEGLIGIBLE_SLIP) & (rupture.counts == 0)
    for wrong, allowed in (
        (without_rates, "given with slip rates, or zero"),
        (~np.isfinite(rupture.slip), "finite"),
    ):
        for point, component in np.argwhere(wrong)[:1]:
            value = rupture.slip[point, component]
            raise InputError(
                f"subfault {point + 1}: slip{component + 1} = {value:g} m; it must be {allowed}"
            )
    finite = np.isfinite(rupture.rates)
    if not finite.all():
        point = int(np.searchsorted(rupture._ends, np.argmin(finite), "right")) // 3
        raise InputError(f"subfault {point + 1}: a slip rate is not finite")
