"""Heat conduction in time on several ranks, and on a GPU, against one CPU."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gpu import gpu_count
from ranks import run_cases

from groundswell.backends import open_backend
from groundswell.solvers.poisson.case import PoissonCase
from groundswell.solvers.poisson.setup import prepare
from groundswell.solvers.poisson.unsteady import UnsteadyPoisson
from groundswell.spectral_elements.vtkhdf import LagrangeElements

OnRanks = Callable[..., str]


def content(**run: Any) -> dict[str, Any]:
    return {
        "solver": "poisson",
        "mesh": {"kind": "box", "counts": [4, 3, 2]},
        "equation": {"capacity": "1 + x", "initial": "where(x < 0.5, y, 2)", "source": "t * z"},
        "boundaries": {
            "west": {"kind": "fixed", "value": "sin(t)"},
            "top": {"kind": "robin", "h": 3.0, "ambient": "y"},
        },
        "method": {"degree": 4},
        "time": {"duration": 0.3, "step": 0.05, "order": 3},
        "run": run,
    }


def changing() -> dict[str, Any]:
    """Functions that are no products of time and position; no rank has faces of all sides."""
    found = content()
    found["equation"]["source"] = "cos(z - t)"
    found["boundaries"] = {
        "west": {"kind": "fixed", "value": "sin(t * (1 + y))"},
        "south": {"kind": "fixed", "value": "t * z"},
        "east": {"kind": "flux", "value": "sin(y - t)"},
        "top": {"kind": "robin", "h": 3.0, "ambient": "y * exp(-t * x)"},
    }
    return found


@pytest.mark.parametrize("make", [content, changing])
def test_two_ranks_find_the_same(
    on_ranks: OnRanks, tmp_path: Path, make: Callable[[], dict[str, Any]]
) -> None:
    alone = run_cases(on_ranks, 1, {"alone": make()}, tmp_path) / "alone"
    both = run_cases(on_ranks, 2, {"both": make()}, tmp_path) / "both"
    a, b = (LagrangeElements.read(path / "solution.vtkhdf").fields["u"] for path in (alone, both))
    assert np.ptp(a) > 0.5
    np.testing.assert_allclose(a, b, rtol=0, atol=1e-9)
    rows = [np.loadtxt(p / "history.csv", delimiter=",", skiprows=1) for p in (alone, both)]
    assert len(rows[0]) == 6
    np.testing.assert_allclose(*(each[:, 4:] for each in rows), atol=1e-8)


@pytest.mark.gpu
@pytest.mark.skipif(gpu_count() < 1, reason="needs a GPU")
@pytest.mark.parametrize(("precision", "tolerance"), [("single", 1e-3), ("double", 1e-8)])
def test_cpu_and_gpu_agree(precision: str, tolerance: float) -> None:
    found = []
    for backend in ("cpu", "cuda"):
        case = PoissonCase.from_dict(content(backend=backend, precision=precision))
        solver = UnsteadyPoisson(prepare(case), open_backend(backend))
        for _ in range(6):
            solver.step()
        found.append(solver.solution())
    assert np.abs(found[0] - found[1]).max() < tolerance
