"""Functions of position and time as sums of products."""

from __future__ import annotations

import numpy as np
import pytest

from groundswell.case.expressions import AXES, TIME, Expression
from groundswell.case.separation import ALWAYS, separate

EXPRESSIONS = [
    ("sin(5 * t) * x * y", {"sin(5 * t)"}),
    ("20 - 30 * min(t / 7200, 1)", {"20 - 30 * min(t / 7200, 1)"}),
    ("x * (20 - 30 * t) + y", {"20 - 30 * t", ALWAYS}),
    ("-(x + t) / (2 + x)", {ALWAYS, "t"}),
    ("(x + t) * (y - exp(-t)) / (1 + t)", None),
    ("x / (1 + t) - y * t + z / (1 + t)", {"(1) / (1 + t)", "t"}),
    ("where(t < 2, 1, 0.5) * exp(-x**2)", {"where(t < 2, 1, 0.5)"}),
    (3.5, {ALWAYS}),
    ("x + pi", {ALWAYS}),
    ("+x * t", {"t"}),
]
WHOLE = ["sin(x - t)", "x**t", "where(x < t, 1, 0)", "1 / (x + t)", "x * t + min(x, t)", "t < x"]


@pytest.mark.parametrize(("text", "functions"), EXPRESSIONS)
def test_the_terms_add_up(text: str | float, functions: set[str] | None) -> None:
    found = separate(text)
    assert found is not None
    assert functions is None or {g.strip() for g in found} == functions
    x, y, z, t = np.random.default_rng(5).uniform(0.1, 3, (4, 50))
    wanted = Expression(text, (*AXES, TIME))(x, y, z, t)
    total = sum(Expression(g, (TIME,))(t) * Expression(h)(x, y, z) for g, h in found.items())
    np.testing.assert_allclose(total, wanted, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("text", [*WHOLE, " * ".join(f"(x + t**{n})" for n in range(1, 5))])
def test_others_are_left_whole(text: str) -> None:
    """Also those with many terms."""
    assert separate(text) is None
