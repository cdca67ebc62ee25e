"""The pictures of a run, which its solver draws from the files in the results folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from groundswell import registry
from groundswell.errors import GroundswellError, InputError
from groundswell.simulation.summary import read_summary

Warn = Callable[[str], object]  # takes a warning


@dataclass(frozen=True)
class Picture:
    """One picture that a solver can draw.

    Args:
        source: results file that it shows.
        file: file name of the picture.
        caption: caption in the report.
        draw: function that draws the picture of a results folder. It returns the path of the
            picture, or None if there is nothing to show.
    """

    source: str
    file: str
    caption: str
    draw: Callable[[Path], Path | None]


def pictures_of(solver: str) -> list[Picture]:
    """All pictures that a solver can draw.

    Raises:
        InputError: the solver is not installed.
    """
    info = registry.find(solver)
    found: list[Picture] = info.load("pictures") if info.has("pictures") else []
    return found


def draw_pictures(results: str | Path, warn: Warn) -> list[Path]:
    """Draw every picture for which the results folder has data; returns their paths.

    A picture that cannot be drawn causes a warning; the others are still drawn.

    Raises:
        InputError: the folder has no readable summary of a run.
    """
    results = Path(results)
    found: list[Path] = []
    for each in _pictures_of_run(str(read_summary(results).get("solver") or ""), warn):
        if (results / each.source).exists():
            try:
                found += filter(None, [each.draw(results)])
            except Exception as error:  # another package's code may raise anything
                kind = "" if isinstance(error, GroundswellError) else f"{type(error).__name__}: "
                warn(f"{each.file} could not be drawn: {kind}{error}")
    return found


def _pictures_of_run(solver: str, warn: Warn) -> list[Picture]:
    try:
        return pictures_of(solver) if solver else []
    except InputError as error:
        warn(f"no pictures: {error}")
        return []
