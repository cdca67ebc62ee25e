"""Maps of intensity measures of both seismic solvers: those of the series at the same points."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray

import groundswell as gs
from groundswell import registry
from groundswell.backends.cpu import CpuBackend
from groundswell.errors import CaseError, Interrupted
from groundswell.seismology.case.intensity import IntensityOutput
from groundswell.seismology.intensity.seismograms import measure

SOLVERS = ("earthquake", "dgwave")
SIZE, SPACING, STEP, EVERY = 1200.0, 200.0, 0.003, 3
ANGLES = 180  # as many as measures of receivers have
ALL = ["psa", "rotd50", "rotd100", "arias", "cav"]
WANTED = {
    "periods": ["0.3 s", "1 s"],
    "damping": 0.1,
    "maps": ALL,
    "angles": ANGLES,
    "interval": EVERY * STEP,
}
PULSE = {"kind": "gaussian", "sigma": 0.08, "onset": -0.3}  # the run starts before time 0
SOURCE = {
    "kind": "double-couple",
    **{"x": 630.0, "y": 580.0, "depth": 410.0},
    **{"strike": 20, "dip": 60, "rake": 70, "magnitude": 3, "time_function": PULSE},
}
PLACES = {  # points of maps
    "earthquake": [(300.0, 700.0), (900.0, 500.0)],
    "dgwave": [(250.0, 750.0), (950.0, 450.0)],
}


def make_case(solver: str, azimuth: float = 0.0, **output: Any) -> Any:
    at = {"center": [12.34, 45.67], "azimuth": azimuth}
    content: dict[str, Any] = {
        "grid": {"size": [SIZE] * 3, "spacing": SPACING, "geography": at},
        "time": {"duration": 0.6, "step": STEP},
        "medium": {"kind": "homogeneous", "vp": 4000, "vs": 2300, "rho": 2600},
        "boundary": {"width": 2 if solver == "dgwave" else 4},
        "source": [SOURCE],
        "receiver": [{"name": f"R{n}", "x": x, "y": y} for n, (x, y) in enumerate(PLACES[solver])],
        "output": {"seismograms": {"interval": STEP}, "intensity": WANTED, **output},
        "run": {"precision": "double"},
    }
    if solver == "dgwave":
        content["method"] = {"degree": 2}
    return registry.find(solver).load("case").from_dict(content)


@pytest.fixture(scope="module", params=SOLVERS)
def result(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A run on a grid that is turned, so that east is no axis of it."""
    folder = tmp_path_factory.mktemp(request.param)
    return gs.run(make_case(request.param, azimuth=33.0), folder=folder)


def test_maps_are_the_measures_of_series(result: Any) -> None:
    """The same steps of the same oscillators: to rounding, where the samples are the same."""
    section = IntensityOutput(**{k: WANTED[k] for k in ("periods", "damping")})
    series, backend = result.seismograms, CpuBackend()
    sampled = measure(series[..., ::EVERY], section, backend, oversampling=1)
    whole = measure(series, section, backend, oversampling=1)
    for n, (x, y) in enumerate(PLACES[result.summary["solver"]]):
        found = result.intensity_maps.sel(x=x, y=y)
        wanted = sampled.isel(station=n).sel(component=["E", "N"])
        for name in ("psa", "rotd50", "rotd100"):
            expected = wanted[name].transpose(*found[name].dims)
            np.testing.assert_allclose(found[name], expected, rtol=1e-6)
        np.testing.assert_allclose(found.psa_vector, found.rotd100, rtol=2e-4)
        for name in ("arias", "cav"):
            expected = whole[name].isel(station=n).sel(component=["E", "N"])
            np.testing.assert_allclose(found[name], expected, rtol=1e-6)
    assert found.attrs["oscillator_interval"] == pytest.approx(EVERY * STEP)
    assert found.psa.sel(component="E", period=0.3) > 0


def test_receivers_have_measures(result: Any) -> None:
    """With a spline through the samples, which are dense: nearly those of the maps."""
    assert list(result.intensity.station) == ["R0", "R1"]
    for n, (x, y) in enumerate(PLACES[result.summary["solver"]]):
        at_map = result.intensity_maps.sel(x=x, y=y)
        at_receiver = result.intensity.isel(station=n)
        np.testing.assert_allclose(at_map.rotd50, at_receiver.rotd50, rtol=1e-2)
    files = result.summary["files"]
    assert {"intensity.nc", "intensity.csv", "intensity_maps.nc"} <= {*files}
    labels = {each["label"] for each in result.summary["findings"]["quantities"]}
    assert {"R0", "R1"} <= labels


def test_an_interrupted_run_continues_bit_for_bit(result: Any, tmp_path: Path) -> None:
    """The oscillators and sums belong to the checkpoint."""
    case = make_case(result.summary["solver"], azimuth=33.0)
    stop = gs.every(100, lambda live: live.stop())
    with pytest.raises(Interrupted):
        gs.run(case, folder=tmp_path, callbacks=[stop])
    found = gs.run(case, folder=tmp_path, resume=True)
    assert found.summary["resumed_at"] == 100
    xarray.testing.assert_identical(found.intensity_maps, result.intensity_maps)
    xarray.testing.assert_identical(found.intensity, result.intensity)


@pytest.mark.gpu
def test_a_gpu_measures_the_same(gpu: Any, result: Any, tmp_path: Path) -> None:
    case = make_case(result.summary["solver"], azimuth=33.0)
    found = gs.run(case, folder=tmp_path, backend=gpu.name)
    for name in ("intensity_maps", "intensity"):
        ours, theirs = getattr(result, name), getattr(found, name)
        for key in ours.data_vars:
            scale = float(abs(ours[key]).max())
            np.testing.assert_allclose(theirs[key], ours[key], rtol=0, atol=1e-9 * scale)


@pytest.mark.parametrize("solver", SOLVERS)
def test_check_counts_the_oscillators(solver: str) -> None:
    """4 and 3 values and one for each angle, for each period; 6 of motion, twice; 4 sums."""
    case = make_case(solver)
    plain = case.model_copy(update={"output": case.output.model_copy(update={"intensity": None})})
    memory = [gs.check(each)["memory"] for each in (plain, case)]
    points = {"earthquake": 6 * 6, "dgwave": 12 * 12}[solver]
    values = 2 * (4 + 3 + ANGLES) + 6 + 6 + 4
    located = {"earthquake": 0, "dgwave": 8 + 4 + 9 * 8}[solver]  # where points lie
    assert memory[1] - memory[0] == points * (8 * values + located)


def test_measures_of_nothing() -> None:
    case = make_case("earthquake").model_dump()
    with pytest.raises(CaseError, match="nothing to measure"):
        type(make_case("earthquake")).from_dict(
            case | {"receiver": [], "output": {"intensity": {}}}
        )
