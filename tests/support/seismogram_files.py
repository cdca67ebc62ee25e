"""Files of seismograms of random motion."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from groundswell.seismology.formats.seismograms import SeismogramWriter
from groundswell.seismology.receivers import Station

rng = np.random.default_rng(1994)
EVENT = {
    "title": "Test",
    "origin_time": "2014-03-29T04:09:42.970000Z",
    "event_longitude": -117.93,
    "event_latitude": 33.93,
    "event_depth": 5000.0,
    "magnitude": 5.1,
}


Site = partial(Station, kind="hydrophone")


SITES = (
    Site("CI", "OLI", (1000.0, 2000.0, 0.0), -117.9, 33.95),
    Site("CI", "WLT", (5500.0, 300.0, 12.0), -117.95, 34.0),
    Site("", "Q1", (10.0, 20.0, 30.0), -118.0, 34.1),
)


def write(path: Path, block: np.ndarray, **options: Any) -> Path:
    """The file with a block of samples, stations and components."""
    options = {"interval": 0.02, "attrs": EVENT, **options}
    with SeismogramWriter(path, options.pop("stations", SITES), **options) as writer:
        writer.append(block)
    return path


def noise(samples: int = 60, stations: int = len(SITES)) -> np.ndarray:
    """Random motion along three axes."""
    return rng.normal(size=(samples, stations, 3)).astype("f4")
