"""The examples in the docstrings of all public names, except where one shows a whole family."""

from __future__ import annotations

import doctest
import importlib
import runpy
import shutil
from pathlib import Path

import pytest
from variants import short_and_long

from groundswell import registry

ROOT = Path(__file__).parents[3]
MESH = ROOT / "tests" / "unit" / "meshes" / "files" / "gmsh_order3.msh"
PLAN = 'case = "case.toml"\nproduct."fluid.rayleigh" = [1e3, 2e3]\n'
# The examples of two errors show how to catch any; a constant has no docstring of its own.
ERRORS = "groundswell.errors."
WITHOUT = {"groundswell.solvers.ultrasound.BONE"}


def names_with_examples() -> list[str]:
    listing = runpy.run_path(str(ROOT / "docs" / "_extensions" / "public_names.py"))
    found = {*listing["full_names"]()} - {*listing["repeated"]()} - WITHOUT
    shown = {ERRORS + name for name in ("GroundswellError", "CaseError")}
    return sorted(shown | {name for name in found if not name.startswith(ERRORS)})


NAMES = names_with_examples()
LONG = [  # `run` stands for what is done with its runs
    name for name in NAMES if name.rpartition(".")[2] in ("export", "open", "retry", "status")
]


@pytest.mark.parametrize("name", short_and_long(NAMES, LONG))
def test_the_example_of_a_public_name_runs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a folder with a case of each solver, a plan of two runs of the cavity, and a mesh."""
    monkeypatch.chdir(tmp_path)
    for solver in registry.names():
        Path(f"{solver}.toml").write_text(registry.find(solver).read_template())
    shutil.copy("cavity.toml", "case.toml")
    Path("plan.toml").write_text(PLAN)
    shutil.copy(MESH, "part.msh")
    module, _, of = name.rpartition(".")
    shown = getattr(importlib.import_module(module), of)
    found = doctest.DocTestFinder(recurse=False).find(shown, of, globs={})
    assert [doctest.DocTestRunner().run(each).failed for each in found if each.examples] == [0]


def test_the_example_of_the_exchange_runs() -> None:
    from groundswell import exchange

    assert doctest.testmod(exchange).attempted > 0
    assert doctest.testmod(exchange).failed == 0
