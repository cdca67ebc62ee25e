"""Kernel sources: a file, its includes and its constants combined into one translation unit.

Constants are part of the text. Parameters, such as the extents of a grid, are part of the text of a
specialised source. A CPU reads the parameters of a generic source at run time, so one binary serves
every grid. It is 1.1 to 2 times slower, which costs less in a short run than compiling another
binary. A GPU always needs parameters as constants, because they save registers.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import DTypeLike

from groundswell.errors import GroundswellError

INCLUDE = Path(__file__).parent / "include"
PACKAGE = Path(__file__).parents[1]
_LOCAL_INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')

Constant = bool | int | float | str
Parameter = int | float


class Exact(float):
    """A number that is `double` in kernels of any precision."""


@dataclass(frozen=True)
class Source:
    """A kernel file and its preprocessor constants.

    Args:
        path: the source file, which compiles for every backend.
        constants: physics switches, orders and tile sizes. Floats become literals of type `real`,
            strings are inserted unchanged.
        parameters: extents and coefficients, which need not be part of the text.
        generic: whether a CPU reads the parameters at run time.
    """

    path: Path
    constants: Mapping[str, Constant]
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    generic: bool = False

    @property
    def key(self) -> Hashable:
        """Equal for sources with equal texts, unless a file that this one includes has changed."""
        given = {**self.constants, **self.parameters}
        values = [(name, type(value), repr(value)) for name, value in given.items()]
        named = tuple(values), len(self.constants), self.generic
        return self.path, self.path.stat().st_mtime_ns, named

    def text(self) -> str:
        """The translation unit: constants and parameters, then the file and its includes."""
        return self._unit(_defines({**self.constants, **self.parameters}))

    def generic_text(self) -> str:
        """The same with variables for the parameters, which `set_parameters(values)` sets."""
        return self._unit([*_defines(self.constants), *_variables(self.parameters)])

    def _unit(self, head: list[str]) -> str:
        return "\n".join([*head, *_inline(self.path, seen=set())]) + "\n"


def precision(dtype: DTypeLike) -> dict[str, Constant]:
    """Constants that make `real` double precision for float64; single precision is the default."""
    return {"DOUBLE_PRECISION": 1} if np.dtype(dtype) == np.float64 else {}


def digest(*parts: str) -> str:
    """Hash of the given parts: everything that a compiled kernel depends on."""
    return sha256("\0".join(parts).encode()).hexdigest()[:32]


def _defines(constants: Mapping[str, Constant]) -> list[str]:
    return [f"#define {name} {_literal(value)}" for name, value in constants.items()]


def _variables(parameters: Mapping[str, Parameter]) -> list[str]:
    """Declarations of the parameters, and the function that sets them from an array of doubles.

    Static variables whose address nobody takes: stores to fields cannot change them, so that
    compilers keep them in registers.
    """
    if not parameters:
        return []
    lines, setters = [], []
    for n, (name, value) in enumerate(parameters.items()):
        kind = "double" if isinstance(value, float) else "long long"
        lines += [f"static {kind} parameter_{name};", f"#define {name} {_variable(name, value)}"]
        setters.append(f"  parameter_{name} = static_cast<{kind}>(values[{n}]);")
    return [*lines, 'extern "C" void set_parameters(const double* values) {', *setters, "}"]


def _variable(name: str, value: Parameter) -> str:
    is_real = isinstance(value, float) and not isinstance(value, Exact)
    return f"(static_cast<real>(parameter_{name}))" if is_real else f"parameter_{name}"


def _literal(value: Constant) -> str:
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, Exact):
        return repr(float(value))
    if isinstance(value, float):
        return f"(static_cast<real>({value!r}))"
    return str(value)


def _inline(path: Path, seen: set[Path]) -> list[str]:
    """Lines of `path` with local includes expanded once, and #line directives for errors."""
    if path in seen:
        return []
    seen.add(path)
    lines = [f'#line 1 "{path.name}"']
    for number, line in enumerate(_lines(path, path.stat().st_mtime_ns), start=1):
        match = _LOCAL_INCLUDE.match(line)
        if match is None:
            lines.append(line.replace("#pragma once", ""))
            continue
        lines += _inline(_find(match[1], path.parent), seen)
        lines.append(f'#line {number + 1} "{path.name}"')
    return lines


@lru_cache(maxsize=256)
def _lines(path: Path, changed: int) -> list[str]:
    """The lines of a file that was changed at some time, which identifies its content."""
    return path.read_text(encoding="utf-8").splitlines()


@cache  # all modules include the same headers, and each search costs several system calls
def _find(name: str, folder: Path) -> Path:
    """Path of a header: in the includer's folder, in INCLUDE, or relative to the package."""
    for root in (folder, INCLUDE, PACKAGE):
        if (root / name).is_file():
            return (root / name).resolve()
    raise GroundswellError(f"kernel include {name!r} is not in {folder}, {INCLUDE} or {PACKAGE}")
