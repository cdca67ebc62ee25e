"""A record that one solver has simulated, compared with the same case of the other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import groundswell as gs
from groundswell.seismology.case.outputs import SeismogramOutput
from groundswell.seismology.comparison.compare import Comparison
from groundswell.seismology.formats.export import export_seismograms

DELAY, FACTOR = 0.137, 1.3
BAND = (1.0, 4.0)
ORIGIN = "2030-01-01T12:00:00Z"

CASE: dict[str, Any] = {
    "title": "Two methods",
    "grid": {"size": [1200.0, 1200.0, 1200.0]},
    "time": {"duration": 3.4},
    "event": {"origin_time": ORIGIN},
    "medium": {"kind": "homogeneous", "vp": 4e3, "vs": 2.3e3, "rho": 2600.0},
    "source": [
        {
            "kind": "double-couple",
            **{"x": 450.0, "y": 450.0, "depth": 550.0},
            **{"strike": 20, "dip": 70, "rake": 30, "magnitude": 3},
            "time_function": {"kind": "gaussian", "sigma": 0.08, "delay": 1.4},
        }
    ],
    "receiver": [
        {"network": "GS", "name": "TOP", "x": 900.0, "y": 750.0, "depth": 0.0},
        {"network": "GS", "name": "LOW", "x": 750.0, "y": 300.0, "depth": 750.0},
    ],
    "output": {"seismograms": {"interval": 0.01}, "shaking_map": False},
}
OWN: dict[str, dict[str, Any]] = {
    "earthquake": {"grid": {"spacing": 100.0}, "boundary": {"width": 4}},
    "dgwave": {"grid": {"spacing": 300.0}, "boundary": {"width": 1}, "method": {"degree": 4}},
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, gs.Result]:
    folder = tmp_path_factory.mktemp("runs")
    found = {}
    for solver, own in OWN.items():
        content = {**CASE, **own, "solver": solver, "grid": {**CASE["grid"], **own["grid"]}}
        kind = gs.dgwave.DgWaveCase if solver == "dgwave" else gs.earthquake.EarthquakeCase
        found[solver] = gs.run(kind.from_dict(content), folder=folder / solver, quiet=True)
    return found


@pytest.mark.full
def test_a_late_and_strong_record_of_the_other_solver_is_recognised(
    runs: dict[str, gs.Result], tmp_path: Path
) -> None:
    """The shift to a sample, the factor to 1e-3 and the misfit, beside what both differ by."""
    plain = runs["dgwave"].compare(runs["earthquake"], band=BAND)
    assert plain.medians["misfit"] < 0.05 and plain.medians["correlation"] > 0.999
    obspy = pytest.importorskip("obspy")
    section = SeismogramOutput(formats=("mseed",))
    [path] = export_seismograms([runs["earthquake"].seismograms], section, tmp_path)
    stream = obspy.read(str(path))
    for trace in stream:
        trace.stats.starttime += DELAY
        trace.data = FACTOR * trace.data
    late = runs["dgwave"].compare(stream, band=BAND)
    for row, before in zip(late.rows, plain.rows, strict=True):
        assert (row.station, row.component) == (before.station, before.component)
        assert row.shift == pytest.approx(before.shift - DELAY, abs=0.01)
        assert row.ratio == pytest.approx(before.ratio / FACTOR, rel=1e-3)
        expected = misfit(plain, row.station, row.component)
        assert row.misfit == pytest.approx(expected, rel=0.01) and expected > 0.5


def misfit(plain: Comparison, station: str, component: str) -> float:
    """The misfit to the late and strong record, from the traces without the change."""
    pair = next(each for each in plain.pairs if each.station == station)
    simulated, observed = pair.simulated[component], pair.observed[component]
    changed = FACTOR * np.interp(pair.time - DELAY, pair.time, observed, left=0.0)
    return float(np.linalg.norm(simulated - changed) / np.linalg.norm(changed))
