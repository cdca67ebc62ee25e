"""Kernel sources: a file, its includes and its constants combined into one translation unit."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import DTypeLike

from groundswell.errors import GroundswellError

INCLUDE = Path(__file__).parent / "include"
PACKAGE = Path(__file__).parents[1]
_LOCAL_INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')

Constant = bool | int | float | str


@dataclass(frozen=True)
class Source:
    """A kernel file and its preprocessor constants.

    Args:
        path: the source file, which compiles for every backend.
        constants: sizes, physics switches and coefficients. Floats become literals of type `real`,
            strings are inserted unchanged.
    """

    path: Path
    constants: Mapping[str, Constant]

    def text(self) -> str:
        """The translation unit: the constants, then the file with its includes expanded."""
        defines = [f"#define {name} {_literal(value)}" for name, value in self.constants.items()]
        return "\n".join([*defines, *_inline(self.path, seen=set())]) + "\n"


def precision(dtype: DTypeLike) -> dict[str, Constant]:
    """Constants that make `real` double precision for float64; single precision is the default."""
    return {"DOUBLE_PRECISION": 1} if np.dtype(dtype) == np.float64 else {}


def digest(*parts: str) -> str:
    """Hash of the given parts: everything that a compiled kernel depends on."""
    return sha256("\0".join(parts).encode()).hexdigest()[:32]


def _literal(value: Constant) -> str:
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float):
        return f"(static_cast<real>({value!r}))"
    return str(value)


def _inline(path: Path, seen: set[Path]) -> list[str]:
    """Lines of `path` with local includes expanded once, and #line directives for errors."""
    if path in seen:
        return []
    seen.add(path)
    lines = [f'#line 1 "{path.name}"']
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        match = _LOCAL_INCLUDE.match(line)
        if match is None:
            lines.append(line.replace("#pragma once", ""))
            continue
        lines += _inline(_find(match[1], path.parent), seen)
        lines.append(f'#line {number + 1} "{path.name}"')
    return lines


def _find(name: str, folder: Path) -> Path:
    """Path of a header: in the includer's folder, in INCLUDE, or relative to the package."""
    for root in (folder, INCLUDE, PACKAGE):
        if (root / name).is_file():
            return (root / name).resolve()
    raise GroundswellError(f"kernel include {name!r} is not in {folder}, {INCLUDE} or {PACKAGE}")
