"""The rate at which a beam heats the medium, from the maps or from a record of a run."""

from __future__ import annotations

from collections.abc import Mapping
from math import pi
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from groundswell.arrays import Floats
from groundswell.errors import InputError, listed, quoted
from groundswell.solvers.ultrasound import results
from groundswell.solvers.ultrasound.beam import common_frequency, facts_of
from groundswell.solvers.ultrasound.case import PEAK_FILE

if TYPE_CHECKING:
    import xarray

DIMS = ("z", "y", "x")


class HeatedMedium:
    """The medium of a run and the heating rate in it.

    Args:
        folder: the results.
        frequency: frequency of the sound, Hz; by default that of the sources.
        record: name of a record with the amplitudes of the pressure at all points, from which the
            rate follows instead of the maps.

    Attributes:
        rate: heating rate while the sound is on, (z, y, x), W/m^3.

    Raises:
        InputError: results, properties or a frequency are missing, or the medium absorbs nothing.
    """

    def __init__(
        self, folder: Path, frequency: float | None = None, record: str | None = None
    ) -> None:
        self.folder, self._facts = folder, facts_of(folder)
        self.maps = results.fields(folder)
        if not np.any(self.values("absorption")):
            raise InputError(f"{folder}: the medium absorbs no sound; set medium.absorption")
        self._frequency = frequency or common_frequency(self._facts)
        if self._frequency is None and record is None:
            raise InputError("the sources have no common frequency; give frequency")
        self.rate = self._rate_of_maps() if record is None else self._rate_of(record)
        if not np.isfinite(self.rate).all():
            source = PEAK_FILE if record is None else record
            raise InputError(f"{folder / source}: a pressure is not finite; run the case again")

    @property
    def spacing(self) -> list[float]:
        """Distance of points along z, y and x, m; that along x for an axis with one point."""
        along_x = float(np.diff(self.maps["x"].values[:2])[0])
        steps = (np.diff(self.maps[dim].values[:2]) for dim in DIMS)
        return [float(step[0]) if step.size else along_x for step in steps]

    def values(self, name: str) -> Floats:
        """A property of the medium: a number, or an array (z, y, x).

        Raises:
            InputError: it varies, and the run has not written it.
        """
        return property_of(self.folder, name)

    def _absorption(self, frequency: float) -> Floats:
        """Absorption at a frequency, Np/m: alpha_0 omega^y."""
        omega: float = (2 * pi * frequency) ** self._facts["uniform"]["power"]
        return np.asarray(self.values("absorption") * omega)

    def _rate(self, mean_square: Floats, frequency: float) -> Floats:
        """2 alpha I, with the intensity p_rms^2 / (rho c) (Nyborg 1981), W/m^3."""
        absorbed = 2 * self._absorption(frequency) * mean_square
        return np.asarray(absorbed / impedance_of(self.folder))

    def _rate_of_maps(self) -> Floats:
        assert self._frequency is not None  # checked before
        return self._rate(mean_square(self.maps, self._facts), self._frequency)

    def _rate_of(self, name: str) -> Floats:
        records = results.records(self.folder)
        if name not in records:
            raise InputError(f"{quoted(name)} is not a record of the run; use {listed(records)}")
        record = records[name]
        if "p_amplitude" not in record or not _covers(record, self.maps):
            raise InputError(
                f"{name} must have the amplitude of p at all points: record it with "
                'what = ["amplitude"] and where = { kind = "all" }'
            )
        amplitudes = record["p_amplitude"].transpose("frequency", *DIMS)
        rates = (
            self._rate(np.square(amplitude.values.astype(float)) / 2, float(amplitude["frequency"]))
            for amplitude in amplitudes
        )
        return np.asarray(sum(rates), float)


def property_of(folder: Path, name: str) -> Floats:
    """A property of the medium of a run: a number, or an array (z, y, x).

    Raises:
        InputError: it varies, and the run has not written it.
    """
    uniform = facts_of(folder)["uniform"]
    if name in uniform:
        return np.asarray(uniform[name], float)
    medium = results.medium(folder)
    if name not in medium:
        raise InputError(f"{folder} has no {name}; run the case again with output.medium = true")
    return np.asarray(medium[name].transpose(*DIMS).values, float)


def impedance_of(folder: Path) -> Floats:
    """Density times sound speed of the medium of a run; see `property_of`."""
    return np.asarray(property_of(folder, "density") * property_of(folder, "speed"))


def mean_square(maps: xarray.Dataset, facts: Mapping[str, Any]) -> Floats:
    """Mean square of the pressure while the sound is on, (z, y, x), Pa^2.

    Of a continuous wave, it is half of the square of its amplitude, half of `p_max` - `p_min`. Of a
    pulse, it is the integral over the run divided by the pulse duration.

    Raises:
        InputError: the duration of the pulse is not known.
    """
    if facts["is_continuous"]:
        largest, smallest = (maps[name].transpose(*DIMS).values for name in ("p_max", "p_min"))
        return np.asarray(np.square((largest.astype(float) - smallest) / 2) / 2)
    if not facts["pulse_duration"]:
        raise InputError("the duration of the pulse is not known; give a record of amplitudes")
    run = maps.attrs["samples"] * maps.attrs["time_step"]
    squares = np.square(maps["p_rms"].transpose(*DIMS).values.astype(float))
    return np.asarray(squares * (run / facts["pulse_duration"]))


def _covers(record: xarray.Dataset, maps: xarray.Dataset) -> bool:
    """Whether a record has the points of the maps."""
    return all(
        dim in record["p_amplitude"].dims and np.array_equal(record[dim], maps[dim]) for dim in DIMS
    )
