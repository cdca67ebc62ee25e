"""The pictures and films of a run, which its solver draws from the files in the results folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from groundswell import registry
from groundswell.errors import GroundswellError, InputError
from groundswell.simulation.folder_lock import locked
from groundswell.simulation.summary import Summary, add_files, read_summary

Warn = Callable[[str], object]  # takes a warning


@dataclass(frozen=True)
class Picture:
    """One picture or film that a solver can draw.

    Args:
        source: results file that it shows.
        file: file name of the picture; that of a film may get another suffix.
        caption: caption in the report.
        draw: function that draws the picture of a results folder. It returns the path of the
            picture, or None if there is nothing to show.
        is_film: whether it is a film, which is drawn only for cases with `output.film`.
    """

    source: str
    file: str
    caption: str
    draw: Callable[[Path], Path | None]
    is_film: bool = False


def pictures_of(solver: str) -> list[Picture]:
    """All pictures and films that a solver can draw.

    Raises:
        InputError: the solver is not installed.
    """
    info = registry.find(solver)
    found: list[Picture] = info.load("pictures") if info.has("pictures") else []
    return found


def draw_pictures(results: str | Path, warn: Warn) -> list[Path]:
    """Draw every picture for which the results folder has data; returns their paths.

    Films are drawn if the set-up in the summary has a true `film`. A picture that cannot be drawn
    causes a warning; the others are still drawn.

    Raises:
        InputError: the folder has no readable summary of a run.
    """
    results = Path(results)
    found: list[Path] = []
    for each in _pictures_of_run(read_summary(results), warn):
        if (results / each.source).exists():
            try:
                found += filter(None, [each.draw(results)])
            except Exception as error:  # another package's code may raise anything
                kind = "" if isinstance(error, GroundswellError) else f"{type(error).__name__}: "
                warn(f"{each.file} could not be drawn: {kind}{error}")
    return found


def draw_and_list(results: str | Path, warn: Warn) -> list[Path]:
    """Draw the pictures of a complete run, and list them in its summary; returns their paths.

    Raises:
        InputError: the folder has no readable summary, or another run writes to it.
    """
    results = Path(results)
    with locked(results):
        drawn = draw_pictures(results, warn)
        add_files(results, drawn)
    return drawn


def _pictures_of_run(summary: Summary, warn: Warn) -> list[Picture]:
    solver, case = str(summary.get("solver") or ""), summary.get("case")
    has_films = isinstance(case, dict) and case.get("film") is True
    try:
        pictures = pictures_of(solver) if solver else []
    except InputError as error:
        warn(f"no pictures: {error}")
        return []
    return [each for each in pictures if has_films or not each.is_film]
