"""`groundswell synthesize`: reads tensors and a rupture, and writes files of seismograms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from groundswell.backends import Backend
from groundswell.errors import InputError
from groundswell.formats.atomic import exists
from groundswell.seismology.case.outputs import SeismogramOutput
from groundswell.seismology.green.late_slip import warn_of_late_slip
from groundswell.seismology.green.outputs import (
    observed,
    require_writable_as,
    rupture_attributes,
    write_seismograms,
    write_variations,
)
from groundswell.seismology.green.slip import TOLERANCE, PointFinder, SlipRows, read_slip
from groundswell.seismology.green.store import write_store
from groundswell.seismology.green.synthesis import Variations, seismograms, variations
from groundswell.seismology.green.table import read_variations
from groundswell.seismology.green.tensor import read_tensors, station_of
from groundswell.simulation.results_folder import require_writable

if TYPE_CHECKING:
    import xarray


ONLY_HDF5 = SeismogramOutput()


@dataclass(frozen=True)
class Rupture:
    """The files of a rupture, with options for reading them.

    Args:
        file: SRF, `rupture.nc` or a table of subfaults.
        table: of variations; None for the rupture itself.
        slip_rate: shape of the slip rate for tables, which contain only rise times.
        tolerance: largest distance of a subfault from a point of the tensors, m.
    """

    file: Path
    table: Path | None = None
    slip_rate: str = "cosine"
    tolerance: float = TOLERANCE


def synthesize(
    paths: Sequence[str | Path],
    rupture: Rupture,
    folder: str | Path,
    backend: Backend,
    files: SeismogramOutput = ONLY_HDF5,
    dtype: str = "float32",
) -> list[Path]:
    """Write the seismograms of a rupture, or of its variations, at the stations of tensors.

    Args:
        paths: files or results folders, see `read_tensors`.
        folder: for the results.
        files: formats of files of seismograms besides HDF5; not for variations.
        dtype: floating-point type of the computation.

    Raises:
        InputError: an input cannot be used; nothing is written then.

    Warns:
        LateSlip: there is slip after the end of the seismograms.
    """
    if rupture.table and files != ONLY_HDF5:
        raise InputError("variations are written as HDF5 only; leave out the formats")
    require_writable(Path(folder))
    tensors, target = read_tensors(paths), Path(folder)
    require_writable_as(files, tensors)
    if rupture.table:
        velocity = synthesize_variations(tensors, rupture, backend, dtype)
        target.mkdir(parents=True, exist_ok=True)
        return write_variations(velocity, target)
    rows = [_rows(tensor, rupture) for tensor in tensors]
    warn_of_late_slip(tensors[0], rows[0], Variations.none(rows[0]))
    found = [
        seismograms(tensor, of, backend, dtype) for tensor, of in zip(tensors, rows, strict=True)
    ]
    target.mkdir(parents=True, exist_ok=True)
    attrs = rupture_attributes(tensors[0], rows[0], _title(tensors, rupture))
    return write_seismograms(found, tensors, attrs, files, target)


def synthesize_variations(
    tensors: Sequence[xarray.Dataset],
    rupture: Rupture,
    backend: Backend,
    dtype: str = "float32",
) -> xarray.DataArray:
    """Velocity (variation, station, component, time) of the variations of a rupture, m/s.

    Args:
        tensors: of the stations, see `read_tensors`.
        rupture: with its table of variations.
        dtype: floating-point type of the computation.

    Returns:
        Components are E, N and Z; stations have the coordinates x, y and depth.

    Raises:
        InputError: the rupture cannot be read, or does not fit the tensors.
    """
    if rupture.table is None:
        raise InputError(f"{rupture.file}: needs a table of variations")
    rows = [_rows(tensor, rupture) for tensor in tensors]
    varied = [read_variations(rupture.table, of, rupture.slip_rate) for of in rows]
    warn_of_late_slip(tensors[0], rows[0], varied[0])
    found = [
        variations(tensor, of, each, backend, dtype)
        for tensor, of, each in zip(tensors, rows, varied, strict=True)
    ]
    attrs = rupture_attributes(tensors[0], rows[0], _title(tensors, rupture))
    return observed(found, tensors, attrs)


def _title(tensors: Sequence[xarray.Dataset], rupture: Rupture) -> str:
    return f"{rupture.file.name} at {', '.join(map(station_of, tensors))}"


def pack(paths: Sequence[str | Path], folder: str | Path, *, half: bool = False) -> list[Path]:
    """Write a store for each station of runs to a folder, named network.station.h5.

    Args:
        half: whether to store 16 bits per value.

    Raises:
        InputError: the runs do not belong together, or a store exists already.
    """
    require_writable(Path(folder))
    tensors = read_tensors(paths)
    targets = [Path(folder) / f"{station_of(tensor)}.h5" for tensor in tensors]
    for target in targets:
        if exists(target):
            raise InputError(f"{target} exists already; delete it, or give another folder")
    Path(folder).mkdir(parents=True, exist_ok=True)
    return [write_store(of, to, half=half) for of, to in zip(tensors, targets, strict=True)]


def _rows(tensor: xarray.Dataset, rupture: Rupture) -> SlipRows:
    finder = PointFinder(tensor, rupture.tolerance)
    try:
        return SlipRows.of(read_slip(rupture.file, finder, rupture.slip_rate), finder)
    except InputError as error:
        raise InputError(f"station {station_of(tensor)}: {error}") from None
