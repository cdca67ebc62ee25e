"""Metric terms of curved elements, and the scheme on them: uniform fields, energy, stable steps."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from dg_curved import WHOLE, CurvedScheme
from dg_curved_problems import CurvedProblem, CurvedVariant
from dg_energy import Coordinates, random_state
from dg_problems import CLOSED, TORUS
from dg_scheme import apply
from variants import long_variants

from groundswell.arrays import Floats
from groundswell.errors import InputError
from groundswell.meshes.box import Box
from groundswell.meshes.gll import gll
from groundswell.meshes.hexahedra import positions
from groundswell.meshes.leaves import Leaves
from groundswell.meshes.octree import uniform_forest
from groundswell.meshes.octree_refinement import balance, refine
from groundswell.solvers.dgwave.mesh.curved import metric_terms
from groundswell.spectral_elements.curl_form import (
    curl_form,
    gradient_norms,
    jacobians,
    require_valid,
)
from groundswell.spectral_elements.geometry import MetricTerms
from groundswell.time_integration.step_limits import dg_step

pytestmark = pytest.mark.each_value


def problem(degree: int, **changes: Any) -> CurvedProblem:
    return CurvedProblem(replace(CurvedVariant(degree, counts=(2, 2, 1)), **changes))


# --- metric terms ---------------------------------------------------------------------------------


def test_metrics_of_parallelepipeds_are_exact() -> None:
    rng = np.random.default_rng(3)
    matrix, shift = rng.standard_normal((3, 3)), rng.uniform(-1, 1, 3)
    matrix *= np.sign(np.linalg.det(matrix))
    nodes = positions(Box((1, 1, 1), (-1.0,) * 3), 4, [0]) @ matrix.T + shift
    expected = np.linalg.inv(matrix) * np.linalg.det(matrix)
    metrics = curl_form(nodes, 4)
    assert np.allclose(metrics, expected.reshape(1, 9, 1), rtol=1e-12, atol=1e-12)
    assert np.allclose(jacobians(metrics), np.linalg.det(matrix), rtol=1e-12)
    lengths = np.linalg.norm(np.linalg.inv(matrix), axis=1).sum()
    assert np.allclose(gradient_norms(metrics, jacobians(metrics)), lengths, rtol=1e-12)


def test_metrics_approach_those_of_the_map() -> None:
    """The products in the curl form alias; they do not where the map is of half the degree."""
    bent = Box(
        (2, 1, 1), deform=lambda x: x + 0.1 * np.sin(2 * x @ np.ones((3, 3)) + [0, 1, 2]), order=3
    )
    errors = []
    for degree in (3, 6, 8):
        nodes = positions(bent, degree, [0, 1])
        expected = np.stack(MetricTerms.of(bent, degree, [0, 1]).contravariant, axis=1)
        found = curl_form(nodes, degree).reshape(2, 3, 3, -1)
        errors.append(np.abs(found - expected).max())
    assert errors[0] > 1e-6 and max(errors[1:]) < 1e-13


@pytest.mark.parametrize("halved", [0.0, 0.5])
@pytest.mark.parametrize("degree", [1, 2, 5, 8])
def test_metrics_are_free_of_divergence_and_meet_at_faces(degree: int, halved: float) -> None:
    """Also where an element has four smaller neighbours, on whose faces it has their metrics."""
    found = problem(degree, turned=not halved, warp=0.2, halved=halved, seed=1)
    assert np.ptp(found.forest.levels) == bool(halved)
    scheme, matrix = found.scheme, gll(degree).derivative
    for metric in scheme.metrics:
        divergence = sum(apply(matrix, d, metric[d]) for d in range(3))
        assert np.abs(divergence).max() < 1e-12 * np.abs(metric).max()
    for key, (other, order) in scheme.beyond.items():
        here, there = (
            (2 * (f % 2) - 1)
            * scheme.on_face(scheme.metrics[e, f // 2], (e, f, q))
            / (1, 4)[q >= 0]
            for e, f, q in (key, other)
        )
        assert np.abs(here + there[:, order]).max() < 1e-12 * np.abs(here).max()


@pytest.mark.parametrize("degree", [1, 2, 5])
def test_leaves_are_parts_of_their_roots(degree: int) -> None:
    """Each has the polynomial of its root, two levels down as well; so has its Jacobian."""
    bricks = uniform_forest([[0, 1, 3], [0, 2], [0, 1]])
    forest = balance(refine(bricks, lambda low, _: (low == 0).all(axis=1), 2))
    matrix = 0.1 * np.random.default_rng(3).standard_normal((3, 3))
    leaves = Leaves(forest, lambda x: x + np.sin(x @ matrix), degree)
    roots = Leaves(bricks, leaves.deform, degree)
    low, high = forest.boxes()
    everyone, root = np.arange(forest.count), forest.trees()
    [starts], [ends] = (bricks.boxes(root)[n][None] for n in (0, 1))
    corners = (2 * (x - starts) / (ends - starts) - 1 for x in (low, high))
    nodes, metrics = leaves.geometry_nodes(everyone), metric_terms(leaves, degree, everyone)
    of_roots = roots.geometry_nodes(root), metric_terms(roots, degree, root)
    for leaf, (first, last) in enumerate(zip(*corners, strict=True)):
        x, y, z = (
            gll(degree).interpolation(a + (b - a) * (gll(degree).points + 1) / 2)
            for a, b in zip(first, last, strict=True)
        )
        whole = np.kron(z, np.kron(y, x))
        assert np.allclose(nodes[leaf], whole @ of_roots[0][leaf], rtol=0, atol=1e-14)
        areas = 4.0 ** forest.levels[leaf]
        assert np.allclose(areas * metrics[leaf], of_roots[1][leaf] @ whole.T, rtol=0, atol=1e-13)


def test_parts_have_the_metrics_of_their_own_shape() -> None:
    """If the products in the curl form have no more than the degree."""
    found = problem(4, halved=0.5, seed=1)

    def bend(x: Floats) -> Floats:
        r, s, t = np.moveaxis(x, -1, 0)
        return x + 0.03 * np.stack([s * t**2, t * r**2, r * s * t], axis=-1)

    leaves = Leaves(found.forest, bend, 4)
    everyone = np.arange(found.forest.count)
    expected = curl_form(leaves.geometry_nodes(everyone), 4)
    assert np.allclose(metric_terms(leaves, 4, everyone), expected, rtol=0, atol=1e-13)


def test_metrics_have_the_same_bits_whichever_elements_are_computed() -> None:
    nodes = problem(4, counts=(3, 2, 2)).nodes.reshape(12, -1, 3)
    everything = curl_form(nodes, 4)
    for chosen in ([0], [3], [5, 1], range(7, 12)):
        assert (curl_form(nodes[list(chosen)], 4) == everything[list(chosen)]).all()


def test_inverted_elements_are_found() -> None:
    nodes = problem(3).nodes.reshape(4, -1, 3).copy()
    require_valid(nodes, 3, np.arange(4))
    nodes[2] = nodes[2][:, ::-1]
    with pytest.raises(InputError, match=r"element 12 is inverted, flat or not finite at x = "):
        require_valid(nodes, 3, np.arange(10, 14))
    nodes[2] = nodes[1]
    nodes[2, 21] = np.nan
    with pytest.raises(InputError, match="element 2 is inverted"):
        require_valid(nodes, 3, np.arange(4))
    nodes[2] = nodes[1] * [1, 1, 0]
    with pytest.raises(InputError, match="its Jacobian there is"):
        require_valid(nodes, 3, np.arange(4))


# --- uniform fields and energy --------------------------------------------------------------------


@pytest.mark.parametrize("halved", [0.0, 0.5])
@pytest.mark.parametrize("elastic", [True, False])
def test_uniform_fields_stay_uniform(elastic: bool, halved: float) -> None:
    """On a torus of one material, whatever the elements' shapes and sizes."""
    found = problem(4, elastic=elastic, periodic=TORUS, warp=0.25, halved=halved, seed=1)
    scheme = replace(found.scheme, rho=1.3, lam=2.0, mu=0.7 * elastic, damping=0.0)
    values = np.random.default_rng(0).standard_normal(9 if elastic else 4)
    u = np.broadcast_to(values[:, None, None, None], (scheme.count, len(values), 5, 5, 5))
    noise = np.random.default_rng(0).standard_normal(u.shape)
    assert np.abs(scheme.rates(u)).max() < 1e-13 * np.abs(scheme.rates(noise)).max()


ENERGIES = [
    CurvedVariant(1, True, 0.0, TORUS, counts=(2, 1, 1), warp=0.2),
    CurvedVariant(2, True, 0.0, CLOSED, fluid=0.5, counts=(2, 1, 1), turned=True, seed=2),
    CurvedVariant(2, False, 0.0, (True, False, False), counts=(2, 1, 1), warp=0.25),
    CurvedVariant(3, False, 0.0, CLOSED, counts=(2, 1, 1), turned=True),
    CurvedVariant(1, True, 0.0, TORUS, fluid=0.4, counts=(2, 1, 1), halved=0.5, seed=3),
    CurvedVariant(1, False, 0.0, TORUS, counts=(2, 1, 1), warp=0.2, halved=0.5, seed=3),
    *long_variants(
        [
            CurvedVariant(3, True, 0.0, TORUS, fluid=0.3, counts=(2, 1, 1), warp=0.25),
            CurvedVariant(2, True, 0.0, TORUS, fluid=0.4, counts=(2, 1, 1), halved=0.5, seed=3),
            CurvedVariant(2, False, 0.0, TORUS, counts=(2, 1, 1), halved=0.5, seed=3),
        ]
    ),
]


@pytest.mark.most(3)
@pytest.mark.parametrize("nodal", [False, True])
@pytest.mark.parametrize("variant", ENERGIES, ids=str)
def test_energy(variant: CurvedVariant, nodal: bool) -> None:
    """It is constant with the central flux, and falls with others.

    Then no mode grows, since real parts of eigenvalues are at most the largest eigenvalue of the
    symmetric part (Bendixson 1902). Also if the material varies from node to node.
    """
    found = CurvedProblem(variant)
    scheme, fields = found.scheme, 9 if variant.elastic else 4
    absorbs = (scheme.reflections == 0).any() and variant.periodic != TORUS
    if nodal:
        shape = scheme.of_nodes(scheme.rho).shape
        factors = np.exp(np.random.default_rng(4).uniform(-0.5, 0.5, (3, *shape)))
        medium = (scheme.rho, scheme.lam, scheme.mu)
        rho, lam, mu = (f * factor for f, factor in zip(medium, factors, strict=True))
        scheme = replace(scheme, rho=rho, lam=lam, mu=mu)
    for theta in (0.0, 0.3, 1.0):
        G = Coordinates(replace(scheme, theta=theta), fields).matrix()
        size = np.linalg.norm(G, axis=0).max()
        least, most = np.linalg.eigvalsh((G + G.T) / 2)[[0, -1]] / size
        assert most <= 1e-13
        assert abs(least) <= 1e-13 if theta == 0 and not absorbs else least < -0.01


@pytest.mark.parametrize("nodal", [False, True])
@pytest.mark.parametrize(("degree", "elastic"), [(2, True), (3, True), (3, False)])
def test_energy_rates_among_elements_of_two_sizes(degree: int, elastic: bool, nodal: bool) -> None:
    """In a closed box of random fluids and solids; elements are fluid on either side of mortars."""
    variant = CurvedVariant(degree, elastic, 0.0, CLOSED, 0.4, counts=(3, 2, 2), halved=0.4)
    found = CurvedProblem(replace(variant, warp=0.25, nodal=nodal))
    scheme = replace(found.scheme, reflections=np.where(found.scheme.reflections < 0, -1.0, 1.0))
    assert not elastic or between(scheme, scheme.mu) == {(0, 0), (0, 1), (1, 0), (1, 1)}
    u = random_state(scheme, 9 if elastic else 4)
    for theta in (0.0, 0.3, 1.0):
        now = replace(scheme, theta=theta)
        state, rates = (Coordinates(now, u.shape[1]).of(f) for f in (u, now.rates(u)))
        rate = state @ rates / np.linalg.norm(state) / np.linalg.norm(rates)
        assert abs(rate) < 1e-15 if theta == 0 else rate < -0.05


def between(scheme: CurvedScheme, mu: Floats) -> set[tuple[int, int]]:
    """Which kinds of a large and a small element are neighbours: 0 fluid, 1 solid."""
    solid = (scheme.of_nodes(mu) > 0).all(axis=(1, 2, 3)).astype(int)
    pairs = ((key, other) for key, (other, _) in scheme.beyond.items())
    return {
        (int(solid[key[0]]), int(solid[other[0]]))
        for key, other in pairs
        if key[2] != WHOLE and other[2] == WHOLE
    }


# --- time steps -----------------------------------------------------------------------------------


def limit(scheme: CurvedScheme, degree: int) -> float:
    """The rule of the solver."""
    metrics = scheme.metrics.reshape(scheme.count, 9, -1)
    edges = 2 / gradient_norms(metrics, jacobians(metrics)).max(axis=1)
    speed = np.sqrt((scheme.lam + 2 * scheme.mu) / scheme.rho).max(axis=(1, 2, 3))
    return float(dg_step(edges[:, None], speed, degree, scheme.theta).min())


@pytest.mark.most(2)
@pytest.mark.parametrize("upwind", [0.0, 1.0])
@pytest.mark.parametrize("warp", [0.0, 0.15, 0.3])
@pytest.mark.parametrize(("degree", "elastic"), [(1, True), (2, True), (3, False)])
def test_steps_are_stable(degree: int, elastic: bool, warp: float, upwind: float) -> None:
    """All eigenvalues times the step lie where the five-stage scheme is stable."""
    variant = CurvedVariant(degree, elastic, upwind, TORUS, counts=(2, 2, 1), warp=warp, seed=5)
    factors, z = growth(variant)
    assert factors.max() < 1 + 1e-12
    assert np.abs(z).max() > 1.2  # not far below what is possible


@pytest.mark.parametrize("upwind", [0.0, 1.0])
@pytest.mark.parametrize(("degree", "elastic"), [(1, True), (2, False)])
def test_steps_among_elements_of_two_sizes_are_stable(
    degree: int, elastic: bool, upwind: float
) -> None:
    variant = CurvedVariant(degree, elastic, upwind, TORUS, counts=(2, 1, 1), halved=0.5, seed=3)
    factors, _ = growth(replace(variant, warp=0.3))
    assert factors.max() < 1 + 1e-12


def growth(variant: CurvedVariant) -> tuple[Floats, Floats]:
    """Of all modes in a step, and eigenvalues times the step."""
    scheme = CurvedProblem(variant).scheme
    G = Coordinates(scheme, 9 if variant.elastic else 4).matrix()
    z = limit(scheme, variant.degree) * np.linalg.eigvals(G)
    return np.abs(1 + z + z**2 / 2 + z**3 / 6 + z**4 / 24 + z**5 / 200), z
