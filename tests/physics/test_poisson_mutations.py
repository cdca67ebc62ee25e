"""What the problems of `groundswell verify poisson` notice: parts that are broken on purpose."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from variants import short_and_long

from groundswell.backends import open_backend
from groundswell.backends import source as sources
from groundswell.solvers.poisson import element_operator
from groundswell.solvers.poisson.boundary_value_problem import BoundaryValueProblem
from groundswell.verify import Check, load_problem

FOLDERS = ("solvers/poisson/kernels", "spectral_elements/kernels")

# Kernel file, what stands there, what is put in its place, and the problem that must fail.
IN_KERNELS = {
    "a factor of the metric 1 % too large": (
        "metric.h",
        "FMA(g.ss, u.s, g.st * u.t)",
        "FMA(g.ss, u.s, REAL(1.01) * g.st * u.t)",
        "accuracy:curved",
    ),
    "derivatives of odd values 0.1 % too large": (
        "differentiate.h",
        "    line[n] = of_odd + of_even;",
        "    of_odd *= REAL(1.001);\n    line[n] = of_odd + of_even;",
        "accuracy:box",
    ),
    "mass 0.1 % too large": (
        "apply_rows.h",
        "FMA(Line(operands.geometry, e, s, r).at(t).mass,",
        "FMA(REAL(1.001) * Line(operands.geometry, e, s, r).at(t).mass,",
        "operator:properties",
    ),
    "a row that loses its last node": (
        "apply_rows.h",
        "for (int r = 0; r < NODES; ++r) u[t][s][r] = operands.value_at(dofs[r]);",
        "for (int r = 0; r < NODES - 1; ++r) u[t][s][r] = operands.value_at(dofs[r]);",
        "operator:properties",
    ),
    "a conductivity 0.1 % too large": (
        "metric.h",
        "a * values[K_VALUES > 1 ? node : 0]",
        "REAL(1.001) * a * values[K_VALUES > 1 ? node : 0]",
        "coefficients:smooth",
    ),
    "the screening of the first node for all": (
        "metric.h",
        "values[K_VALUES + (C_VALUES > 1 ? node : 0)]",
        "values[K_VALUES]",
        "coefficients:smooth",
    ),
    "heat transfer 0.1 % too large": (
        "apply_sides.h",
        "added = factors[n] * u;",
        "added = REAL(1.001) * factors[n] * u;",
        "coefficients:fin",
    ),
}
# What evaluates boundary data, and the problem that must fail.
AT_BOUNDARIES = {
    "_evaluate_fixed": "accuracy:box",
    "_integrate_side": "sides:flux",
}
FACTOR = 1 + 1e-9


def failed(problem: str) -> list[Check]:
    checks = list(load_problem(f"poisson/{problem}")(open_backend("cpu"), False))
    return [check for check in checks if not check.passed]


@pytest.mark.parametrize("mistake", short_and_long(IN_KERNELS, list(IN_KERNELS)[2:]))
def test_mistakes_in_kernels(mistake: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, right, wrong, problem = IN_KERNELS[mistake]
    for folder in FOLDERS:
        shutil.copytree(sources.PACKAGE / folder, tmp_path / folder)
    path = next(path for path in tmp_path.rglob(file))
    text = path.read_text()
    assert right in text
    path.write_text(text.replace(right, wrong))
    monkeypatch.setattr(sources, "PACKAGE", tmp_path)
    monkeypatch.setattr(element_operator, "KERNELS", tmp_path / FOLDERS[0])
    assert failed(problem)


@pytest.mark.parametrize("name", AT_BOUNDARIES)
def test_mistakes_at_boundaries(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, problem = BoundaryValueProblem, AT_BOUNDARIES[name]
    right: Callable[..., Any] = getattr(owner, name)
    monkeypatch.setattr(owner, name, lambda *arguments: FACTOR * right(*arguments))
    assert failed(problem)
