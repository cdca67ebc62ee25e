"""Seismograms in formats other than HDF5: other quantities, components and intervals if desired."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from groundswell.case.quantities import Quantity
from groundswell.errors import CaseError, InputError
from groundswell.formats.atomic import atomic_write
from groundswell.seismology.case.outputs import Frame, Motion, SeismogramOutput
from groundswell.seismology.formats.recorded import is_in_store, read_recorded
from groundswell.seismology.formats.sac_mseed import require_formats, write_mseed, write_sac
from groundswell.seismology.formats.segy_writer import interval_in_microseconds, write_segy
from groundswell.seismology.formats.seismograms import (
    PRESSURE,
    QUANTITIES,
    VELOCITY,
    read_seismograms,
    sampling_interval,
)
from groundswell.seismology.motion import (
    as_quantity,
    at_interval,
    multiples,
    radial_transverse,
    round_interval,
)
from groundswell.seismology.time_steps import TimeStep

if TYPE_CHECKING:
    import xarray

SAC, TEXT = "sac", "text"  # folders


def export_seismograms(
    arrays: Sequence[xarray.DataArray], section: SeismogramOutput, folder: Path
) -> list[Path]:
    """Write seismograms in all formats of a section but HDF5.

    SAC and text files are in the folders `sac` and `text`. `seismograms.mseed` has velocity and
    pressure. Displacement and acceleration have miniSEED files of their own, as each quantity has
    in SEG-Y.

    Args:
        arrays: velocity, pressure or both, see `read_seismograms`.
        section: the formats, quantities, components and interval.

    Raises:
        InputError: ObsPy is missing, codes are too long for SEED, or there are too few or too many
            samples.
        RunFailed: the disk is full.
    """
    if set(section.formats) == {"hdf5"}:
        return []
    found = [each for array in arrays for each in _converted(array, section)]
    written = []
    if "sac" in section.formats:
        written += [path for array in found for path in write_sac(array, folder / SAC)]
    if "mseed" in section.formats:
        written += _write_mseed(found, folder)
    if "text" in section.formats:
        written += [path for array in found for path in _write_text(array, folder / TEXT)]
    if "segy" in section.formats:
        names = [(array, folder / f"{array.name}.segy") for array in found]
        written += [write_segy(array, path, section.shot) for array, path in names]
    return written


def export_results(
    results: str | Path, folder: str | Path | None = None, **keys: Any
) -> list[Path]:
    """Write the seismograms of a run in other formats; returns the paths.

    Args:
        results: the results folder, or a run in the store of an ensemble.
        folder: for the files; by default the results folder. A store does not take other files.
        keys: of `output.seismograms` of a case, such as `formats=("mseed", "text")`,
            `quantities=("displacement",)`, `components="ZRT"` and `export_interval=0.01`.

    Raises:
        InputError: there are no seismograms, a key is invalid, or see `export_seismograms`.
        RunFailed: the disk is full.
    """
    section = chosen_output("an option", **keys)
    require_formats(section.formats)
    if folder is None and is_in_store(Path(results)):
        raise InputError(f"{results} is in a store, which takes no other files; name a folder")
    return export_seismograms(read_recorded(Path(results)), section, Path(folder or results))


def chosen_output(kind: str, **keys: Any) -> SeismogramOutput:
    """The section `output.seismograms` of keys that do not come from a case.

    Args:
        kind: what a key is to the user, such as "an option".

    Raises:
        CaseError: a key is invalid; lists all of them.
    """
    try:
        return SeismogramOutput(**keys)
    except CaseError as error:
        raise CaseError(error.problems, kind) from None


def read_motion(
    results: str | Path,
    quantity: Motion = "velocity",
    components: Frame = "ZNE",
    interval: float | None = None,
) -> xarray.DataArray:
    """The motion at the stations of a run: xarray.DataArray (station, component, time).

    Args:
        results: the results folder.
        quantity: "velocity" (m/s), "displacement" (m) or "acceleration" (m/s^2).
        components: "ZNE", or "ZRT" for radial and transverse components.
        interval: between samples, s; by default that of the recording.

    Raises:
        InputError: there are no seismograms, or an argument is invalid.
    """
    velocity = read_seismograms(Path(results) / VELOCITY.file)
    section = chosen_output(
        "an argument",
        quantities=(quantity,),
        components=components,
        export_interval=interval or sampling_interval(velocity),
    )
    [found] = _converted(velocity, section)
    return found


def export_quantities(section: SeismogramOutput, interval: float, group: str) -> Iterator[Quantity]:
    """The sampling interval of files other than HDF5, for `check`.

    Args:
        interval: of the recording, s.
    """
    names = [name for name in section.formats if name != "hdf5"]
    if names:
        chosen = _interval(section, interval)
        text = f"{', '.join(names)} every {chosen:.6g} s"
        yield Quantity("export_interval", chosen, "files", "s", text, group)


def _interval(section: SeismogramOutput, recorded: float) -> float:
    return section.export_interval or round_interval(recorded)


def require_exportable(section: SeismogramOutput, step: TimeStep, steps: int) -> None:
    """Check that a run can write its seismograms in the formats of a section.

    Args:
        step: the time step, and how often it is sampled.
        steps: number of steps of the run.

    Raises:
        InputError: ObsPy is missing, or there are too few or too many samples for a format.
    """
    require_formats(section.formats)
    named = [name for name in section.formats if name != "hdf5"]
    if not named:
        return
    end = (ceil(steps / step.stride) - 1) * step.sampling
    interval = _interval(section, step.sampling)
    samples = len(multiples(0.0, end, interval))
    if min(end, samples - 1) <= 0:
        key = "export_interval" if end > 0 else "interval"
        raise InputError(
            f"output.seismograms.{key} = {max(interval, step.sampling):g} s gives only one sample "
            f"in the run of {steps * step.dt:g} s, and the format {named[0]} needs 2; sample more "
            'often, lengthen time.duration, or write only "hdf5"'
        )
    if "segy" in named:
        _require_segy(interval, samples)


def _require_segy(interval: float, samples: int) -> None:
    try:
        interval_in_microseconds(interval, samples)
    except InputError as error:
        raise InputError(f"output.seismograms.export_interval: {error}") from None


def _converted(array: xarray.DataArray, section: SeismogramOutput) -> Iterator[xarray.DataArray]:
    """Yield an array in the quantities, components and interval of a section; pressure remains."""
    interval = _interval(section, sampling_interval(array))
    if array.name == PRESSURE.name:
        yield at_interval(array, interval)
        return
    for name in section.quantities:
        motion = as_quantity(array, QUANTITIES[name])
        motion = radial_transverse(motion) if section.components == "ZRT" else motion
        yield at_interval(motion, interval)


def _write_mseed(arrays: Sequence[xarray.DataArray], folder: Path) -> list[Path]:
    files: dict[str, list[xarray.DataArray]] = {}
    for array in arrays:
        is_recorded = array.name in (VELOCITY.name, PRESSURE.name)
        files.setdefault("seismograms" if is_recorded else str(array.name), []).append(array)
    return [write_mseed(own, folder / f"{name}.mseed") for name, own in files.items()]


def _write_text(array: xarray.DataArray, folder: Path) -> Iterator[Path]:
    """Write a table of time and components for each station; yields the paths."""
    for site in array.transpose("station", "time", "component"):
        path = folder / f"{site['station'].item()}.{array.name}.txt"
        rows = np.column_stack([site["time"].values, site.values])
        with atomic_write(path) as part:
            np.savetxt(part, rows, "%.9g", header="\n".join(_header(site)), encoding="utf-8")
        yield path


def _header(site: xarray.DataArray) -> Iterator[str]:
    quantity = QUANTITIES.get(str(site.name), VELOCITY)
    yield f"{quantity.long_name} at {site['station'].item()}, {quantity.sac_units}"
    if date := site.attrs.get("reference_time") or site.attrs.get("origin_time"):
        yield f"time 0: {date}"
    names = ("x", "y", "depth", "longitude", "latitude", "azimuth")
    places = (f"{name} {float(site[name]):.10g}" for name in names if name in site.coords)
    yield f"{', '.join(places)} (m, degrees)"
    yield " ".join(["time_s", *(str(each) for each in site["component"].values)])
