"""Poisson's equation without any symmetry of its own, for `symmetric_problems`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.spatial import cKDTree
from symmetries import Floats, Symmetry

import groundswell as gs
from groundswell.meshes.gll import gll

SIDES = (("west", "east"), ("south", "north"), ("bottom", "top"))


def poisson(symmetry: Symmetry) -> dict[str, Floats]:
    """A source, a tensor k, c, fluxes and heat transfer that vary in a box of different edges."""
    size, counts = np.array([1.0, 0.7, 1.3]), (3, 2, 4)

    def before(function: Callable[..., Floats]) -> Callable[..., Floats]:
        """The function of positions in the box before it was turned."""

        def turned(x: Floats, y: Floats, z: Floats) -> Floats:
            at = np.stack([x, y, z], -1) - np.where(symmetry.mirrored, symmetry.of_lengths(size), 0)
            return function(*np.moveaxis(at @ symmetry.matrix, -1, 0))

        return turned

    flux = {"kind": "flux", "value": before(lambda x, y, z: np.cos(2 * x + y) - z)}
    fixed = {"kind": "fixed", "value": before(lambda x, y, z: y * z + np.sin(x))}
    robin = {"kind": "robin", "h": before(lambda x, y, z: 2 + x * z), "ambient": fixed["value"]}
    sides: list[list[Any]] = [[fixed, None], [flux, robin], [fixed, flux]]
    entries = symmetry.of_tensor(np.array([[2.0, 0.4, -0.3], [0.4, 1.0, 0.2], [-0.3, 0.2, 3.0]]))
    conductivity = [
        before(lambda x, y, z, k=entries[pair]: k * (1 + x * y + z**2))
        for pair in zip(*np.triu_indices(3), strict=True)
    ]
    boundaries = {}
    for names, old, mirrored in zip(SIDES, symmetry.source, symmetry.mirrored, strict=True):
        for name, side in zip(names, sides[old][:: -1 if mirrored else 1], strict=True):
            boundaries |= {name: side} if side else {}
    solution = gs.poisson.solve(
        gs.poisson.Box(symmetry.of_lengths(counts), high=symmetry.of_lengths(size.tolist())),
        5,
        before(lambda x, y, z: np.exp(x) * np.sin(3 * y) + z**2),
        boundaries,
        conductivity=conductivity,
        screening=before(lambda x, y, z: x + 2 * y),
        preconditioner="multigrid",
        tolerance=1e-12,
    )
    old = gs.poisson.nodes(gs.poisson.Box(counts, high=tuple(size)), 5).reshape(-1, 3)
    tree = cKDTree(solution.positions.reshape(-1, 3))
    distance, nearest = tree.query(symmetry.of_points(old, size))
    assert distance.max() < 1e-12
    return {"u": solution.values.ravel()[nearest]}


def exchanged_sources() -> tuple[Floats, Floats]:
    """The mean over one source of the solution for another."""
    box = gs.poisson.Box((3, 2, 4), high=(1.0, 0.7, 1.3))
    boundaries = {"west": {"kind": "fixed"}, "top": {"kind": "fixed"}}
    sources = [lambda x, y, z: np.exp(x) * np.sin(3 * y), lambda x, y, z: np.cos(2 * z) + x * y]
    nodes = np.moveaxis(gs.poisson.nodes(box, 6), -1, 0)
    weights = gll(6).cube_weights.ravel()  # elements of one size: its constant factor cancels
    with gs.poisson.Problem(box, 6, boundaries, tolerance=1e-13) as problem:
        means = [
            np.sum(problem.solve(source).values * weights * other(*nodes))
            for source, other in (sources, sources[::-1])
        ]
    return np.array(means[0]), np.array(means[1])
