"""Exports of a store: a table of all runs, and NetCDF files."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from groundswell.ensembles.stacking import datasets_of, read_dataset
from groundswell.ensembles.store import Store
from groundswell.formats.atomic import atomic_write

FIRST = ("name", "status", "seconds", "message")


def write_runs(store: Store, path: Path) -> Path:
    """Write a table (CSV) of all runs; the paths of settings are names of columns.

    The names of columns with numbers from the summary begin with "summary.".

    Raises:
        InputError: the table cannot be written.
    """
    rows = [_row(store, name) for name in store.names()]
    columns = list(dict.fromkeys([*FIRST, *(key for row in rows for key in row)]))
    with atomic_write(path) as part, part.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return path


def _row(store: Store, name: str) -> dict[str, object]:
    about = store.attributes(name) or {}
    return {
        "name": name,
        "status": about.get("status", ""),
        "seconds": store.log(name).get("seconds", ""),
        "message": about.get("message", ""),
        **about.get("settings", {}),
        **dict(_numbers(about.get("summary", {}), "summary")),
    }


def _numbers(content: Any, path: str) -> Iterator[tuple[str, float]]:
    """Numbers by path in nested tables and lists."""
    if isinstance(content, Mapping):
        for key, value in content.items():
            yield from _numbers(value, f"{path}.{key}")
    elif isinstance(content, list):
        for n, value in enumerate(content):
            yield from _numbers(value, f"{path}.{n}")
    elif isinstance(content, int | float) and not isinstance(content, bool):
        yield path, content


def write_netcdf(store: Store, folder: Path) -> list[Path]:
    """Write each dataset of each run as a NetCDF file, in a folder for each run."""
    files = []
    for name in store.names():
        for path in datasets_of(store, name):
            target = folder / name / f"{path.replace('/', '-')}.nc"
            with atomic_write(target) as part:
                dataset = read_dataset(store, f"{name}/{path}")
                dataset.to_netcdf(part, engine="h5netcdf", invalid_netcdf=False)
            files.append(target)
    return files
