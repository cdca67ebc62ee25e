"""The motion of the surface: peaks and series at points of a lattice, against NumPy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dgwave_cases import EXPLOSION, WATER, build, setup
from numpy.polynomial.legendre import legvander

import groundswell as gs
from groundswell.backends.base import in_order
from groundswell.errors import CaseError, InputError
from groundswell.meshes.gll import gll
from groundswell.seismology.formats.shaking_maps import open_surface
from groundswell.solvers.dgwave.recording.lattice import has_shaking_map, surface_axes

SEA = {
    "kind": "layered",
    "layers": [{"top": 0, **{k: WATER[k] for k in ("vp", "vs", "rho")}},
               {"top": 400, "vp": 3000, "vs": 1700, "rho": 2500}],
}  # fmt: skip


def top_values(solver: Any, name: str, x: Any, y: Any) -> np.ndarray:
    """A field at points of the surface, (ny, nx), from Legendre polynomials of an element's top."""
    setup, degree = solver.setup, solver.setup.degree
    lower, upper = setup.geometry.forest.boxes(solver.elements.numbers)
    field = solver.propagation.fields[name].reshape(-1, *[degree + 1] * 3)
    to_modes = np.linalg.inv(legvander(gll(degree).points, degree))
    found = np.empty((len(y), len(x)))
    for j, v in enumerate(y):
        for i, u in enumerate(x):
            inside = (lower[:, :2] <= (u, v)) & ((u, v) <= upper[:, :2])
            holds = inside.all(axis=1) & (lower[:, 2] <= 0) & (upper[:, 2] > 0)
            e = np.flatnonzero(holds)[solver.elements.numbers[holds].argmin()]
            place = 2 * (np.array([u, v]) - lower[e, :2]) / (upper - lower)[e, :2] - 1
            r, s = (legvander(p, degree) @ to_modes for p in place[:, None])
            found[j, i] = s[0] @ field[e, 0] @ r[0]
    return found


@pytest.mark.parametrize(("precision", "tolerance"), [("single", 1e-5), ("double", 1e-13)])
def test_peaks_are_those_of_the_horizontal_vector(precision: str, tolerance: float) -> None:
    case = build(run__precision=precision, method__degree=3, boundary__top="pml")
    with gs.Simulation(case) as simulation:
        solver: Any = simulation.solver
        x, y = surface_axes(solver.setup.geometry)
        assert len(x) == len(y) == 4 * 3 and x[0] == pytest.approx(200 / 6)
        peaks, rng = solver.outputs._map, np.random.default_rng(3)
        past, pgv, pga = np.zeros((2, len(y), len(x))), 0.0, 0.0
        for _ in range(3):
            solver.propagation.u[...] = rng.standard_normal(solver.propagation.u.shape)
            now = np.stack([top_values(solver, name, x, y) for name in ("vx", "vy")])
            pgv = np.maximum(pgv, np.hypot(*now))
            pga = np.maximum(pga, np.hypot(*(now - past)) / solver.setup.dt)
            past = now
            in_order(peaks.launches)()
        for found, wanted in zip(peaks._peaks, (pgv, pga), strict=True):
            assert np.abs(found.reshape(wanted.shape) / wanted - 1).max() < tolerance


def test_the_map_and_the_series_of_a_run_agree(tmp_path: Path) -> None:
    """The largest sample of the series is the peak, and each sample that of a receiver."""
    place = {"x": 250.0, "y": 350.0}  # a point of the lattice, with elements of degree 2
    output = {"shaking_map": True, "surface": {"interval": "1 us", "stride": 1}}
    pulse = {"source__0__time_function": {"kind": "gaussian", "sigma": "0.05 s"}}
    changes = {"time__duration": 0.5, "receiver": [{"name": "A", **place}], "output": output}
    result = gs.run(build(tmp_path, **changes, **pulse), folder=tmp_path / "results")
    with open_surface(result.folder / "surface.nc") as dataset:
        series = dataset["velocity"].load()
    assert dict(series.sizes) == {"time": result.summary["steps"], "component": 3, "y": 8, "x": 8}
    trace = series.sel(place).transpose("component", "time")
    largest = float(np.abs(trace).max())
    assert largest > 0
    assert np.allclose(trace, result.seismograms[0], rtol=0, atol=1e-5 * largest)
    horizontal = np.hypot(series.sel(component="E"), series.sel(component="N"))
    assert np.allclose(result.shaking_map["pgv"], horizontal.max("time"), rtol=1e-5)
    assert result.shaking_map["x"].values == pytest.approx(np.arange(50, 800, 100))


def test_points_are_thinned_by_the_stride(tmp_path: Path) -> None:
    surface = {"interval": 0.02, "stride": 3}
    result = gs.run(build(tmp_path, output__surface=surface), folder=tmp_path / "results")
    with open_surface(result.folder / "surface.nc") as dataset:
        assert dataset["x"].values == pytest.approx([50, 350, 650])
        assert float(dataset["time"][1]) == pytest.approx(0.02, rel=0.2)


def test_by_default_only_ground_has_a_map(tmp_path: Path) -> None:
    assert has_shaking_map(setup())
    assert not has_shaking_map(setup(medium=SEA, source=[EXPLOSION]))
    assert has_shaking_map(setup(medium=SEA, source=[EXPLOSION], output__shaking_map=True))
    assert not has_shaking_map(setup(output__shaking_map=False))
    case = build(tmp_path, output__shaking_map=False)
    with pytest.raises(InputError, match=r"run the case with output\.shaking_map = true"):
        _ = gs.run(case, folder=tmp_path / "results").shaking_map


def test_an_interval_is_within_the_run() -> None:
    with pytest.raises(CaseError, match=r"output.surface.interval.*at most the duration, 0.1 s"):
        build(output__surface={"interval": 1})
