"""The temperatures and the dose of a treatment: the method `heat` of results."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, isfinite
from pathlib import Path
from typing import Any, NamedTuple, TypedDict, Unpack

import numpy as np
import xarray

from groundswell.arrays import DeviceArray, Floats
from groundswell.backends import Backend, open_backend
from groundswell.errors import InputError
from groundswell.formats.netcdf import Variable
from groundswell.outputs.files import write_fields
from groundswell.solvers.ultrasound.focus import BONE as BONE_SPEED
from groundswell.solvers.ultrasound.heat.bioheat import Bioheat, bioheat
from groundswell.solvers.ultrasound.heat.dose import LESION, dose_of
from groundswell.solvers.ultrasound.heat.heating import DIMS, HeatedMedium
from groundswell.solvers.ultrasound.heat.tissue import BODY, Coefficients, Tissue

HEAT_FILE = "heat.nc"
STEP, FEWEST = 0.1, 50  # s, longest step; steps of a phase
MOST = 1_000_000  # steps of a treatment: more is taken for a mistake
FREEZING, BOILING = 0.0, 100.0  # degrees Celsius
SIDES = 0.01  # rise at the sides, relative to the largest, above which the region is too small
LONG_NAMES = {
    "temperature": "temperature at the end",
    "temperature_max": "largest temperature",
    "dose": "thermal dose, CEM43",
    "hottest": "largest temperature of all points",
}


class Heat(NamedTuple):
    """Temperatures and doses.

    Attributes:
        fields: `temperature` at the end and `temperature_max`, degrees Celsius, and `dose`, CEM43
            in minutes, (z, y, x); `hottest`, the largest temperature, (time,).
        peak_temperature: the largest temperature, degrees Celsius.
        position: where it occurs, m, by axis.
        lesion_size: volume, m^3, with a dose of 240 or more; area, m^2, in two dimensions.
        warnings: reasons to doubt the result.
    """

    fields: xarray.Dataset
    peak_temperature: float
    position: dict[str, float]
    lesion_size: float
    warnings: list[str]

    def write(self, folder: str | Path) -> Path:
        """Write `heat.nc`; returns its path."""
        coordinates = {
            str(name): Variable((str(name),), at.values, attrs=at.attrs)
            for name, at in self.fields.coords.items()
        }
        fields = {
            str(name): Variable(tuple(map(str, of.dims)), of.values, attrs=of.attrs)
            for name, of in self.fields.data_vars.items()
        }
        return write_fields(Path(folder) / HEAT_FILE, coordinates, fields, self.fields.attrs)


@dataclass(frozen=True)
class Exposure:
    """How long the sound is on and off, and how the temperature is computed.

    Args:
        on, off: durations, s.
        duty: fraction of `on` in which pulses are on.
        step: longest time step, s.
        start: temperature at the beginning and that of blood, degrees Celsius.

    Raises:
        InputError: a value is out of range.
    """

    on: float
    off: float = 0.0
    duty: float = 1.0
    step: float = STEP
    start: float = BODY

    def __post_init__(self) -> None:
        for name, valid, allowed in (
            ("on", self.on > 0, "positive"),
            ("off", self.off >= 0, "0 or more"),
            ("duty", 0 < self.duty <= 1, "above 0 and at most 1"),
            ("step", self.step > 0, "positive"),
            ("start", FREEZING <= self.start < BOILING, "in degrees Celsius, from 0 to below 100"),
        ):
            value = getattr(self, name)
            if not (isfinite(value) and valid):
                raise InputError(f"{name} = {value:g} must be {allowed}")
        if (self.on + self.off) / self.step > MOST:
            raise InputError(
                f"{self.on + self.off:g} s in steps of {self.step:g} s are more than {MOST:,} "
                "steps; give a longer step, or shorter durations"
            )

    def steps(self) -> Iterator[tuple[float, float]]:
        """Yield the length of each step, s, and the fraction of the time with sound."""
        for seconds, share in ((self.on, self.duty), (self.off, 0.0)):
            count = max(ceil(seconds / self.step), FEWEST) if seconds else 0
            yield from ((seconds / count, share) for _ in range(count))


class Options(TypedDict, total=False):
    """Further keyword arguments of `heat`."""

    duty: float
    step: float
    start: float
    tissue: Tissue
    bone: Tissue | None
    frequency: float | None
    record: str | None
    backend: str


def heat(folder: Path, on: float, off: float = 0.0, **options: Unpack[Options]) -> Heat:
    """Temperatures and the thermal dose of a treatment with the beam of a run.

    The sound deposits 2 alpha p_rms^2 / (rho c), with the absorption at the frequency of the
    sources. Pennes' equation then yields the temperature, exactly in time if the thermal properties
    are uniform, otherwise by operator splitting; see `bioheat`. No heat leaves the region. The dose
    is exact for temperatures that change linearly within a step.

    Args:
        on: duration of the sound, s.
        off: duration of the cooling after it, s.
        options: `duty`, the fraction of `on` in which pulses are on (1); `step`, the longest time
            step, s (0.1, but at least 50 steps for each duration); `start`, the temperature of the
            beginning and of blood, degrees Celsius (37); `tissue`, a `Tissue`; `bone`, another one
            for points with a sound speed of 1800 m/s or more (`BONE` has customary values; none by
            default); `frequency`, Hz, by default that of the sources; `record`, the name of a
            record with amplitudes of the pressure at all points, used instead of the maps;
            `backend`, "cpu" (default) or "cuda".

    Raises:
        InputError: an argument is invalid, the medium does not absorb, results or the GPU are
            missing.
        RunFailed: the GPU failed or has too little memory.
    """
    tissue, bone = options.pop("tissue", Tissue()), options.pop("bone", None)
    frequency, record = options.pop("frequency", None), options.pop("record", None)
    backend = open_backend(options.pop("backend", "cpu"))
    given: dict[str, Any] = dict(options)
    exposure = Exposure(on, off, **given)
    medium = HeatedMedium(folder, frequency, record)
    coefficients = _coefficients(medium, tissue, bone)
    with backend.arithmetic():
        method = bioheat(coefficients, medium.rate, medium.spacing, backend)
        found = treat(method, exposure, backend)
    return _summarised(medium, found)


def _coefficients(medium: HeatedMedium, tissue: Tissue, bone: Tissue | None) -> Coefficients:
    """The coefficients of Pennes' equation at the points of a run.

    Raises:
        InputError: an array of properties does not have a value per point.
    """
    found = tissue if bone is None else tissue.where(medium.values("speed") >= BONE_SPEED, bone)
    coefficients = found.coefficients(medium.values("density"))
    for array in coefficients:
        if array.ndim and array.shape != medium.rate.shape:
            raise InputError(
                f"tissue: an array has the shape {array.shape}; give one value per point of the "
                f"region, {medium.rate.shape}"
            )
    return coefficients


class Treated(NamedTuple):
    """The results of a treatment; see `Heat`. `times` are in s."""

    last: Floats
    largest: Floats
    dose: Floats
    times: Floats
    hottest: Floats


def treat(method: Bioheat, exposure: Exposure, backend: Backend) -> Treated:
    """Advance through a treatment, with the largest temperature and the dose of each point.

    Args:
        backend: that of the method, in its context `arithmetic`.
    """
    now, hottest, times = 0.0, [exposure.start], [0.0]
    points = _Points(exposure.start + method.rise, backend)
    for seconds, share in exposure.steps():
        points.reach(exposure.start + method.advance(seconds, share), seconds)
        now += seconds
        times.append(now)
        hottest.append(float(points.last.max()))
    last, largest, dose = map(backend.to_host, (points.last, points.largest, points.dose))
    return Treated(last, largest, dose, np.array(times), np.array(hottest))


class _Points:
    """The temperature, the largest temperature and the dose of each point, on a device.

    Args:
        start: temperature at the start, (z, y, x), degrees Celsius.
    """

    def __init__(self, start: DeviceArray, backend: Backend) -> None:
        self.last, self.largest, self.dose = start, start.copy(), np.zeros_like(start)
        self._backend = backend

    def reach(self, temperature: DeviceArray, seconds: float) -> None:
        """Change linearly to another temperature, in parts, so that temporaries are small."""
        before, self.last = self.last, temperature

        def add(part: slice) -> None:
            self.dose[part] += dose_of(before[part], temperature[part], seconds)
            self.largest[part] = np.maximum(self.largest[part], temperature[part])

        self._backend.for_each_part(add, temperature.shape)


def _summarised(medium: HeatedMedium, found: Treated) -> Heat:
    spacing, coords = medium.spacing, {dim: medium.maps[dim] for dim in DIMS}
    at = np.unravel_index(np.argmax(found.largest), found.largest.shape)
    axes = [n for n in (2, 1, 0) if found.largest.shape[n] > 1]
    position = {DIMS[n]: float(coords[DIMS[n]][at[n]]) for n in axes}
    cell = float(np.prod([spacing[n] for n in axes]))
    lesion = cell * float(np.count_nonzero(found.dose >= LESION))
    peak = float(found.largest.max())
    values = {"temperature": found.last, "temperature_max": found.largest, "dose": found.dose}
    fields = xarray.Dataset(
        {name: (DIMS, array, _attrs(name)) for name, array in values.items()}
        | {"hottest": (("time",), found.hottest, _attrs("hottest"))},
        {**coords, "time": ("time", found.times, {"units": "s", "axis": "T"})},
        {"peak_temperature": peak, "lesion_size": lesion, "title": medium.maps.attrs["title"]},
    )
    return Heat(fields, peak, position, lesion, [*_warnings(found)])


def _attrs(name: str) -> dict[str, str]:
    return {"units": "minutes" if name == "dose" else "degC", "long_name": LONG_NAMES[name]}


def _warnings(found: Treated) -> Iterator[str]:
    """Warn of boiling, and of heat that reaches the sides, which let none out."""
    rise, start = found.largest, found.hottest[0]
    if rise.max() > BOILING:
        yield (
            f"the temperature exceeds {BOILING:g} °C, where tissue boils, which the equation does "
            "not describe; check the pressure of the sources, durations and properties of tissue"
        )
    ends = [rise.take((0, -1), axis).max() for axis, n in enumerate(rise.shape) if n > 1]
    share = (max(ends) - start) / max(rise.max() - start, 1e-30)
    if share > SIDES:
        yield (
            f"the sides of the region, which let no heat out, warm by {100 * share:.2g} % of the "
            "largest rise; enlarge the region"
        )
