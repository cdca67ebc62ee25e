"""Earlier measurements in the same folder, for curves against the number of ranks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from groundswell.bench.rows import Measured


def model_of(measured: Measured) -> str:
    """The model of the devices; that of a CPU without its number of threads."""
    return str(measured["devices"][0].split(",")[0])


def runs_by_ranks(measured: Measured, folder: Path) -> list[Measured]:
    """A run, and those of the same benchmark on other numbers of the same devices, by ranks.

    Ranks of a CPU share its cores, so a rank has fewer threads in a run of more ranks.

    Args:
        measured: the latest run, which replaces an earlier one of as many ranks.
        folder: contains the files of earlier runs.
    """
    found = [run for run in _runs_in(folder, measured) if run["ranks"] != measured["ranks"]]
    return sorted([measured, *found], key=lambda run: int(run["ranks"]))


def _runs_in(folder: Path, measured: Measured) -> Iterator[Measured]:
    """The runs of the same benchmark and device."""
    for path in sorted(folder.glob(f"bench_{measured['subject']}*.json")):
        run: Measured = json.loads(path.read_text(encoding="utf-8"))
        if (run["backend"], model_of(run)) == (measured["backend"], model_of(measured)):
            yield run
