"""Measurements that were made elsewhere, in files of `groundswell bench --output`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from groundswell.bench.rows import Measured
from groundswell.errors import InputError

NEEDED = ("subject", "backend", "devices", "ranks")


def read_runs(given: Sequence[str | Path], names: Sequence[str]) -> list[Measured]:
    """The measurements of some benchmarks in files.

    Args:
        given: files, patterns such as "results/*.json", or folders, of which all `bench_*.json`
            are read.
        names: of the benchmarks; files of others are left out.

    Raises:
        InputError: a file cannot be read, is none of `groundswell bench`, or there is none.
    """
    runs = [_read(path) for each in given for path in _files(str(each))]
    return [run for run in runs if run["subject"] in names]


def _files(given: str) -> Iterator[Path]:
    path = Path(given)
    folder, pattern = (path, "bench_*.json") if path.is_dir() else (path.parent, path.name)
    found = sorted(folder.glob(pattern))
    if not found:
        raise InputError(
            f"--merge {given}: there is no such file; give a file of `groundswell bench --output`, "
            "a folder with such files, or a pattern"
        )
    yield from found


def _read(path: Path) -> dict[str, Any]:
    try:
        run = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"--merge {path}: cannot be read: {error}") from error
    if not isinstance(run, dict) or any(key not in run for key in NEEDED):
        raise InputError(
            f"--merge {path}: is no file of `groundswell bench --output`, which has "
            f"{', '.join(NEEDED)}; leave it out"
        )
    return run
