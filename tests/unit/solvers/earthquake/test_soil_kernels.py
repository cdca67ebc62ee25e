"""The kernels of soft soil as a GPU runs them, against those of a CPU."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soil_energy
from emulated_backend import EmulatedBackend
from small_soil import random_solver

from groundswell.backends import Items
from groundswell.backends.launch import KernelLaunch
from groundswell.solvers.earthquake.plasticity.soil_rank import SoilYield, soil_source
from groundswell.solvers.earthquake.solver import VELOCITIES, Earthquake

pytestmark = pytest.mark.each_value
HEADER = Path(soil_energy.__file__).with_name("soil_cells.h")
BY_ITEM = {"yield_soil": "cells_by_item", "yield_edges": "edges_by_item"}


@pytest.mark.parametrize("top", ["free-surface", "absorbing"])
@pytest.mark.parametrize(("precision", "surfaces"), [("single", 7), ("double", 10)])
def test_a_gpu_yields_as_a_cpu(precision: str, surfaces: int, top: str) -> None:
    """To the rounding of sums and products, which a GPU fuses."""
    first, second = (random_solver(precision, surfaces, top, seed=3) for _ in range(2))
    source = soil_source(first.setup, first.part, first.materials)
    module = EmulatedBackend().compile(replace(source, path=HEADER))
    for launch, other in zip(launches(first), launches(second), strict=True):
        launch()
        edges = launch.name == "yield_edges"
        cells = soil_of(second)._where.edges if edges else soil_of(second)._where.block
        items = Items(int(np.prod(cells.shape)))
        module.launch(BY_ITEM[other.name], items, *other.arguments)()
    tolerance = 100 * np.finfo(first.setup.dtype).eps
    pairs = [*zip(arrays(first), arrays(second), strict=True)]
    for one, two in pairs:
        np.testing.assert_allclose(two, one, atol=tolerance * np.abs(one).max())
    assert sum(one.any() for one, _ in pairs) > len(pairs) - surfaces // 2  # some never yield


def soil_of(solver: Earthquake) -> SoilYield:
    assert isinstance(solver.rheology, SoilYield)
    return solver.rheology


def launches(solver: Earthquake) -> tuple[KernelLaunch, ...]:
    found = soil_of(solver).launches(solver._pick(*VELOCITIES))
    assert all(isinstance(launch, KernelLaunch) for launch in found)
    return found  # type: ignore[return-value]


def arrays(solver: Earthquake) -> list[Any]:
    """What the kernels write."""
    soil = soil_of(solver)
    fields = [*soil._lost.values(), soil.strain]
    counts = [counts.astype(float) for counts in soil._counts.values()]
    return [soil._elements, *soil._parts, *counts, *(field.interior for field in fields)]
