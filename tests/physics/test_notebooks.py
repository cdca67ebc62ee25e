"""The notebooks of the examples: their code runs, and they store no outputs."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import matplotlib
import pytest

from groundswell import registry

FOLDER = Path(__file__).parents[2] / "examples" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
# What each shows at its end, as the variables of its cells.
SHOWN = {
    "cavity": lambda after: 2.2 < after["nusselt"][1e4] < 2.3,
    "dgwave": lambda after: after["peaks"]["ridge"] > 0,
    "earthquake": lambda after: float(after["peak"].max()) > 1e-3,
    "poisson": lambda after: after["flows"]["west"] == pytest.approx(9.0885, abs=1e-4),
    "ultrasound": lambda after: 0.5 < after["loss"] < 0.9,
}
notebooks = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def code_of(path: Path) -> list[str]:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def run_cell(source: str, variables: dict[str, Any]) -> object:
    """Run a cell; returns the value of its last expression, which a notebook shows."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), variables)
    if last is None:
        return None
    return eval(compile(ast.Expression(last.value), "cell", "eval"), variables)


def test_every_solver_has_a_notebook() -> None:
    assert {path.stem for path in NOTEBOOKS} == {*registry.names()} & SHOWN.keys()
    assert len(NOTEBOOKS) == 5


@notebooks
def test_notebooks_are_valid_and_store_no_outputs(path: Path) -> None:
    """The rules of nbformat 4.5 that such notebooks can break."""
    book = json.loads(path.read_text(encoding="utf-8"))
    assert book.keys() == {"cells", "metadata", "nbformat", "nbformat_minor"}
    assert (book["nbformat"], book["nbformat_minor"]) == (4, 5)
    ids = [cell["id"] for cell in book["cells"]]
    assert len({*ids}) == len(ids) and all(re.fullmatch(r"[\w-]{1,64}", each) for each in ids)
    for cell in book["cells"]:
        keys = {"cell_type", "id", "metadata", "source"}
        if cell["cell_type"] == "code":
            keys |= {"execution_count", "outputs"}
            assert cell["execution_count"] is None and cell["outputs"] == []
        assert cell.keys() == keys and cell["metadata"] == {}
        assert all(line.endswith("\n") for line in cell["source"][:-1])


@notebooks
def test_notebooks_explain_and_invite(path: Path) -> None:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    assert 8 <= len(cells) <= 14
    first, last = ("".join(cell["source"]) for cell in (cells[0], cells[-1]))
    assert first.startswith("# ") and last.startswith("## Try it\n- ")
    lines = [line for cell in cells for line in cell["source"]]
    assert max(len(line.rstrip()) for line in lines) <= 120


# The calls of the others are among those of the guides, whose Python runs in quick tests, too.
@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=() if path.stem in ("earthquake", "poisson") else pytest.mark.full)
        for path in NOTEBOOKS
    ],
    ids=lambda path: path.stem,
)
def test_cells_run(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from matplotlib import pyplot

    monkeypatch.chdir(tmp_path)
    variables: dict[str, Any] = {}
    shown = 0
    with matplotlib.rc_context({"backend": "agg"}):
        for source in code_of(path):
            value = run_cell(source, variables)
            if hasattr(value, "_repr_html_"):
                assert value._repr_html_()
                shown += 1
            shown += len(pyplot.get_fignums())
            pyplot.close("all")
    assert shown >= 2
    assert SHOWN[path.stem](variables)
    assert not [*tmp_path.iterdir()]
