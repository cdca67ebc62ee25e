"""The work of the command `intensity`: reads seismograms, and writes their intensity measures."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from groundswell.backends import open_backend
from groundswell.case.quantities import Quantity
from groundswell.cli.text_tables import pairs, warn
from groundswell.errors import CaseError, GroundswellError, InputError
from groundswell.seismology.case.intensity import IntensityOutput
from groundswell.seismology.formats.traces import read_velocity
from groundswell.seismology.plots.response_spectra import response_spectra
from groundswell.seismology.recording.intensity import ReceiverIntensity
from groundswell.simulation.folder_lock import locked
from groundswell.simulation.results_folder import require_writable
from groundswell.simulation.summary import NAME, add_files


@dataclass(frozen=True)
class Measured:
    """The files in a folder, and the measures of the strongest stations."""

    folder: Path
    files: Sequence[Path]
    findings: Sequence[Quantity]


def chosen(periods: str | None, damping: float, measures: str | None) -> IntensityOutput:
    """The options of the command as a section of a case.

    Raises:
        InputError: an option is invalid.
    """
    given: dict[str, Any] = {"damping": damping}
    if periods is not None:
        given["periods"] = [_number(word) for word in periods.split(",")]
    if measures is not None:
        given["measures"] = [word.strip() for word in measures.split(",")]
    try:
        return IntensityOutput(**given)
    except CaseError as error:
        raise CaseError(error.problems, "an option") from None


def _number(word: str) -> float | str:
    """A number, or text with a unit that the section reads."""
    try:
        return float(word)
    except ValueError:
        return word.strip()


def write(path: Path, output: Path | None, section: IntensityOutput, backend: str) -> Measured:
    """Compute the measures of the seismograms at a path, and write them to a folder.

    Raises:
        InputError: there are no seismograms, or fewer than two samples.
        RunFailed: the disk is full.
    """
    folder = output or (path if path.is_dir() else path.parent)
    require_writable(folder)
    seismograms = read_velocity(path)
    if seismograms.sizes["time"] < 2:
        raise InputError(f"{path} has fewer than two samples; acceleration needs at least two")
    folder.mkdir(parents=True, exist_ok=True)
    records = ReceiverIntensity(section, open_backend(backend))
    is_of_run = (folder / NAME).exists()
    with ExitStack() as stack:
        if is_of_run:
            stack.enter_context(locked(folder))
        files = [*records.write(folder, seismograms), *_picture(folder)]
        if is_of_run:
            add_files(folder, files)
    return Measured(folder, files, records.findings)


def _picture(folder: Path) -> list[Path]:
    try:
        drawn = response_spectra(folder)
    except GroundswellError as error:
        warn([f"no picture of the spectra: {error}"])
        return []
    return [drawn] if drawn else []


def show(found: Measured, *, as_json: bool) -> None:
    """Print the measures and the names of the files."""
    names = [path.name for path in found.files]
    if as_json:
        values = {each.label: each.value for each in found.findings}
        content = {"folder": str(found.folder), "files": names, "stations": values}
        typer.echo(json.dumps(content, indent=2))
        return
    lines = {each.label: each.text for each in found.findings}
    pairs("Intensity measures", {**lines, "files": ", ".join(names), "in": f"{found.folder}/"})
