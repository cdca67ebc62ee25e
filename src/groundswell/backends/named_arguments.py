"""Arguments of kernels and members of their structs by name: the sources declare their order."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

import numpy as np

from groundswell.arrays import HostArray
from groundswell.backends.launch import KernelArgument
from groundswell.backends.signature import signature
from groundswell.backends.source import Constant, Source

T = TypeVar("T")

_COMMENT = re.compile(r"//[^\n]*")
_MEMBER = re.compile(r"(\w+)\s*(?:\[\w+\]\s*)?[,;]")


class ParameterNames:
    """The names of the parameters of a source's kernels, read when they are first needed."""

    def __init__(self, source: Source) -> None:
        self._key = source.path, tuple(source.constants.items()), tuple(source.parameters)

    def in_order(
        self, kernel: str, arguments: Sequence[KernelArgument], named: Mapping[str, KernelArgument]
    ) -> tuple[KernelArgument, ...]:
        """All arguments of a kernel in the order of its parameters.

        Args:
            arguments: those of the first parameters.
            named: those of all other parameters, if there are any, by name.

        Raises:
            TypeError: an argument is missing, or no parameter has its name.
        """
        if not named:
            return tuple(arguments)
        names = _parameter_names(kernel, *self._key)[len(arguments) :]
        return (*arguments, *_in_order(f"kernel {kernel}", names, named))


@lru_cache(maxsize=1024)  # an exchange compiles its sources again for every plan
def _parameter_names(
    kernel: str,
    path: Path,
    constants: tuple[tuple[str, Constant], ...],
    parameters: tuple[str, ...],
) -> tuple[str, ...]:
    # Values of parameters, which differ from grid to grid, choose no part of a text: a generic
    # source could not read them at run time.
    text = Source(path, dict(constants), dict.fromkeys(parameters, 1)).generic_text()
    found = signature(text, kernel)
    if found is None:
        raise TypeError(f"kernel {kernel}: the names of its parameters are unclear")
    return tuple(parameter.name for parameter in found)


@lru_cache
def members(file: Path, struct: str) -> tuple[str, ...]:
    """Names of the members of a struct without functions that a kernel file declares."""
    text = _COMMENT.sub("", file.read_text(encoding="utf-8"))
    found = re.search(rf"\bstruct {struct} {{([^(){{}}]*)}}", text)
    if found is None:
        raise TypeError(f"{file.name} declares no plain struct {struct}")
    return tuple(_MEMBER.findall(found[1]))


def stack_members(file: Path, struct: str, axis: int, **values: HostArray) -> HostArray:
    """Structs as an array: the values of their members, stacked along an axis in their order.

    Raises:
        TypeError: a value is missing, or no member has its name.
    """
    return np.stack(_in_order(f"struct {struct}", members(file, struct), values), axis)


def _in_order(owner: str, names: Sequence[str], given: Mapping[str, T]) -> list[T]:
    if differing := sorted(given.keys() ^ set(names)):
        raise TypeError(f"{owner}: {', '.join(differing)} missing or unknown")
    return [given[name] for name in names]
