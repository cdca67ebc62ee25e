"""Intensity measures of seismograms, as a dataset."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from groundswell.arrays import Floats, HostArray
from groundswell.backends import Backend
from groundswell.errors import InputError
from groundswell.seismology.case.intensity import IntensityOutput
from groundswell.seismology.intensity.measures import (
    arias_intensity,
    cumulative_absolute_velocity,
    significant_duration,
)
from groundswell.seismology.intensity.motion import acceleration, displacement, oversampled
from groundswell.seismology.intensity.rotation import rotated_peaks, rotd
from groundswell.seismology.intensity.spectra import Oscillators

if TYPE_CHECKING:
    import xarray

DENSE = 8  # samples of a spline for each of velocity, for all measures but response spectra
ROTATED = {"rotd50": 50.0, "rotd100": 100.0}  # percentiles
SPECTRA = {"psa", *ROTATED}
UNITS = {
    **dict.fromkeys(("pga", "psa"), "m s-2"),
    **dict.fromkeys(("pgv", "arias", "cav"), "m s-1"),
    "pgd": "m",
    **dict.fromkeys(("d5_75", "d5_95"), "s"),
}
LONG_NAMES = {
    "pga": "peak ground acceleration",
    "pgv": "peak ground velocity",
    "pgd": "peak ground displacement",
    "psa": "pseudo-spectral acceleration",
    "arias": "Arias intensity",
    "cav": "cumulative absolute velocity",
    "d5_75": "significant duration, 5 to 75 % of the Arias intensity",
    "d5_95": "significant duration, 5 to 95 % of the Arias intensity",
}
Values = tuple[tuple[str, ...], HostArray]  # names of dimensions, and values


def measure(
    seismograms: xarray.DataArray,
    section: IntensityOutput,
    backend: Backend,
    oversampling: int | None = None,
) -> xarray.Dataset:
    """The intensity measures of velocity at stations.

    Args:
        seismograms: velocity (station, component, time), m/s, with the components E, N and Z.
        section: which measures, and the oscillators.
        oversampling: samples of a spline for each sample of velocity; by default `DENSE`, and for
            response spectra as many as the periods need. With 1, the measures are those of maps.

    Returns:
        A dataset with the coordinates and attributes of the seismograms. Peaks and integrals have
        the dimensions (station, component), `psa` also period, and `rotd50` and `rotd100` (station,
        period). `pga_rotd50` and the like (station) are those of peak acceleration and velocity.

    Raises:
        InputError: there are fewer than two samples.
    """
    import xarray

    if seismograms.sizes["time"] < 2:
        raise InputError("intensity measures need seismograms of two samples or more")
    velocity = seismograms.sel(component=["E", "N", "Z"]).transpose("station", "component", "time")
    interval = _interval(seismograms)
    found: dict[str, Values] = {}
    if set(section.measures) - SPECTRA:
        found |= _of_records(velocity.values, interval, oversampling)
    if SPECTRA.intersection(section.measures):
        oscillators = Oscillators(np.array(section.periods), section.damping, oversampling)
        found |= _spectra(velocity.values, interval, oscillators, backend)
    chosen = {name: value for name, value in found.items() if _is_wanted(name, section.measures)}
    data = {name: (dims, values, about(name)) for name, (dims, values) in chosen.items()}
    places: dict[Any, Any] = {k: v for k, v in velocity.coords.items() if "time" not in v.dims}
    period = ("period", list(section.periods), {"units": "s", "long_name": "natural period"})
    coords = {**places, "period": period} if _have_periods(chosen) else places
    known = {k: v for k, v in seismograms.attrs.items() if k not in ("units", "long_name")}
    return xarray.Dataset(data, coords, {**known, "damping": section.damping})


def about(name: str) -> dict[str, str]:
    """The attributes of a variable: its units and its long name."""
    rotated = next((each for each in ROTATED if name.endswith(each)), None)
    base = name.removesuffix(f"_{rotated}") if rotated else name
    base = "psa" if base in ROTATED else base
    text = LONG_NAMES[base] + (f", RotD{rotated[4:]}" if rotated else "")
    return {"units": UNITS[base], "long_name": text}


def _interval(seismograms: xarray.DataArray) -> float:
    time = seismograms["time"].values
    return float(time[-1] - time[0]) / (len(time) - 1)


def _is_wanted(name: str, measures: tuple[str, ...]) -> bool:
    """Whether a variable is asked for; those of a peak's direction need both names."""
    return all(part in measures for part in name.replace("d5_", "d5-").split("_"))


def _have_periods(found: Mapping[str, Values]) -> bool:
    return any("period" in dims for dims, _ in found.values())


def _of_records(
    velocity: HostArray, interval: float, oversampling: int | None
) -> dict[str, Values]:
    """The measures of all stations but response spectra."""
    records = [_of_record(np.asarray(each, float), interval, oversampling) for each in velocity]
    return {
        name: (dims, np.stack([values[name][1] for values in records]))
        for name, (dims, _) in records[0].items()
    }


def _of_record(velocity: Floats, interval: float, oversampling: int | None) -> dict[str, Values]:
    """The measures of a station but response spectra; values without the dimension station."""
    factor = oversampling or DENSE
    dense, step = oversampled(velocity, factor), interval / factor
    ground = acceleration(dense, step)
    found: dict[str, Values] = {}
    for name, motion in (("pga", ground), ("pgv", dense), ("pgd", displacement(dense, step))):
        found[name] = ("station", "component"), np.abs(motion).max(axis=-1)
        found |= dict(_turned(name, motion))
    for name, integral in _INTEGRALS.items():
        found[name] = ("station", "component"), integral(ground, step)
    return found


def _turned(name: str, motion: Floats) -> Iterator[tuple[str, Values]]:
    """Yield RotD50 and RotD100 of the largest motion."""
    peaks = rotated_peaks(motion[:2])
    for rotated, percentile in ROTATED.items():
        yield f"{name}_{rotated}", (("station",), rotd(peaks, percentile))


_INTEGRALS: dict[str, Callable[[Floats, float], Floats]] = {
    "arias": arias_intensity,
    "cav": cumulative_absolute_velocity,
    "d5_75": lambda ground, step: significant_duration(ground, step, 0.05, 0.75),
    "d5_95": lambda ground, step: significant_duration(ground, step, 0.05, 0.95),
}


def _spectra(
    velocity: HostArray, interval: float, oscillators: Oscillators, backend: Backend
) -> dict[str, Values]:
    spectra = oscillators.spectra(velocity, interval, backend)
    turned = {name: rotd(spectra.turned, share) for name, share in ROTATED.items()}
    return {
        "psa": (("station", "component", "period"), spectra.components),
        **{name: (("station", "period"), values) for name, values in turned.items()},
    }
