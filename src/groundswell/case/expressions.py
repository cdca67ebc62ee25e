"""Expressions: functions of position in a case, such as "sin(pi * x) * exp(-y)".

Expressions are never run as Python code. simpleeval evaluates them with the names, functions and
operators below only.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Annotated, Any

import numpy as np
import simpleeval
from pydantic import PlainValidator

from groundswell.arrays import Floats
from groundswell.backends.host_threads import CHUNK, mapped
from groundswell.case.problems import reject
from groundswell.case.units import Accepts, Unit
from groundswell.errors import did_you_mean

AXES, TIME = ("x", "y", "z"), "t"
CONSTANTS = {"pi": np.pi, "e": np.e}
UNARY = "sin cos tan arcsin arccos arctan sinh cosh tanh exp log log10 sqrt abs sign floor".split()


def _unary(function: Callable[..., object]) -> Callable[[object], object]:
    """The function without the second argument of NumPy, which is the output array."""
    return lambda a: function(a)


FUNCTIONS: dict[str, Callable[..., object]] = {
    **{name: _unary(getattr(np, name)) for name in UNARY},
    "arctan2": lambda a, b: np.arctan2(a, b),
    "min": lambda a, *more: reduce(np.minimum, more, a),
    "max": lambda a, *more: reduce(np.maximum, more, a),
    "where": lambda condition, a, b: np.where(condition, a, b),
}

# All operands are converted to floats, since powers of integers could take for ever.
OPERATORS: dict[type[ast.AST], Callable[..., object]] = {
    ast.Add: lambda a, b: _float(a) + _float(b),
    ast.Sub: lambda a, b: _float(a) - _float(b),
    ast.Mult: lambda a, b: _float(a) * _float(b),
    ast.Div: lambda a, b: _float(a) / _float(b),
    ast.Pow: lambda a, b: np.power(_float(a), _float(b)),
    ast.USub: lambda a: -_float(a),
    ast.UAdd: lambda a: _float(a),
    ast.Lt: lambda a, b: _float(a) < _float(b),
    ast.LtE: lambda a, b: _float(a) <= _float(b),
    ast.Gt: lambda a, b: _float(a) > _float(b),
    ast.GtE: lambda a, b: _float(a) >= _float(b),
}
NODES = (ast.Constant, ast.Name, ast.UnaryOp, ast.BinOp, ast.Compare, ast.Call)
MAX_CHARACTERS = 2000
TRIAL = np.array([0.3, 0.7])  # positions at which a new expression is evaluated


class Expression:
    """A function of position: a number, or text with names of variables, constants and functions.

    Args:
        text: the function.
        variables: names of the coordinates, m.

    Raises:
        ValueError: the text is not a valid expression.
    """

    def __init__(self, text: str | float, variables: Sequence[str] = AXES) -> None:
        self.text, self.variables = text, tuple(variables)
        self._tree = _parse(text) if isinstance(text, str) else ast.Constant(float(text))
        self(*(TRIAL,) * len(self.variables))

    @property
    def names(self) -> set[str]:
        """The names in the text."""
        return {node.id for node in ast.walk(self._tree) if isinstance(node, ast.Name)}

    def __call__(self, *at: Floats) -> Floats:
        """Values at positions, given by an array of one shape for each variable.

        They are not finite where the function is undefined.
        """
        if np.size(at[0]) <= CHUNK:
            return self._evaluate(*at)
        return mapped(self._evaluate, *at, dtype=float)

    def _evaluate(self, *at: Floats) -> Floats:
        variables = dict(zip(self.variables, at, strict=True))
        evaluator = simpleeval.SimpleEval(OPERATORS, FUNCTIONS, {**CONSTANTS, **variables})
        evaluator.nodes = {kind: evaluator.nodes[kind] for kind in NODES}
        try:
            with np.errstate(all="ignore"):
                values = evaluator.eval(str(self.text), self._tree)
                return np.array(np.broadcast_to(_float(values), np.shape(at[0])))
        except simpleeval.NameNotDefined as error:
            raise ValueError(self._unknown_name(error.name)) from None
        except simpleeval.FunctionNotDefined as error:
            raise ValueError(self._unknown_name(error.func_name)) from None
        except simpleeval.InvalidExpression:
            raise ValueError(f"may contain only {_SYNTAX}") from None
        except (TypeError, ValueError, ArithmeticError, RecursionError):
            raise ValueError("cannot be evaluated; check the arguments of its functions") from None
        finally:
            evaluator.names = {}  # it refers to itself, so it would keep the arrays for a while

    def _unknown_name(self, name: str) -> str:
        known = (*self.variables, *CONSTANTS, *FUNCTIONS)
        shown = name if len(name) <= 30 else f"{name[:27]}..."
        near = did_you_mean(name, known)
        return f'has the unknown name "{shown}"{near}; names are: {", ".join(known)}'


_SYNTAX = "numbers, names, + - * / ** < <= > >= and brackets"


def _parse(text: str) -> ast.expr:
    if not text.strip() or len(text) > MAX_CHARACTERS:
        raise ValueError(f"must be an expression of 1 to {MAX_CHARACTERS} characters")
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        has_unit = _HAS_UNIT.match(text)
        wrong = "has a unit, but numbers have none here" if has_unit else "is not an expression"
        raise ValueError(f"{wrong}; write {_SYNTAX}, as in {EXAMPLE}") from None


_HAS_UNIT = re.compile(r"\s*[-+0-9.eE]+\s*[A-Za-zµ°%]")  # such as "50 W/(m K)"
EXAMPLE = '"sin(pi * x) * exp(-y)"'


def _float(value: Any) -> Any:
    if np.asarray(value).dtype.kind not in "biuf":
        raise TypeError("not a number")
    return np.asarray(value, np.float64)


_NUMBER = Unit("", f"an expression such as {EXAMPLE}, or a number", "1.5")


def _checked(value: object, variables: Sequence[str] = AXES) -> str | float:
    if not isinstance(value, str):
        return _NUMBER.read(value)
    try:
        Expression(value, variables)
    except ValueError as error:
        reject([((), str(error))])
    return value


def depends_on_time(value: object) -> bool:
    """Whether the value of a `FormulaInTime` contains the time."""
    return isinstance(value, str) and TIME in Expression(value, (*AXES, TIME)).names


# In a case the text is kept, so that the case can be written as text.
_IN_SPACE = Accepts("a number or an expression of x, y and z")
Formula = Annotated[str | float, PlainValidator(_checked), _IN_SPACE]
FormulaInTime = Annotated[
    str | float,
    PlainValidator(partial(_checked, variables=(*AXES, TIME))),
    Accepts("a number or an expression of x, y, z and t"),
]  # of x, y and z, m, and t, s
