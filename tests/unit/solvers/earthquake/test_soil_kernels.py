"""The kernel of soft soil as a GPU runs it, against that of a CPU."""

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
from groundswell.solvers.earthquake.plasticity.soil_rank import soil_source

HEADER = Path(soil_energy.__file__).with_name("soil_cells.h")


@pytest.mark.parametrize("top", ["free-surface", "absorbing"])
@pytest.mark.parametrize(("precision", "surfaces"), [("single", 7), ("double", 10)])
def test_a_gpu_yields_as_a_cpu(precision: str, surfaces: int, top: str) -> None:
    """To the rounding of sums and products, which a GPU fuses."""
    first, second = (random_solver(precision, surfaces, top, seed=3) for _ in range(2))
    launch = first.rheology._yield(first._pick("vx", "vy", "vz"))[0]  # type: ignore[attr-defined]
    launch()
    run_emulated(second)
    tolerance = 100 * np.finfo(first.setup.dtype).eps
    for one, other in zip(arrays(first), arrays(second), strict=True):
        scale = np.abs(one).max()
        assert scale > 0
        np.testing.assert_allclose(other, one, atol=tolerance * scale)


def arrays(solver: Any) -> list[Any]:
    """What the kernel writes."""
    soil = solver.rheology
    fields = [*soil._lost.values(), soil.strain]
    return [soil._elements, *(field.interior for field in fields)]


def run_emulated(solver: Any) -> None:
    soil = solver.rheology
    source = soil_source(solver.setup, solver.part, solver.materials, soil._where)
    module = EmulatedBackend().compile(replace(source, path=HEADER))
    given = {**solver._pick("vx", "vy", "vz"), **soil._taken, **soil._materials}
    given |= {**soil._tables_on_device, "elements": soil._elements}
    given["plastic_strain"] = soil.strain.interior
    cells = int(np.prod(soil._where.block.shape))
    module.launch("yield_cells", Items(cells), **given)()
