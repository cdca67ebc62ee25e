"""The work of the command `compare`: compares seismograms, and writes and shows the result."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from groundswell.cli.text_tables import warn
from groundswell.errors import InputError, counted, quoted
from groundswell.seismology.comparison.compare import Comparison, compare
from groundswell.simulation.folder_lock import locked
from groundswell.simulation.results_folder import require_writable
from groundswell.simulation.summary import NAME, add_files

FOLDER = "comparison"


@dataclass(frozen=True)
class Written:
    """A comparison, and its files in a folder."""

    folder: Path
    files: Sequence[Path]
    comparison: Comparison


def ends(text: str) -> list[float]:
    """The ends of a window from text such as "0:10".

    Raises:
        InputError: the text is of another form.
    """
    try:
        start, end = (float(word) for word in text.split(":"))
    except ValueError:
        raise InputError(f"--window {quoted(text)}: must be two times in s, such as 0:10") from None
    return [start, end]


def write(
    results: Path,
    observed: Sequence[Path],
    options: Mapping[str, Any],
    output: Path | None,
    *,
    pictures: bool,
) -> Written:
    """Compare, and write tables and pictures.

    Raises:
        InputError: there is nothing to compare, or an option is invalid; nothing is written then.
        RunFailed: the disk is full.
    """
    base = results if results.is_dir() else results.parent
    folder = output or base / FOLDER
    require_writable(folder)
    comparison = compare(results, observed, **options)
    with ExitStack() as stack:
        is_in_results = output is None and (base / NAME).exists()
        if is_in_results:
            stack.enter_context(locked(base))
        folder.mkdir(parents=True, exist_ok=True)
        files = comparison.write(folder)
        files += comparison.plot(folder) if pictures else []
        if is_in_results:
            add_files(base, files)
    return Written(folder, files, comparison)


def show(found: Written, *, as_json: bool) -> None:
    """Print the table, warnings and the names of the files."""
    comparison = found.comparison
    if as_json:
        typer.echo(json.dumps({"folder": str(found.folder), **comparison.as_dict()}, indent=2))
        return
    stations = counted(len(comparison.pairs), "station")
    typer.echo(f"{comparison.name}\n{comparison.caption}, {stations}\n\n{comparison}\n")
    typer.echo(f"wrote {len(found.files)} files to {found.folder}/")
    warn(comparison.warnings)
