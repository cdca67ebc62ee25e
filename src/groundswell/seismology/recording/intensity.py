"""Intensity measures at the receivers, when a run ends."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from groundswell.backends import Backend
from groundswell.case.quantities import Quantity
from groundswell.seismology.case.intensity import IntensityOutput
from groundswell.seismology.formats.intensity import write_intensity
from groundswell.seismology.intensity.seismograms import measure

if TYPE_CHECKING:
    import xarray

GROUP = "Intensity at receivers"
_LISTED = 6  # stations with the strongest motion, in text
# Variables that a station's line shows, by what they are, best first.
_SHOWN = {"PGA": ("pga_rotd50", "pga"), "PGV": ("pgv_rotd50", "pgv")}
_SPECTRA = ("rotd50", "rotd100", "psa")
_UNITS = {"PGA": "m/s^2", "PGV": "m/s"}


class ReceiverIntensity:
    """The measures of a run's receivers, on rank 0.

    Attributes:
        findings: the measures of the stations with the strongest motion.
        warnings: none.
    """

    def __init__(self, section: IntensityOutput, backend: Backend) -> None:
        self._section, self._backend = section, backend
        self.findings: list[Quantity] = []
        self.warnings: list[str] = []

    def write(self, folder: Path, seismograms: xarray.DataArray) -> list[Path]:
        """Write `intensity.nc` and `intensity.csv`; nothing if there are fewer than two samples."""
        if seismograms.sizes["time"] < 2:
            return []
        measures = measure(seismograms, self._section, self._backend)
        self.findings = [*intensity_findings(measures)]
        return write_intensity(folder, measures)


def intensity_findings(measures: xarray.Dataset) -> Iterator[Quantity]:
    """Yield the measures of the stations with the strongest motion, strongest first."""
    names = {label: _present(measures, names) for label, names in _SHOWN.items()}
    spectrum = _present(measures, _SPECTRA)
    columns = {label: _horizontal(measures[name]) for label, name in names.items() if name}
    if spectrum:
        columns["PSA"] = _horizontal(measures[spectrum])
    if not columns:
        return
    first = next(iter(columns.values()))
    strength = first.max([dim for dim in first.dims if dim != "station"])
    for n in strength.argsort().values[::-1][:_LISTED]:
        own = {label: array.isel(station=n) for label, array in columns.items()}
        values = {label: array.values.tolist() for label, array in own.items()}
        text = ", ".join(_as_text(label, array) for label, array in own.items())
        station = str(measures["station"].values[n])
        yield Quantity(f"intensity_{station}", values, station, "", text, GROUP)


def _present(measures: xarray.Dataset, names: tuple[str, ...]) -> str | None:
    return next((name for name in names if name in measures), None)


def _horizontal(array: xarray.DataArray) -> xarray.DataArray:
    """The larger of both horizontal components, of arrays of components."""
    if "component" not in array.dims:
        return array
    return array.sel(component=["E", "N"]).max("component")


def _as_text(label: str, array: xarray.DataArray) -> str:
    if "period" not in array.dims:
        return f"{label} {float(array):.3g} {_UNITS[label]}"
    largest = array.isel(period=int(array.values.argmax()))
    return f"{label} up to {float(largest):.3g} m/s^2, at {float(largest['period']):g} s"
