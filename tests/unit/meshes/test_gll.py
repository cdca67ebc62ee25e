"""Lobatto points: integrals, derivatives and interpolation of polynomials, to rounding."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.polynomial import Legendre

from groundswell.errors import InputError
from groundswell.meshes.gll import gll

DEGREES = [*range(1, 17), 32, 64]


def polynomial(degree: int) -> Legendre:
    return Legendre(np.random.default_rng(1).standard_normal(degree + 1))


def test_those_that_are_known() -> None:
    assert gll(1).points.tolist() == [-1, 1] and gll(1).weights.tolist() == [1, 1]
    assert np.allclose(gll(2).weights, [1 / 3, 4 / 3, 1 / 3], rtol=1e-15)
    inner = np.sqrt((7 - 2 * np.sqrt(7)) / 21)
    outer = np.sqrt((7 + 2 * np.sqrt(7)) / 21)
    assert np.allclose(gll(5).points, [-1, -outer, -inner, inner, outer, 1], rtol=1e-15)


@pytest.mark.parametrize("degree", DEGREES)
def test_points_are_ordered_and_symmetric(degree: int) -> None:
    points, weights = gll(degree).points, gll(degree).weights
    assert (np.diff(points) > 0).all() and (weights > 0).all()
    assert np.array_equal(points, -points[::-1]) and len(points) == degree + 1
    assert weights.sum() == pytest.approx(2, rel=1e-14)


@pytest.mark.parametrize("degree", DEGREES)
def test_integrals_are_exact_to_twice_the_degree_less_one(degree: int) -> None:
    found, points = gll(degree), gll(degree).points
    for lower in {1, degree, 2 * degree - 1}:
        p = polynomial(lower)
        integral = p.integ()(1.0) - p.integ()(-1.0)
        scale = np.abs(p.coef).max()
        error = found.weights @ p(points) - integral
        assert abs(error) <= 1e-13 * lower * scale
    # One more is not: Legendre's polynomial squared becomes 2 / N instead of 2 / (2 N + 1).
    square = Legendre.basis(degree)(points) ** 2
    assert found.weights @ square == pytest.approx(2 / degree, rel=1e-12)


@pytest.mark.parametrize("degree", DEGREES)
def test_derivatives_of_polynomials(degree: int) -> None:
    found, p = gll(degree), polynomial(degree)
    scale = np.abs(p.deriv()(np.linspace(-1, 1, 999))).max()
    error = found.derivative @ p(found.points) - p.deriv()(found.points)
    assert np.abs(error).max() <= 2e-13 * degree * scale
    assert np.abs(found.derivative.sum(axis=1)).max() <= 1e-14 * degree**2


@pytest.mark.parametrize("degree", DEGREES)
def test_values_elsewhere(degree: int) -> None:
    found, p = gll(degree), polynomial(degree)
    places = np.concatenate([np.linspace(-1, 1, 41), found.points])
    values = found.interpolation(places) @ p(found.points)
    assert np.allclose(values, p(places), rtol=0, atol=1e-12 * np.abs(p.coef).sum())
    assert np.array_equal(found.interpolation(found.points), np.eye(degree + 1))


@pytest.mark.parametrize("degree", [0, -1, 65])
def test_other_degrees_are_refused(degree: int) -> None:
    with pytest.raises(InputError, match="allowed: 1 to 64"):
        gll(degree)
