"""Residuals beside their table."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread
from result_files import names

from groundswell.errors import InputError
from groundswell.formats.text import read_table, write_table
from groundswell.plotting.residuals import residuals_picture

pytestmark = pytest.mark.each_value


RESIDUALS = {"mass": ["mass"], "heat": ["heat"]}


@pytest.mark.parametrize("rows", [1, 30, 200])
def test_residuals_are_drawn_beside_their_table(tmp_path: Path, rows: int) -> None:
    steps = np.arange(rows)
    columns = {"step": steps, "mass": 0.9**steps, "heat": np.zeros(rows)}
    table = write_table(tmp_path / "residuals.csv", columns)
    assert [*read_table(table)] == [*columns]
    assert np.allclose(read_table(table)["mass"], columns["mass"], rtol=1e-8)
    path = residuals_picture(table, "step", RESIDUALS, "residual")
    assert path == tmp_path / "residuals.png"
    assert imread(path)[..., :3].std() > 0.02


@pytest.mark.parametrize(
    "text",
    [
        "",
        "step,mass,heat\n",
        "step,mass,heat\n1,2\n",
        "step,mass,heat\n1,2,x\n",
        "step,mass\n1,2\n",
    ],
    ids=["empty", "no rows", "half a row", "no number", "column missing"],
)
def test_a_damaged_table_of_residuals_is_bad_input(tmp_path: Path, text: str) -> None:
    table = tmp_path / "residuals.csv"
    table.write_text(text)
    with pytest.raises(InputError, match=r"residuals\.csv"):
        residuals_picture(table, "step", RESIDUALS, "residual")
    assert names(tmp_path) == ["residuals.csv"]
