"""All pictures of a run, drawn from the files in its results folder."""

from __future__ import annotations

from pathlib import Path

from groundswell.report.flow import flow_picture, residuals_picture
from groundswell.report.section import record_section
from groundswell.report.shaking import shaking_map
from groundswell.report.snapshots import snapshots
from groundswell.report.solution import convergence_picture, solution_picture

__all__ = ["draw_pictures", "record_section", "shaking_map", "snapshots"]

_SOURCES = {
    "shaking_map.nc": shaking_map,
    "seismograms.h5": record_section,
    "surface.nc": snapshots,
    "flow.nc": flow_picture,
    "residuals.csv": residuals_picture,
    "solution.vtkhdf": solution_picture,
    "convergence.csv": convergence_picture,
}


def draw_pictures(results: str | Path) -> list[Path]:
    """Draw every picture for which the results folder has the data; returns their paths.

    Raises:
        InputError: a file is damaged.
    """
    results = Path(results)
    return [draw(results) for name, draw in _SOURCES.items() if (results / name).exists()]
