"""The fine solution in one dimension of S waves in soft soil."""

from __future__ import annotations

import numpy as np
import pytest

from groundswell.arrays import Floats
from groundswell.seismology.plasticity import Elements, Hyperbola
from groundswell.seismology.reference.soil_column import SoilColumn

VS, RHO, DEPTH = 300.0, 1900.0, 400.0
TIMES = 0.005 * np.arange(1, 101, dtype=np.float64)
ELEMENTS = Elements.fit(Hyperbola(), 30, 30.0)


def pulse(z: Floats) -> Floats:
    return np.asarray(0.2 * np.exp(-(((z - 150) / 30) ** 2)))


def motion(reference_strain: float, cells: int) -> Floats:
    column = SoilColumn(VS, RHO, ELEMENTS, reference_strain, DEPTH)
    return column.surface_motion(pulse, 5.0, TIMES, cells)


def test_strong_soil_moves_as_linear_rock() -> None:
    """Halves of the pulse go up and down, and the surface mirrors the former."""
    found = motion(1e3, 1600)
    wanted = sum(pulse(np.abs(5 + sign * VS * TIMES)) / 2 for sign in (1, -1))
    assert np.abs(found - wanted).max() < 5e-3 * np.abs(wanted).max()


def test_soft_soil_takes_most_of_the_motion() -> None:
    assert np.abs(motion(1e-4, 400)).max() < 0.3 * np.abs(motion(1e3, 400)).max()


def test_refinement_converges() -> None:
    coarse, middle, fine = (motion(1e-4, cells) for cells in (100, 300, 900))
    first, second = np.linalg.norm(coarse - middle), np.linalg.norm(middle - fine)
    assert second < 0.75 * first
    assert second == pytest.approx(0, abs=0.03 * np.linalg.norm(fine))
