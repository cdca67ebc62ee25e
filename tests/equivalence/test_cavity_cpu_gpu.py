"""The same cavity on the CPU and on a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gpu import gpu_count

from groundswell.backends import open_backend
from groundswell.solvers.cavity.case import FIELDS, CavityCase
from groundswell.solvers.cavity.setup import prepare
from groundswell.solvers.cavity.solver import Cavity

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(gpu_count() < 1, reason="needs a GPU")]

TOLERANCE = {"single": 2e-5, "double": 1e-10}
PERIODIC = {"kind": "periodic"}
LID = {"kind": "adiabatic", "velocity": [0.2, 0.1, 0.0]}
SIDES: dict[str, dict[str, Any]] = {
    "walls": {"north": {"kind": "conducting"}, "top": LID},
    "open": {"south": PERIODIC, "north": PERIODIC, "bottom": {"kind": "symmetry"}, "top": LID},
}


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("scheme", ["euler", "rk3", "rk4"])
@pytest.mark.parametrize("sides", SIDES)
@pytest.mark.parametrize("local", [True, False])
def test_cpu_and_gpu_agree(precision: str, scheme: str, sides: str, local: bool) -> None:
    case = CavityCase(
        fluid={"kind": "rayleigh", "rayleigh": 1e5},
        grid={"points": [150, 37, 41]},
        walls=SIDES[sides],
        time={"scheme": scheme, "local": local, "levels": 1},
        run={"precision": precision},
    )
    flows = [flow_after(case, backend, 200) for backend in ("cpu", "cuda")]
    for name in FIELDS:
        assert np.abs(flows[1][name] - flows[0][name]).max() < TOLERANCE[precision], name
        assert np.abs(flows[0][name]).max() > 1e-3


@pytest.mark.parametrize("sides", SIDES)
def test_cycles_through_coarser_grids_agree(sides: str) -> None:
    case = CavityCase(
        fluid={"kind": "rayleigh", "rayleigh": 1e5},
        grid={"points": [70, 37, 41]},
        walls=SIDES[sides],
        time={"levels": 3, "check_every": 1},
    )
    flows = [flow_after(case, backend, 18) for backend in ("cpu", "cuda")]
    for name in FIELDS:
        assert np.abs(flows[1][name] - flows[0][name]).max() < TOLERANCE["double"], name
        assert np.abs(flows[0][name]).max() > 1e-3


@pytest.mark.parametrize("precision", ["single", "double"])
def test_stretched_grids_agree(precision: str) -> None:
    case = CavityCase(
        fluid={"kind": "rayleigh", "rayleigh": 1e5},
        grid={"points": [70, 37, 41], "stretching": {"x": 1.5, "z": 1.0}},
        walls=SIDES["walls"],
        time={"levels": 2, "check_every": 1},
        run={"precision": precision},
    )
    flows = [flow_after(case, backend, 12) for backend in ("cpu", "cuda")]
    for name in FIELDS:
        assert np.abs(flows[1][name] - flows[0][name]).max() < TOLERANCE[precision], name
        assert np.abs(flows[0][name]).max() > 1e-3


def flow_after(case: CavityCase, backend: str, steps: int) -> dict[str, Any]:
    """All fields after some steps."""
    solver = Cavity(prepare(case), open_backend(backend))
    graph = solver.backend.capture(solver.step, in_graph=solver.in_graph)
    every = solver.check_every
    for done in range(every, steps + 1, every):
        graph.replay(every // solver.steps_at_once)
        if solver.check_convergence(done) and solver.next_stage():
            graph = solver.backend.capture(solver.step, in_graph=solver.in_graph)
    return {name: solver.snapshot(name) for name in FIELDS}
