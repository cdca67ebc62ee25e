"""Reads the results of all runs of a store as one dataset."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from groundswell.ensembles.store import COMPLETE, METADATA, Store
from groundswell.errors import InputError, did_you_mean, listed, quoted
from groundswell.formats.zarr_library import require_zarr

if TYPE_CHECKING:
    import xarray

RUN = "run"  # the dimension of runs


def open(store: str | Path, result: str | None = None) -> xarray.Dataset:
    """The results of all complete runs as one dataset with the dimension `run`.

    >>> import groundswell as gs
    >>> status = gs.ensembles.run("plan.toml", workers=1, resume=True)
    >>> gs.ensembles.open("plan.zarr", "fields")["T"].sizes["run"]
    2

    Settings are coordinates of that dimension, named by the path of their key. Variables whose
    shapes or coordinates differ between runs are left out; the attribute `left_out` names them.

    Args:
        store: path of the store.
        result: the dataset of each run to stack, such as "seismograms"; by default all, if their
            names and coordinates do not conflict.

    Raises:
        InputError: there is no store, no complete run, or no such result.
    """
    opened = Store(Path(store))
    opened.require_format()
    runs = {name: opened.attributes(name) or {} for name in opened.names()}
    runs = {name: about for name, about in runs.items() if about.get("status") == COMPLETE}
    if not runs:
        raise InputError(
            f"{opened.path} has no complete run yet; start one with `groundswell ensemble run`"
        )
    chosen = _chosen(opened, [*runs], result)
    stacked = [_stack(opened, [*runs], path) for path in chosen]
    found = _merged(dict(zip(chosen, stacked, strict=True)))
    return found.assign_coords({RUN: [*runs], **_settings(runs)})


def datasets_of(store: Store, name: str) -> list[str]:
    """Paths of the datasets of a run: its groups with arrays."""
    root = store.path / name
    groups = [path.parent for path in root.rglob(METADATA) if _is_group(path)]
    with_arrays = [path for path in groups if any(map(_is_array, path.glob(f"*/{METADATA}")))]
    return sorted(path.relative_to(root).as_posix() for path in with_arrays)


def read_dataset(store: Store, group: str) -> xarray.Dataset:
    """A dataset of a run, lazily read."""
    import xarray

    require_zarr()
    found: xarray.Dataset = xarray.open_zarr(store.path / group, decode_times=False, chunks=None)
    return found


def _is_group(path: Path) -> bool:
    return bool(json.loads(path.read_text())["node_type"] == "group")


def _is_array(path: Path) -> bool:
    return not _is_group(path)


def _chosen(store: Store, names: Sequence[str], result: str | None) -> list[str]:
    """The datasets to stack."""
    known = datasets_of(store, names[0])
    if result is None:
        return known
    if result not in known:
        raise InputError(
            f"{store.path} has no {quoted(result)}; it has {listed(known or ['no datasets'])}"
            f"{did_you_mean(result, known)}"
        )
    return [result]


def _stack(store: Store, names: Sequence[str], path: str) -> xarray.Dataset:
    """One dataset of all runs; without variables that differ in shape or coordinates."""
    import xarray

    parts = [read_dataset(store, f"{name}/{path}").load() for name in names]
    first, *others = parts
    alike = [name for name in first.variables if all(_agree(first, o, name) for o in others)]
    left_out = sorted({str(name) for part in parts for name in part.data_vars} - {*map(str, alike)})
    kept = [part[[name for name in alike if name in part.data_vars]] for part in parts]
    found: xarray.Dataset = xarray.concat(
        kept, RUN, data_vars="all", coords="minimal", compat="override", join="override"
    )
    return found.assign_attrs(left_out=left_out) if left_out else found


def _agree(one: xarray.Dataset, other: xarray.Dataset, name: Any) -> bool:
    """Whether two runs' values can be stacked: equal coordinates, and equal shapes."""
    if name not in other.variables or one[name].sizes != other[name].sizes:
        return False
    of_name = [key for key in one[name].coords if key in other.coords]
    return all(one[key].variable.equals(other[key].variable) for key in of_name)


def _merged(datasets: Mapping[str, xarray.Dataset]) -> xarray.Dataset:
    """Merge datasets; results with conflicting names or coordinates must be read separately."""
    import xarray

    if len(datasets) == 1:
        return next(iter(datasets.values()))
    try:
        return xarray.merge(
            datasets.values(), join="exact", compat="identical", combine_attrs="drop_conflicts"
        )
    except ValueError:
        raise InputError(
            f"the runs have {listed(datasets)}, which share names; open one of them, as in "
            f'open(store, "{next(iter(datasets))}")'
        ) from None


def _settings(runs: Mapping[str, Mapping[str, Any]]) -> dict[str, tuple[str, list[object]]]:
    """The settings as coordinates, if each run has them; lists and tables as text."""
    keys: Iterable[str] = dict.fromkeys(key for about in runs.values() for key in about["settings"])
    found = {key: [about["settings"].get(key) for about in runs.values()] for key in keys}
    return {
        key: (RUN, [_scalar(value) for value in values])
        for key, values in found.items()
        if None not in values
    }


def _scalar(value: object) -> object:
    return value if isinstance(value, str | int | float) else str(value)
