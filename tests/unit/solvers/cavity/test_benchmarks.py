"""The cavity's benchmark: its tables and its picture, on problems of a few points."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ranks import run_to_json
from variants import long_variants

from groundswell.backends import open_backend
from groundswell.bench import Session, benchmark, measure
from groundswell.bench.tables import show
from groundswell.exchange.communicator import SerialCommunicator
from groundswell.solvers.cavity.benchmarks import Sizes, draw, published

BENCHMARK = benchmark("cavity")
SMALL = Sizes(edges=(12, 16), edge=12, large=0, steady=(23, 1e4))
ON_RANKS = """
import json, sys
from groundswell.backends import open_backend
from groundswell.bench import Session, benchmark, measure
from groundswell.exchange.mpi_communicator import get_communicator
from groundswell.solvers.cavity.benchmarks import Sizes
sizes = Sizes(edges=(), edge=12, large=14, steady=(0, 0))
found = measure(benchmark("cavity"), Session(open_backend("cpu"), get_communicator(), sizes))
if get_communicator().first:
    json.dump(found, open(sys.argv[1], "w"))
"""


@pytest.fixture(scope="module")
def alone() -> dict[str, Any]:
    return measure(BENCHMARK, Session(open_backend("cpu"), SerialCommunicator(), SMALL))


@pytest.fixture(scope="module")
def shared(
    on_ranks: Callable[..., str], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:
    found: dict[str, Any] = run_to_json(on_ranks, 2, ON_RANKS, tmp_path_factory.mktemp("bench"))
    return found


def test_on_one_rank(alone: dict[str, Any]) -> None:
    assert [(row["cells"][0], row["precision"]) for row in alone["sizes"]] == [
        (12, "double"),
        (16, "double"),
        (12, "single"),
    ]
    for row in alone["sizes"]:
        assert row["ssspnt"] == pytest.approx(row["cells"][0] ** 3 / row["seconds"] / 1e7)
    first, *others = alone["steady"]
    assert all(row["nusselt"] == pytest.approx(first["nusselt"], rel=1e-3) for row in others)
    assert others[-1]["sweeps"] < others[0]["sweeps"] / 2


@pytest.mark.full
def test_on_two_ranks(shared: dict[str, Any]) -> None:
    """Both versions on both transports, and ours, for each of three cuts; a larger cube in ours."""
    assert not shared["notes"]
    for part in ("strong", "weak"):
        versions = [row["version"] for row in shared[part]]
        assert [versions.count(v) for v in ("baseline", "v3", "ours")] == [6, 6, 4]
        assert 14 in shared[part][-1]["cells"]
    assert {tuple(row["cells"]) for row in shared["weak"][:-1]} == {
        (24, 12, 12),
        (12, 24, 12),
        (12, 12, 24),
    }
    assert [row["cells"] for row in shared["growth"]] == [[12, 12, 24]] * 3


@pytest.mark.full
def test_the_papers_figures_stand_beside_ours(
    shared: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    show(BENCHMARK.tables, shared)
    said = capsys.readouterr().out
    baseline = next(
        line for line in said.splitlines() if "Baseline" in line and "2 x 1 x 1" in line
    )
    speed, share = published.STRONG["Baseline", (2, 1, 1)]
    assert f"{speed}" in baseline and f"{share} %" in baseline
    assert "179.4" in said and "180.9" in said


def test_tables_of_one_rank(alone: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    show(BENCHMARK.tables, alone)
    said = capsys.readouterr().out
    assert "93.8" in said and "times faster" in said and "with coarser grids" in said


@pytest.mark.parametrize("which", ["alone", *long_variants(["shared"])])
def test_its_picture(which: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    found = request.getfixturevalue(which)
    assert draw(found, tmp_path / "bench.png").stat().st_size > 10_000
