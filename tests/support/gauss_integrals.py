"""Operators with Gauss points, from the definition of the integrals, and meshes to try them on."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from dense_spectral_elements import derivatives, shuffled, space_on

from groundswell.arrays import Floats
from groundswell.backends import Backend
from groundswell.backends.base import in_order
from groundswell.meshes.box import Box, kershaw
from groundswell.meshes.gll import gll
from groundswell.spectral_elements.space import FunctionSpace
from groundswell_rivals.poisson.gauss_operator import MASS, STIFFNESS, GaussOperator

MATRICES = (MASS, STIFFNESS)


def bent(points: Any) -> Any:
    """A smooth deformation whose elements have no right angles."""
    x, y, z = np.moveaxis(points, -1, 0)
    wave = 0.07 * np.sin(2 * x + 0.3) * np.cos(y) * np.cos(1.5 * z)
    return points + np.stack([wave, -0.6 * wave, 0.8 * wave * x], axis=-1)


MESHES = {
    "curved": Box((3, 2, 2), deform=bent, order=2),
    "straight": Box((6, 2, 2), deform=kershaw(0.3, 0.3), order=1),
    "turned": shuffled(Box((2, 2, 2), deform=bent, order=2), np.random.default_rng(7)),
}


Products = Callable[[Floats], Floats]  # with values at nodes, (..., elements, (N + 1)^3)


def products(space: FunctionSpace, matrix: str) -> Products:
    """Products with the matrices of elements, from the definition of the integrals."""
    points, weights = np.polynomial.legendre.leggauss(space.degree + 2)
    line = gll(space.degree).interpolation(points)
    values = np.kron(np.kron(line, line), line)
    gradients = [values @ d for d in derivatives(space.degree)]
    jacobian = np.stack([d @ space.nodes for d in gradients], axis=-1)  # (elements, points, x, r)
    weight = np.kron(np.kron(weights, weights), weights) * np.linalg.det(jacobian)
    if matrix == MASS:
        return lambda u: (weight * (u @ values.T)) @ values
    inverse = np.linalg.inv(jacobian)  # (elements, points, r, x)

    def laplacian(u: Floats) -> Floats:
        along = np.stack([u @ d.T for d in gradients], axis=-1)
        gradient = np.einsum("epr,eprx->epx", along, inverse)
        flux = np.einsum("ep,epx,eprx->epr", weight, gradient, inverse)
        return np.asarray(sum(flux[..., a] @ d for a, d in enumerate(gradients)))

    return lambda u: np.stack([laplacian(each) for each in u])


@cache
def problem(mesh: str, degree: int, matrix: str) -> tuple[FunctionSpace, Products]:
    """A space of at least the mesh's order, and the products that are expected."""
    space = space_on(MESHES[mesh], degree)
    return space, products(space, matrix)


def applied(operator: GaussOperator, x: Floats, scale: Floats | None, backend: Backend) -> Any:
    """The elements' results of all elements but one, and the sum of energies."""
    space = operator.space
    chosen = np.delete(np.arange(space.mesh.count), 1)
    y = backend.zeros((*x.shape[:-1], space.dofs.size), operator.dtype)
    backend.assign(y, np.full(y.shape, np.nan, y.dtype))
    energies = backend.zeros((operator.blocks(chosen),), "f8")
    of_scale = None if scale is None else backend.to_device(scale.astype(operator.dtype))
    given = backend.to_device(x.astype(operator.dtype))
    in_order(operator.launches(chosen, given, y, energies, of_scale))()
    return np.array(backend.to_host(y)), float(np.sum(backend.to_host(energies))), chosen


def require_products(
    backend: Backend, problem: tuple[FunctionSpace, Products], matrix: str, scaled: int, dtype: str
) -> None:
    """The operator is the dense one, for one component, or `scaled` ones multiplied by factors."""
    space, expect = problem
    rng = np.random.default_rng(3)
    components = max(1, scaled)
    shape = (space.size,) if components == 1 else (components, space.size)
    x, scale = rng.standard_normal(shape), rng.uniform(0.5, 2, space.size)
    operator = GaussOperator(backend, space, matrix, dtype=dtype, components=components)
    y, energy, chosen = applied(operator, x, scale if scaled else None, backend)
    u = np.atleast_2d(x * scale if scaled else x)[:, space.dofs]
    expected = expect(u)
    found = y.reshape(u.shape)
    tolerance = 1e-12 if dtype == "float64" else 1e-5
    error = np.abs(found - expected)[:, chosen].max()
    assert error <= tolerance * np.abs(expected).max()
    assert np.isnan(np.delete(found, chosen, axis=1)).all()
    exact = np.sum((u * expected)[:, chosen])
    assert energy == pytest.approx(exact, rel=tolerance * 10)
