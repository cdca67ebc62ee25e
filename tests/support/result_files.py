"""Files of an earthquake's results, filled with random ground motion, for pictures and reports."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from groundswell.seismology.formats.seismograms import SeismogramWriter
from groundswell.seismology.formats.shaking_maps import (
    SurfacePoints,
    SurfaceWriter,
    write_shaking_map,
)
from groundswell.seismology.receivers import Station

rng = np.random.default_rng(5)
X, Y = 50.0 + 100.0 * np.arange(60), 50.0 + 100.0 * np.arange(40)
POINTS = SurfacePoints(X, Y)
EVENT = {"title": "A <test> & more", "event_x": 3000.0, "event_y": 2000.0}


Site = partial(Station, kind="hydrophone")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def degrees(x: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    """A made-up geography: turned, stretched, slightly bent."""
    east, north = 0.8 * x + 0.6 * y, -0.6 * x + 0.8 * y
    return -118 + east / 9e4, 34 + north / 1.1e5 + 1e-13 * east * north


def write_map(folder: Path, pgv: np.ndarray, *, geography: bool = False, **attrs: Any) -> None:
    points = SurfacePoints(X, Y, *degrees(*np.meshgrid(X, Y))) if geography else POINTS
    write_shaking_map(folder / "shaking_map.nc", pgv, pgv, points, {**EVENT, **attrs})


def write_stations(folder: Path, count: int = 4, samples: int = 50, **attrs: Any) -> np.ndarray:
    places = rng.uniform((0, 0), (6000, 4000), (count, 2))
    sites = [Site("N", f"S{i:02}", (x, y, 0.0)) for i, (x, y) in enumerate(places)]
    attrs = {**EVENT, **attrs}
    with SeismogramWriter(folder / "seismograms.h5", sites, interval=0.1, attrs=attrs) as writer:
        writer.append(rng.normal(size=(samples, count, 3)))
    return places


def write_summary(folder: Path, summary: Any) -> None:
    (folder / "summary.json").write_text(json.dumps(summary))


def write_results(folder: Path, summary: Any = None) -> Path:
    write_map(folder, rng.uniform(0.01, 1, (40, 60)), focal_mechanism=[10.0, 60.0, 80.0])
    write_stations(folder)
    with SurfaceWriter(folder / "surface.nc", POINTS, 0.1, attrs=EVENT) as writer:
        writer.append_velocity(rng.normal(size=(8, 3, 40, 60)))
    write_summary(folder, summary or {"solver": "earthquake"})
    return folder
