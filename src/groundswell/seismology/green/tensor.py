"""The strain Green tensor of a station as an xarray.Dataset, from three runs or from a store.

The variable `strain` (force, point, component, time) is the strain per unit impulse of the force
along x, y and down, 1/(N s), contracted with the tensors `basis` (point, component, tensor). Points
have `x`, `y`, `depth` (m), `lam` and `mu` (Pa). Attributes: the station; `start`, the time of the
first sample, and `interval` (s); `centroid` of the force (s), whose time function filters all
seismograms; `medium`, a digest; `azimuth` of the y axis; `time_step` of the runs (s).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from groundswell.ensembles.stacking import datasets_of, read_dataset
from groundswell.ensembles.store import METADATA, Store
from groundswell.errors import InputError
from groundswell.formats.netcdf import read_netcdf
from groundswell.seismology.case.outputs import GREEN
from groundswell.seismology.green.files import FILE, STRAIN
from groundswell.seismology.green.points import AXES

if TYPE_CHECKING:
    import xarray

RUN = ("time", STRAIN, "basis", "x", "y", "depth", "lam", "mu", "force_function")
STORE = tuple(name for name in RUN if name != "force_function")
SCALE = "scale"  # variable of stores in 16 bits
STATION = ("network", "station")
PLACE = ("station_x", "station_y", "station_depth")
# Attributes that all runs of a station have in common, with what differs if they do not.
COMMON = {
    "medium": "were made in another medium, with another grid or other boundaries",
    "time_step": "have other time steps",
    "interval": "have other intervals between samples",
    "start": "start at other times",
    "force_step": "have other time functions",
    "force_start": "have other time functions",
}
OF_RUNS = ("force_axis", "force", "impulse", "force_start", "force_step")  # not of a tensor


def read_tensors(paths: Iterable[str | Path]) -> list[xarray.Dataset]:
    """Read the strain Green tensors of all stations in files or results folders.

    Args:
        paths: runs with a force along x, y and z each, alone or in the store of an ensemble, and
            stores of `write_store`, in any order.

    Raises:
        InputError: a file is missing or of another kind, a station lacks a force, or its runs do
            not belong together.
    """
    runs, tensors = defaultdict[str, list[Any]](list), []
    for dataset in chain.from_iterable(map(_datasets, map(Path, paths))):
        if "force" in dataset.dims:
            tensors.append(_unpacked(dataset))
        else:
            runs[station_of(dataset)].append(dataset)
    found = [*tensors, *(combine(of_station) for of_station in runs.values())]
    _require_different([station_of(tensor) for tensor in found])
    return found


def read_run(path: Path) -> xarray.Dataset:
    """The strain that a run with a force has recorded, or a store.

    Raises:
        InputError: the file is missing or of another kind.
    """
    dataset: xarray.Dataset = read_netcdf(path, required=STORE)
    dataset.encoding["source"] = str(path)
    return dataset


def station_of(tensor: xarray.Dataset) -> str:
    """network.station, or the station without a network."""
    return ".".join(filter(None, (str(tensor.attrs[name]) for name in STATION)))


def combine(runs: Sequence[xarray.Dataset]) -> xarray.Dataset:
    """The tensor of a station from runs with a force along each axis.

    Raises:
        InputError: an axis is missing or given twice, or the runs differ in other ways.
    """
    station = station_of(runs[0])
    given = [str(run.attrs["force_axis"]) for run in runs]
    if sorted(given) != [*AXES]:
        raise InputError(
            f"station {station} needs one run with a force along each of x, y and z, but has "
            f"{', '.join(given)}; give the missing runs, each once"
        )
    by_axis = [runs[given.index(axis)] for axis in AXES]
    for other in by_axis[1:]:
        _require_alike(by_axis[0], other, station)
    first = by_axis[0]
    strain = np.stack([run[STRAIN].values / float(run.attrs["impulse"]) for run in by_axis])
    attrs = {name: _plain(of) for name, of in first.attrs.items() if name not in OF_RUNS}
    coordinates = first.drop_vars([STRAIN, "force_function"])
    dims = ("force", *first[STRAIN].dims)
    tensor = coordinates.assign({STRAIN: (dims, strain)}).assign_coords(force=[*AXES])
    tensor.attrs = attrs
    return tensor


def _plain(value: Any) -> Any:
    """A number of an attribute, which NetCDF stores as an array."""
    return value.item() if isinstance(value, np.ndarray) and value.size == 1 else value


def _datasets(path: Path) -> Iterator[xarray.Dataset]:
    """The contents of a file, of a results folder's file, or of all runs of an ensemble."""
    if (path / METADATA).exists():
        yield from _of_ensemble(Store(path))
        return
    yield read_run(path / FILE if path.is_dir() else path)


def _of_ensemble(store: Store) -> Iterator[xarray.Dataset]:
    store.require_format()
    found = [name for name in store.names() if GREEN in datasets_of(store, name)]
    if not found:
        raise InputError(
            f"{store.path} has no run with a {GREEN}; run a plan of a case that records it"
        )
    for name in found:
        dataset = read_dataset(store, f"{name}/{GREEN}").load()
        dataset.encoding["source"] = f"{store.path}/{name}"
        yield dataset


def _unpacked(store: xarray.Dataset) -> xarray.Dataset:
    """A tensor whose strains are numbers, from integers of 16 bits and their scales."""
    if SCALE in store:
        scaled = store[STRAIN].values * store[SCALE].values[..., None]
        store = store.drop_vars(SCALE).assign({STRAIN: (store[STRAIN].dims, scaled)})
    return store.assign_attrs({name: _plain(of) for name, of in store.attrs.items()})


def _require_alike(first: xarray.Dataset, other: xarray.Dataset, station: str) -> None:
    """Raise an error if two runs of a station do not belong together."""
    different = next(_differences(first, other), None)
    if different:
        files = " and ".join(str(run.encoding.get("source", "a run")) for run in (first, other))
        raise InputError(
            f"station {station}: {files} {different}; make all three runs from one case, changing "
            "only the direction of the force"
        )


def _differences(first: xarray.Dataset, other: xarray.Dataset) -> Iterator[str]:
    """Yield the differences between two runs of a station, as text."""
    for name, different in COMMON.items():
        if not _is_close(first.attrs[name], other.attrs[name]):
            yield different
    if not all(_is_close(first.attrs[name], other.attrs[name]) for name in PLACE):
        yield "have the station at different positions"
    if first.sizes != other.sizes and first.sizes["time"] != other.sizes["time"]:
        yield "have different lengths"
    for name in ("x", "y", "depth", "basis"):
        if not np.array_equal(first[name].values, other[name].values):
            yield "have other points"
    if not np.array_equal(first["force_function"].values, other["force_function"].values):
        yield "have other time functions"


def _is_close(a: Any, b: Any) -> bool:
    if isinstance(a, str) or isinstance(b, str):
        return bool(a == b)
    return bool(np.isclose(_plain(a), _plain(b), rtol=1e-9, atol=0))


def _require_different(stations: Sequence[str]) -> None:
    repeated = sorted({name for name in stations if stations.count(name) > 1})
    if repeated:
        raise InputError(f"station {repeated[0]} is given twice; name each store once")
