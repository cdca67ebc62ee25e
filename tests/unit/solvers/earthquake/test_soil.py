"""Soft soil on the staggered grid: its energy, its elements against NumPy, and linear soil."""

from __future__ import annotations

import numpy as np
import pytest
from soil_energy import SHEAR, SoilBox

from groundswell.arrays import Floats
from groundswell.seismology.plasticity import IwanSoil
from groundswell.solvers.earthquake.solver import STRESSES
from groundswell.solvers.earthquake.verification.energy import SPACING, RandomBox

ROWS = 9
DEEP = {"depth": ROWS * SPACING[2], "surfaces": 6}
surfaces = pytest.mark.parametrize("free_surface", [True, False])


@surfaces
def test_linear_soil_conserves_energy(free_surface: bool) -> None:
    """The limit is that of sums of some 10,000 numbers; the elements have a part of it."""
    box = SoilBox(RandomBox.random(20, free_surface), {**DEEP, "reference_strain": 1e6})
    energy = np.array([box.step() for _ in range(100)])
    assert np.ptp(energy[:, 0]) < 1e-13 * energy[0, 0]
    assert energy[:, 1].max() > 0.1 * energy[0, 0]


@surfaces
@pytest.mark.parametrize("reference_strain", [1e-5, 2e-4])
def test_soil_never_gains_energy(free_surface: bool, reference_strain: float) -> None:
    """In random rock with corrected rows, where its elements carry less than all."""
    given = {**DEEP, "reference_strain": reference_strain}
    box = SoilBox(RandomBox.random(20, free_surface), given)
    energy = np.array([box.step() for _ in range(100)])[:, 0]
    assert np.diff(energy).max() < 0
    assert energy[-1] < 0.6 * energy[0]


@surfaces
def test_elements_and_stresses_are_those_of_numpy(free_surface: bool) -> None:
    """From the increments that linear rock has at edges, in double precision."""
    box = SoilBox(RandomBox.random(20, free_surface), {**DEEP, "reference_strain": 3e-5})
    solver, model = box.found, box.found.setup.soil
    assert model is not None
    mu = box.box.mu[:ROWS]
    soil = IwanSoil(model.elements[0], mu.ravel(), 3e-5)
    elements, plastic = soil.at_rest(mu.size), np.zeros((6, *box.box.mu.shape))
    past = {name: values.copy() for name, values in box.linear.items()}
    for _ in range(60):
        box.step()
        step = increments(box, past)
        elements, lost = soil.advance(elements, step.reshape(6, -1))
        plastic[:, :ROWS] += lost.reshape(6, *mu.shape) * box.carried[:, None, None]
        past = {name: values.copy() for name, values in box.linear.items()}
    found = solver.snapshot("plastic_strain")
    assert found[:ROWS].max() > 1e-4 and (found[ROWS:] == 0).all()
    scale = max(np.abs(values).max() for values in box.linear.values())
    for name in STRESSES:
        wanted = box.linear[name] - taken(box, plastic, name)
        np.testing.assert_allclose(solver.snapshot(name), wanted, atol=1e-12 * scale)


def increments(box: SoilBox, past: dict[str, Floats]) -> Floats:
    """Strains at the centres of the soil's cells in a step, (6, nz, ny, nx)."""
    now = box.linear
    box.linear = {name: now[name] - past[name] for name in STRESSES}
    normal = box._strain_of(np.stack([box.linear[name] for name in STRESSES[:3]]))
    shear = [box._at_centres(name, axes) / (2 * box.box.mu) for name, axes in SHEAR.items()]
    box.linear = now
    return np.concatenate([normal, shear])[:, :ROWS]


def taken(box: SoilBox, plastic: Floats, name: str) -> Floats:
    """The stress that plastic strains at cell centres, (6, nz, ny, nx), take."""
    component, mu = STRESSES.index(name), box.box.mu
    if component < 3:
        return np.asarray(2 * mu * plastic[component])
    strain, compliance = 2 * plastic[component], 1 / mu
    for axis in SHEAR[name]:
        dim = axis.index(1)
        strain, compliance = (
            (v + before(v, dim, edge)) / 2 for v, edge in ((strain, 0), (compliance, 1))
        )
    if dim == 0 and box.box.free_surface:
        strain[0] = 0
    return np.asarray(strain / compliance)


def before(values: Floats, dim: int, edge: int) -> Floats:
    """The values of the cells before along an axis; above the box, those at its top or 0."""
    shifted = np.roll(values, 1, dim)
    if dim == 0:
        shifted[0] = values[0] * edge
    return shifted
