"""Functions of position that a case gives as text, such as "sin(pi * x) * exp(-y)".

Text is never run as Python: simpleeval walks through it, and knows only what stands below.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import reduce
from typing import Annotated, Any

import numpy as np
import simpleeval
from numpy.typing import NDArray
from pydantic import PlainValidator

from groundswell.case.problems import reject
from groundswell.case.units import Unit
from groundswell.errors import did_you_mean

Floats = NDArray[np.float64]

AXES = ("x", "y", "z")
CONSTANTS = {"pi": np.pi, "e": np.e}
ONE = "sin cos tan arcsin arccos arctan sinh cosh tanh exp log log10 sqrt abs sign floor".split()


def _of_one(function: Callable[..., Any]) -> Callable[[Any], Any]:
    """A function that takes no second argument, which is where NumPy would put the result."""
    return lambda a: function(a)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: _of_one(getattr(np, name)) for name in ONE},
    "arctan2": lambda a, b: np.arctan2(a, b),
    "min": lambda a, *more: reduce(np.minimum, more, a),
    "max": lambda a, *more: reduce(np.maximum, more, a),
    "where": lambda condition, a, b: np.where(condition, a, b),
}
KNOWN = (*AXES, *CONSTANTS, *FUNCTIONS)

# Numbers are floats from the first step on: powers of whole ones could take for ever.
OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
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
LONGEST = 2000  # characters
SOMEWHERE = np.array([0.3, 0.7])  # positions at which an expression is tried


class Expression:
    """A function of x, y and z, in m: a number, or text with the names in KNOWN.

    Raises:
        ValueError: text that is none; it says what is wrong, and what may be used.
    """

    def __init__(self, text: str | float) -> None:
        self.text = text
        self._tree = _parsed(text) if isinstance(text, str) else ast.Constant(float(text))
        self(*(SOMEWHERE,) * len(AXES))

    def __call__(self, x: Floats, y: Floats, z: Floats) -> Floats:
        """Values at these positions, in the shape of `x`; not finite where there are none."""
        walk = simpleeval.SimpleEval(OPERATORS, FUNCTIONS, {**CONSTANTS, "x": x, "y": y, "z": z})
        walk.nodes = {kind: walk.nodes[kind] for kind in NODES}
        try:
            with np.errstate(all="ignore"):
                found = walk.eval(str(self.text), self._tree)
                return np.array(np.broadcast_to(_float(found), np.shape(x)))
        except simpleeval.NameNotDefined as error:
            raise ValueError(_unknown(error.name)) from None
        except simpleeval.FunctionNotDefined as error:
            raise ValueError(_unknown(error.func_name)) from None
        except simpleeval.InvalidExpression:
            raise ValueError(f"has something else than {_MEANS}") from None
        except (TypeError, ValueError, ArithmeticError, RecursionError):
            raise ValueError("cannot be worked out; see what its functions are given") from None


_MEANS = "numbers, names, + - * / ** < <= > >= and brackets"


def _parsed(text: str) -> ast.expr:
    if not text.strip() or len(text) > LONGEST:
        raise ValueError(f"must be an expression of 1 to {LONGEST} characters")
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ValueError(f"is no expression; write {_MEANS}, as in {EXAMPLE}") from None


EXAMPLE = '"sin(pi * x) * exp(-y)"'


def _float(value: Any) -> Any:
    if np.asarray(value).dtype.kind not in "biuf":
        raise TypeError("no number")
    return np.asarray(value, np.float64)


def _unknown(name: str) -> str:
    shown = name if len(name) <= 30 else f"{name[:27]}..."
    near = did_you_mean(name, KNOWN)
    return f'has the unknown name "{shown}"{near}; names are: {", ".join(KNOWN)}'


_NUMBER = Unit("", f"an expression such as {EXAMPLE}, or a number", "1.5")


def _checked(value: Any) -> str | float:
    if not isinstance(value, str):
        return _NUMBER.read(value)
    try:
        Expression(value)
    except ValueError as error:
        reject([((), str(error))])
    return value


# Of a case: kept as it was written, so that a case can be told in text.
Formula = Annotated[str | float, PlainValidator(_checked)]
