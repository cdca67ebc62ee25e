"""Runs whose waves grow without a source end with a clear failure, long before they overflow."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dgwave_cases import changed
from hypothesis import given
from hypothesis import strategies as st
from ranks import run_on_ranks
from toml_text import toml

import groundswell
from groundswell.backends import open_backend
from groundswell.errors import Unstable
from groundswell.simulation.finite_check import NonFiniteSearch, Weights
from groundswell.simulation.growth_watch import GROWTH, GrowthWatch
from groundswell.solvers.earthquake.case import EarthquakeCase

pytestmark = [pytest.mark.each_value, pytest.mark.timeout(240)]

Write = Callable[..., Path]
PROGRAM = Path(__file__).parents[1] / "support" / "amplifying_sponges_program.py"
SPONGE = {"sides": "sponge", "bottom": "sponge"}
PULSE = {"kind": "cosine", "rise": "0.2 s"}


# --- the watch ------------------------------------------------------------------------------------


def watch(energies: Sequence[float], sources_end: float = 0.5) -> None:
    """Watch energies at the times 0, 1, 2..."""
    found = GrowthWatch(sources_end, "do this")
    for time, energy in enumerate(energies):
        found.add(float(energy), float(time))


@given(st.floats(1.01, 30.0), st.floats(1e-9, 1.0))
def test_exponential_growth_is_found_and_dated(rate: float, start: float) -> None:
    decay = [1.0, 0.5, 0.25]
    steps = range(int(np.log(1e20) / np.log(rate)))
    growth = [0.25 * start * rate**n for n in steps]
    with pytest.raises(Unstable, match=r"ended at t = 0\.5 s.* the run is unstable; do this"):
        watch([*decay, *growth])


@given(st.floats(0.0, 3.0), st.floats(0.2, 3.0), st.floats(0.0, 0.5))
def test_standing_and_late_waves_are_no_growth(phase: float, pace: float, loss: float) -> None:
    """The kinetic energy of a standing wave vanishes twice a period."""
    t = np.arange(500)
    watch(np.sin(phase + pace * t) ** 2 * np.exp(-loss * t))


def test_growth_while_a_source_acts_or_of_rounding_errors_is_no_fault() -> None:
    watch(10.0 ** np.arange(100), sources_end=100.0)
    watch([1.0, 0.1, *(1e-12 * 1.1 ** np.arange(200))])  # up to 1e-4
    watch([0.0] * 50)
    bounded = [1.0, 0.02, 0.02, 0.02, *[0.9 * 0.02 * GROWTH] * 9]
    watch(bounded)


def test_waves_grow_by_what_faults_release() -> None:
    """And not by much more."""
    released = np.arange(40) ** 3.0
    found = GrowthWatch(-np.inf, "do this")
    for time, energy in enumerate(released):
        found.add(0.5 * energy, time, energy)
    with pytest.raises(Unstable, match=r"waves grow by more than faults release: by t = 41 s"):
        found.add(11 * released[-1], 41.0, released[-1])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(1, 1, 1), (7, 5, 300), (1, 2100, 21)])
@pytest.mark.parametrize("weighted", [False, True])
def test_squares_are_added_up(dtype: str, shape: tuple[int, ...], weighted: bool) -> None:
    backend, rng = open_backend("cpu"), np.random.default_rng(shape[2])
    fields = {}
    for name in "abc":
        padded = rng.normal(size=(shape[0] + 1, shape[1] + 2, shape[2] + 3)).astype(dtype)
        fields[name] = backend.to_device(padded)[: shape[0], : shape[1], : shape[2]]
    rows, columns = rng.uniform(0, 1, shape[:2]), rng.uniform(0, 1, 4)  # these repeat
    weights = rows[..., None] * np.resize(columns, shape[2]) if weighted else np.ones(shape)
    given = Weights(rows.ravel(), columns) if weighted else None
    search = NonFiniteSearch(backend, fields, float, str, weights=given)
    for launch in search.launches:
        launch()
    search.check(1)
    exact = sum((weights * np.square(fields[n], dtype=float)).sum() for n in "ac")
    assert search.sum_of_squares("ac") == pytest.approx(exact, rel=1e-12)


# --- runs -----------------------------------------------------------------------------------------


def quake(**changes: Any) -> dict[str, Any]:
    """An earthquake in a sponge, which lasts much longer than its source."""
    source = {"kind": "explosion", "x": 1230, "y": 1180, "depth": 810, "magnitude": 3.0}
    return {
        "solver": "earthquake",
        "grid": {"size": [2400, 2400, 2400], "spacing": 100},
        "time": {"duration": "20 s", "step": "8 ms"},
        "medium": {"kind": "homogeneous", "vp": 4000, "vs": 2300, "rho": 2600},
        "boundary": {"width": 4, "sides": "sponge"},
        "source": [{**source, "time_function": PULSE}],
        "receiver": [{"name": "A", "x": 320, "y": 710, "depth": 0}],
        **changes,
    }


def rupture() -> dict[str, Any]:
    """A fault that breaks by itself instead."""
    fault = {
        "law": "slip-weakening",
        "friction": {"static": 0.6, "dynamic": 0.5, "distance": 0.05},
        "plane": {"y": 1250, "x": [800, 1600], "depth": [600, 1400]},
        "stress": {"normal": 50e6, "shear": 31e6, "rake": 0},
    }
    return quake(source=[], fault=[fault])


def waves() -> dict[str, Any]:
    """The same for `dgwave`."""
    return changed(
        boundary=SPONGE | {"width": 2}, time__duration="20 s", source__0__time_function=PULSE
    )


@pytest.mark.most(1)
@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("case", [quake(), waves()], ids=["earthquake", "dgwave"])
def test_a_growing_run_fails_on_all_ranks(case: dict[str, Any], ranks: int, tmp_path: Path) -> None:
    path = tmp_path / "case.toml"
    case = {**case, "run": {"checkpoint": {"steps": 100}}}
    path.write_text("".join(f"{key} = {toml(entry)}\n" for key, entry in case.items()))
    done = run_on_ranks(ranks, PROGRAM, "run", path, "-q")
    text = " ".join(done.stderr.split())
    assert done.returncode == 1 and text.count("the run is unstable; shorten time.step") == 1
    assert re.search(r"the last source ended at t = 0\.(2|19)\d* s", text)
    assert "--resume" not in text
    folder = tmp_path / "results"
    assert (folder / "checkpoint.h5").exists() and not (folder / "seismograms.h5").exists()


def test_a_growing_rupture_fails(tmp_path: Path) -> None:
    path = tmp_path / "case.toml"
    path.write_text("".join(f"{key} = {toml(entry)}\n" for key, entry in rupture().items()))
    done = run_on_ranks(1, PROGRAM, "run", path, "-q")
    text = " ".join(done.stderr.split())
    assert done.returncode == 1 and "waves grow by more than faults release" in text


def test_waves_that_arrive_late_and_strong_are_no_growth(tmp_path: Path) -> None:
    """Periodic sides and a soft layer keep all waves; images of the source focus them again."""
    soft = {"top": 0, "vp": 1200, "vs": 500, "rho": 1700}
    layers = [soft, {"top": 300, "vp": 5000, "vs": 2900, "rho": 2700}]
    case = quake(
        medium={"kind": "layered", "layers": layers},
        boundary={"width": 4, "sides": "periodic"},
        run={},
    )
    found = groundswell.run(EarthquakeCase.from_dict(case), folder=tmp_path / "results")
    size = np.abs(found.seismograms.values)
    half = size.shape[-1] // 2
    assert size[..., half:].max() > 0.1 * size.max()
