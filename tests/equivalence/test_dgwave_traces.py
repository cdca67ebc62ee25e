"""Traces that are rounded or coded on their way to another rank."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.timeout(240)

OnRanks = Callable[..., str]
PROGRAM = Path(__file__).parents[1] / "support" / "traces_program.py"


def found(on_ranks: OnRanks, ranks: int, what: str, folder: Path) -> Any:
    path = folder / "found.json"
    on_ranks(ranks, PROGRAM, what, path)
    return json.loads(path.read_text())


def test_traces_arrive_rounded_to_nearest(on_ranks: OnRanks, tmp_path: Path) -> None:
    wrong = found(on_ranks, 3, "values", tmp_path)
    assert len(wrong) == 15 and wrong == dict.fromkeys(wrong, 0)


@pytest.mark.full
def test_rounding_to_nearest_adds_no_energy(on_ranks: OnRanks, tmp_path: Path) -> None:
    """Unlike that of ZFP, which is biased: cases of this solver cannot ask for it."""
    series = found(on_ranks, 2, "energies", tmp_path)
    energies = {name: np.array(values) for name, values in series.items()}
    zfp = energies.pop("zfp8")
    assert (np.diff(zfp)[-2:] > 0).all()
    for series in energies.values():
        assert (np.diff(series) < 0).all() and series[-1] > 0.01 * series[0]
    for narrow, exact, unit in (
        ("bfloat16", "exact single", 2.0**-8),
        ("float32", "exact double", 2.0**-24),
    ):
        difference = np.abs(energies[narrow] / energies[exact] - 1).max()
        assert 0 < difference < 2 * unit, f"{narrow}: {difference / unit:.3f} units"
