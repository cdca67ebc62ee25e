"""The earthquake's benchmark: throughput on one rank, codecs and slower links on several."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ranks import run_on_ranks
from variants import long_variants

from groundswell.backends import open_backend
from groundswell.bench import benchmark
from groundswell.bench.tables import show
from groundswell.solvers.earthquake.benchmarks import draw, published
from groundswell.solvers.earthquake.benchmarks.ranks import make_case_on
from groundswell.solvers.earthquake.benchmarks.tables import published_scaling
from groundswell.solvers.earthquake.benchmarks.throughput import Variant, measure_variant
from groundswell.solvers.earthquake.setup import prepare
from groundswell_rivals.earthquake.gains import published_gain
from groundswell_rivals.earthquake.slow_links import pays

Capture = pytest.CaptureFixture[str]
TABLES = benchmark("earthquake").tables

ALONE = {
    "devices": ["Abacus 9000"],
    "ranks": 1,
    "bandwidth": 2e9,
    "throughput": [
        {
            "name": "anelastic",
            "cells": [8, 8, 8],
            "milliseconds": 0.5,
            "MLUPS": 1234.0,
            "share": 0.42,
            "kernels": {"velocity": {"share": 0.5}, "stress": {"share": 0.4}},
        }
    ],
}
SHARED = {
    "codecs": [{"step": 7, "codec": "mpc", "ratio": 20.03, "encode": 4.4e11, "decode": 4.2e11}],
    "fields": [{"step": 7, "field": "vx", "bytes": 4096, "ratio": 3.21}],
    "links": [
        {"link": 12.5e9, "codec": codec, "seconds": t, "gain": gain}
        | {"chosen": codec == "mpc", "pays": pays}
        for codec, t, gain, pays in (("none", 3e-3, 0.0, None), ("mpc", 2e-3, 0.5, True))
    ],
}


def shown(measured: dict[str, Any], capsys: Capture) -> list[str]:
    """Lines of the tables of what was measured."""
    show(TABLES, measured)
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("precision", ["single", *long_variants(["double"])])
def test_a_variant_is_measured(precision: str) -> None:
    variant = Variant("small", (44, 40, 24), precision=precision)
    row = measure_variant(open_backend("cpu"), variant, bandwidth=1e9, times=2)
    points, size = 44 * 40 * 24, {"single": 4, "double": 8}[precision]
    assert row["MLUPS"] == pytest.approx(points / row["milliseconds"] / 1e3)
    assert row["bytes_per_update"] > (13 + 31) * size  # without absorbing layers
    assert row["share"] == pytest.approx(row["MLUPS"] * 1e6 * row["bytes_per_update"] / 1e9)
    assert set(row["kernels"]) == {"velocity", "stress"}


def test_throughput_stands_beside_published_figures(capsys: Capture, tmp_path: Path) -> None:
    lines = shown(ALONE, capsys)
    ours = next(line for line in lines if line.startswith("anelastic"))
    assert "1,234" in ours and "42 %, velocity 50 %, stress 40 %" in ours
    assert "2.24x" in ours  # over 552 on a K20X
    speedups = {"GH200": "15.36x", "A100 (PCIe)": "1.62x", "KNL 7250": "1.98x"}
    for device, times in speedups.items():  # as published
        line = next(line for line in lines if line.startswith(f"AWP-ODC, {device} "))
        assert line.endswith(times)
    draw(ALONE, tmp_path / "bench.png")
    assert (tmp_path / "bench.png").stat().st_size > 10_000


def test_the_published_table_of_weak_scaling() -> None:
    """Compression gains 48 to 64 % on A100s, and steps of that fit the table of throughput."""
    rows = [*published_scaling({})]
    gains = [100 * (row["gain"] - 1) for row in rows if row["name"].endswith("MPC")]
    assert [round(gain) for gain in (min(gains), max(gains))] == [48, 64]
    fastest = max(row["MLUPS"] for row in rows)
    assert fastest == pytest.approx(published.AWP_ODC["A100 (PCIe, optimised)"], rel=1e-3)
    gained = {codec: published_gain(codec) for codec in ("none", "mpc", "zfp8")}
    assert gained == {"none": "", "mpc": "+18 %, A100s 48 to 64 %", "zfp8": "+35 %"}


def test_links_and_codecs(capsys: Capture) -> None:
    lines = shown(SHARED, capsys)
    assert any("20x" in line and "440 GB/s" in line for line in lines)
    assert any(line.split() == ["vx", "3.21x"] for line in lines)
    slow = next(line for line in lines if "12.5 GB/s" in line and "mpc" in line)
    assert "+50 %" in slow and "pays" in slow and "takes it" in slow


def test_whether_a_code_pays() -> None:
    """The rule: what messages gain on the link against what coding costs."""
    code = {"ratio": 2.0, "encode": 100e9, "decode": 50e9}
    assert pays(code, 16e9) and not pays(code, 17e9)  # 1 - 1/2 = B (1/100 + 1/50) / 1e9
    assert not pays(code, 0.0)


@pytest.mark.parametrize(("ranks", "grid"), [(1, (1, 1)), (2, (1, 2)), (4, (2, 2)), (6, (2, 3))])
def test_a_case_on_ranks(ranks: int, grid: tuple[int, int]) -> None:
    """Each has all depths of its columns."""
    case = make_case_on(ranks, (44, 40, 24))
    cells = prepare(case).grid.cells
    assert sorted(grid) == sorted(case.run.processes[:2]) and case.run.processes[2] == 1
    assert cells == (44 * case.run.processes[0], 40 * case.run.processes[1], 24)


TINY = """
import sys
from groundswell.bench import rig, run_bench
from groundswell.solvers.earthquake import benchmarks
from groundswell_rivals.earthquake import slow_links
rig.REPEATS, rig.REPEAT_SECONDS = 2, 1e-4
benchmarks.SIZES["cpu"] = benchmarks.Sizes((), (44, 24, 24))
slow_links.MORE["cpu"] = {"coded": (44, 24, 24), "links": (0.0, 1e6), "steps": (2, 9)}
run_bench("earthquake", backend="cpu", output=sys.argv[1])
"""


def check_scaling(rows: list[dict[str, Any]], ranks: int) -> None:
    """As many points on each rank; by transport, and alone."""
    counts = [1, 2, 2, 4, 4][: {2: 3, 4: 5}[ranks]]
    assert [row["ranks"] for row in rows] == counts
    assert [row["transport"] for row in rows] == ["none", "mpi", "peer", "mpi", "peer"][: len(rows)]
    for row in rows:
        assert row["MLUPS"] == pytest.approx(44 * 24 * 24 / row["seconds"] / 1e6)
        assert row["flops"] == pytest.approx(307 * row["ranks"] * row["MLUPS"] * 1e6)
        assert row["efficiency"] == pytest.approx(rows[0]["seconds"] / row["seconds"])
    plain, peer = rows[1:3]
    assert (plain["gain"], rows[0]["gain"]) == (1, None)
    assert peer["gain"] == pytest.approx(plain["seconds"] / peer["seconds"])


@pytest.mark.parametrize("ranks", long_variants([2, 4]))
def test_on_ranks(tmp_path: Path, ranks: int) -> None:
    done = run_on_ranks(ranks, "-c", TINY, tmp_path, timeout=200)
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads((tmp_path / f"bench_earthquake_{ranks}_ranks.json").read_text())
    assert found["notes"] == [] and "throughput" not in found
    check_scaling(found["scaling"], ranks)
    assert len(found["codecs"]) == 2 * 3 and len(found["links"]) == 2 * 4
    assert all(row["ratio"] > 1 for row in found["codecs"] if row["codec"] != "mpc")
    fields = [row["field"] for row in found["fields"] if row["step"] == 9]
    assert {*fields} >= {"vx", "vy", "vz", "sxy", "syz", "syy"} and len({*fields}) == len(fields)
    crawling = {row["codec"]: row for row in found["links"] if row["link"]}
    assert crawling["zfp8"]["chosen"] and crawling["zfp8"]["pays"]
    assert crawling["zfp8"]["seconds"] < 0.6 * crawling["none"]["seconds"]
    plain = crawling["none"]["seconds"] / crawling["zfp8"]["seconds"] - 1
    assert crawling["zfp8"]["gain"] == pytest.approx(plain)
