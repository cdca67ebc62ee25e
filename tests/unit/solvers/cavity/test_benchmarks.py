"""The cavity's benchmark: its tables and its picture, on problems of a few points."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from matplotlib.figure import Figure
from ranks import run_to_json
from variants import long_variants

from groundswell.backends import open_backend
from groundswell.bench import Session, benchmark, measure
from groundswell.bench.tables import show
from groundswell.exchange.communicator import SerialCommunicator
from groundswell.solvers.cavity.benchmarks import Sizes, draw, draw_ranks, published

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
    """All versions on both transports for each of three cuts; a larger cube in ours.

    Ours is measured with and without overlap.
    """
    assert not shared["notes"]
    for part in ("strong", "weak"):
        versions = [row["version"] for row in shared[part]]
        assert [versions.count(v) for v in ("baseline", "v1", "v2", "v3")] == [6] * 4
        assert [row["overlap"] for row in shared[part] if row["version"] == "ours"] == [
            True,
            False,
        ] * 8
        assert [row["edge"] for row in shared[part]] == [12] * 36 + [14] * 4
        assert 14 in shared[part][-1]["cells"]
    assert {tuple(row["cells"]) for row in shared["weak"][:-4]} == {
        (24, 12, 12),
        (12, 24, 12),
        (12, 12, 24),
    }
    assert [row["cells"] for row in shared["growth"]] == [[12, 12, 24]] * 12


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


def scaled(cut: tuple[int, int, int], efficiency: float, **more: Any) -> dict[str, Any]:
    row = {"processes": cut, "efficiency": efficiency, "version": "ours", "overlap": True}
    return row | {"transport": "peer", "edge": 12} | more


def test_curves_against_ranks_of_several_calls(tmp_path: Path) -> None:
    """By cut; where two or three axes cannot be cut, the curve has the next one (tables 1, 2)."""
    two = [scaled((1, 1, 2), 90.0), scaled((2, 1, 1), 60.0), scaled((1, 1, 2), 1.0, edge=14)]
    four = [scaled((1, 1, 4), 80.0), scaled((1, 2, 2), 85.0), scaled((4, 1, 1), 50.0)]
    two += [scaled((2, 1, 1), 55.0, overlap=False), scaled((2, 1, 1), 33.0, version="v1")]
    about = {"subject": "cavity", "backend": "cpu"}
    runs = [
        about | {"ranks": n, "devices": ["Abacus"] * n, "strong": rows, "weak": rows}
        for n, rows in ((2, two), (4, four))
    ]
    measured = {**runs[1], "runs": runs}
    axes = Figure().subplots()
    draw_ranks._by_cut(axes, measured, "strong")
    curves = {
        (line.get_color(), line.get_linestyle()): line.get_xydata().tolist() for line in axes.lines
    }
    colours = draw_ranks.CUTS
    assert curves[colours["2-D"], "-"] == [[1, 100], [2, 90], [4, 85]]
    assert curves[colours["1-D, k"], "-"] == [[1, 100], [2, 90], [4, 80]]
    assert curves[colours["1-D, i"], "-"] == [[1, 100], [2, 60], [4, 50]]
    assert curves[colours["1-D, i"], "--"] == [[1, 100], [2, 55]]
    (tmp_path / "bench_cavity_2_ranks.json").write_text(json.dumps(runs[0]))
    with patch.object(draw_ranks, "_by_cut", wraps=draw_ranks._by_cut) as drawn:
        draw(runs[1], tmp_path / "bench_cavity_4_ranks.png")
    assert [run["ranks"] for run in drawn.call_args.args[1]["runs"]] == [2, 4]


def test_two_p100s_stand_at_two_ranks() -> None:
    """Cut along i through the host: tables 3 and 4."""
    rows = [scaled((2, 1, 1), 70.0, transport="mpi", version="baseline", overlap=False)]
    about = {"backend": "cpu", "ranks": 2, "strong": rows, "weak": rows}
    for growth, efficiency in (("strong", 11.7), ("weak", 11.4)):
        axes = Figure().subplots()
        draw_ranks._by_version(axes, about | {"runs": [about]}, growth, "mpi")
        [mark] = [line for line in axes.lines if line.get_markerfacecolor() == "none"]
        assert mark.get_xydata().tolist() == [[2, efficiency]]


def test_tables_of_one_rank(alone: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    show(BENCHMARK.tables, alone)
    said = capsys.readouterr().out
    assert "93.8" in said and "times faster" in said and "with coarser grids" in said


@pytest.mark.parametrize("which", ["alone", *long_variants(["shared"])])
def test_its_picture(which: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    found = request.getfixturevalue(which)
    assert draw(found, tmp_path / "bench.png").stat().st_size > 10_000
