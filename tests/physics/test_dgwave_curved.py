"""DG waves on elements that are not bricks: the problems with known answers."""

from __future__ import annotations

import pytest

from groundswell.backends import open_backend
from groundswell.verify import load_problem

PROBLEMS = ["plane_waves", "halved_elements", "uniform_fields", "energy", "tilted_surface"]


@pytest.mark.parametrize("name", PROBLEMS)
def test_problems_pass(name: str) -> None:
    checks = list(load_problem(f"dgwave/curved:{name}")(open_backend("cpu"), False))
    assert checks and all(check.passed for check in checks), checks
