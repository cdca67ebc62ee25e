"""Several right-hand sides and vector problems, solved at once, against one by one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import groundswell as gs
from groundswell.errors import InputError
from groundswell.meshes.box import Box, kershaw

SOURCES = ["x * y", 1e6, "sin(9 * z)"]  # whose residuals have very different norms
EAST = ["y", 0.0, lambda x, y, z: 1e-3 * z]
SIDES = {"west": {"kind": "fixed"}, "east": {"kind": "robin", "h": 2.0, "ambient": EAST}}
MESH = Box((2, 2, 2), deform=kershaw(0.8, 0.8), order=1)
TOLERANCE = 1e-10


def one_by_one(**options: Any) -> list[gs.poisson.Solution]:
    sides = [{**SIDES, "east": {**SIDES["east"], "ambient": value}} for value in EAST]
    return [
        gs.poisson.solve(MESH, 4, *data, **options) for data in zip(SOURCES, sides, strict=True)
    ]


@pytest.mark.parametrize("preconditioner", ["none", "jacobi", "multigrid"])
def test_all_at_once_as_one_by_one(preconditioner: str) -> None:
    """Each to the tolerance, although a million times smaller than another."""
    options = {"preconditioner": preconditioner, "tolerance": TOLERANCE}
    with gs.poisson.Problem(MESH, 4, SIDES, **options) as problem:
        found = problem.solve(SOURCES)
        again = problem.solve(SOURCES, start=found)
    alone = one_by_one(**options)
    assert found.values.shape == (3, 8, 125) and found.converged
    for u, other in zip(found.values, alone, strict=True):
        assert np.abs(u - other.values).max() < 1e-8 * np.abs(other.values).max()
    most = max(other.iterations for other in alone)
    assert most <= found.iterations <= 1.3 * most + 1
    assert again.iterations <= 1
    assert found.residuals[-1] <= TOLERANCE


def test_arrays_of_several_components(tmp_path: Path) -> None:
    """Of one component, too; a source of 0 has the solution 0."""
    at = gs.poisson.nodes(MESH, 4)
    f = np.stack([at[..., 0] * at[..., 1], 0 * at[..., 0]])
    with gs.poisson.Problem(MESH, 4, {"west": {"kind": "fixed"}}) as problem:
        whole, first, alone = problem.solve(f), problem.solve(f[:1]), problem.solve(f[0])
        guess = problem.solve(f, start=[lambda *at: alone.values, 1.0])
        changed = problem.solve(f[0], values={"west": [0.0, 1.0]})
    assert first.values.shape == (1, 8, 125)
    for found in (whole, first, guess, changed):
        assert np.allclose(found.values[0], alone.values, rtol=0, atol=1e-10)
    assert not whole.values[1].any() and not guess.values[1].any()
    assert np.allclose(changed.values[1] - changed.values[0], 1, rtol=0, atol=1e-9)
    assert list(whole.fields) == ["u1", "u2"]
    assert whole.write(tmp_path / "u.vtkhdf").stat().st_size > 0


@pytest.mark.parametrize("preconditioner", ["jacobi", "multigrid"])
def test_components_with_a_mean(preconditioner: str) -> None:
    sources, options = ["cos(pi * x)", "cos(pi * y)"], {"preconditioner": preconditioner}
    box = Box((2, 2, 2))
    with gs.poisson.Problem(box, 6, mean=2.0, **options) as problem:
        found = problem.solve(sources)
    for n, u in enumerate(found.values):
        wanted = 2 + np.cos(np.pi * found.positions[..., n]) / np.pi**2
        assert np.abs(u - wanted).max() < 1e-5


def test_a_list_of_as_many_numbers_as_elements_is_of_elements() -> None:
    with gs.poisson.Problem(Box((3, 1, 1)), 2, {"west": {"kind": "fixed"}}) as problem:
        assert problem.solve([1.0, 2.0, 3.0]).values.shape == (3, 27)
        assert problem.solve([1.0, 2.0]).values.shape == (2, 3, 27)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"source": ["x", 1.0], "values": {"west": [0, 1, 2]}}, "source has 2, west has 3; give"),
        ({"source": []}, "components differ or are 0: source has 0"),
        ({"source": np.zeros((3, 7, 27))}, r"source has shape \(7, 27\); values at nodes have"),
        ({"source": ["x", "sin(q)"]}, 'source = .* has the unknown name "q"'),
        ({"source": ["x"], "start": ["x", "y"]}, "source has 1, start has 2"),
    ],
)
def test_what_components_refuse(given: Any, said: str) -> None:
    with (
        gs.poisson.Problem(MESH, 2, {"west": {"kind": "fixed"}}) as problem,
        pytest.raises(InputError, match=said),
    ):
        problem.solve(**given)
