"""Soft soil on the staggered grid: its energy, its elements against NumPy, and linear soil."""

from __future__ import annotations

import numpy as np
import pytest
from small_soil import advanced, same_fields, soil_case
from soil_energy import SoilBox, SoilElements

from groundswell.solvers.earthquake.solver import STRESSES
from groundswell.solvers.earthquake.verification.energy import RandomBox

ROWS = 9
surfaces = pytest.mark.parametrize("free_surface", [True, False])


@pytest.mark.most(1)
@surfaces
def test_soil_that_does_not_yield_conserves_energy(free_surface: bool) -> None:
    """The limit is that of sums of some 10,000 numbers; the elements have a part of it."""
    box = SoilBox(RandomBox.random(20, free_surface), ROWS, 1e6)
    energy = np.array([box.step() for _ in range(100)])
    assert np.ptp(energy[:, 0]) < 1e-13 * energy[0, 0]
    assert energy[:, 1].max() > 0.1 * energy[0, 0]


@pytest.mark.most(2)
@surfaces
@pytest.mark.parametrize("reference_strain", [1e-5, 2e-4])
def test_soil_never_gains_energy(free_surface: bool, reference_strain: float) -> None:
    """In random rock with corrected rows, where its elements carry less than all."""
    box = SoilBox(RandomBox.random(20, free_surface), ROWS, reference_strain)
    energy = np.array([box.step() for _ in range(100)])[:, 0]
    assert np.diff(energy).max() < 0
    assert energy[-1] < 0.6 * energy[0]


@pytest.mark.most(1)
@surfaces
def test_elements_and_stresses_are_those_of_numpy(free_surface: bool) -> None:
    """From the changes that linear rock has in each step."""
    box = SoilBox(RandomBox.random(20, free_surface), ROWS, 3e-5)
    elements = SoilElements(box)
    past = {name: values.copy() for name, values in box.linear.items()}
    for _ in range(60):
        box.step()
        elements.advance({name: box.linear[name] - past[name] for name in STRESSES})
        past = {name: values.copy() for name, values in box.linear.items()}
    strain = box.found.snapshot("plastic_strain")
    assert strain[:ROWS].max() > 1e-4 and (strain[ROWS:] == 0).all()
    scale = max(np.abs(values).max() for values in box.linear.values())
    for name in STRESSES:
        wanted = box.linear[name] - elements.lost[name]
        np.testing.assert_allclose(box.found.snapshot(name), wanted, atol=1e-12 * scale)


@pytest.mark.most(1)
@pytest.mark.each_value
@pytest.mark.parametrize("sides", ["pml", "sponge", "periodic"])
@pytest.mark.parametrize(("precision", "materials"), [("single", "cells"), ("double", "classes")])
def test_soil_that_does_not_yield_is_linear_rock(
    sides: str, precision: str, materials: str
) -> None:
    """Bit by bit, above an interface whose rows have corrections; other soil is not."""
    given = {
        "boundary": {"sides": sides, "width": 5},
        "run": {"precision": precision, "materials": materials},
    }
    linear = advanced(soil_case(plasticity=None, **given), 80)
    strong, soft = (
        advanced(soil_case({"reference_strain": strain}, **given), 80) for strain in (1e3, 1e-6)
    )
    assert same_fields(linear, strong)
    assert (strong.snapshot("plastic_strain") == 0).all()
    assert not same_fields(linear, soft)
    assert soft.snapshot("plastic_strain").max() > 1e-7
