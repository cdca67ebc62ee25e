"""The results of a run as datasets, and datasets as groups of a Zarr store."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from groundswell import registry
from groundswell.ensembles.json_values import json_values
from groundswell.errors import InputError, did_you_mean, listed, quoted
from groundswell.simulation.result import Result

if TYPE_CHECKING:
    import xarray

CHUNK_BYTES = 2**26  # a chunk is a file: few runs have arrays so large that they need several

# Entries of a summary that describe the execution of the run, not its results.
OF_THE_RUN = (
    *("started", "device", "backend", "ranks", "resumed_at", "throughput", "bytes_per_update"),
    *("bandwidth", "wall", "share_of_steps", "kernel_groups", "files", "versions", "tuning"),
)
REPEATED = ("digest", "text", "quantities")  # of the case: in other attributes


def split_summary(summary: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split a summary into entries about the results and entries about the execution."""
    log = {key: value for key, value in summary.items() if key in OF_THE_RUN}
    rest = {key: value for key, value in summary.items() if key not in log}
    case = {key: value for key, value in rest["case"].items() if key not in REPEATED}
    return {**rest, "case": case}, log


def require_known(results: Sequence[str] | None, solver: str) -> None:
    """Raise InputError if a solver does not have one of these results."""
    known = registry.find(solver).results
    for name in results or ():
        if name not in known:
            raise InputError(
                f"results: {quoted(name)} is not a result of {solver}; use "
                f"{listed(known)}{did_you_mean(name, known)}"
            )


class ResultReader:
    """Reads the results of runs as datasets.

    Args:
        wanted: names of the results; by default all that a run has and that are datasets.
    """

    def __init__(self, wanted: Sequence[str] | None = None) -> None:
        self._wanted = wanted
        self._others: set[str] = set()  # results of other types, which need not be read again

    def read(self, result: Result) -> dict[str, xarray.Dataset]:
        """The datasets by path of their group, loaded; each content once.

        Raises:
            InputError: the run does not have one of the wanted results.
        """
        found: dict[str, xarray.Dataset] = {}
        for name in self._names(result):
            for path, dataset in self._datasets(result, name):
                if not any(dataset.identical(other) for other in found.values()):
                    found[path] = dataset
        return found

    def _names(self, result: Result) -> list[str]:
        known = registry.find(result.summary["solver"]).results
        return [name for name in self._wanted or known if name not in self._others]

    def _datasets(self, result: Result, name: str) -> Iterator[tuple[str, xarray.Dataset]]:
        import xarray

        try:
            content = getattr(result, name)
        except (InputError, ImportError):  # the run has not written it, or a library is missing
            if self._wanted is None:
                return
            raise
        if isinstance(content, xarray.DataArray):
            content = content.to_dataset(name=name)
        if isinstance(content, xarray.Dataset):
            yield name, _loaded(content)
        elif isinstance(content, Mapping):
            for key, entry in content.items():
                if isinstance(entry, xarray.Dataset):
                    yield f"{name}/{PurePath(str(key)).stem}", _loaded(entry)
        elif self._wanted is None:
            self._others.add(name)
        else:
            raise InputError(f"results: {name} is not a dataset; leave it out")


def _loaded(dataset: xarray.Dataset) -> xarray.Dataset:
    """A dataset in memory, without the encoding of the file from which it was read."""
    with dataset:
        return dataset.load().drop_encoding()


def write_zarr(store: Path, group: str, dataset: xarray.Dataset) -> None:
    """Write a dataset as a group of a Zarr hierarchy."""
    import zarr

    chunks = {str(name): _chunks(array) for name, array in dataset.variables.items()}
    encoding = {name: {"chunks": shape} for name, shape in chunks.items() if shape}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # consolidated metadata are not in the specification yet
        plain = _with_text(dataset).assign_attrs(json_values(dataset.attrs))
        plain.to_zarr(
            store, group=group, mode="w", zarr_format=3, consolidated=False, encoding=encoding
        )
        # xarray reads all metadata of a dataset from one file, if it is opened by its own path.
        zarr.consolidate_metadata(store, path=group, zarr_format=3)


def _with_text(dataset: xarray.Dataset) -> xarray.Dataset:
    """Text of any length, which other readers of Zarr know, instead of NumPy's of fixed length."""
    names = [name for name, array in dataset.variables.items() if array.dtype.kind == "U"]
    return dataset.assign({name: dataset[name].astype(object) for name in names})


def _chunks(array: xarray.Variable) -> tuple[int, ...]:
    """The whole array, or parts of it along its first dimension."""
    if not array.shape or not array.size:
        return ()
    rows = max(1, int(CHUNK_BYTES // max(array.nbytes / array.shape[0], 1)))
    return (min(rows, array.shape[0]), *array.shape[1:])
