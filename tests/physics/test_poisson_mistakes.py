"""What the problems of `groundswell verify poisson` notice: parts that are broken on purpose."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from groundswell.backends import open_backend
from groundswell.solvers.poisson import problem_data as task
from groundswell.spectral_elements import elements
from groundswell.verify import Check, load_problem

# Kernel file, what stands there, what is put in its place, and the problem that must fail.
IN_KERNELS = {
    "a factor of the metric 1 % too large": (
        "element.h",
        "FMA(g.ss, u.s, g.st * u.t)",
        "FMA(g.ss, u.s, REAL(1.01) * g.st * u.t)",
        "accuracy:curved",
    ),
    "derivatives of odd values 0.1 % too large": (
        "derive.h",
        "    line[n] = of_odd + of_even;",
        "    of_odd *= REAL(1.001);\n    line[n] = of_odd + of_even;",
        "accuracy:box",
    ),
    "mass 0.1 % too large": (
        "rows.h",
        "FMA(Line(given.shape, e, s, r).at(t).mass,",
        "FMA(REAL(1.001) * Line(given.shape, e, s, r).at(t).mass,",
        "operator:properties",
    ),
    "a row that loses its last node": (
        "rows.h",
        "for (int r = 0; r < NODES; ++r) u[t][s][r] = given.value_at(places[r]);",
        "for (int r = 0; r < NODES - 1; ++r) u[t][s][r] = given.value_at(places[r]);",
        "operator:properties",
    ),
}
# What is known at nodes, by how much it is off, and the problem that must fail.
OF_SIDES = {
    "prescribed_values": (1 + 1e-9, "accuracy:box"),
    "flux_loads": (1 + 1e-9, "sides:flux"),
}


def failed(problem: str) -> list[Check]:
    checks = list(load_problem(f"poisson/{problem}")(open_backend("cpu"), False))
    return [check for check in checks if not check.passed]


@pytest.mark.slow
@pytest.mark.parametrize("mistake", IN_KERNELS)
def test_mistakes_in_kernels(mistake: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, right, wrong, problem = IN_KERNELS[mistake]
    kernels = tmp_path / "kernels"
    shutil.copytree(elements.KERNELS, kernels)
    text = (kernels / file).read_text()
    assert right in text
    (kernels / file).write_text(text.replace(right, wrong))
    monkeypatch.setattr(elements, "KERNELS", kernels)
    assert failed(problem)


@pytest.mark.slow
@pytest.mark.parametrize("what", OF_SIDES)
def test_mistakes_at_sides(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    factor, problem = OF_SIDES[what]
    right: Callable[..., Any] = getattr(task, what)
    monkeypatch.setattr(task, what, lambda *given: factor * right(*given))
    assert failed(problem)
