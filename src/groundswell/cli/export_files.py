"""The work of the command `export`: writes files and lists them in the summary of the run."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from groundswell.seismology.formats.export import export_results
from groundswell.simulation.folder_lock import locked
from groundswell.simulation.results_folder import require_writable
from groundswell.simulation.summary import NAME, add_files


def write(results: Path, output: Path | None, keys: Mapping[str, Any]) -> list[Path]:
    """Write the seismograms of a run in other formats.

    Raises:
        InputError: there are no seismograms, or a key is invalid.
        RunFailed: the disk is full.
    """
    folder = output or results
    require_writable(folder)
    with ExitStack() as stack:
        is_in_results = output is None and (results / NAME).exists()
        if is_in_results:
            stack.enter_context(locked(results))
        files = export_results(results, output, **keys)
        if is_in_results:
            add_files(results, files)
    return files
