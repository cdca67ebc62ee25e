"""Functions of position and time as sums of products: f(x, y, z, t) = g1(t) h1(x, y, z) + ...

Each h is evaluated once; at each time only the g are evaluated, which are numbers.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from groundswell.case.expressions import AXES, MAX_CHARACTERS, TIME

MAX_TERMS = 6  # beyond which an evaluation at each time takes less memory
ALWAYS = "1"  # the g of terms without time

Terms = dict[str, str]  # h by g, as text


def separate(function: str | float) -> Terms | None:
    """The terms of a function; None if it is no such sum, such as sin(x - t).

    Args:
        function: a number or an expression of x, y, z and t, which must be valid.
    """
    if not isinstance(function, str):
        return {ALWAYS: repr(function)}
    try:
        found = _terms(ast.parse(function.strip(), mode="eval").body)
    except RecursionError:
        return None
    if found is None or len(found) > MAX_TERMS:
        return None
    return found if max(map(len, (*found, *found.values()))) <= MAX_CHARACTERS else None


def _terms(node: ast.expr) -> Terms | None:
    names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    if TIME not in names:
        return {ALWAYS: ast.unparse(node)}
    if not names & {*AXES}:
        return {ast.unparse(node): "1"}
    if isinstance(node, ast.UnaryOp):
        return _signed(node.op, _terms(node.operand))
    if isinstance(node, ast.BinOp) and type(node.op) in COMBINED:
        left, right = _terms(node.left), _terms(node.right)
        return None if left is None or right is None else COMBINED[type(node.op)](left, right)
    return None


def _signed(sign: ast.unaryop, terms: Terms | None) -> Terms | None:
    if terms is None or not isinstance(sign, ast.USub):
        return terms
    return {g: f"-({h})" for g, h in terms.items()}


def _add(left: Terms, right: Terms) -> Terms:
    found = dict(left)
    for g, h in right.items():
        found[g] = f"({found[g]}) + ({h})" if g in found else h
    return found


def _subtract(left: Terms, right: Terms) -> Terms | None:
    return _add(left, {g: f"-({h})" for g, h in right.items()})


def _multiply(left: Terms, right: Terms) -> Terms | None:
    found: Terms = {}
    for g, h in left.items():
        found = _add(found, {_product(g, a): _product(h, b) for a, b in right.items()})
    return found


def _divide(left: Terms, right: Terms) -> Terms | None:
    if len(right) > 1:
        return None
    ((a, b),) = right.items()
    return {_quotient(g, a): _quotient(h, b) for g, h in left.items()}


def _product(a: str, b: str) -> str:
    return b if a == ALWAYS else a if b == ALWAYS else f"({a}) * ({b})"


def _quotient(a: str, b: str) -> str:
    return a if b == ALWAYS else f"({a}) / ({b})"


COMBINED: dict[type[ast.operator], Callable[[Terms, Terms], Terms | None]] = {
    ast.Add: _add,
    ast.Sub: _subtract,
    ast.Mult: _multiply,
    ast.Div: _divide,
}
