"""Faults on the staggered grid on several ranks, each in the block of one of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from checked import decomposed
from ranks import run_cases
from split_nodes import GIVEN, SOURCE

import groundswell as gs
from groundswell.errors import InputError
from groundswell.simulation.result import Result
from groundswell.solvers.earthquake import EarthquakeCase
from groundswell.solvers.earthquake.halo import decompose_grid
from groundswell.solvers.earthquake.setup import prepare

# The fault is in the middle along y, where halves of the grid would meet, and near a side along x.
LOSSY = {
    "medium": {**GIVEN["medium"], "qp": 60.0, "qs": 30.0},
    "attenuation": {"model": "constant"},
    "source": [SOURCE],
}


def test_ranks_compute_the_same_rupture(on_ranks: Callable[..., str], tmp_path: Path) -> None:
    """Bit for bit: one rank has the fault, and others have stresses beside it."""
    case = {"solver": "earthquake", **GIVEN, **LOSSY}
    case["run"] = {**GIVEN["run"], "checkpoint": {"steps": 20}}
    run_cases(on_ranks, 2, {"halves": case}, tmp_path)
    run_cases(on_ranks, 3, {"thirds": case}, tmp_path)
    expected = gs.run(EarthquakeCase(**{**GIVEN, **LOSSY}), folder=tmp_path / "one", quiet=True)
    assert float(expected.fault.peak_rate.max()) > 0.1
    for name in ("halves", "thirds"):
        found = Result(tmp_path / name)
        assert np.array_equal(found.seismograms, expected.seismograms)
        for field, values in expected.fault.items():
            assert np.array_equal(found.fault[field], values, equal_nan=True), field


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_ends_of_blocks_are_moved_off_a_fault(ranks: int) -> None:
    """And the grid is divided along its normal alone if other ends would cut it."""
    setup = prepare(EarthquakeCase(**GIVEN))
    ends = decompose_grid(setup, ranks).edges[1]
    place = setup.faults[0].plane.first[1]
    assert len(ends) == ranks + 1
    assert all(end <= place - 2 or end >= place + 3 for end in ends)


def test_blocks_that_cut_a_fault_are_refused() -> None:
    setup = prepare(EarthquakeCase(**{**GIVEN, "run": {"processes": [2, 1, 1]}}))
    with pytest.raises(InputError, match="a fault normal to y is cut along x by the blocks"):
        decomposed(setup, 2)
