"""Poisson's equation where any constant may be added to u, which is told by its mean."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import groundswell as gs
from groundswell.case.load import load_case
from groundswell.errors import CaseError, InputError
from groundswell.meshes.box import Box
from groundswell.meshes.hexahedra import positions
from groundswell.meshes.mesh import Mesh
from groundswell.spectral_elements.geometry import compute_mass

pytestmark = pytest.mark.each_value

PI = np.pi
HOW = [
    ("none", "double", 1e-8),
    ("jacobi", "double", 1e-8),
    ("jacobi", "single", 1e-4),
    ("multigrid", "double", 1e-8),
]


def bent(p: np.ndarray) -> np.ndarray:
    return p + 0.05 * np.sin(PI * p) * np.sin(PI * p[..., ::-1])


def wave(x: Any, y: Any, z: Any) -> Any:
    return np.cos(PI * x) * np.cos(2 * PI * y) + 0.7


@pytest.mark.parametrize(("preconditioner", "precision", "within"), HOW)
@pytest.mark.parametrize("mesh", [Box((3, 4, 2)), Box((3, 4, 2), deform=bent, order=4)])
def test_sides_without_flux(mesh: Box, preconditioner: str, precision: str, within: float) -> None:
    found = gs.poisson.solve(
        mesh,
        9,
        lambda *at: 5 * PI**2 * (wave(*at) - 0.7),
        mean=0.7,
        preconditioner=preconditioner,
        precision=precision,
    )
    assert found.converged
    assert np.abs(found.values - wave(*np.moveaxis(found.positions, -1, 0))).max() <= within


def test_flux_and_source_that_cancel() -> None:
    """u = z (1 - z / 2): what a source of 1 makes leaves through the bottom."""
    floor = {"bottom": {"kind": "flux", "value": -1.0}}
    found = gs.poisson.solve(Box((2, 1, 3)), 3, 1.0, floor, mean=2.0)
    z = found.positions[..., 2]
    assert np.allclose(found.values, z * (1 - z / 2) - 1 / 3 + 2, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("source", "elements", "left"),
    [("where(x < 0.3, 1, -3 / 7)", 12, 0.03), ("cos(2*pi*x)", 1, 0.1)],
)
def test_what_integration_leaves(source: str, elements: int, left: float) -> None:
    found = gs.poisson.solve(Box((elements, 1, 1)), 4, source, mean=0.0)
    assert 1e-4 < found.unbalanced < left and found.converged


def test_what_cancels_at_each_node() -> None:
    """Nodes' own loads are all 0, but for rounding."""
    sides = {name: {"kind": "flux", "value": -1 / 6} for name in ("top", "bottom")}
    found = gs.poisson.solve(Box((1, 1, 1), high=(1, 1, 1 / 3)), 1, 1.0, sides, mean=0.0)
    assert np.abs(found.values).max() < 1e-12 and found.unbalanced < 1e-15


def test_means_are_of_the_domain_not_of_nodes() -> None:
    mesh = Box((2, 2, 2), deform=bent, order=3)
    found = gs.poisson.solve(mesh, 6, lambda x, y, z: np.cos(PI * x), mean=-3.0, screening=0.0)
    mass = compute_mass(mesh, 6, np.arange(8))
    assert (mass * found.values).sum() / mass.sum() == pytest.approx(-3, abs=1e-12)


def test_nothing_that_makes_a_difference() -> None:
    found = gs.poisson.solve(Box((2, 2, 2)), 4, mean=3.0)
    assert np.allclose(found.values, 3.0, rtol=0, atol=1e-14) and found.converged


def two_cubes() -> Mesh:
    corners = positions(Box((1, 1, 1)), 1, [0])[0]
    elements = np.arange(16).reshape(2, 8)
    return Mesh(elements, np.stack([corners, corners + 3.0]))


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (
            {"source": 1.0},
            "sum to 1, 1 of their absolute values; where only the mean of u is",
        ),
        ({"screening": 2.0}, "mean = 0, but the screening or a side determines"),
        (
            {"boundaries": {"top": {"kind": "fixed"}}},
            "mean = 0, but the screening or a side determines",
        ),
        ({"mean": "much"}, 'mean = "much": '),
        ({"mean": 10**400}, "mean = a whole number of 1329 bits: "),
        ({"mean": 1j}, "mean = a Python complex: "),
        ({"mean": np.nan}, "mean = nan: "),
        (
            {"mean": None},
            "u is determined only up to a constant; give a screening above 0, a side, or",
        ),
        (
            {"mesh": two_cubes()},
            "mean = 0 of a mesh of 2 separate bodies",
        ),
    ],
)
def test_what_is_refused(wrong: dict[str, Any], told: str) -> None:
    given = {"mesh": Box((1, 1, 2)), "degree": 2, "mean": 0.0}
    with pytest.raises(InputError, match=told):
        gs.poisson.solve(**given | wrong)


CASE = """
solver = "poisson"
title = "t"
[mesh]
kind = "box"
counts = [2, 2, 2]
[equation]
source = "cos(pi * x)"
"""


def test_cases(tmp_path: Any) -> None:
    path = tmp_path / "case.toml"
    path.write_text(CASE + "mean = 1.5\nexact = '1.5 + cos(pi * x) / pi**2'\n[method]\ndegree = 9")
    done = gs.run(path)
    assert json.loads((done.folder / "solution.json").read_text())["error_max"] < 1e-8
    uneven = CASE.replace("cos(pi * x)", "where(x < 0.3, 1, -3 / 7)").replace("2, 2, 2", "12, 1, 1")
    path.write_text(uneven + "mean = 0")
    [told] = gs.run(path, folder=tmp_path / "uneven").summary["warnings"]
    assert "do not cancel: " in told and "a constant source compensates" in told
    for more, told in (
        ("", "or give the mean of u"),
        ("mean = 1.5\nscreening = 1", "leave it out"),
    ):
        path.write_text(CASE + more)
        with pytest.raises(CaseError, match=told):
            load_case(path)
