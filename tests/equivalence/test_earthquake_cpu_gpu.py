"""The same case on the CPU and on a GPU: equal to rounding after 500 steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from groundswell.backends import open_backend
from groundswell.seismology.case.plasticity import DruckerPragerSection
from groundswell.solvers.earthquake import EarthquakeCase, step_source
from groundswell.solvers.earthquake.setup import prepare
from groundswell.solvers.earthquake.solver import STRESSES, VELOCITIES, Earthquake

STEPS = 500
TOLERANCE = {"single": 1e-5, "double": 1e-12}


def random_case(precision: str, sides: str, seed: int, **run: str) -> EarthquakeCase:
    """A random, strongly heterogeneous medium with everything switched on.

    The sources still act at the last step, so that differences are seen against strong motion.
    """
    rng = np.random.default_rng(seed)
    nx, ny, nz, h = 34, 30, 27, 100.0
    vs = rng.uniform(1000, 3000, (nz, ny, nx))
    return EarthquakeCase(
        time={"duration": 60.0},
        grid={"size": [nx * h, ny * h, nz * h], "spacing": h},
        medium={
            "kind": "arrays",
            "vp": vs * rng.uniform(1.5, 2.5, vs.shape),
            "vs": vs,
            "rho": rng.uniform(2000, 3000, vs.shape),
            "qp": rng.uniform(40, 400, vs.shape),
            "qs": rng.uniform(20, 200, vs.shape),
        },
        attenuation={"model": "power-law", "exponent": 0.4},
        boundary={"sides": sides, "width": 5},
        source=[
            {
                "kind": "double-couple",
                "strike": 33.0,
                "dip": 70.0,
                "rake": 20.0,
                "moment": 1e16,
                "x": 1234.0,
                "y": 1487.0,
                "depth": 1010.0,
                "time_function": {"kind": "gaussian", "sigma": 0.45},
            },
            {
                "kind": "force",
                "force": [1e11, -2e11, 3e11],
                "x": 2034.0,
                "y": 1187.0,
                "depth": 0.0,
                "time_function": {"kind": "ricker", "frequency": 0.6},
            },
        ],
        run={"precision": precision, **run},
    )


def advance(case: EarthquakeCase, backend: Any) -> Earthquake:
    found = Earthquake(prepare(case), backend)
    backend.capture(found.step).replay(STEPS)
    backend.synchronize()
    return found


def largest_difference(a: Earthquake, b: Earthquake) -> float:
    """Of all fields, relative to the largest value of the fields of a kind."""
    worst = 0.0
    for names in (VELOCITIES, STRESSES):
        pairs = [(a.snapshot(name), b.snapshot(name)) for name in names]
        scale = max(np.abs(x).max() for x, _ in pairs)
        assert np.isfinite(scale) and scale > 0
        worst = max(worst, *(float(np.abs(x - y).max() / scale) for x, y in pairs))
    return worst


@pytest.mark.gpu
@pytest.mark.parametrize("sides", ["pml", "sponge", "periodic"])
@pytest.mark.parametrize("precision", ["single", "double"])
def test_cpu_and_gpu_agree(gpu: Any, precision: str, sides: str) -> None:
    case = random_case(precision, sides, seed=7)
    on_cpu = advance(case, open_backend("cpu"))
    on_gpu = advance(case, gpu)
    difference = largest_difference(on_cpu, on_gpu)
    print(f"{precision}, {sides}: {difference:.2e}")
    assert difference < TOLERANCE[precision]


@pytest.mark.gpu
@pytest.mark.parametrize("sides", ["pml", "sponge", "periodic"])
@pytest.mark.parametrize("materials", ["cells", "classes"])
def test_memory_variables_in_16_bits_agree(gpu: Any, materials: str, sides: str) -> None:
    """Fields that differ in the last bit are rounded up or down differently."""
    case = random_case("single", sides, seed=8, memory="half", materials=materials)
    difference = largest_difference(advance(case, open_backend("cpu")), advance(case, gpu))
    print(f"{materials}, {sides}: {difference:.2e}")
    assert difference < 3e-4


@pytest.mark.gpu
@pytest.mark.parametrize("sides", ["pml", "sponge", "periodic"])
@pytest.mark.parametrize("precision", ["single", "double"])
def test_classes_of_materials_change_nothing(gpu: Any, precision: str, sides: str) -> None:
    cells, classes = (
        advance(random_case(precision, sides, seed=9, materials=kind), gpu)
        for kind in ("cells", "classes")
    )
    assert largest_difference(cells, classes) == 0


@pytest.mark.gpu
@pytest.mark.parametrize("sides", ["pml", "sponge", "periodic"])
@pytest.mark.parametrize("precision", ["single", "double"])
def test_rock_yields_alike(gpu: Any, precision: str, sides: str) -> None:
    rock = {"model": "drucker-prager", "cohesion": "1e4 + 10 * x", "friction_angle": "vs / 100"}
    rock |= {"relaxation_time": 0.1, "fluid_pressure": "hydrostatic"}
    case = random_case(precision, sides, seed=11).model_copy(
        update={"plasticity": DruckerPragerSection(**rock)}
    )
    on_cpu, on_gpu = advance(case, open_backend("cpu")), advance(case, gpu)
    strains = [found.snapshot("plastic_strain") for found in (on_cpu, on_gpu)]
    assert 0.05 < np.mean(strains[0] > 0) < 0.95
    worst = np.abs(strains[0] - strains[1]).max() / strains[0].max()
    difference = max(largest_difference(on_cpu, on_gpu), float(worst))
    print(f"{precision}, {sides}: {difference:.2e}")
    assert difference < 10 * TOLERANCE[precision]  # which cells yield depends on rounding


@pytest.mark.gpu
@pytest.mark.parametrize("rows", [1, 7, 100])
def test_bands_of_rows_change_nothing(gpu: Any, monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    case = random_case("single", "pml", seed=10)
    whole = advance(case, gpu)
    row = whole.part.cells[0] * whole.layout.itemsize
    monkeypatch.setattr(step_source, "BAND_BYTES", rows * row)
    assert largest_difference(whole, advance(case, gpu)) == 0
