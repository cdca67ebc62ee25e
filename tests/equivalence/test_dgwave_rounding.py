"""DG waves in single precision and on GPUs differ from others by rounding."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from dgwave_rank_cases import VARIANTS
from variants import long_variants

from groundswell.backends import open_backend
from groundswell.simulation.preparation import prepare
from groundswell.solvers.dgwave.case import DgWaveCase
from groundswell.solvers.dgwave.solver import DgWave

pytestmark = pytest.mark.timeout(300)


IMPEDANCE = 3000 * 2500  # kg/m^2/s, the largest


# --- rounding -------------------------------------------------------------------------------------


def long_case(variant: str, precision: str, degree: int) -> DgWaveCase:
    """A variant that does not end soon."""
    content = {**VARIANTS[variant], "time": {"duration": 10.0}, "run": {"precision": precision}}
    content["method"] = {**content["method"], "degree": degree}
    return DgWaveCase.from_dict(content)


def after_steps(case: DgWaveCase, backend: Any, steps: int) -> tuple[dict[str, Any], Any]:
    """All fields after some steps, as a graph of launches makes them, and their largest values."""
    solver = DgWave(prepare(case), backend)
    solver.prepare()
    graph, largest = backend.capture(solver.step, in_graph=solver.in_graph), Counter[str]()
    for _ in range(steps // 10):
        graph.replay(10)
        backend.synchronize()
        arrays = solver.propagation.fields.items()
        fields = {name: backend.to_host(array) for name, array in arrays}
        largest |= Counter({name: np.abs(values).max() for name, values in fields.items()})
    return fields, largest


def require_close(found: Any, expected: Any, largest: Any, tolerance: float) -> None:
    """Compare fields, relative to the largest of velocities and of stresses during the run.

    At the end, waves may have left, and fields be some hundred times smaller than their rounding
    stems from. The stress that an explosion leaves at its place is much larger than that of its
    waves, and so is the rounding of the velocities that its derivatives make.
    """
    kinds = {kind: [name for name in expected if name[0] in kind] for kind in ("v", "sp")}
    scales = {kind: max(largest[name] for name in names) for kind, names in kinds.items()}
    scales["v"] = max(scales["v"], scales["sp"] / IMPEDANCE)
    for kind, names in kinds.items():
        scale = scales[kind]
        difference = max(np.abs(found[name] - expected[name]).max() for name in names)
        assert difference < tolerance * scale, f"{kind}: {difference / scale:.2e}"


@pytest.mark.parametrize("variant", [*long_variants(["rock"]), "water"])
def test_single_precision_without_dissipation(variant: str) -> None:
    """Fluxes that damp little or nothing let rounding stay, and not grow."""
    backend = open_backend("cpu")
    single, _ = after_steps(long_case(variant, "single", 4), backend, 200)
    double, largest = after_steps(long_case(variant, "double", 4), backend, 200)
    require_close(single, double, largest, 2e-6)


# --- on GPUs --------------------------------------------------------------------------------------


@pytest.mark.gpu
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(("precision", "tolerance"), [("single", 1e-5), ("double", 1e-12)])
@pytest.mark.parametrize("degree", [2, 4, 7])
def test_cpu_and_gpu_agree(
    gpu: Any, variant: str, precision: str, tolerance: float, degree: int
) -> None:
    case = long_case(variant, precision, degree)
    on_cpu, largest = after_steps(case, open_backend("cpu"), 200)
    on_gpu, _ = after_steps(case, gpu, 200)
    require_close(on_gpu, on_cpu, largest, tolerance)
