"""The quick forms of `groundswell verify earthquake`: every check must pass."""

from __future__ import annotations

from importlib import import_module

import pytest

from groundswell.backends import open_backend
from groundswell.verify.earthquake import PROBLEMS


@pytest.mark.slow
@pytest.mark.parametrize("problem", PROBLEMS)
def test_quick_form(problem: str) -> None:
    module, _, function = problem.partition(":")
    solve = getattr(import_module(f"groundswell.verify.earthquake.{module}"), function)
    checks = solve(open_backend("cpu"), False)
    assert checks
    assert not [check for check in checks if not check.passed]
