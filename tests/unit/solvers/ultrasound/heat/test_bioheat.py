"""Pennes' equation: its coefficients, heat that stays inside, and operator splitting.

The closed forms are problems of `groundswell verify`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from groundswell.backends import open_backend
from groundswell.solvers.ultrasound.heat.bioheat import (
    SpectralBioheat,
    SplitBioheat,
    bioheat,
    solve_tridiagonal,
)
from groundswell.solvers.ultrasound.heat.tissue import Coefficients, Tissue

CPU = open_backend("cpu")
H, N = 0.5e-3, 40  # m, points
TISSUE = Tissue(perfusion=8.0)
D, P = 0.5 / (1000 * 3600), 8 * 3617 / (1000 * 3600)  # m^2/s, 1/s
SPACING = (H, H, H)
AT = H * (np.arange(N) - (N - 1) / 2)
SQUARES = AT[:, None, None] ** 2 + AT[:, None] ** 2 + AT**2


def uniform() -> Coefficients:
    return TISSUE.coefficients(1000.0)


def test_coefficients_are_those_of_the_equation() -> None:
    conductivity, capacity, cooling = uniform()
    assert (conductivity / capacity, cooling) == (pytest.approx(D), pytest.approx(P))
    assert TISSUE.coefficients(np.full((2, 3, 4), 1000.0)).are_uniform


def test_sides_let_no_heat_out() -> None:
    random = np.random.default_rng(3)
    rate = random.random((6, 7, 8))
    without = Tissue().coefficients(1000.0)
    for method in (
        SpectralBioheat(without, rate, SPACING, CPU),
        SplitBioheat(without, rate, SPACING, CPU),
    ):
        rises = [method.advance(5.0, 1.0).sum(), method.advance(5.0, 0.0).sum()]
        assert_allclose(rises, 5.0 * rate.sum() / (1000 * 3600), rtol=1e-10)


# --- operator splitting ---------------------------------------------------------------------------


def test_splitting_is_of_second_order_in_time() -> None:
    """Against the finite volumes themselves in one exact step, from their matrix."""
    shape, random = (4, 5, 6), np.random.default_rng(11)
    mixed = Coefficients(
        random.uniform(0.2, 0.8, shape), random.uniform(2e6, 4e6, shape), random.random(shape) / 20
    )
    rate = 1e6 * random.random(shape)
    exact, errors = exact_step(mixed, rate, 6.0), []
    for steps in (32, 64, 128):
        method = bioheat(mixed, rate, SPACING, CPU)
        assert isinstance(method, SplitBioheat)
        for _ in range(steps):
            found = method.advance(6.0 / steps, 1.0)
        errors.append(np.abs(found - exact).max() / exact.max())
    assert errors[-1] < 5e-4
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    assert_allclose(orders, 2.0, atol=0.15)


def exact_step(of: Coefficients, rate: np.ndarray, time: float) -> np.ndarray:
    """The solution of C dT/dt = -A T - C P T + Q from 0, by the eigenvectors of the matrix."""
    count, indices = rate.size, np.arange(rate.size).reshape(rate.shape)
    matrix = np.diag((of.capacity * of.cooling).ravel())
    for axis in range(3):
        low, high = (indices.take(range(n, rate.shape[axis] - 1 + n), axis).ravel() for n in (0, 1))
        k = of.conductivity.ravel()
        flow = 2 / (1 / k[low] + 1 / k[high]) / H**2
        np.add.at(matrix, (low, low), flow)
        np.add.at(matrix, (high, high), flow)
        matrix[low, high] -= flow
        matrix[high, low] -= flow
    roots = np.sqrt(of.capacity.ravel())
    values, vectors = np.linalg.eigh(matrix / np.outer(roots, roots))
    grown = -np.expm1(-values * time) / values
    found = vectors @ (grown * (vectors.T @ (rate.ravel() / roots))) / roots
    assert found.size == count
    return np.asarray(found.reshape(rate.shape))


def test_splitting_agrees_with_the_exact_step_in_a_uniform_medium() -> None:
    """Differences of second order: a cell is a third of the width of the heated region."""
    rate = 1e6 * np.exp(-SQUARES / (2 * (3 * H) ** 2))
    split, exact = (kind(uniform(), rate, SPACING, CPU) for kind in (SplitBioheat, SpectralBioheat))
    for _ in range(20):
        found, wanted = split.advance(0.5, 1.0), exact.advance(0.5, 1.0)
    assert np.abs(found - wanted).max() < 0.01 * wanted.max()


def test_heat_flows_through_a_sharp_boundary_at_a_steady_rate() -> None:
    """Between a heated and a cooled end, the slopes are inverse to the conductivities."""
    shape = (1, 1, 12)
    conductivity, cooling, rate = (np.zeros(shape) for _ in range(3))
    conductivity[..., :6], conductivity[..., 6:] = 0.6, 0.2
    cooling[..., -1], rate[..., 0] = 1.0, 1e5
    method = bioheat(Coefficients(conductivity, np.full(shape, 1e6), cooling), rate, SPACING, CPU)
    for _ in range(6000):
        found = method.advance(0.1, 1.0)[0, 0]
    slopes = np.diff(found) / H
    assert_allclose(slopes[:5], -1e5 * H / 0.6, rtol=0.02)  # that of a step in the heated cell
    assert_allclose(slopes[1:5], -1e5 * H / 0.6, rtol=5e-3)
    assert_allclose(slopes[6:], -1e5 * H / 0.2, rtol=5e-3)
    assert slopes[5] == pytest.approx(-1e5 * H * (1 / 0.6 + 1 / 0.2) / 2, rel=5e-3)


def test_tridiagonal_systems_are_solved() -> None:
    random = np.random.default_rng(5)
    beside, diagonal = -random.random((5, 3)), 3 + random.random((6, 3))
    wanted: Any = random.random((6, 3))
    right = diagonal * wanted
    right[1:] += beside * wanted[:-1]
    right[:-1] += beside * wanted[1:]
    assert_allclose(solve_tridiagonal(diagonal.copy(), beside, right), wanted, rtol=1e-12)
