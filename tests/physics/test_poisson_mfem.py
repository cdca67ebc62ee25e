"""Poisson's equation as MFEM solves it, on the same mesh files; `mfem_oracle.py` made the numbers.

Both programs have Gauss-Lobatto nodes and quadrature, hence the same linear systems. What remains
is rounding, and the tolerance of conjugate gradients.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mfem_problems import PROBLEMS, VALUES, Problem
from variants import long_variants

import groundswell as gs
from groundswell.meshes.assembly import MeshGroups
from groundswell.solvers.poisson.geometric_factors import GeometricFactors
from groundswell.spectral_elements.point_location import locate

WITHIN = 1e-11  # of the largest value
EXPECTED: dict[str, Any] = json.loads(VALUES.read_text())
METHODS = ["jacobi", *long_variants(["multigrid"])]


def conductivity_of(problem: Problem, groups: MeshGroups) -> Any:
    k = problem.conductivity
    if isinstance(k, tuple):
        return list(k)
    return k if callable(k) else groups.by_volume(k)


@pytest.mark.parametrize("preconditioner", METHODS)
@pytest.mark.parametrize("name", PROBLEMS)
def test_solutions_are_those_of_mfem(tmp_path: Path, name: str, preconditioner: Any) -> None:
    problem, expected = PROBLEMS[name], EXPECTED[name]
    groups = gs.poisson.read_mesh_groups(problem.write(tmp_path / "a.msh"))
    options: Any = {"conductivity": conductivity_of(problem, groups), "sides": groups.sides}
    if problem.screening is not None:
        options["screening"] = problem.screening
    options |= {"tolerance": 1e-14, "preconditioner": preconditioner}
    degree, mesh, elements = problem.degree, groups.mesh, np.arange(groups.mesh.count)
    with gs.poisson.Problem(mesh, degree, problem.tables, **options) as solver:
        nodal = solver.solve(problem.source).values
    size = max(abs(expected["smallest"]), abs(expected["largest"]))
    place = locate(mesh, elements, expected["points"])
    u = (place.weights(degree) * nodal[place.elements]).sum(axis=1)
    assert np.abs(u - expected["values"]).max() <= WITHIN * size
    mass = GeometricFactors.of(mesh, degree, elements).mass
    assert np.sqrt((mass * nodal**2).sum()) == pytest.approx(expected["l2"], rel=WITHIN)
    assert nodal.min() == pytest.approx(expected["smallest"], abs=WITHIN * size)
    assert nodal.max() == pytest.approx(expected["largest"], abs=WITHIN * size)
