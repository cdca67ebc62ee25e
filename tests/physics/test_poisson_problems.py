"""Poisson's equation as users meet it: problems of `groundswell verify`, examples, the guide."""

from __future__ import annotations

import importlib.util
import json
import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from variants import short_and_long

from groundswell.backends import open_backend
from groundswell.simulation.preparation import check
from groundswell.simulation.result import Result
from groundswell.simulation.run import run
from groundswell.solvers.poisson import PoissonCase
from groundswell.solvers.poisson.coefficients import Transfer
from groundswell.solvers.poisson.setup import prepare
from groundswell.solvers.poisson.solver import Poisson
from groundswell.spectral_elements.vtkhdf import LagrangeElements
from groundswell.verify import load_problem, problem_names

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "poisson"


LONG = ["poisson/iterations:jumps", "poisson/iterations:finer_boxes"]


@pytest.mark.parametrize("name", short_and_long(problem_names("poisson"), LONG))
def test_the_solver_comes_close_enough(name: str) -> None:
    checks = list(load_problem(name)(open_backend("cpu"), False))
    assert checks
    assert not [f"{c.name}: {c.value:.3g} {c.note}" for c in checks if not c.passed]


def solved(name: str, folder: Path, **method: Any) -> Result:
    """An example with another method."""
    content = tomllib.loads((EXAMPLES / name).read_text(encoding="utf-8"))
    content["method"] |= method
    return run(PoissonCase.from_dict(content, EXAMPLES), folder=folder)


@pytest.mark.parametrize("name", ["box.toml", "cylinder.toml", "anchor.toml", "pipe.toml"])
def test_examples_can_run_as_they_are(name: str) -> None:
    found = check(EXAMPLES / name)
    assert found["problems"] == [] and found["warnings"] == []
    assert found["memory"] < 0.2e9 and found["unknowns"] < 2e5


def test_the_box(tmp_path: Path) -> None:
    coarse, fine = (
        json.loads(
            (solved("box.toml", tmp_path / str(n), degree=n).folder / "solution.json").read_text()
        )
        for n in (2, 4)
    )
    assert fine["converged"] and fine["error_max"] < coarse["error_max"] / 5
    assert fine["error_l2"] < fine["error_max"]


def test_the_rod(tmp_path: Path) -> None:
    """Heat that comes in leaves through the wall, and far from the top u = 1 - r^2."""
    folder = solved("cylinder.toml", tmp_path, degree=4).folder
    elements = LagrangeElements.read(folder / "solution.vtkhdf")
    (x, y, z), u = elements.points.T, elements.fields["u"]
    assert np.abs(u[np.isclose(np.hypot(x, y), 1)]).max() < 1e-12
    low = z < 0.2
    assert np.abs(u[low] - (1 - x[low] ** 2 - y[low] ** 2)).max() < 0.02
    assert u.max() == u[z == 2].max() and 1.5 < u.max() < 2.5


def test_the_anchor(tmp_path: Path) -> None:
    """Heat that comes in from the room leaves into the air; the bar is cold, the wall is not."""
    case = PoissonCase.from_dict(tomllib.loads((EXAMPLES / "anchor.toml").read_text()), EXAMPLES)
    solver = Poisson(prepare(case), open_backend("cpu"))
    solver.solve()
    transfer = solver.problem.system.coefficients.transfer
    assert transfer is not None
    nodes = solver.problem.nodes[transfer.elements]
    in_room = np.isclose(nodes[..., 2].min(axis=1), 0) & (transfer.faces // 2 == 2)
    gains = []
    for ambient, chosen in ((20.0, in_room), (-10.0, ~in_room)):
        part = Transfer(*(a[chosen] for a in (transfer.elements, transfer.faces, transfer.values)))
        sides = part.integrate(solver.problem.system.space.shapes)
        gains.append(np.sum(sides.values * (ambient - solver.values[sides.elements])))
    assert gains[0] > 0.5 and gains[0] == pytest.approx(-gains[1], rel=1e-6)
    x, y, z = np.moveaxis(solver.problem.nodes, -1, 0)
    bar = solver.values[(z < 1e-9) & (np.hypot(x, y) < 0.019)]
    wall = solver.values[(z < 1e-9) & (np.hypot(x, y) > 0.1)]
    assert -6.5 < bar.min() < bar.max() < -5.5 and 18.9 < wall.min() < wall.max() < 19.2


def test_the_pipe(tmp_path: Path) -> None:
    """The profile is a parabola along the whole pipe; its file is what the script writes."""
    found = json.loads((solved("pipe.toml", tmp_path).folder / "solution.json").read_text())
    assert found["converged"] and found["error_max"] < 1e-8
    spec = importlib.util.spec_from_file_location("make_pipe", EXAMPLES / "make_pipe.py")
    assert spec and spec.loader
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    assert (EXAMPLES / "pipe.re2").read_bytes() == make.content(*make.build())


def test_the_python_of_the_guide_and_of_the_methods_page_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    pages = [(ROOT / "docs" / name).read_text() for name in ("poisson.md", "methods/poisson.md")]
    blocks = re.findall(r"```python\n(.*?)```", "".join(pages), re.DOTALL)
    once, often, flows, own, vector, scipy = blocks
    run_block(once)
    assert "(64, 729, 3)" in capsys.readouterr().out
    assert LagrangeElements.read(Path("u.vtkhdf")).degree == 8
    u = run_block(often)["u"]
    x = u.positions[..., 0]
    assert np.allclose(u.values[x == 0], 0) and np.allclose(u.values[x == 1], 0.8)  # the last
    assert 0.99 < u.values.max() < 1  # what began as 1 has cooled at the walls alone
    run_block(flows)
    assert "{'east': 0.666" in capsys.readouterr().out
    assert run_block(own)["found"].values.shape == (64, 216)
    velocity = run_block(vector)["velocity"]
    lid = velocity.values[:, velocity.positions[..., 2] == 1]
    assert (lid[0] == 1).all() and (lid[1:] == 0).all()
    solved = run_block(scipy)
    assert solved["failed"] == 0
    found = solved["problem"].solve(lambda x, y, z: x * y).values
    assert np.allclose(solved["values"], found, rtol=0, atol=1e-8)


def run_block(code: str) -> dict[str, Any]:
    """What a block of a page leaves."""
    names: dict[str, Any] = {}
    exec(compile(code, "a page of poisson", "exec"), names)
    return names
