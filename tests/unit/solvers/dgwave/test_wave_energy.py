"""DG waves: the energy by which growing runs are found, and what faults release."""

from __future__ import annotations

from typing import Any

import pytest
from dgwave_cases import setup
from small_ruptures import CHANGES

from groundswell.backends import open_backend
from groundswell.solvers.dgwave.solver import DgWave
from groundswell.spectral_elements.curl_form import element_nodes

CLOSED = {"sides": "rigid", "bottom": "rigid"}
VOLUME = 800.0 * 800.0 * 600.0  # m^3, also below a slope
SLOPE = {"kind": "formula", "elevation": "30 + 0.1 * x"}


def solver(**changes: Any) -> DgWave:
    return DgWave(setup(**changes), open_backend("cpu"))


@pytest.mark.parametrize("degree", [2, 4])
@pytest.mark.parametrize(
    "changes",
    [{}, {**CHANGES, "refinement": {"faults": 1}}, {"topography": SLOPE}],
    ids=["bricks", "halved", "topography"],
)
def test_energy_is_the_integral_of_squares(changes: dict[str, Any], degree: int) -> None:
    """Exact for a velocity that is linear in y, along which columns are alike."""
    found = solver(boundary=CLOSED, method__degree=degree, run__precision="double", **changes)
    mesh, fields = found.setup.geometry.hexahedra, found.propagation.fields
    y = element_nodes(mesh, degree, found.elements.numbers)[..., 1]
    fields["vy"][:], fields["vz"][:] = 2.0, y / 800
    found.enqueue_finite_check()
    assert found.energy() == pytest.approx(VOLUME * (4 + 1 / 3), rel=1e-12)


@pytest.mark.parametrize("degree", [2, 5])
def test_waves_of_a_fault_have_the_energy_that_it_releases(degree: int) -> None:
    """Some of it is that of deformation, and few elements dissipate some."""
    found = solver(**CHANGES, method__degree=degree)
    found.prepare()
    for _ in range(6):
        for _ in range(2 * degree):
            found.step()
        found.enqueue_finite_check()
        assert 0.03 < found.energy() / found.supplied_energy() < 0.6
