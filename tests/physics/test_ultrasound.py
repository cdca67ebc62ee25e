"""Ultrasound as users meet it: problems of `groundswell verify`, and mistakes they notice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from variants import short_and_long

from groundswell import registry
from groundswell.backends import open_backend
from groundswell.solvers.ultrasound import absorption, operators, sources, window
from groundswell.solvers.ultrasound.medium import AcousticMedium
from groundswell.solvers.ultrasound.operators import SpectralOperators
from groundswell.solvers.ultrasound.verification import PROBLEMS, nonlinear
from groundswell.verify import Check

LONG = [
    "bowl:bowl",
    "bowl:piston",
    "interfaces:normal_incidence",
    "nonlinear:mendousse",
    "overlaps:absorption",
    "overlaps:torus",
    "requested:accuracies",
]


def checks_of(name: str) -> list[Check]:
    problem = registry.find("ultrasound").resolve(f".verification.{name}")
    return list(problem(open_backend("cpu"), False))


def show(checks: list[Check]) -> list[str]:
    return [f"{c.name}: {c.value:.4g} {c.unit} ({c.tolerance}) {c.note}" for c in checks]


@pytest.mark.parametrize("name", short_and_long(PROBLEMS, LONG))
def test_the_solver_comes_close_enough(name: str) -> None:
    checks = checks_of(name)
    print(*show(checks), sep="\n")
    assert checks
    assert not show([check for check in checks if not check.passed])


# --- what the problems notice --------------------------------------------------------------------


def scaled(factor: float) -> Callable[[Any], Any]:
    """What makes a function return its values times a factor."""
    return lambda function: lambda *arguments, **options: factor * function(*arguments, **options)


def replaced_by(value: Any) -> Callable[[Any], Any]:
    return lambda original: value


# Where a mistake is made, the name there, the mistake, and the problem that must fail.
MISTAKES: dict[str, tuple[Any, str, Callable[[Any], Any], str]] = {
    "k-space correction 0.1 % too large": (
        SpectralOperators,
        "kappa",
        scaled(1.001),
        "waves:phase_error",
    ),
    "absorption 1 % too large": (absorption, "tau", scaled(1.01), "waves:power_law"),
    "dispersion 2 % too large": (absorption, "eta", scaled(1.02), "waves:power_law"),
    "nonlinearity 2 % too large": (nonlinear, "NONLINEARITY", replaced_by(5.1), "nonlinear:fubini"),
    "density of one neighbour at velocity points": (
        AcousticMedium,
        "staggered_density",
        replaced_by(lambda medium, axis, planes: medium.density[planes]),
        "interfaces:plate",
    ),
    "sources 1 % too strong": (sources, "scales", scaled(1.01), "sources:planes"),
    "transducers 1 % too strong": (sources, "scales", scaled(1.01), "bowl:arc"),
    "sources without their correction": (
        SpectralOperators,
        "source_kappa",
        replaced_by(lambda found, z: np.ones_like(found.magnitudes(z)) / found.grid.count),
        "sources:planes",
    ),
    "a quadratic profile of the layers": (
        operators,
        "PML_POWER",
        replaced_by(2),
        "layers:plane_waves",
    ),
    "a bell function that is too steep": (window, "bell_shape", scaled(4), "overlaps:accuracy"),
}
EVERY_DAY = ("absorption 1 % too large", "transducers 1 % too strong")
RARE = [mistake for mistake in MISTAKES if mistake not in EVERY_DAY]


@pytest.mark.parametrize("mistake", short_and_long(MISTAKES, RARE))
def test_a_problem_notices(mistake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, name, change, problem = MISTAKES[mistake]
    monkeypatch.setattr(owner, name, change(getattr(owner, name)))
    checks = checks_of(problem)
    print(*show(checks), sep="\n")
    assert not all(check.passed for check in checks)
