"""Runs with smooth random motion at stations, and observed records that differ in a known way."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from result_files import Site

from groundswell.seismology.formats.seismograms import SeismogramWriter

rng = np.random.default_rng(611)
DATE = "2030-01-01T12:00:00Z"
EVENT = {"title": "Test", "event_x": 0.0, "event_y": 0.0, "reference_time": DATE, "azimuth": 20.0}
SITES = [
    Site("GS", "NEAR", (3000.0, 1000.0, 0.0)),
    Site("GS", "FAR", (-2000.0, 9000.0, 0.0)),
    Site("", "LONE", (0.0, 4000.0, 0.0)),
]
LENGTH = 40.0  # s
_PULSES = 6
# Times, widths and amplitudes of pulses of each station and component.
_TIMES = rng.uniform(12.0, 26.0, (len(SITES), 3, _PULSES, 1))
_WIDTHS = rng.uniform(0.4, 1.2, _TIMES.shape)
_SIZES = rng.normal(size=_TIMES.shape)


def motion(time: np.ndarray) -> np.ndarray:
    """Velocity towards E, N and Z (stations, 3, n) at times, s; quiet at both ends."""
    u = (time - _TIMES) / _WIDTHS
    return np.asarray((_SIZES * (1 - u**2) * np.exp(-(u**2) / 2)).sum(axis=2))


def write_run(folder: Path, interval: float = 0.02, delay: float = 0.0, **attrs: Any) -> Path:
    """A results folder with this motion, later by `delay` (s); returns its path."""
    folder.mkdir()
    time = interval * np.arange(round(LENGTH / interval))
    towards = motion(time - delay)
    azimuth = float(attrs.get("azimuth", EVENT["azimuth"]))
    cos, sin = np.cos(np.radians(azimuth)), np.sin(np.radians(azimuth))
    east, north, up = towards[:, 0], towards[:, 1], towards[:, 2]
    along = np.stack([cos * east - sin * north, sin * east + cos * north, -up])
    about = {**EVENT, **attrs}
    path = folder / "seismograms.h5"
    with SeismogramWriter(path, SITES, interval, attrs=about, dtype="f8") as writer:
        writer.append(along.transpose(2, 1, 0))
    summary = {"solver": "earthquake", "files": ["seismograms.h5"]}
    (folder / "summary.json").write_text(json.dumps(summary))
    return folder


def observed_stream(
    delay: float = 0.0, factor: float = 1.0, interval: float = 0.01, before: float = 7.3
) -> Any:
    """An ObsPy stream of the motion, later by `delay` (s), `factor` times as large.

    It begins `before` (s) before time 0, and has channels of a broadband seismometer.
    """
    import obspy

    start = obspy.UTCDateTime(DATE) - before
    time = interval * np.arange(round((LENGTH + before + 5.0) / interval)) - before
    traces = []
    for site, three in zip(SITES, factor * motion(time - delay), strict=True):
        for component, values in zip("ENZ", three, strict=True):
            header = {"network": site.network or "XX", "station": site.name}
            about = {**header, "channel": f"HH{component}", "delta": interval, "starttime": start}
            traces.append(obspy.Trace(values, about))
    return obspy.Stream(traces)
