"""The pictures of a run, which its solver draws from the files in its results folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from groundswell import registry
from groundswell.simulation.summary import read_summary


@dataclass(frozen=True)
class Picture:
    """One picture that a solver can draw.

    Args:
        source: file of results that it shows.
        file: the picture's name.
        caption: for the report.
        draw: function of the results folder; returns the picture's path.
    """

    source: str
    file: str
    caption: str
    draw: Callable[[Path], Path]


def pictures_of(solver: str) -> list[Picture]:
    """All pictures that a solver can draw."""
    info = registry.find(solver)
    found: list[Picture] = info.load("pictures") if info.has("pictures") else []
    return found


def draw_pictures(results: str | Path) -> list[Path]:
    """Draw every picture for which the results folder has the data; returns their paths.

    Raises:
        InputError: no summary of a run is there, or a file is damaged.
    """
    results = Path(results)
    pictures = pictures_of(str(read_summary(results).get("solver")))
    return [each.draw(results) for each in pictures if (results / each.source).exists()]
