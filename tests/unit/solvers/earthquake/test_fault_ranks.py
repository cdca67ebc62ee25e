"""Faults on the staggered grid on several ranks, whose blocks cut them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checked import decomposed
from gpu import gpu_count
from ranks import run_cases
from split_nodes import CLOSED, GIVEN, SOURCE, TURNED
from variants import long_variants

import groundswell as gs
from groundswell.errors import InputError
from groundswell.grids.cartesian import Grid, Part
from groundswell.simulation.result import Result
from groundswell.solvers.earthquake import EarthquakeCase
from groundswell.solvers.earthquake.faults.plane import FaultPlane
from groundswell.solvers.earthquake.faults.window import FaultWindow
from groundswell.solvers.earthquake.halo import decompose_grid
from groundswell.solvers.earthquake.setup import prepare

# The fault is in the middle along its normal, where halves of the grid would meet.
LOSSY = {
    "medium": {**GIVEN["medium"], "qp": 60.0, "qs": 30.0},
    "attenuation": {"model": "constant"},
    "source": [SOURCE],
}
VARIANTS: dict[str, dict[str, Any]] = {
    "lossy": {**GIVEN, **LOSSY},
    "turned": {**GIVEN, "fault": [TURNED]},
    "closed": CLOSED,
}


@pytest.fixture(scope="module")
def on_one_rank(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Result]:
    @cache
    def run(variant: str) -> Result:
        case = EarthquakeCase(**VARIANTS[variant])
        found = gs.run(case, folder=tmp_path_factory.mktemp(variant), quiet=True)
        assert float(found.fault.peak_rate.max()) > 0.1
        return found

    return run


@pytest.mark.parametrize(
    ("variant", "processes"),
    [
        # All on four ranks, which are started once.
        ("lossy", [2, 1, 2]),
        ("turned", [2, 2, 1]),
        ("closed", [2, 1, 2]),
        *long_variants(
            [
                ("lossy", [2, 2, 2]),
                ("lossy", [1, 2, 1]),
                ("lossy", [1, 1, 3]),
                ("lossy", [5, 1, 1]),
                ("lossy", [3, 1, 2]),
                ("lossy", [7, 1, 1]),
                ("turned", [1, 3, 2]),
                ("closed", [3, 1, 1]),
            ]
        ),
    ],
)
def test_ranks_compute_the_same_rupture(
    variant: str,
    processes: list[int],
    on_ranks: Callable[..., str],
    on_one_rank: Callable[[str], Result],
    tmp_path: Path,
) -> None:
    """Bit for bit, wherever ends of blocks cut the fault."""
    case = divided(variant, processes, transport="mpi" if variant == "turned" else "auto")
    run_cases(on_ranks, int(np.prod(processes)), {"found": case}, tmp_path)
    found = Result(tmp_path / "found")
    assert found.summary["ranks"]["processes"] == processes
    assert_same(found, on_one_rank(variant))


def divided(variant: str, processes: list[int], **run: Any) -> dict[str, Any]:
    """A case on ranks."""
    given = VARIANTS[variant]
    return {
        "solver": "earthquake",
        **given,
        "run": {**given["run"], "processes": processes, **run},
    }


def assert_same(found: Result, expected: Result) -> None:
    for field, values in expected.fault.items():
        assert np.array_equal(found.fault[field], values, equal_nan=True), field
    if (found.folder / "seismograms.h5").exists():
        assert np.array_equal(found.seismograms, expected.seismograms)


@pytest.mark.gpu
@pytest.mark.skipif(gpu_count() < 2, reason="needs two GPUs")
@pytest.mark.parametrize("transport", ["direct", "peer", "nccl", "mpi"])
@pytest.mark.parametrize(("variant", "processes"), [("lossy", [2, 1, 1]), ("closed", [1, 1, 2])])
def test_gpus_compute_the_same_rupture(
    variant: str,
    processes: list[int],
    transport: str,
    on_ranks: Callable[..., str],
    tmp_path: Path,
) -> None:
    run_cases(on_ranks, 1, {"one": divided(variant, [1, 1, 1], backend="cuda")}, tmp_path)
    case = divided(variant, processes, backend="cuda", transport=transport)
    run_cases(on_ranks, 2, {"two": case}, tmp_path)
    assert_same(Result(tmp_path / "two"), Result(tmp_path / "one"))


@pytest.mark.parametrize("ranks", [2, 3, 4, 8])
def test_ends_of_blocks_are_moved_off_a_fault(ranks: int) -> None:
    """Along its normal."""
    setup = prepare(EarthquakeCase(**GIVEN))
    ends = decompose_grid(setup, ranks).edges[1]
    place = setup.faults[0].plane.first[1]
    assert all(end <= place - 2 or end >= place + 3 for end in ends)


def test_thin_blocks_at_a_fault_are_refused() -> None:
    setup = prepare(EarthquakeCase(**{**GIVEN, "run": {"processes": [1, 17, 1]}}))
    with pytest.raises(
        InputError, match=r"fault\[0\] \(main\) lies at an end of a block of a rank along y"
    ):
        decomposed(setup, 17)


@pytest.mark.parametrize("is_closed", [False, True])
def test_windows_of_ranks_have_each_point_once_and_their_margins(is_closed: bool) -> None:
    """The values in margins are those of the points beside the own ones; 0 beyond the ends."""
    grid = Grid((12, 9, 10), (1.0, 1.0, 1.0))
    first, cells = ((0, 4, 0), (12, 7)) if is_closed else ((2, 4, 0), (8, 7))
    plane = FaultPlane(grid, 1, first, cells, is_closed, at_surface=True)
    table = np.random.default_rng(5).uniform(1, 2, plane.shape)
    times = np.zeros(plane.shape)
    parts = [Part(grid, (x, 0, z), (4, 9, 5)) for x in (0, 4, 8) for z in (0, 5)]
    for window in filter(None, (FaultWindow.of(plane, part) for part in parts)):
        here, there = window.own_box
        times[there] += 1
        values = window.cut(table)
        assert np.array_equal(values[here], table[there])
        k, i = np.indices(window.shape)
        row = k + window.first[0] - window.margin[0]
        column = i + window.first[1] - window.margin[1]
        column = column % plane.shape[1] if is_closed else column
        known = (row >= 0) & (row < plane.shape[0]) & (column >= 0) & (column < plane.shape[1])
        assert np.array_equal(values[known], table[row[known], column[known]])
        assert not values[~known].any()
    assert (times == 1).all()
