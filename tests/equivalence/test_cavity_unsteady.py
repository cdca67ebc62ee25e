"""Flow in time, with all kinds of walls, is the same on several ranks and on a GPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray
from gpu import gpu_count
from ranks import run_cases

from groundswell.backends import open_backend
from groundswell.solvers.cavity.case import FIELDS, CavityCase
from groundswell.solvers.cavity.setup import prepare
from groundswell.solvers.cavity.unsteady import UnsteadyCavity

needs_gpu = pytest.mark.skipif(gpu_count() < 1, reason="needs a GPU")
WALLS = {
    "south": {"kind": "periodic"},
    "north": {"kind": "periodic"},
    "bottom": {"kind": "robin", "h": 3.0, "ambient": "0.3 * x + 0.1 * sin(2 * pi * y)"},
    "top": {"kind": "flux", "flux": 0.1, "velocity": [0.1, 0.05, 0.0]},
}
OnRanks = Callable[..., str]


# The cut between two ranks passes through it.
SOLID = {
    "low": [0.4, 0.0, 0.3],
    "high": [0.65, 1.0, 0.6],
    "conductivity": 4.0,
    "heat_capacity": 2.0,
    "power": 0.2,
}


IN_TIME = {"duration": 0.15, "step": 0.05}
TO_STEADY_FLOW = {"step": 0.5, "steps": 2}


def content(
    solid: Sequence[Any] = (), *, stretched: bool = False, time: Any = IN_TIME, **run: Any
) -> dict[str, Any]:
    stretching = {"x": 1.0, "z": 0.5} if stretched else {}
    return {
        "solver": "cavity",
        "fluid": {"kind": "rayleigh", "rayleigh": 1e5},
        "grid": {"points": [37, 11, 13], "stretching": stretching},
        "walls": WALLS,
        "solid": list(solid),
        "time": {**time, "levels": 2},
        "run": run,
    }


@pytest.mark.timeout(600)
def test_two_ranks_find_the_same_flow(on_ranks: OnRanks, tmp_path: Path, full: bool) -> None:
    in_time = {**IN_TIME, "tolerance": 1e-2}  # bits are the same after few cycles, too
    contents: dict[str, dict[str, Any]] = {
        "empty": {"time": in_time},
        "stretched": {"time": in_time, "solid": (SOLID,), "stretched": True},
        "implicit": {"time": TO_STEADY_FLOW},
    }
    if full:
        contents["solid"] = {"time": in_time, "solid": (SOLID,)}
    cut = {"processes": [2, 1, 1]}
    one = {f"{name}-one": content(**case) for name, case in contents.items()}
    two = {f"{name}-two": content(**case, **cut) for name, case in contents.items()}
    alone, both = run_cases(on_ranks, 1, one, tmp_path), run_cases(on_ranks, 2, two, tmp_path)
    for name in contents:
        assert_same(alone / f"{name}-one", both / f"{name}-two")


def assert_same(alone: Path, both: Path) -> None:
    with (
        xarray.open_dataset(alone / "flow.nc", engine="h5netcdf") as a,
        xarray.open_dataset(both / "flow.nc", engine="h5netcdf") as b,
    ):
        for name in FIELDS:
            assert np.abs(a[name]).max() > 0
            assert a[name].values.tobytes() == b[name].values.tobytes(), name
    table = "history.csv" if (alone / "history.csv").exists() else "residuals.csv"
    rows = [np.loadtxt(p / table, delimiter=",", skiprows=1) for p in (alone, both)]
    assert len(rows[0]) in (2, 3)
    np.testing.assert_allclose(*rows, rtol=1e-8)


@needs_gpu
@pytest.mark.gpu
@pytest.mark.parametrize(("solid", "stretched"), [((), False), ((SOLID,), False), ((SOLID,), True)])
@pytest.mark.parametrize(("precision", "tolerance"), [("single", 2e-4), ("double", 1e-8)])
def test_cpu_and_gpu_agree(
    precision: str, tolerance: float, solid: Sequence[Any], stretched: bool
) -> None:
    """To what the iterations leave: both may make different numbers of cycles."""
    flows = []
    for backend in ("cpu", "cuda"):
        run = {"backend": backend, "precision": precision}
        case = CavityCase(**content(solid, stretched=stretched, **run))
        time = {"tolerance": 1e-9 if precision == "double" else 2e-5}
        case = case.model_copy(update={"time": case.time.model_copy(update=time)})
        solver = UnsteadyCavity(prepare(case), open_backend(backend))
        for _ in range(6):
            solver.step()
        flows.append({name: solver.snapshot(name) for name in FIELDS})
    for name in FIELDS:
        assert np.abs(flows[1][name] - flows[0][name]).max() < tolerance, name
        assert np.abs(flows[0][name]).max() > 1e-3
