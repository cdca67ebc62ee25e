"""What `import groundswell` offers: the same kinds of things whatever was imported before."""

from __future__ import annotations

import inspect
import json
import os
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import groundswell as gs
from groundswell import registry

SOURCE = Path(gs.__file__).parents[1]
FUNCTIONS = ("run", "check", "load_case", "open_backend")
CLASSES = ("Case", "Result", "Simulation")

KINDS = """
import json, sys
import groundswell as gs
for module in sys.argv[1:]:
    __import__(module)
print(json.dumps({name: type(getattr(gs, name)).__name__ for name in dir(gs)}))
"""


def kinds(*imported: str) -> dict[str, str]:
    """Types of all public names in a new process, once some modules have been imported."""
    done = subprocess.run(
        [sys.executable, "-c", KINDS, *imported],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, str] = json.loads(done.stdout)
    return found


def test_nothing_changes_its_kind_by_being_imported() -> None:
    modules = [name for _, name, _ in pkgutil.iter_modules(gs.__path__, "groundswell.")]
    deeper = ["groundswell.simulation.run", "groundswell.simulation.simulation"]
    modules = [name for name in modules if not name.endswith("__main__")]
    before = kinds()
    assert kinds(*modules, *deeper, "groundswell.solvers.poisson.api") == before
    assert all(before[name] == "function" for name in FUNCTIONS)
    assert all(before[name] in ("type", "ModelMetaclass") for name in CLASSES)


def test_no_module_stands_in_the_way_of_a_public_name() -> None:
    modules = {name for _, name, _ in pkgutil.iter_modules(gs.__path__)}
    assert not modules & {*FUNCTIONS, *CLASSES, *registry.names()}


def test_dir_lists_public_names_and_solvers() -> None:
    assert {*gs.__all__, *registry.names()} == set(dir(gs))
    assert {*FUNCTIONS, *CLASSES, "exchange", "errors"} <= set(gs.__all__)
    for name in dir(gs):
        assert getattr(gs, name) is not None
    assert not hasattr(gs, "no_such_solver")


@pytest.mark.parametrize("name", [*FUNCTIONS, *CLASSES])
def test_public_names_explain_themselves(name: str) -> None:
    found = getattr(gs, name)
    assert inspect.getdoc(found)
    assert all(p.annotation is not p.empty for p in inspect.signature(found).parameters.values())


@pytest.mark.parametrize("solver", registry.names())
def test_solvers_offer_what_their_packages_list(solver: str) -> None:
    package = getattr(gs, solver)
    assert package.info is registry.find(solver)
    for name in package.__all__:
        assert inspect.getdoc(getattr(package, name))


@pytest.mark.parametrize("solver", registry.names())
def test_no_module_takes_the_place_of_a_name_that_was_used_before(solver: str) -> None:
    package = getattr(gs, solver)
    for name in package.__all__:
        first = getattr(package, name)
        assert getattr(package, name) is first and not inspect.ismodule(first)
