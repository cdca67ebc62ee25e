"""Numbers by which the exposure of a beam is stated: intensities and the mechanical index.

The definitions are those of IEC 62359:2010 and of the FDA's guidance "Marketing Clearance of
Diagnostic Ultrasound Systems and Transducers" (2023), taken at the focus instead of the point of
the largest pulse intensity integral.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from groundswell.errors import InputError
from groundswell.simulation.summary import read_summary
from groundswell.solvers.ultrasound import results
from groundswell.solvers.ultrasound.case import MEDIUM_FILE
from groundswell.solvers.ultrasound.focus import Focus, focus_at
from groundswell.solvers.ultrasound.recorded_intensity import RecordedIntensity, intensity_near
from groundswell.solvers.ultrasound.run_facts import FACTS, surfaces_of

if TYPE_CHECKING:
    import xarray

CM, MHZ = 1e-2, 1e6  # m, Hz
OLD = "the results are those of an earlier version; run the case again"


class Beam(NamedTuple):
    """Numbers of a beam at its focus.

    Attributes:
        focus: position, largest pressure and -6 dB widths, never derated.
        peak_negative_pressure: largest negative pressure, Pa.
        pulse_average_intensity: ISPPA, W/m^2: the integral of p^2 / (rho c) over the run, divided
            by the pulse duration; for a continuous wave of amplitude A, A^2 / (2 rho c). None if
            the duration of the pulse is unknown.
        time_average_intensity: ISPTA, W/m^2: p_rms^2 / (rho c) over the run, or over a repetition
            period with `duty`. For a continuous wave without `duty`, the pulse average.
        mechanical_index: peak negative pressure in MPa over the square root of the centre frequency
            in MHz; None if no frequency is known.
        recorded_intensity: magnitude of the mean of p u where a record has all components, W/m^2,
            and the record's name; never derated. None without such a record.
        attenuation: derating, dB.
    """

    focus: Focus
    peak_negative_pressure: float
    pulse_average_intensity: float | None
    time_average_intensity: float
    mechanical_index: float | None
    recorded_intensity: RecordedIntensity | None
    attenuation: float


def beam(
    folder: Path,
    frequency: float | None = None,
    derating: float = 0.0,
    duty: float | None = None,
    at: Sequence[float] | None = None,
) -> Beam:
    """Peak pressures, intensities and the mechanical index at the focus of a run.

    Intensities are those of plane waves, p^2 / (rho c), which fail in standing waves and in front
    of strongly curved transducers; `recorded_intensity` does not. A continuous wave has its
    amplitude, half of `p_max` - `p_min`, from the maps. The whole pulse must pass the focus during
    the run.

    Args:
        frequency: centre frequency, Hz; by default that of the sources, if all have the same.
        derating: attenuation that reduces pressures and intensities, dB/(cm MHz), such as 0.3, over
            the distance of the focus from the nearest point of the sources.
        duty: fraction of the time in which pulses are on, for the time average.
        at: the point to take instead of the focus, such as a target, x, y and z, m.

    Raises:
        InputError: maps or properties are missing, an argument is invalid, or the derating needs a
            frequency or surfaces that are not known.
    """
    _require(frequency, derating, duty)
    facts = facts_of(folder)
    medium = results.medium(folder) if (folder / MEDIUM_FILE).exists() else None
    peak = results.fields(folder)
    found = results.focus(folder) if at is None else focus_at(peak["p_max"], at)
    numbers = BeamNumbers(found, peak, properties_at(found.position, medium, facts["uniform"]))
    frequency = frequency or common_frequency(facts)
    loss = _attenuation(found, facts, derating, frequency)
    records = results.record_reader().open(folder)
    return numbers.beam(facts, frequency, duty, loss, intensity_near(records, peak, found))


def facts_of(folder: Path) -> Mapping[str, Any]:
    """The facts about a run in its summary; see `run_facts`.

    Raises:
        InputError: there is no summary, or it has no facts.
    """
    summary = read_summary(folder)
    if summary.get("solver") != "ultrasound":
        raise InputError(f"{folder} has no results of ultrasound, but of {summary.get('solver')}")
    facts = summary["case"].get(FACTS)
    if not isinstance(facts, Mapping):
        raise InputError(f"{folder}: {OLD}")
    return facts


def common_frequency(facts: Mapping[str, Any]) -> float | None:
    """The frequency of the sources, Hz; None if they differ or one has samples."""
    found = {source["signal"].get("frequency") for source in facts["sources"]}
    return found.pop() if len(found) == 1 else None


def properties_at(
    position: Mapping[str, float], medium: xarray.Dataset | None, uniform: Mapping[str, float]
) -> dict[str, float]:
    """The known properties of the medium at the nearest point: those in `medium.nc`, and uniform
    ones."""
    near = {} if medium is None else medium.sel(position, method="nearest").data_vars
    return {**uniform, **{str(name): float(value.squeeze()) for name, value in near.items()}}


class BeamNumbers:
    """Computes the numbers of a beam from the maps of a run.

    Args:
        focus: the focus.
        peak: the maps of the maximum, minimum and root mean square pressure.
        properties: those of the medium at the focus.

    Raises:
        InputError: the speed or the density there is not known.
    """

    def __init__(self, focus: Focus, peak: xarray.Dataset, properties: Mapping[str, float]) -> None:
        missing = [name for name in ("density", "speed") if name not in properties]
        if missing:
            raise InputError(
                f"the {' and the '.join(missing)} at the focus are not known; run the case with "
                "output.medium = true"
            )
        self._focus, self._peak = focus, peak
        self._at = peak.sel(focus.position, method="nearest").squeeze()
        self._impedance = properties["density"] * properties["speed"]

    @property
    def pulse_integral(self) -> float:
        """Integral of p^2 / (rho c) over the run, J/m^2."""
        seconds = float(self._peak.attrs["samples"] * self._peak.attrs["time_step"])
        return self._mean * seconds

    @property
    def _mean(self) -> float:
        """Mean of p^2 / (rho c) over the run, W/m^2."""
        return float(self._at["p_rms"]) ** 2 / self._impedance

    @property
    def steady_intensity(self) -> float:
        """The intensity of a plane wave with the amplitude of the maps, W/m^2."""
        amplitude = float(self._at["p_max"] - self._at["p_min"]) / 2
        return amplitude**2 / (2 * self._impedance)

    def beam(
        self,
        facts: Mapping[str, Any],
        frequency: float | None = None,
        duty: float | None = None,
        attenuation: float = 0.0,
        recorded: RecordedIntensity | None = None,
    ) -> Beam:
        """The numbers.

        Args:
            attenuation: derating, dB.
        """
        pulse = self._pulse_average(facts)
        if duty is not None and pulse is None:
            raise InputError(f"duty = {duty:g} needs a pulse whose duration is known: leave it out")
        average = self._time_average(facts, pulse, duty)
        factor = 10 ** (-attenuation / 20)
        negative = factor * max(0.0, -float(self._at["p_min"]))
        index = None if frequency is None else negative / 1e6 / (frequency / MHZ) ** 0.5
        derated = None if pulse is None else factor**2 * pulse
        return Beam(
            self._focus, negative, derated, factor**2 * average, index, recorded, attenuation
        )

    def _pulse_average(self, facts: Mapping[str, Any]) -> float | None:
        if facts["is_continuous"]:
            return self.steady_intensity
        duration = facts["pulse_duration"]
        return self.pulse_integral / duration if duration else None

    def _time_average(
        self, facts: Mapping[str, Any], pulse: float | None, duty: float | None
    ) -> float:
        if pulse is not None and (duty is not None or facts["is_continuous"]):
            return pulse * (1.0 if duty is None else duty)
        return self._mean


def _require(frequency: float | None, derating: float, duty: float | None) -> None:
    if frequency is not None and not 0 < frequency < np.inf:
        raise InputError(f"frequency = {frequency:g} Hz must be positive; leave it out, or give Hz")
    if not 0 <= derating < np.inf:
        raise InputError(f"derating = {derating:g} dB/(cm MHz) must not be negative; use 0.3 or 0")
    if duty is not None and not 0 < duty <= 1:
        raise InputError(f"duty = {duty:g} must be above 0 and at most 1; give a fraction")


def _attenuation(
    focus: Focus, facts: Mapping[str, Any], derating: float, frequency: float | None
) -> float:
    """The derating of the focus, dB."""
    if not derating:
        return 0.0
    surfaces = surfaces_of(facts)
    if frequency is None or not surfaces:
        raise InputError(
            f"derating = {derating:g} needs a frequency and the surface of a transducer; give "
            "frequency, or leave derating out"
        )
    at = np.array([focus.position.get(axis, 0.0) for axis in "xyz"])
    step = max(focus.widths.values()) / 8 if np.isfinite([*focus.widths.values()]).all() else 1e-3
    points = np.concatenate([surface.sample(step).points for surface in surfaces])
    distance = float(np.linalg.norm(points - at, axis=1).min())
    return derating * distance / CM * frequency / MHZ
