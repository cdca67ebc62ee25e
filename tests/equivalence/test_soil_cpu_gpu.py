"""Soft soil on the CPU and on a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from small_soil import advanced, same_fields, soil_case

from groundswell.solvers.earthquake.plasticity import soil_block
from groundswell.solvers.earthquake.solver import STRESSES, VELOCITIES, Earthquake

STEPS = 300
TOLERANCE = {"single": 3e-4, "double": 1e-11}  # yield amplifies rounding; 1e-4 on an H200
CURVE = {"strain": [1e-7, 1e-6, 1e-5], "modulus": [0.99, 0.8, 0.3]}
SOIL = {"reference_strain": 1e-6, "surfaces": 7, "soil": [{"top": 30.0, "curve": CURVE}]}


def largest_difference(a: Earthquake, b: Earthquake) -> float:
    """Of all fields, relative to the largest value of the fields of a kind."""
    worst = 0.0
    for names in (VELOCITIES, STRESSES, ("plastic_strain",)):
        pairs = [(a.snapshot(name), b.snapshot(name)) for name in names]
        scale = max(np.abs(x).max() for x, _ in pairs)
        assert np.isfinite(scale) and scale > 0
        worst = max(worst, *(float(np.abs(x - y).max() / scale) for x, y in pairs))
    return worst


@pytest.mark.gpu
@pytest.mark.parametrize("sides", ["pml", "periodic"])
@pytest.mark.parametrize("materials", ["cells", "classes"])
@pytest.mark.parametrize("precision", ["single", "double"])
def test_cpu_and_gpu_agree(gpu: Any, precision: str, materials: str, sides: str) -> None:
    case = soil_case(
        SOIL,
        time={"duration": 2.0},
        boundary={"sides": sides, "width": 5},
        run={"precision": precision, "materials": materials},
    )
    difference = largest_difference(advanced(case, STEPS), advanced(case, STEPS, gpu))
    print(f"{precision}, {materials}, {sides}: {difference:.2e}")
    assert difference < TOLERANCE[precision]


@pytest.mark.gpu
def test_soil_that_does_not_yield_is_linear_rock(gpu: Any) -> None:
    linear = advanced(soil_case(plasticity=None), 80, gpu)
    assert same_fields(linear, advanced(soil_case({"reference_strain": 1e3}), 80, gpu))


@pytest.mark.gpu
@pytest.mark.parametrize("band", [1, 20_000])
def test_bands_of_rows_change_nothing(gpu: Any, monkeypatch: pytest.MonkeyPatch, band: int) -> None:
    case = soil_case(SOIL)
    whole = advanced(case, 80, gpu)
    monkeypatch.setattr(soil_block, "BAND_BYTES", band)
    assert same_fields(whole, advanced(case, 80, gpu))
