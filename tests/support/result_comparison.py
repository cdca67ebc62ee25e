"""Compares the results of runs bit by bit; and one more source for cases."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np

# Names that only whole results have.
FINAL_FILES = {"seismograms.h5", "summary.json", "shaking_map.nc", "surface.nc", "volumes.vtkhdf"}


def result_arrays(folder: Path) -> dict[str, bytes]:
    """All numbers of the result files in a folder, bit by bit."""
    found: dict[str, bytes] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.suffix in (".h5", ".nc", ".vtkhdf"):
            with h5py.File(path) as file:
                file.visititems(lambda key, item, name=name: _take(found, f"{name}:{key}", item))
        elif path.suffix in (".csv", ".sac", ".mseed", ".srf", ".txt"):
            found[name] = path.read_bytes()
    return found


def _take(found: dict[str, bytes], name: str, item: Any) -> None:
    if isinstance(item, h5py.Dataset) and item.dtype.kind in "fiu":
        found[name] = np.ascontiguousarray(item[...]).tobytes()


def assert_same_results(folder: Path, reference: Path) -> None:
    found, expected = result_arrays(folder), result_arrays(reference)
    assert found.keys() == expected.keys() and found
    assert [name for name in expected if found[name] != expected[name]] == []


def explosion_source(**changes: Any) -> list[dict[str, Any]]:
    point = {"kind": "explosion", "x": "1 km", "y": "1 km", "depth": "1 km", "magnitude": 3}
    return [{**point, "time_function": {"kind": "brune", "rise": "0.1 s"}, **changes}]
