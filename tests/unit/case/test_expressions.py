"""Expressions of a case: what they mean, and that no text can do anything else."""

from __future__ import annotations

import numpy as np
import pytest

from groundswell.case.expressions import FUNCTIONS, MAX_CHARACTERS, Expression

rng = np.random.default_rng(3)
X, Y, Z = rng.uniform(0.1, 1.0, (3, 4, 5))


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("sin(pi*x) * exp(-y)", np.sin(np.pi * X) * np.exp(-Y)),
        (" 2 * x ** 2 - y / z + 1 ", 2 * X**2 - Y / Z + 1),
        ("-x + (+y)", Y - X),
        ("where(x < 0.5, 1, y)", np.where(X < 0.5, 1, Y)),
        ("max(x, y, z) - min(x, 0.5)", np.maximum(np.maximum(X, Y), Z) - np.minimum(X, 0.5)),
        ("(x >= y) * z", (X >= Y) * Z),
        ("e ** log(z) + abs(sign(-x)) + floor(1.5)", Z + 2),
        ("arctan2(y, x) + sqrt(z)", np.arctan2(Y, X) + np.sqrt(Z)),
        ("1e-3", np.full(X.shape, 1e-3)),
        (4, np.full(X.shape, 4.0)),
    ],
)
def test_what_expressions_mean(text: str | float, values: np.ndarray) -> None:
    found = Expression(text)(X, Y, Z)
    assert found.dtype == np.float64 and found.shape == X.shape
    np.testing.assert_allclose(found, values, rtol=1e-14)


def test_other_variables() -> None:
    found = Expression("where(depth < 0.5, along, 2)", ("along", "depth"))
    np.testing.assert_array_equal(found(X, Y), np.where(Y < 0.5, X, 2))
    large = np.tile(rng.uniform(0, 1, 10**6), 3)  # in threads
    np.testing.assert_array_equal(found(large, large), np.where(large < 0.5, large, 2))
    with pytest.raises(ValueError, match='unknown name "z"; names are: along, depth, pi'):
        Expression("z", ("along", "depth"))


def test_whole_numbers_that_would_take_for_ever() -> None:
    assert np.isinf(Expression("9**9**9**9")(X, Y, Z)).all()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sinn(x)", 'unknown name "sinn" .did you mean "sin".*; names are: x, y, z, pi, e, sin'),
        ("t + 1", 'unknown name "t"; names are'),
        ("q" * 100, 'unknown name "q{27}...";'),
        ("x^2", "may contain only numbers, names"),
        ("x.tofile('f')", "may contain only"),
        ("x[0]", "may contain only"),
        ("sin(x, out=x)", "may contain only"),
        ("sin(*x)", "may contain only"),
        ("x if y else z", "may contain only"),
        ("lambda: x", "may contain only"),
        ("[x for x in y]", "may contain only"),
        ("f'{x}'", "may contain only"),
        ("(x := 3)", "may contain only"),
        ("__import__('os')", 'unknown name "__import__"'),
        ("open('f')", 'unknown name "open"'),
        ("sin(x, y)", "cannot be evaluated"),
        ("where(x)", "cannot be evaluated"),
        ("sin", "cannot be evaluated"),
        ("'a' * 3", "cannot be evaluated"),
        ("0 < x < 1", "cannot be evaluated"),
        ("1j", "cannot be evaluated"),
        ("None", "cannot be evaluated"),
        ("-" * 1500 + "x", "cannot be evaluated|is not an expression"),
        ("(" * 300, "is not an expression"),
        ("x; y", "is not an expression"),
        ("x = 3", "is not an expression"),
        ("import os", "is not an expression"),
        ("a\0b", "is not an expression"),
        ("\ud800", "is not an expression"),
        ("", "must be an expression of 1 to"),
        ("x" * (MAX_CHARACTERS + 1), "must be an expression of 1 to"),
    ],
)
def test_texts_that_are_none(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Expression(text)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_leave_what_they_are_given(name: str) -> None:
    """A second argument of NumPy's functions would be written to."""
    x = X.copy()
    for arguments in ("x", "x, x", "x, x, x", "x, x, x, x"):
        try:
            Expression(f"{name}({arguments})")(x, Y, Z)
        except ValueError:
            continue
    assert (x == X).all()


@pytest.mark.parametrize("shape", [(400, 700), (1, 280_000), (280_000,)])
def test_many_positions_have_the_values_of_few(shape: tuple[int, ...]) -> None:
    """Threads evaluate some of them at a time."""
    x, y, z = np.random.default_rng(5).random((3, *shape))
    found = Expression("sin(pi * x) * y + z")(x, y, z)
    np.testing.assert_allclose(found, np.sin(np.pi * x) * y + z, rtol=1e-14)
