"""The tutorials of the examples: their code runs with small sizes, and their own checks hold."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import matplotlib
import pytest
from variants import short_and_long

FOLDER = Path(__file__).parents[2] / "examples" / "tutorials"
TUTORIALS = sorted(FOLDER.glob("*.py"))
# Smaller sizes than those of the pages, which take up to two minutes on two cores.
SIZES: dict[str, dict[str, Any]] = {
    "01_earthquake_in_a_basin": {"FINER": 200.0, "SPACING": 250.0, "DURATION": 8.0},
    "02_dynamic_rupture": {"SPACING": 250.0, "DURATION": 5.0},
    "03_seismic_hazard": {"SPACING": 1000.0, "POSITIONS": 2},
    "04_ultrasound_through_bone": {"DURATION": 20e-6},
    "05_heated_cavity": {"POINTS": 23, "STEP": 0.5, "DURATION": 64.0},
    "06_heat_in_two_materials": {"DEGREE": 3, "STEP": 1.0},
    "07_marine_survey": {"SHOTS": 2, "DEGREE": 3},
}
LONG = {FOLDER / "03_seismic_hazard.py", FOLDER / "07_marine_survey.py"}  # ten seconds and more
tutorials = pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)


def resized(source: str, sizes: dict[str, Any]) -> ast.Module:
    """The code with other values of constants; each must exist."""
    tree, left = ast.parse(source), dict(sizes)
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            name = statement.targets[0].id
            if name in left:
                statement.value = ast.copy_location(ast.Constant(left.pop(name)), statement.value)
    assert not left, f"the tutorial has no {', '.join(left)}"
    return tree


@tutorials
def test_tutorials_are_pages_for_a_gallery(path: Path) -> None:
    """A title, cells with text, a check and what to change next."""
    source = path.read_text(encoding="utf-8")
    title, underline, *_ = (ast.get_docstring(ast.parse(source)) or "").splitlines()
    assert title and underline == "=" * len(title)
    assert source.count("\n# %%\n") >= 4
    assert "# The check\n# ---------\n" in source and "\nassert " in source
    assert "# What to change next\n# -------------------\n" in source


@pytest.mark.parametrize("path", short_and_long(TUTORIALS, LONG), ids=lambda path: path.stem)
def test_tutorials_run(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from matplotlib import pyplot

    monkeypatch.chdir(tmp_path)
    tree = resized(path.read_text(encoding="utf-8"), SIZES.get(path.stem, {}))
    with matplotlib.rc_context({"backend": "agg"}):
        try:
            exec(compile(tree, str(path), "exec"), {"__name__": "__main__"})
            assert pyplot.get_fignums()
        finally:
            pyplot.close("all")
