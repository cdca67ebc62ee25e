"""Poisson's equation from Python, set up once and solved often."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import groundswell as gs
from groundswell.errors import InputError
from groundswell.spectral_elements.vtkhdf import LagrangeElements

BOX = gs.poisson.Box((3, 2, 2), deform=lambda p: p + 0.1 * p[..., ::-1] ** 2, order=2)
SIDES = {"west": {"kind": "fixed", "value": "y"}, "top": {"kind": "flux", "value": 0.5}}


def wave(x: Any, y: Any, z: Any) -> Any:
    return np.sin(2 * x) * np.cos(y) + z


@pytest.mark.parametrize("preconditioner", ["none", "jacobi", "multigrid"])
def test_solutions_do_not_depend_on_earlier_ones(preconditioner: Any) -> None:
    how = {"screening": 0.3, "preconditioner": preconditioner}
    with gs.poisson.Problem(BOX, 4, SIDES, **how) as problem:
        problem.solve(1.0, values={"west": "x", "top": lambda x, y, z: 3 * x})
        again = problem.solve(wave)
    alone = gs.poisson.solve(BOX, 4, wave, SIDES, **how)
    assert (again.values == alone.values).all() and (again.residuals == alone.residuals).all()


def test_sides_may_get_other_values() -> None:
    others = {"west": "x + 1", "top": -2.0}
    tables = {name: {**table, "value": others[name]} for name, table in SIDES.items()}
    with gs.poisson.Problem(BOX, 4, SIDES) as problem:
        found = problem.solve(wave, values=others)
        with pytest.raises(InputError, match=r"values for 'east', .* allowed: west or top"):
            problem.solve(wave, values={"east": 1.0})
    assert (found.values == gs.poisson.solve(BOX, 4, wave, tables).values).all()


def test_solutions_are_written_for_paraview(tmp_path: Path) -> None:
    """As they are, at both ends of a period."""
    box = gs.poisson.Box((3, 1, 2), periodic=(True, False, False))
    found = gs.poisson.solve(box, 3, "cos(2 * pi * x)", {"top": {"kind": "fixed", "value": "z"}})
    path = found.write(tmp_path / "results" / "u.vtkhdf")
    written = LagrangeElements.read(path)
    assert written.degree == written.attrs["degree"] == 3
    assert np.ptp(written.points[:, 0]) == 1
    high = written.points[:, 2] == 1
    assert np.allclose(written.fields["u"][high], 1)
    corners = written.connectivity[:, [0, -1]]
    assert (written.fields["u"][corners] == found.values[:, [0, -1]]).all()
    with pytest.raises(InputError, match=r"u.vtkhdf/more.vtkhdf cannot be written"):
        found.write(path / "more.vtkhdf")


@pytest.mark.parametrize("preconditioner", ["jacobi", "multigrid"])
def test_a_good_start_saves_iterations(preconditioner: Any) -> None:
    how = {"preconditioner": preconditioner, "tolerance": 1e-9}
    with gs.poisson.Problem(BOX, 4, SIDES, **how) as problem:
        first = problem.solve(wave)
        near = problem.solve(lambda *at: 1.001 * wave(*at), start=first)
        there = problem.solve(wave, start=first)
        far = problem.solve(wave, start="1e3 * x * y")  # on the fixed side, too, where it is not u
    assert near.converged and near.iterations < 0.8 * first.iterations
    assert there.converged and there.iterations <= 1
    assert far.converged and far.iterations >= first.iterations
    largest = np.abs(first.values).max()
    for other in (near, there, far):
        apart = np.abs(other.values - first.values).max() / largest
        assert apart < (2e-3 if other is near else 1e-7)
    # What is small enough is told by u = 0, not by the start.
    assert far.residuals[-1] <= 1e-9 * first.residuals[0] < far.residuals[-2]


def test_a_start_where_any_constant_may_be_added() -> None:
    box = gs.poisson.Box((3, 2, 2), periodic=(True, True, True))
    with gs.poisson.Problem(box, 6, mean=2.0) as problem:
        source = "cos(2 * pi * x) + sin(2 * pi * z)"
        first = problem.solve(source)
        again = problem.solve(source, start=lambda x, y, z: 7 + 0 * x)
        there = problem.solve(source, start=first)
    assert there.iterations <= 1
    for other in (again, there):
        assert np.allclose(other.values, first.values, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("start", "said"),
    [
        (lambda x, y, z: 1 / x, r"start is inf at \(0, "),
        (lambda x, y, z: x[:, :2], r"start has shape"),
        ("sin(q)", 'start = .* has the unknown name "q"'),
    ],
)
def test_starts_that_are_none(start: Any, said: str) -> None:
    box = gs.poisson.Box((2, 1, 1))
    with gs.poisson.Problem(box, 2, SIDES) as problem, pytest.raises(InputError, match=said):
        problem.solve(1.0, start=start)


def test_functions_of_python_numbers() -> None:
    """They cannot be asked for nothing, and are not where a face has no such side."""
    step = np.vectorize(lambda x, y, z: 1.0 if x < 0.5 else 0.0)
    flux = {**SIDES, "top": {"kind": "flux", "value": step}}
    assert gs.poisson.solve(BOX, 3, step, flux).converged


@pytest.mark.parametrize("order", [1, 3])
@pytest.mark.parametrize("preconditioner", ["jacobi", "multigrid"])
def test_positions_that_are_no_numbers(order: int, preconditioner: Any) -> None:
    def root(p: Any) -> Any:
        with np.errstate(invalid="ignore"):
            return p + np.sqrt(p[..., [0]] - 0.3)

    box = gs.poisson.Box((2, 2, 2), deform=root, order=order)
    with pytest.raises(InputError, match=r"elements? inverted, flat or not finite"):
        gs.poisson.solve(box, 3, 1.0, SIDES, preconditioner=preconditioner)


def test_faces_inside_are_no_side() -> None:
    fixed = {"inner": {"kind": "fixed"}}
    with pytest.raises(InputError, match="inner = 0, which is not the tag of any face"):
        gs.poisson.solve(gs.poisson.Box((2, 2, 2)), 2, 1.0, fixed, sides={"inner": 0})
