"""The benchmark of DG waves: its tables and its picture, on problems of a few elements."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock, patch

import pytest
from matplotlib.figure import Figure
from ranks import run_to_json
from variants import long_variants

from groundswell.backends import open_backend
from groundswell.bench import Session, benchmark, measure, rig
from groundswell.bench.drawing import Page
from groundswell.bench.tables import show
from groundswell.exchange.communicator import SerialCommunicator
from groundswell.solvers.dgwave.benchmarks import BENCHMARK as INSTALLED
from groundswell.solvers.dgwave.benchmarks import Sizes, draw, features, speed
from groundswell.solvers.dgwave.benchmarks.features import BRICKS, CURVED, NODAL
from groundswell.solvers.dgwave.benchmarks.problems import TABLE_2
from groundswell.solvers.dgwave.benchmarks.traffic import Element
from groundswell.solvers.dgwave.benchmarks.versions import SOLVER, costs_of
from groundswell_rivals.dgwave import draw as rivals_draw
from groundswell_rivals.dgwave import savings
from groundswell_rivals.dgwave.ladder import VERSIONS as RIVALS

ALL_FEATURES = features.features
BENCHMARK = benchmark("dgwave")
COSTS = costs_of([*RIVALS, SOLVER])
FEW = (2, 1, 1)
SMALL = Sizes(FEW, 512, 2, FEW, FEW, TABLE_2[:1], TABLE_2[:1])
VERSIONS = ["base", "f1", "f1s", "solver"]
ON_RANKS = """
import json, sys
from groundswell.backends import open_backend
from groundswell.bench import Session, benchmark, measure
from groundswell.exchange.mpi_communicator import get_communicator
from groundswell.solvers.dgwave.benchmarks import Sizes
from groundswell.solvers.dgwave.benchmarks.problems import TABLE_2
few = (2, 2, 2)
sizes = Sizes(few, 512, 2, few, few, TABLE_2[:1])
found = measure(benchmark("dgwave"), Session(open_backend("cpu"), get_communicator(), sizes))
if get_communicator().first:
    json.dump(found, open(sys.argv[1], "w"))
"""


def features_in_short(*arguments: Any) -> dict[str, Any]:
    """Features of one mesh, of which each has a kernel of its own."""
    short = (BRICKS, NODAL, CURVED, f"{CURVED}, {NODAL}")
    return {name: case for name, case in ALL_FEATURES(*arguments).items() if name in short}


@pytest.fixture(scope="module")
def alone(full: bool) -> dict[str, Any]:
    """Of two configurations, with short measurements."""
    with (
        patch.object(rig, "ALONE_SECONDS", 1e-3),
        patch.object(features, "features", ALL_FEATURES if full else features_in_short),
        patch.object(features, "PRECISIONS", ("double",)),
    ):
        sizes = replace(SMALL, compared=TABLE_2[2:4])
        return measure(BENCHMARK, Session(open_backend("cpu"), SerialCommunicator(), sizes))


@pytest.fixture(scope="module")
def shared(
    on_ranks: Callable[..., str], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:
    found: dict[str, Any] = run_to_json(on_ranks, 2, ON_RANKS, tmp_path_factory.mktemp("bench"))
    return found


def test_without_a_clone_it_measures_the_solver_alone(capsys: pytest.CaptureFixture[str]) -> None:
    """Its own kernel has no base version to be compared with, but a roofline."""
    tables = [table for table in INSTALLED.tables if table.name in ("kernels", "degrees")]
    tables += [table for table in INSTALLED.tables if table.name == "rooflines"]
    session = Session(open_backend("cpu"), SerialCommunicator(), SMALL)
    with (
        patch.object(rig, "ALONE_SECONDS", 1e-3),
    ):
        found = measure(replace(INSTALLED, tables=tables), session)
    [row] = found["kernels"]
    assert (row["version"], row["over_base"], row["over_cpu"]) == ("solver", None, 1)
    assert {row["version"] for row in found["degrees"] + found["rooflines"]} == {"solver"}
    assert ["GAPS" in note and "clone" in note for note in found["notes"]] == [True]
    show(tables, found)
    assert "V100" not in capsys.readouterr().out


def test_features_of_the_mesh_and_the_medium(alone: dict[str, Any]) -> None:
    double = alone["features"]
    assert [row["precision"] for row in double] == ["double"] * len(double)
    bricks, *others = double
    assert bricks["feature"] == BRICKS and bricks["cost"] == 1
    traffic = {row["feature"]: row["bytes"] for row in double}
    assert traffic[BRICKS] < traffic[NODAL] < traffic[CURVED] < traffic[f"{CURVED}, {NODAL}"]
    for row in others:
        assert row["cost"] == pytest.approx(bricks["GDOFS"] / row["GDOFS"], rel=1e-12)
        assert row["GDOFS"] * row["seconds"] * 1e9 == pytest.approx(9 * 512 * row["elements"])


def test_versions_of_the_kernels(alone: dict[str, Any]) -> None:
    rows = alone["kernels"]
    assert [row["version"] for row in rows] == 2 * VERSIONS
    for row in rows:
        unknowns = 2 * 512 * (9 if row["configuration"] == "elastic, Riemann" else 4)
        assert row["GDOFS"] == pytest.approx(unknowns / row["seconds"] / 1e9)
        share = 1e9 * row["GDOFS"] * row["bytes"] / row["bandwidth"]
        assert row["share"] == pytest.approx(share)
        assert row["device"] == "cpu" and row["elements"] == 2
    assert [row["over_base"] for row in rows[::4]] == [1, 1]
    assert [row["over_cpu"] for row in rows[3::4]] == [1, 1]
    assert rows[1]["over_base"] == pytest.approx(rows[0]["seconds"] / rows[1]["seconds"])
    assert [list(row["kernels"]) for row in rows[:4]] == [
        ["volume", "flux", "integrate"],
        ["volume_and_flux", "integrate"],
        ["volume_and_flux", "integrate"],
        ["advance"],
    ]


def test_the_cpu_computes_as_many_elements_as_the_gpu() -> None:
    """Otherwise its data would fit in a cache."""
    gpu, host = Mock(on_host=False, memory_info=lambda: (2**40, 2**40)), Mock(on_host=True)
    session = Mock(backend=gpu, sizes=SMALL, measured={"host_bandwidth": 1e9})
    counts: list[tuple[Any, int]] = []

    def note(backend: Any, problem: Any, *rest: Any) -> list[Any]:
        counts.append((backend, problem.elements.count))
        return []

    with (
        patch.object(speed, "_open_host", return_value=host),
        patch.object(speed, "_measured_all", note),
    ):
        assert not [*speed.measure_kernels(session)]
    assert counts == [(host, 2), (gpu, 2)]


@pytest.mark.parametrize(("most", "timed"), [(0.0, "1 of 5 stages"), (1e9, "steps")])
def test_long_stages_of_a_cpu_are_timed_once(most: float, timed: str) -> None:
    """All of them, or the last ones if there is no time; the row says so."""
    tables = [table for table in BENCHMARK.tables if table.name == "kernels"]
    session = Session(open_backend("cpu"), SerialCommunicator(), SMALL)
    with (
        patch.object(speed, "LONG_STAGE", 0.0),
        patch.object(speed, "MOST_SECONDS", most),
    ):
        rows: Any = measure(replace(BENCHMARK, tables=tables), session)["kernels"]
    [column] = [each for each in tables[0].columns if each.head == "timed"]
    assert [column.cell(row) for row in rows] == [timed] * 4
    for row in rows:
        assert row["seconds"] == pytest.approx(sum(row["kernels"].values()), rel=1e-12)


def test_fewer_elements_where_memory_is_short() -> None:
    backend = open_backend("cpu")
    assert speed.fitting_cells(backend, (4, 3, 2)) == (4, 3, 2)
    with patch.object(backend, "memory_info", return_value=(2**24, 2**30)):
        edge, *others = speed.fitting_cells(backend, (40, 30, 20))
    assert others == [edge, edge] and 1 <= edge**3 * 512 * 9 * 8 * 3 < 2**24


def test_rooflines(alone: dict[str, Any]) -> None:
    """One for each kernel of these, and of the low degree."""
    rows = alone["rooflines"]
    assert len(rows) == 2 * (3 + 2 + 2 + 1) + 2 * (2 + 1)
    for row in rows:
        cost = COSTS[row["kernel"]](Element(speed._configuration(row), row["degree"]))
        assert row["intensity"] == pytest.approx(cost.flops / cost.bytes)
        assert row["GFLOPS"] == pytest.approx(row["GDOFS"] * cost.flops)
        assert row["GFLOPS"] / row["roofline"] == pytest.approx(row["share"])


def test_degrees_have_equally_many_nodes(alone: dict[str, Any]) -> None:
    rows = alone["degrees"]
    assert [row["version"] for row in rows] == 2 * ["f1s", "f1s", "solver", "solver"]
    assert [(row["degree"], row["elements"]) for row in rows] == 4 * [(3, 8), (7, 1)]
    assert rows[1]["over_64"] == pytest.approx(rows[0]["seconds"] / rows[1]["seconds"])


def test_fewer_nodes_where_memory_is_short() -> None:
    backend = open_backend("cpu")
    assert speed.fitting_edge(backend, 63_000_000 // 125) == 10
    with patch.object(backend, "memory_info", return_value=(2**30, 2**31)):
        edge = speed.fitting_edge(backend, 63_000_000)
    assert 512 * edge**3 * 9 * 8 * 3 < 2**30  # fields, register and contributions
    assert edge > 10


def test_the_papers_means_in_the_picture(alone: dict[str, Any]) -> None:
    """Speed-ups over the base version on a CPU, and over the CPU on a GPU (figure 4a; figure 5)."""
    assert isinstance(BENCHMARK.draw, Page)
    drawn = {panel.draw for panel in BENCHMARK.draw.panels}
    assert drawn >= {rivals_draw._mark_speed, rivals_draw._mark_degrees}
    for measured, means in (
        (alone, [1.74, 1.84]),
        (alone | {"host": "Abacus"}, [45.67, 69.30, 84.15]),
    ):
        axes = Figure().subplots()
        rivals_draw._mark_speed(axes, measured)
        lines = [line.get_ydata() for line in axes.lines]
        assert [list(line) for line in lines] == [[mean, mean] for mean in means]
    axes = Figure().subplots()
    rivals_draw._mark_degrees(axes, alone)
    low = [
        row["GDOFS"] for row in alone["degrees"] if (row["version"], row["degree"]) == ("f1s", 3)
    ]
    assert axes.lines[0].get_ydata() == pytest.approx([1.12 * speed for speed in low])


def test_savings_of_the_exchange(capsys: pytest.CaptureFixture[str]) -> None:
    """Of smaller messages, of progress, and of the fastest transport; nothing of no time."""
    times = {("whole elements", "mpi"): 8.0, ("whole elements", "mpi-thread"): 0.0}
    times |= {("variables, materials", "mpi"): 2.0, ("variables, materials", "mpi-thread"): 1.0}
    times |= {("variables, materials", "peer"): 0.5}
    about = {"configuration": "acoustic, Riemann", "precision": "double", "overlap": True}
    rows = [
        about | {"sent": sent, "transport": transport, "exchange": seconds}
        for (sent, transport), seconds in times.items()
    ]
    found = [*savings.measure_savings(Mock(measured={"exchange": rows}))]
    compared = [(row["transport"], row["saved"], row["published"]) for row in found]
    assert compared == [
        ("mpi", 0.75, 0.7027),
        ("mpi-thread", None, 0.7027),
        ("mpi-thread", 1.0, 0.5674),
        ("mpi-thread", 0.5, 0.5674),
        ("peer", 0.75, 0.8203),
    ]
    show([savings.SAVINGS], {"savings": found})
    said = capsys.readouterr().out
    assert all(text in said for text in ("75 %", "70 %", "57 %", "82 %"))


def test_tables_of_one_rank(alone: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    show(BENCHMARK.tables, alone)
    said = capsys.readouterr().out
    assert "84.15x" in said and "1.12x" in said and "volume_and_flux" in said


@pytest.mark.full
def test_on_two_ranks(shared: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    assert not shared["notes"]
    rows = shared["exchange"]
    assert len(rows) == 3 * 3 * 2
    for row in rows:
        assert row["exchange"] == pytest.approx(max(0, row["seconds"] - row["compute"]))
        assert (row["elements"], row["outer"]) == (8, 8)
        assert row["GDOFS"] == pytest.approx(16 * 4 * 512 / row["seconds"] / 1e9)
    # Two layers of four elements; table 4 of the paper, but for the properties of an element.
    whole, reduced, traces = dict.fromkeys(row["sent_bytes"] for row in rows)
    assert whole == 8 * 8 * (16 * 512 + 2) and reduced == 8 * 8 * (4 * 512 + 2)
    assert traces == 8 * 8 * 2 * 64
    assert [row["sent_as"] for row in shared["rounding"]] == ["float32", "bfloat16"]
    for row, unit in zip(shared["rounding"], (2.0**-24, 2.0**-8), strict=True):
        assert row["exact_bytes"] == 2 * row["sent_bytes"]
        assert 0 < row["difference"] < row["worst"] < unit
    assert [row["ranks"] for row in shared["weak"]] == [1, 2, 1, 2]
    assert [row["efficiency"] for row in shared["weak"][::2]] == [1, 1]
    show(BENCHMARK.tables, shared)
    assert "face traces" in capsys.readouterr().out


@pytest.mark.parametrize("which", ["alone", *long_variants(["shared"])])
def test_its_picture(which: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    found = request.getfixturevalue(which)
    for page in (draw, BENCHMARK.draw):
        assert page is not None
        page(found, tmp_path / "bench.png")
        assert (tmp_path / "bench.png").stat().st_size > 10_000
