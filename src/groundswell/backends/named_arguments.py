"""Arguments of kernels by name: the declaration of a kernel in its source sets their order."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from groundswell.backends.signature import signature
from groundswell.backends.source import Source


class ParameterNames:
    """The names of the parameters of a source's kernels, read when they are first needed."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._names: dict[str, list[str]] = {}

    def in_order(
        self, kernel: str, arguments: tuple[Any, ...], named: Mapping[str, Any]
    ) -> tuple[Any, ...]:
        """All arguments of a kernel in the order of its parameters.

        Args:
            arguments: those of the first parameters.
            named: those of all other parameters, if there are any, by name.

        Raises:
            TypeError: an argument is missing, or no parameter has its name.
        """
        if not named:
            return arguments
        names = self._of(kernel)[len(arguments) :]
        if differing := sorted(named.keys() ^ set(names)):
            raise TypeError(f"kernel {kernel}: {', '.join(differing)} missing or unknown")
        return (*arguments, *(named[name] for name in names))

    def _of(self, kernel: str) -> list[str]:
        if kernel not in self._names:
            found = signature(self._text, kernel)
            if found is None:
                raise TypeError(f"kernel {kernel}: the names of its parameters are unclear")
            self._names[kernel] = [parameter.name for parameter in found]
        return self._names[kernel]

    @cached_property
    def _text(self) -> str:
        return self._source.text()
