"""Strain Green tensors on a GPU: the same strain as on the CPU, and the same seismograms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from small_green import force_case

from groundswell.backends import Backend, open_backend
from groundswell.solvers.earthquake import EarthquakeCase
from groundswell.solvers.earthquake.setup import prepare
from groundswell.solvers.earthquake.solver import Earthquake
from groundswell.verify import load_problem

TOLERANCE = {"single": 1e-4, "double": 1e-12}  # of the largest strain
POSITIONS = [[710.0, 640.0, 330.0], [333.3, 471.0, 12.0], [600.0, 600.0, 500.0]]
RECORDED = {"positions": POSITIONS, "interval": 0.024}


def strains(backend: Backend, precision: str) -> Any:
    case = EarthquakeCase.from_dict(force_case(2, RECORDED, run={"precision": precision}))
    solver = Earthquake(prepare(case), backend)
    backend.capture(solver.step).replay(100)
    assert solver.outputs.green is not None
    return solver.outputs.green.series.latest(0, 100)


@pytest.mark.gpu
@pytest.mark.parametrize("precision", TOLERANCE)
def test_cpu_and_gpu_record_the_same_strain(gpu: Any, precision: str) -> None:
    here, there = strains(open_backend("cpu"), precision), strains(gpu, precision)
    peak = np.abs(here).max()
    assert peak > 0
    assert np.abs(here - there).max() < TOLERANCE[precision] * peak


@pytest.mark.gpu
@pytest.mark.parametrize("solver", ["earthquake", "dgwave"])
def test_seismograms_by_reciprocity_are_exact_on_a_gpu(gpu: Any, solver: str) -> None:
    checks = [*load_problem(f"{solver}/green:moments")(gpu, True)]
    assert checks and all(check.passed for check in checks), checks
