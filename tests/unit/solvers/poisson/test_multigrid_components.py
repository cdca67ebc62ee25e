"""Multigrid of several components at once, and its parts, against one component after another."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from dense_spectral_elements import shuffled, space_on
from emulated_backend import EmulatedBackend

import groundswell as gs
from groundswell.backends import Backend, open_backend
from groundswell.backends.base import in_order
from groundswell.backends.listing import list_launches
from groundswell.meshes.box import Box
from groundswell.solvers.poisson.coefficients import Coefficients
from groundswell.solvers.poisson.equation import Equation
from groundswell.solvers.poisson.geometric_factors import GeometricFactors
from groundswell.solvers.poisson.grid_transfer import GridTransfer
from groundswell.solvers.poisson.multigrid import Cycle, Multigrid
from groundswell.solvers.poisson.schwarz import Schwarz, compute_stretches

RNG = np.random.default_rng
COMPONENTS, DEGREE = 3, 4
MESH = shuffled(Box((2, 2, 2), deform=lambda p: p + 0.1 * p[..., ::-1] ** 2, order=2), RNG(3))


@pytest.fixture(params=[open_backend("cpu"), EmulatedBackend()], ids=["cpu", "gpu"])
def backend(request: pytest.FixtureRequest) -> Backend:
    chosen: Backend = request.param
    return chosen


def vectors(backend: Backend, *sizes: int) -> list[Any]:
    """Random arrays of several components."""
    rng = RNG(sum(sizes))
    values = (rng.standard_normal((COMPONENTS, size)) for size in sizes)
    return [backend.to_device(each) for each in values]


def test_boxes_of_several_components(backend: Backend) -> None:
    space = space_on(MESH, DEGREE)
    factors = GeometricFactors.of(MESH, DEGREE, space.elements, Coefficients.screened(0.5))
    r, z = vectors(backend, space.size, space.size)
    diagonal = np.where(RNG(1).random(space.size) < 0.1, 0.0, 2.0)
    one_r, one_z = (backend.zeros((space.size,), "f8") for _ in range(2))
    alone = Schwarz(backend, space, compute_stretches(factors), diagonal, one_r, one_z)
    in_order(alone.between(r, z).launches)()
    for of_r, of_z in zip(r, z, strict=True):
        one_r[:] = of_r
        in_order(alone.launches)()
        np.testing.assert_array_equal(of_z, one_z)


def test_transfers_of_several_components(backend: Backend) -> None:
    fine, coarse = space_on(MESH, DEGREE), space_on(MESH, 2)
    sizes = (fine.size, coarse.size, coarse.size, fine.size)
    r, b, e, x = vectors(backend, *sizes)
    start = x.copy()
    mask = (RNG(1).random(fine.size) < 0.8).astype(float)
    one = [backend.zeros((size,), "f8") for size in sizes]
    alone = GridTransfer(backend, fine, coarse, mask, (one[0], one[1]), (one[2], one[3]))
    several = alone.between((r, b), (e, x))
    in_order(several.launches)()
    for c in range(COMPONENTS):
        one[0][:], one[2][:], one[3][:] = r[c], e[c], start[c]
        in_order(alone.launches)()
        np.testing.assert_array_equal(b[c], one[1])
        np.testing.assert_array_equal(x[c], one[3])


CASES = {
    "bent": (MESH, (1, 4), "direct"),
    "free": (Box((2, 1, 2)), (), "direct"),
    "flat": (Box((2, 2, 2), high=(1.0, 1.0, 0.02)), (1,), "direct"),
    "cycle": (MESH, (1,), "amg"),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_cycles_of_several_components(name: str, dtype: str) -> None:
    mesh, fixed, coarse = CASES[name]
    backend, space = open_backend("cpu"), space_on(mesh, DEGREE)
    equation = Equation(fixed=dict.fromkeys(fixed, lambda *at: 0 * at[0]))
    x, y = (backend.zeros((space.size,), "f8") for _ in range(2))
    cycle = Cycle(dtype=dtype, coarse=coarse)
    alone = Multigrid(backend, space, equation, x, y, cycle=cycle)
    many_x, many_y = vectors(backend, space.size, space.size)
    many_x *= alone.levels[0].operator.mask
    in_order(alone.for_components(many_x, many_y).launches)()
    for of_x, of_y in zip(many_x, many_y, strict=True):
        x[:] = of_x
        in_order(alone.launches)()
        rounding = {"float64": 1e-12, "float32": 1e-4}[dtype]
        assert np.abs(of_y - y).max() < rounding * np.abs(y).max()


def test_a_cycle_of_three_reads_what_they_share_once() -> None:
    """Curved elements store their metric: the operator moves half as much for each component."""
    backend, space = open_backend("cpu"), space_on(MESH, 7)
    equation = Equation(fixed={1: lambda *at: 0 * at[0]})
    x, y = (backend.zeros((space.size,), "f8") for _ in range(2))
    alone = Multigrid(backend, space, equation, x, y)
    several = alone.for_components(*(backend.zeros((3, space.size), "f8") for _ in range(2)))

    def moved(cycle: Multigrid, kernel: str) -> int:
        listing = list_launches(in_order(cycle.launches), {})
        return sum(a.nbytes for e in listing if e.name == kernel for a in e.arrays)

    for kernel, factor in (("apply_elements", 1.8), ("solve_elements", 1.5)):
        assert 3 * moved(alone, kernel) > factor * moved(several, kernel) > 0


def test_several_right_hand_sides_by_multigrid() -> None:
    """An array (right-hand sides, elements, nodes), each as if it were alone."""
    f = RNG(4).standard_normal((5, MESH.count, (DEGREE + 1) ** 3))
    f *= 10.0 ** np.arange(-6, 9, 3)[:, None, None]
    options = {"preconditioner": "multigrid", "tolerance": 1e-11, "sides": {"all": 1}}
    with gs.poisson.Problem(MESH, DEGREE, {"all": {"kind": "fixed"}}, **options) as problem:
        together = problem.solve(f)
        each = [problem.solve(one) for one in f]
        rhs = problem.right_hand_side(f)
        cycles = problem.preconditioner(rhs)
        single = np.stack([problem.preconditioner(column) for column in rhs.T], axis=1)
    assert together.values.shape == f.shape and together.converged
    for u, alone in zip(together.values, each, strict=True):
        assert np.abs(u - alone.values).max() < 1e-9 * np.abs(alone.values).max()
    most = max(alone.iterations for alone in each)
    assert most <= together.iterations <= most + 2
    assert np.abs(cycles - single).max(axis=0) == pytest.approx(0, abs=1e-6 * np.abs(single).max())
