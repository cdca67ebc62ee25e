"""Frameworks know solvers through the registry alone: none of their files names one."""

from __future__ import annotations

import io
import re
import tokenize
from pathlib import Path

import pytest

import groundswell as gs
from groundswell import registry

SOURCE = Path(gs.__file__).parent
FRAMEWORKS = (
    "cli", "simulation", "verify", "bench", "report", "ensembles", "plotting", "outputs", "case",
    "exchange", "compression", "backends", "formats", "grids", "meshes", "linear",
    "time_integration",
)  # fmt: skip


def words(path: Path) -> set[str]:
    """The words of a file, without its comments and the examples in its docstrings."""
    lines = path.read_text().splitlines(keepends=True)
    kept = (line for line in lines if not line.lstrip().startswith((">>>", "...")))
    tokens = tokenize.generate_tokens(io.StringIO("".join(kept)).readline)
    code = " ".join(token.string for token in tokens if token.type != tokenize.COMMENT)
    return set(re.findall(r"[a-z]+", code.lower()))


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_no_framework_names_a_solver(name: str) -> None:
    files = list((SOURCE / name).rglob("*.py"))
    assert files
    named = {str(path.relative_to(SOURCE)): words(path) & {*registry.names()} for path in files}
    assert {p: w for p, w in named.items() if w} == {}


@pytest.mark.parametrize("path", sorted(SOURCE.glob("*.py")), ids=lambda path: path.name)
def test_no_module_of_the_package_names_a_solver(path: Path) -> None:
    assert not words(path) & {*registry.names()}
