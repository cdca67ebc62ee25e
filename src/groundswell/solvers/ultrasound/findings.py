"""The results of a run that are a few numbers, for the terminal, the report and `summary.json`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from groundswell.case.quantities import Quantity
from groundswell.formats.netcdf import open_dataset
from groundswell.solvers.ultrasound import results
from groundswell.solvers.ultrasound.beam import (
    Beam,
    BeamNumbers,
    common_frequency,
    properties_at,
)
from groundswell.solvers.ultrasound.case import MEDIUM_FILE, PEAK_FILE
from groundswell.solvers.ultrasound.focus import Focus
from groundswell.solvers.ultrasound.recorded_intensity import intensity_near
from groundswell.solvers.ultrasound.steady_state import (
    LARGEST,
    PERIODS,
    AmplitudeChange,
    steady_state,
)
from groundswell.solvers.ultrasound.units import (
    MM,
    intensity_text,
    percent,
    place_text,
    pressure_unit,
)

if TYPE_CHECKING:
    import xarray

RECORDS = (".nc", ".h5")
BEAM = "The beam at its focus"
PLANE = "plane wave"


@dataclass(frozen=True)
class EndedRun:
    """The files of a run that is ending, whose summary does not exist yet.

    Args:
        folder: the folder with the maps and the medium.
        facts: see `run_facts`.
        per_wavelength: points of the shortest wavelength of the sources.
    """

    folder: Path
    facts: Mapping[str, Any]
    per_wavelength: float | None

    def numbers(self, files: Mapping[str, Path]) -> tuple[list[Quantity], list[str]]:
        """Findings and warnings; none without sound.

        Args:
            files: paths of the files of the run, by their final names.
        """
        focus = results.focus_in(self.folder, self.per_wavelength, self.facts["sources"])
        if not focus.pressure > 0:
            return [], []
        with ExitStack() as opened:  # the files will be moved
            peak = opened.enter_context(results.fields(self.folder))
            records = {name: opened.enter_context(of) for name, of in _records(files).items()}
            found = [*self._beam(focus, peak, records), *largest_findings(peak["p_max"], focus)]
            change = self._change(focus, records)
        if change is None:
            return found, []
        return [*found, *steady_findings(change)], [*steady_warnings(change)]

    def _beam(
        self, focus: Focus, peak: xarray.Dataset, records: Mapping[str, xarray.Dataset]
    ) -> Iterator[Quantity]:
        medium = results.medium(self.folder) if (self.folder / MEDIUM_FILE).exists() else None
        properties = properties_at(focus.position, medium, self.facts["uniform"])
        if not {"speed", "density"} <= set(properties):
            yield from focus_findings(focus)
            return
        recorded = intensity_near(records, peak, focus)
        numbers = BeamNumbers(focus, peak, properties)
        beam = numbers.beam(self.facts, common_frequency(self.facts), recorded=recorded)
        yield from beam_findings(beam, is_continuous=self.facts["is_continuous"])

    def _change(
        self, focus: Focus, records: Mapping[str, xarray.Dataset]
    ) -> AmplitudeChange | None:
        """The change of the amplitude of a continuous wave near its focus."""
        frequency = common_frequency(self.facts)
        if not self.facts["is_continuous"] or frequency is None:
            return None
        return steady_state(records, focus, frequency)


def _records(files: Mapping[str, Path]) -> dict[str, xarray.Dataset]:
    """The records among the files of a run, but the maps and the medium."""
    others = {PEAK_FILE, MEDIUM_FILE}
    names = [name for name in files if name.endswith(RECORDS) and name not in others]
    return {name: open_dataset(files[name]) for name in names}


def focus_findings(focus: Focus) -> Iterator[Quantity]:
    """Yield the pressure, the position and the widths of the focus."""
    yield _pressure("focal_pressure", focus.pressure, "focal pressure")
    yield Quantity("focus", focus.position, "focus", "m", place_text(focus.position), BEAM)
    yield _widths(focus.widths)


def largest_findings(pressure: xarray.DataArray, focus: Focus) -> Iterator[Quantity]:
    """Yield the largest pressure anywhere, such as in bone, if it is not at the focus."""
    largest = pressure.isel(pressure.argmax(...))
    position, value = {axis: float(largest[axis]) for axis in focus.position}, float(largest)
    if position != focus.position:
        text = f"{_pressure_text(value)} at {place_text(position)}"
        yield Quantity("largest_pressure", value, "largest anywhere", "Pa", text, BEAM)


def beam_findings(beam: Beam, *, is_continuous: bool) -> Iterator[Quantity]:
    """Yield the pressures, the position, widths, intensities and the mechanical index."""
    yield from focus_findings(beam.focus)
    yield _pressure("peak_negative_pressure", beam.peak_negative_pressure, "peak negative pressure")
    if beam.pulse_average_intensity is not None:
        yield _intensity("isppa", beam.pulse_average_intensity, f"ISPPA, {PLANE}")
    over = "" if is_continuous else " over the run"
    yield _intensity("ispta", beam.time_average_intensity, f"ISPTA, {PLANE}{over}")
    if beam.recorded_intensity is not None:
        value, record = beam.recorded_intensity
        yield _intensity("mean_intensity", value, f"mean intensity, {record}")
    if beam.mechanical_index is not None:
        text, label = f"{beam.mechanical_index:.3g}", "mechanical index"
        yield Quantity("mechanical_index", beam.mechanical_index, label, text=text, group=BEAM)


def steady_findings(found: AmplitudeChange) -> Iterator[Quantity]:
    """Yield the change of the amplitude in the last periods."""
    state = "steady" if abs(found.change) <= LARGEST else "not steady"
    text = f"{state}: {percent(found.change)} in {PERIODS} periods, {found.record}"
    yield Quantity("amplitude_change", found.change, "amplitude at the end", text=text, group=BEAM)


def steady_warnings(found: AmplitudeChange) -> Iterator[str]:
    """Yield a warning if the amplitude still changes."""
    if abs(found.change) > LARGEST:
        yield (
            f"the wave is not steady: in the last {PERIODS} periods, its amplitude at "
            f"{place_text(found.position)} changed by {percent(found.change)}; increase "
            "time.duration"
        )


def _pressure(key: str, value: float, label: str) -> Quantity:
    return Quantity(key, value, label, "Pa", _pressure_text(value), BEAM)


def _pressure_text(value: float) -> str:
    unit, name = pressure_unit(value)
    return f"{value / unit:.4g} {name}"


def _intensity(key: str, value: float, label: str) -> Quantity:
    return Quantity(key, value, label, "W/m^2", intensity_text(value), BEAM)


def _widths(widths: Mapping[str, float]) -> Quantity:
    known = {axis: None if isnan(width) else width for axis, width in widths.items()}
    text = ", ".join(
        f"{axis} {'unknown' if width is None else f'{width / MM:.3g} mm'}"
        for axis, width in known.items()
    )
    return Quantity("widths", known, "widths at -6 dB", "m", text, BEAM)
