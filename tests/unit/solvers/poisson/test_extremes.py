"""Poisson's equation of any size, in any place, and what is left of a problem that fails."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dense_spectral_elements import space_on
from variants import long_variants

import groundswell as gs
from groundswell.backends import open_backend
from groundswell.errors import InputError
from groundswell.exchange.gather_scatter import GatherScatter
from groundswell.meshes.box import Box
from groundswell.solvers.poisson import multigrid
from groundswell.solvers.poisson.coefficients import Coefficients
from groundswell.solvers.poisson.element_operator import ElementOperator
from groundswell.spectral_elements import space as space_module
from groundswell.spectral_elements.space import FunctionSpace

pytestmark = pytest.mark.each_value

FIXED = {"west": {"kind": "fixed"}}


@pytest.mark.parametrize("source", [1e-300, 1e-40, 1e40, 1e300])
def test_any_scale(source: float) -> None:
    """Multigrid works in single precision, which knows none of these numbers."""
    box, how = gs.poisson.Box((2, 2, 2)), {"preconditioner": "multigrid"}
    one, found = (gs.poisson.solve(box, 4, f, FIXED, **how) for f in (2.0**-3, source))
    assert found.converged and abs(found.iterations - one.iterations) <= 1
    assert np.allclose(found.values / source, one.values * 8, rtol=1e-4)


def bent(edge: float) -> Any:
    return lambda p: p + 0.1 * p[..., ::-1] * (p[..., [1, 2, 0]] / edge)


@pytest.mark.parametrize("how", ["none", "jacobi", "multigrid"])
@pytest.mark.parametrize("edge", [1e-14, 4e13, *long_variants([1e9])])
@pytest.mark.parametrize("straight", [True, False])
@pytest.mark.parametrize("screening", [3.0, *long_variants([0.0])])
def test_any_size(edge: float, how: str, straight: bool, screening: float) -> None:
    """In single precision, of which a nanometre's cube times a number soon leaves the range."""
    given = {"preconditioner": how, "precision": "single", "tolerance": 1e-5}
    one, found = (
        gs.poisson.solve(
            Box((2, 2, 2), high=(size,) * 3, deform=None if straight else bent(size), order=1),
            *(4, 1.0, FIXED),
            screening=screening / size**2,
            **given,
        )
        for size in (1.0, edge)
    )
    assert found.converged and abs(found.iterations - one.iterations) <= 2
    most = np.abs(one.values).max()
    assert np.allclose(found.values / edge**2, one.values, rtol=0, atol=1e-4 * most)


def test_boxes_far_away_are_no_less_simple() -> None:
    """Whose corners are rounded: elements are parallelepipeds all the same."""
    box = Box((3, 2, 2), low=(4e6, -7e6, 300.0), high=(4e6 + 3, -7e6 + 2, 302.0))
    space = space_on(box, 2)
    assert (
        ElementOperator(open_backend("cpu"), space, Coefficients.screened(1.0), "float64").metric
        == "affine"
    )
    slightly = Box((3, 2, 2), deform=lambda p: p + 1e-9 * p[..., ::-1] * p, order=1)
    space = space_on(slightly, 2)
    assert (
        ElementOperator(open_backend("cpu"), space, Coefficients.screened(1.0), "float64").metric
        == "stored"
    )


def test_more_values_than_have_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(space_module, "MAX_VALUES", 26)
    with pytest.raises(InputError, match="a rank has 27 unknowns; allowed: up to 26; use more"):
        gs.poisson.solve(Box((1, 1, 1)), 2, 1.0, FIXED)


@pytest.fixture
def operations(monkeypatch: pytest.MonkeyPatch) -> list[GatherScatter]:
    """All that are made."""
    made, make = [], GatherScatter.__init__

    def noted(self: GatherScatter, *given: Any, **named: Any) -> None:
        make(self, *given, **named)
        made.append(self)

    monkeypatch.setattr(GatherScatter, "__init__", noted)
    return made


@pytest.mark.parametrize(
    "wrong", [{"source": "1 / x"}, {"boundaries": {"west": {"kind": "fixed", "value": "1 / x"}}}]
)
def test_what_fails_holds_nothing(wrong: Any, operations: list[GatherScatter]) -> None:
    with pytest.raises(InputError, match="is inf at"):
        gs.poisson.solve(
            Box((2, 1, 1)), 2, **{"source": 1.0, "boundaries": FIXED, "screening": 1.0, **wrong}
        )
    assert operations and all(operation.closed for operation in operations)


def test_half_a_cycle_holds_nothing(
    operations: list[GatherScatter], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(vectors: Any, lowest: FunctionSpace, *given: Any) -> None:
        lowest.comm.fail_together(InputError("no lowest level"))

    monkeypatch.setattr(multigrid, "_make_coarse_solver", refuse)
    with pytest.raises(InputError, match="no lowest level"):
        gs.poisson.solve(Box((2, 1, 1)), 3, 1.0, FIXED, preconditioner="multigrid")
    assert len(operations) > 2 and all(operation.closed for operation in operations)


def test_runs_that_cannot_tell_their_error_hold_nothing(
    operations: list[GatherScatter], tmp_path: Path
) -> None:
    path = tmp_path / "case.toml"
    path.write_text(CASE)
    with pytest.raises(InputError, match=r"equation\.exact is inf at"):
        gs.run(path)
    assert operations and all(operation.closed for operation in operations)


def test_solutions_do_not_depend_on_their_error(tmp_path: Path) -> None:
    """The exact solution is finite at the nodes, but not between them."""
    path = tmp_path / "case.toml"
    path.write_text(CASE.replace('"1 / x"', '"sqrt(abs(x - 0.2209) - 0.005)"'))
    found = json.loads((gs.run(path, folder=tmp_path / "out").folder / "solution.json").read_text())
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert "error_max" not in found and found["converged"]
    assert any("error is not measured: equation.exact is nan at" in w for w in summary["warnings"])


CASE = """
solver = "poisson"
title = "t"
[mesh]
kind = "box"
counts = [2, 1, 1]
[equation]
screening = 1.0
exact = "1 / x"
"""

PROGRAM = """
import groundswell as gs, sys
from groundswell.solvers.poisson import fused_cg
fused_cg.SUMS_PER_BLOCK = 16  # even so small a problem has sums of several blocks
box = gs.poisson.Box((7, 6, 5), deform=lambda p: p + 0.05 * p[..., ::-1] ** 2, order=1)
for how in ("jacobi", "multigrid"):
    west = {"west": {"kind": "fixed"}}
    found = gs.poisson.solve(box, 4, "sin(9 * x) * y", west, preconditioner=how)
    sys.stdout.buffer.write(found.values.tobytes())
"""


def test_bits_do_not_depend_on_cores() -> None:
    found = [
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, "OMP_NUM_THREADS": threads},
            capture_output=True,
            check=True,
        ).stdout
        for threads in ("1", "3")
    ]
    assert found[0] and found[0] == found[1]
