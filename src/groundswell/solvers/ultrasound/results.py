"""Readers of a run's results: the solver's part of `Result`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from groundswell.errors import InputError
from groundswell.formats.netcdf import open_dataset
from groundswell.simulation.readers import FileReader, RecordReader
from groundswell.simulation.summary import read_summary
from groundswell.solvers.ultrasound.case import MEDIUM_FILE, PEAK_FILE
from groundswell.solvers.ultrasound.focus import Focus, find_focus
from groundswell.solvers.ultrasound.kwave.case import OUTPUT_FILE
from groundswell.solvers.ultrasound.kwave.output_file import read_samples
from groundswell.solvers.ultrasound.run_facts import FACTS, surfaces_of

if TYPE_CHECKING:
    import xarray

_maps = FileReader(PEAK_FILE, open_dataset, "run the case with output.maps = true")

# The properties of the medium that vary in space, at every point, (z, y, x): some of speed,
# density, absorption and nonlinearity.
medium = FileReader(
    MEDIUM_FILE,
    open_dataset,
    "run the case with output.medium = true and a medium that varies in space",
)

# Samples, statistics and final fields of a run of an input file of k-Wave, NumPy arrays by dataset.
# A time series of points is (steps, points), a statistic (points,). Those of cuboids have names
# such as "p/1" and the axes (steps, z, y, x) and (z, y, x). Fields of the whole grid are (z, y, x).
samples = FileReader(OUTPUT_FILE, read_samples, "run the case with an input file of k-Wave (.h5)")


def fields(folder: Path) -> xarray.Dataset:
    """Maximum, minimum and root mean square pressure at every point, (z, y, x), Pa.

    Values are read on first use.

    Raises:
        InputError: the run has not written them, or the file is damaged.
    """
    if (folder / OUTPUT_FILE).exists():
        raise InputError(f"{folder} has the results of an input file of k-Wave; use samples")
    found: xarray.Dataset = _maps(folder)
    return found


def focus(folder: Path) -> Focus:
    """The largest pressure outside bone, its position, and its -6 dB widths along the axes.

    Peaks of standing waves do not count; see `find_focus`.

    Raises:
        InputError: the run has not written the largest pressure, or a file is damaged.
    """
    case = read_summary(folder)["case"]
    sources = case.get(FACTS, {}).get("sources", [])
    return focus_in(folder, case.get("points_per_wavelength"), sources)


def focus_in(
    folder: Path, per_wavelength: float | None, sources: Sequence[Mapping[str, Any]]
) -> Focus:
    """The same of a folder without a summary, such as that of a run that is ending.

    It is found again only if the files or the arguments differ from those of the last call, which
    several pictures need, and not if the files have been moved.

    Args:
        per_wavelength: points of the shortest wavelength of the sources.
        sources: their tables; see `run_facts`.
    """
    files = tuple(_version(folder / name) for name in (PEAK_FILE, MEDIUM_FILE))
    return _focus(_Maps(folder, files, per_wavelength, json.dumps(sources)))


@dataclass(frozen=True)
class _Maps:
    """Files in which a focus is found; equal if they are the same files, in whichever folder."""

    folder: Path = field(compare=False)
    files: tuple[tuple[int, ...] | None, ...]
    per_wavelength: float | None
    sources: str


def _version(path: Path) -> tuple[int, ...] | None:
    """What differs if a file is another one or is written again; None if there is none."""
    if not path.exists():
        return None
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


@lru_cache(maxsize=1)
def _focus(maps: _Maps) -> Focus:
    properties = medium(maps.folder) if (maps.folder / MEDIUM_FILE).exists() else {}
    largest = fields(maps.folder)["p_max"]
    surfaces = surfaces_of({"sources": json.loads(maps.sources)})
    return find_focus(largest, properties.get("speed"), maps.per_wavelength, surfaces)


def records(folder: Path) -> dict[str, xarray.Dataset]:
    """The files of `output.record` by name.

    Values are read on first use. Velocities are staggered: each has its own coordinate along its
    axis. The attribute `time_step` is the time step of the run, s.

    Raises:
        InputError: the run has not recorded fields, or a file is damaged.
    """
    found: dict[str, xarray.Dataset] = record_reader()(folder)
    return found


def record_reader() -> RecordReader:
    """Opens the files of `output.record`."""
    from groundswell.solvers.ultrasound.setup import Setup

    recordable = {field.name: field for field in Setup.recordable}
    others = {PEAK_FILE, MEDIUM_FILE, OUTPUT_FILE}
    return RecordReader(recordable, others, downward=False)
