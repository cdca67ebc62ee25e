"""Strain Green tensors of ruptures in FSP and of events, against runs with these sources."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from event_files import Quake, quakeml
from fsp_files import Model, Segment
from small_green import PLACE, filtered, force_case, rupture_case

import groundswell as gs
from groundswell.backends import open_backend
from groundswell.seismology.formats.seismograms import read_seismograms
from groundswell.seismology.green.command import Rupture, synthesize
from groundswell.seismology.sources.moment import double_couple, to_rtp
from groundswell.solvers.earthquake import EarthquakeCase


def write_fsp(folder: Path) -> tuple[Path, dict[str, Any]]:
    """Four subfaults, small enough for the region of small_green."""
    rng, path = np.random.default_rng(9), folder / "model.fsp"
    columns = {"SLIP": rng.uniform(0.5, 1, 4), "RAKE": rng.uniform(0, 60, 4)}
    columns |= {"TRUP": np.array([0.05, 0.1, 0.12, 0.18]), "RISE": rng.uniform(0.2, 0.3, 4)}
    segment = Segment(80.0, 60.0, (2, 2), columns, (-118.0, 34.0, 0.4), sides=(0.2, 0.15))
    path.write_text(Model([segment], structure=()).text())
    return path, {"kind": "fsp", "file": str(path), **PLACE, "azimuth": 25.0}


def write_events(folder: Path) -> tuple[Path, dict[str, Any]]:
    """Six events on an upright plane along x."""
    path, tensor = folder / "events.xml", to_rtp(double_couple(90.0, 80.0, 30.0, 1e15), 0.0)
    quakes = [
        Quake(
            name=f"E{n}",
            centroid=(-118 + 1.2e-3 * (n % 3), 34.0, 400.0 + 100.0 * (n // 3)),
            shift=0.2 + 0.03 * n,
            tensor=(*tensor,),
            half_duration=0.1,
        )
        for n in range(6)
    ]
    path.write_bytes(quakeml(*quakes))
    place = {"x": PLACE["x"], "y": PLACE["y"], "azimuth": 25.0}
    return path, {"kind": "event", "select": "all", "file": str(path), **place}


@pytest.mark.parametrize("write", [write_fsp, write_events])
def test_seismograms_are_those_of_a_run_with_the_rupture(write: Any, tmp_path: Path) -> None:
    if write is write_events:
        pytest.importorskip("obspy")
    path, section = write(tmp_path)
    forward = EarthquakeCase.from_dict(rupture_case(path, source=[section]))
    gs.run(forward, folder=tmp_path / "forward", quiet=True)
    runs = [tmp_path / str(axis) for axis in range(3)]
    for axis, folder in enumerate(runs):
        case = EarthquakeCase.from_dict(force_case(axis, {"rupture": section}))
        gs.run(case, folder=folder, quiet=True)
    synthesize(runs, Rupture(path), tmp_path / "found", open_backend("cpu"), dtype="float64")
    found = read_seismograms(tmp_path / "found" / "seismograms.h5")
    times, exact = filtered(tmp_path / "forward")
    steps = np.rint((times - found["time"].values[0]) / (times[1] - times[0])).astype(int)
    both = (steps >= 0) & (steps < found.sizes["time"])
    assert both.sum() > 70
    assert found["time"].values[steps[both]] == pytest.approx(times[both], abs=1e-9)
    difference = np.abs(found.values[0][:, steps[both]] - exact[:, both]).max()
    assert difference < 1e-12 * np.abs(exact).max()
