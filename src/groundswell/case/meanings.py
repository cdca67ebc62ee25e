"""Meanings of the keys of a section: the texts below its fields in the source.

    class BoundarySection(Section):
        top: Literal["free-surface", "absorbing"] = "free-surface"
        \"""The condition at the surface.\"""

They are read when they are needed, so importing a section costs nothing.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Any

from pydantic import BaseModel


@cache
def meanings(section: type[Any]) -> dict[str, str]:
    """The texts below the fields of a class and of its base classes, by field."""
    found: dict[str, str] = {}
    for each in reversed(section.__mro__):
        found |= _texts(each.__module__).get(each.__qualname__, {})
    return found


@cache
def _texts(module: str) -> dict[str, dict[str, str]]:
    """The texts in a module, by class and field; none if there is no source."""
    try:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
    except (KeyError, OSError, TypeError):  # built-in, or started as a script
        return {}
    return {node.name: dict(_fields(node)) for node in tree.body if isinstance(node, ast.ClassDef)}


def _fields(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for field, text in pairwise(node.body):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            match text:
                case ast.Expr(value=ast.Constant(value=str(words))):
                    yield field.target.id, " ".join(words.split())


def meaning_of(section: type[BaseModel], key: str) -> str:
    """What a key of a section means; "" if the section does not say."""
    fields = {field.alias or name: name for name, field in section.model_fields.items()}
    return meanings(section).get(fields[key], "")
