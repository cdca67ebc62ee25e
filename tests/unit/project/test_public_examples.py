"""The examples in the docstrings of functions that run cases, exchange ghosts and make meshes."""

from __future__ import annotations

import doctest
from pathlib import Path
from typing import Any

import pytest
from variants import short_and_long

import groundswell as gs
from groundswell import registry

SHOWN = [
    *(gs.run, gs.check, gs.load_case, gs.every, gs.Simulation, gs.Result),
    *(gs.exchange, gs.exchange.Ghosts, gs.exchange.Numbering),
    *(gs.ensembles.load_plan, gs.ensembles.run, gs.ensembles.open),
    *(gs.poisson.Box, gs.poisson.nodes, gs.poisson.own_elements),
]


LONG = [gs.ensembles.open]


@pytest.mark.parametrize("shown", short_and_long(SHOWN, LONG), ids=lambda of: of.__name__)
def test_the_example_of_a_docstring_runs(
    shown: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a folder with a case of the cavity solver, and a plan with two values."""
    monkeypatch.chdir(tmp_path)
    Path("case.toml").write_text(registry.find("cavity").read_template())
    Path("plan.toml").write_text('case = "case.toml"\nproduct."fluid.rayleigh" = [1e3, 2e3]\n')
    (example,) = (
        each
        for each in doctest.DocTestFinder(recurse=False).find(shown, shown.__name__)
        if each.examples
    )
    assert doctest.DocTestRunner().run(example).failed == 0
