"""The benchmark of the exchange: its tables, its picture, and small measurements."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exchange_measurement import SLOWDOWNS, empty_measurement, fake_measurement
from ranks import run_on_ranks

from groundswell.backends import Backend, open_backend
from groundswell.bench import benchmark
from groundswell.bench.exchange import BENCHMARK as INSTALLED
from groundswell.bench.exchange.assembly import box_ids
from groundswell.bench.tables import Printer, show
from groundswell.cli import main
from groundswell.solvers.cavity.benchmarks import published
from groundswell_rivals.exchange import draw
from groundswell_rivals.exchange.tables import ENDS

Capture = pytest.CaptureFixture[str]
TABLES = benchmark("exchange").tables


@pytest.fixture(scope="module")
def backend() -> Backend:
    return open_backend("cpu")


# --- tables and picture ---------------------------------------------------------------------------


def shown(measured: dict[str, Any], capsys: Capture) -> list[str]:
    """Lines of the tables of what was measured."""
    show(TABLES, measured)
    return capsys.readouterr().out.splitlines()


def test_tables_show_ours_and_theirs(capsys: Capture) -> None:
    lines = shown(fake_measurement(), capsys)
    out = "\n".join(lines)
    assert "by nccl" in out and "no: the host takes part" in out
    assert "3.02 us, 2.71 GB/s" in out  # the limit at 4 KiB and two faces: 8192 / 3.02048e-6 s
    assert "3.91 us, 1.05 GB/s, 77 %" in out  # peer memory: 1.3 x 3.01024e-6 s for 4096 bytes
    assert "13 us, 62 %" in out  # six faces by peer memory: 8 / 13
    assert "11 us" in out and "6 us" in out  # a step whose update stores the ghosts itself
    assert "2x1x1: itself 8 times, 1 other" in out
    baseline = next(n for n in lines if n.startswith("2, 1, 1") and "Baseline" in n)
    assert "4.8 ms" in baseline and "11.7 %, 11.4 %" in baseline and "1 MiB" in baseline
    gains = [n for n in lines if n.startswith("2, 1, 1") and " 4x" in n]
    assert len(gains) == 1 and gains[0].count(" 4x") == len(SLOWDOWNS)
    lost = [published.lost_seconds(published.STRONG[version, (2, 1, 1)][0]) for version in ENDS]
    assert f"{lost[0] / lost[1]:.3g}x" in gains[0]
    assert "10 us, 60.00x" in out and "up to 1.8x" in out
    assert any(n.split() == ["direct", "60.00x"] for n in lines)
    assert any("3.5 ms" in n and "25 %" in n for n in lines)
    gather = next(n for n in lines if n.startswith("gather"))
    assert "2 million" in gather and "1.5 s" in gather and "87 %" in gather and "12 us" in gather
    assert [n.split()[:2] for n in lines if "2 KiB" in n] == [
        ["direct", "crystal"],
        ["mpi", "alltoall"],
    ]
    dear = next(n for n in lines if n.startswith("20 us"))
    assert dear.split() == ["20", "us", "150", "us", "90", "us"]


def test_rows_stand_side_by_side_as_they_come(capsys: Capture) -> None:
    """A line is printed when the next one begins, and the last at the end; gaps stay empty."""
    [pairs] = [table for table in TABLES if table.name == "all-pairs"]
    printer = Printer(pairs, {})
    printed = []
    for gap, route in ((0.0, "pairwise"), (0.0, "crystal"), (1e-6, "crystal")):
        printer.add({"gap": gap, "route": route, "remote": 1e-3})
        printed.append(capsys.readouterr().out.split("\n"))
    printer.end()
    title, heads, rule = printed[0][1:4]
    assert title == pairs.title and "crystal" in heads and set(rule) == {"-", " "}
    assert printed[1] == [""]
    assert printed[2][0].split() == ["0", "us", "1", "ms", "1", "ms"]
    assert capsys.readouterr().out.split() == ["1", "us", "1", "ms"]


def test_tables_of_nothing(capsys: Capture) -> None:
    assert shown(empty_measurement(), capsys) == []


@pytest.mark.parametrize(
    "measured", [fake_measurement(), empty_measurement()], ids=["all", "nothing"]
)
def test_picture(measured: dict[str, Any], tmp_path: Path) -> None:
    from matplotlib.image import imread

    path = draw(json.loads(json.dumps(measured)), tmp_path / "bench.png")
    pixels = imread(path)
    assert pixels.shape[1] == 1600 and pixels.shape[0] > 1000
    inked = float((pixels[..., :3].min(axis=2) < 0.9).mean())
    assert inked > (0.1 if measured["links"] else 0.005)


def test_without_a_clone_it_draws_the_links(tmp_path: Path, capsys: Capture) -> None:
    found = fake_measurement()
    show(INSTALLED.tables, found)
    assert "Cavity" not in (said := capsys.readouterr().out) and "2 million" in said
    assert INSTALLED.draw is not None
    assert INSTALLED.draw(found, tmp_path / "bench.png").stat().st_size > 10_000


# --- what others published ------------------------------------------------------------------------


def test_efficiencies_follow_from_the_papers_speeds() -> None:
    for speed, efficiency in [*published.STRONG.values(), *published.WEAK.values()]:
        assert 100 * speed / (2 * published.ONE_GPU) == pytest.approx(efficiency, abs=0.1)


def test_lost_time_is_what_the_step_of_two_gpus_takes_longer() -> None:
    step = published.CELLS / (22.0 * 1e7)
    alone = published.CELLS / (93.8 * 1e7)
    assert published.lost_seconds(22.0) == pytest.approx(step - alone / 2, rel=1e-12)
    assert published.lost_seconds(2 * 93.8) == pytest.approx(0, abs=1e-12)


# --- on ranks -------------------------------------------------------------------------------------


def test_one_rank_is_told_what_to_do(capsys: Capture) -> None:
    assert main(["bench", "exchange", "--backend", "cpu"]) == 2
    error = capsys.readouterr().err
    assert "at least 2" in error and "mpiexec -n 2 groundswell bench exchange" in error


TINY = """
import sys
from groundswell.backends import Backend
from groundswell.bench import exchange, rig, run_bench
from groundswell_rivals.exchange import MORE
Backend.measure_bandwidth = lambda self: 1e10  # the measurement takes a second
rig.REPEATS, rig.REPEAT_SECONDS = 2, 1e-4
MORE["cpu"] = {"cavity": 8, "cube": 8, "overlaps": (2, 4)}
exchange.SIZES["cpu"] = exchange.Sizes(
    faces=(4096, 8192), shifts=(4096,), blocks=((8, 2),), messages=(65536,), elements=(2, 1),
)
run_bench("exchange", backend="cpu", output=sys.argv[1], shown=True)
"""


@pytest.mark.parametrize("ranks", [2, pytest.param(4, marks=pytest.mark.full)])
def test_a_small_measurement(tmp_path: Path, ranks: int) -> None:
    done = run_on_ranks(ranks, "-c", TINY, tmp_path, timeout=200)
    assert done.returncode == 0, done.stderr[-2000:]
    assert (tmp_path / f"bench_exchange_{ranks}_ranks.png").stat().st_size > 20_000
    found = json.loads((tmp_path / f"bench_exchange_{ranks}_ranks.json").read_text())
    assert found["notes"] == [] and found["ranks"] == ranks and len(found["devices"]) == ranks
    titles = [table.heading(found) for table in TABLES if found[table.name]]
    assert [line for line in done.stdout.splitlines() if line in titles] == titles
    ways = {"peer", "mpi", "mpi-thread"}
    for part in ("links", "neighbours", "optimisations", "overlaps"):
        assert {row["transport"] for row in found[part]} - {"copy"} == ways
        assert all(row["seconds"] > 0 for row in found[part])
    assert len(found["links"]) == 3 * 4 and len(found["neighbours"]) == 3 * 4
    grids = 3 + (ranks == 4)
    assert len(found["optimisations"]) == grids * 4 * 3 and len(found["overlaps"]) == 2 * 2 * 3
    assert len(found["gains"]) == grids * 3
    assert {row["transport"] for row in found["progress"]} == {"mpi", "mpi-thread"}
    assert {row["kind"] for row in found["assembly"]} == {"gather", "scatter", "gather-scatter"}
    assert len(found["routes"]) == 2 * 3 + 1 and all(row["remote"] > 0 for row in found["routes"])
    pairs = found["all-pairs"]
    assert all(row["remote"] > row["gap"] for row in pairs) and len(pairs) == 4 * 2
    slabs = [row for row in found["overlaps"] if row["cut"] == "1-D"]
    assert {row["overlap"]: row["sent"] for row in slabs} == {2: 2 * 2 * 256, 4: 2 * 4 * 256}


def test_ids_of_a_box_of_elements() -> None:
    ids = [box_ids(3, 2, rank) for rank in range(2)]
    assert all(len(part) == 27 * 27 and len(np.unique(part)) == 7**3 for part in ids)
    assert len(np.intersect1d(*ids)) == 7 * 7


FAILING = """
from groundswell.backends import open_backend
from groundswell.bench.rig import Rig
from groundswell.exchange.mpi_communicator import get_communicator

job = get_communicator()
rig = Rig(open_backend("cpu"), job, ["good", "bad"])
rig.begin("links", 60.0)

def act():
    if job.rank == 1:
        raise ValueError("one rank has had enough")
    return rig.comm.allgather("a word to a rank that has gone")

assert rig.attempt("bad", act) is None
assert rig.transports == ["good"]
assert rig.attempt("good", lambda: rig.comm.allgather(job.rank)) == [0, 1]
rig.begin("optimisations", 60.0)
assert rig.transports == ["good", "bad"]
rig.begin("progress", -1.0)
assert rig.attempt("good", lambda: 1) is None and rig.attempt("bad", lambda: 1) is None
if job.first:
    print(*rig.notes, sep="\\n")
"""


def test_a_failure_of_one_rank_leaves_the_others_in_step() -> None:
    done = run_on_ranks(2, "-c", FAILING, GROUNDSWELL_TIMEOUT="2")
    assert done.returncode == 0, done.stderr[-2000:]
    failed, late = done.stdout.splitlines()
    assert failed.startswith("links: bad: RunFailed: rank 1 has sent no message")
    assert late == "progress: the rest was skipped: time limit reached"
