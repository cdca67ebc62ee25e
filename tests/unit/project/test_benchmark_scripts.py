"""The scripts of the folder `benchmarks`, each in its smallest form."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from groundswell.backends import Backend
from groundswell.solvers.poisson.benchmarks.speed import streaming_rate

FOLDER = Path(__file__).parents[3] / "benchmarks"
Run = Callable[..., list[str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a script's `main` with arguments; returns the lines that it prints."""
    monkeypatch.setattr(Backend, "measure_bandwidth", lambda self: 1e10)  # it takes a second

    def act(name: str, *arguments: str) -> list[str]:
        monkeypatch.setattr(sys, "argv", [name, *arguments])
        import_module(name).main()
        return capsys.readouterr().out.splitlines()

    return act


def numbers(line: str) -> list[float]:
    """The numbers of a line."""
    return [float(text) for text in re.findall(r"(?<![\w.])\d+\.?\d*(?:e-?\d+)?", line)]


def test_every_script_is_tested() -> None:
    scripts = {path.stem for path in FOLDER.glob("*.py")}
    source = Path(__file__).read_text()
    assert len(scripts) > 5
    assert scripts == set(re.findall(r'run\("(\w+)"', source))


def test_speed_of_codecs(run: Run) -> None:
    """Of random numbers mpc saves little, and zfp16 half, whatever they are."""
    codecs = ["mpc", "mpc in four streams", "zfp16"]
    options = ["--backend", "cpu", "--sizes", "0.01", "--repeats", "1"]
    _, _, *rows = run("codec_speed", *options, "--codecs", *codecs)
    assert [row.split("  ")[-1] for row in rows] and len(rows) == 2 * len(codecs)
    ratios = {tuple(row.rsplit(maxsplit=4)[0].split()): numbers(row)[-1] for row in rows}
    assert ratios["zfp16", "wave"] == ratios["zfp16", "random"] == 2.0
    assert 1 < ratios["mpc", "random"] < 1.2


def test_kernels_of_the_earthquake_solver(run: Run) -> None:
    options = ["--cells", "44", "40", "24", "--backend", "cpu", "--times", "1"]
    head, *rows = run("earthquake_kernels", *options, "--blocks", "32x4x2", "64x4x1")
    assert "10 GB/s, [44, 40, 24], single" in head
    assert [row.split(":")[0].strip() for row in rows] == ["32x4x2", "64x4x1"]
    for row in rows:
        step, speed = numbers(row.split("step")[1])[:2]
        assert speed == pytest.approx(44 * 40 * 24 / step / 1e3, rel=0.05, abs=1)


def test_recording_of_green_tensors(run: Run) -> None:
    options = ["--cells", "44", "40", "30", "--backend", "cpu", "--times", "1", "--points", "4"]
    head, step, kernels = run("green_recording", *options)
    assert head.endswith("4 points")
    without, every, recorded = numbers(step)[:3]
    assert 0 < without < recorded * 10 and every == 4
    assert min(numbers(kernels)[:2]) > 0 and numbers(kernels)[2] < 1


def test_synthesis_from_green_tensors(run: Run) -> None:
    sizes = ["--variations", "4", "--points", "6", "--samples", "50"]
    _, times, rate = run("green_synthesis", *sizes, "--backend", "cpu")
    total, *parts = numbers(times)
    assert total == pytest.approx(sum(parts), abs=0.002) and numbers(rate)[0] > 0


def test_iterations_of_the_poisson_solver(run: Run) -> None:
    stored, affine = run("poisson_iterations", "3:1", "--backend", "cpu")
    assert stored.startswith("N = 3, 1^3 each of 1, stored: ") and "affine" in affine
    assert numbers(stored.split("stored:")[1])[0] > 0 and "of 10 GB/s" in stored


def test_multigrid_of_the_poisson_solver(run: Run) -> None:
    options = ["--degree", "2", "--backend", "cpu", "--coarse", "direct", "amg"]
    direct, amg = run("poisson_multigrid", "3", "2", "2", *options)
    assert direct.startswith("[3, 2, 2] on 1, direct: ") and "on 1, amg: " in amg
    assert numbers(direct.split("direct:")[1])[1] == numbers(amg.split("amg:")[1])[1]
    assert numbers(direct.split("direct:")[1])[0] > 0


def test_variants_of_the_poisson_kernel(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled by a process of the script's own."""
    module: Any = import_module("poisson_variants")
    monkeypatch.setattr(module, "limits", lambda threads: iter(()))
    monkeypatch.setattr(module, "streaming_rate", lambda backend, n: streaming_rate(backend, 4096))
    options = ["--backend", "cpu", "--degrees", "15", "--metrics", "affine", "--dofs", "100"]
    head, *rows = run("poisson_variants", *options, "--layouts", "slices", "--processes", "1")
    assert head.endswith("0 of 2 refused")
    assert sorted(row.split(" elements")[0] for row in rows) == [
        "N=15 affine slices 1",
        "N=15 affine slices 2",
    ]


@pytest.mark.parametrize(
    ("solver", "cells"), [("cavity", ("20", "11", "13")), ("earthquake", ("44", "40", "24"))]
)
def test_a_solver_on_ranks(run: Run, solver: str, cells: tuple[str, ...]) -> None:
    options = ["--backend", "cpu", "--steps", "1", "--transports", "mpi", "peer"]
    rows = run("solver_ranks", solver, "--cells", *cells, *options)
    assert [row.split(" on ")[0] for row in rows] == [f"[{', '.join(cells)}]"] * 2
    assert all("overlap False" in row and row.endswith(" 0.00 MB") for row in rows)


def test_multigrid_on_ranks(run: Run) -> None:
    (row,) = run("multigrid_ranks", "31", "--backend", "cpu", "--tolerance", "1")
    assert row.startswith("31^3 on 1, ") and row.endswith("sweeps of 31^3 on 1: 72, 15^3 on 1: 300")


@pytest.mark.full
def test_share_of_time_steps_in_ensembles(run: Run) -> None:
    sizes = ["--cells", "12", "--steps", "10", "--runs", "2", "--singles", "1", "--workers", "1"]
    [line] = run("ensemble_share", *sizes, "--json")
    found = json.loads(line)
    assert found["workers"] == 1 and 0 < found["share of time steps"] < 1
    speed = 2 * found["seconds of a single run"] / found["seconds of the ensemble"]
    assert found["times faster"] == pytest.approx(speed)


def test_two_commits_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second commit takes twice as long, also in a round in which the machine is busy."""
    module: Any = import_module("compare_commits")
    order, busy = [], iter([1, 1, 1, 1, 3, 3, 1, 1])

    def seconds(self: Any, checkout: Path) -> float:
        order.append(checkout.name)
        return next(busy) * {"first": 0.5, "second": 1.0}[checkout.name]

    monkeypatch.setattr(module.Comparison, "seconds", seconds)
    compared = module.Comparison("cavity:step", Path("case.toml"))
    measured = module.rounds(compared, [Path("first"), Path("second")], 3)
    assert order == ["second", "first", "first", "second"] * 2
    assert measured == [[0.5, 1.0], [1.5, 3.0], [0.5, 1.0]]
    assert module.line("cavity:step", measured).endswith(
        "0.5 s          1 s   x 2.000 (2.000 to 2.000)"
    )


@pytest.mark.full
def test_comparison_of_commits(run: Run) -> None:
    [line] = run("compare_commits", "HEAD", "HEAD", "--benchmarks", "cavity:check", "--rounds", "1")
    before, after, ratio, *_ = numbers(line)
    assert line.startswith("cavity:check") and ratio == pytest.approx(after / before, rel=0.01)


@pytest.mark.gpu
def test_shapes_of_dgwave_blocks(gpu: Backend, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    module: Any = import_module("dgwave_shapes")
    shapes = list(module.candidates(2))[:2]
    monkeypatch.setattr(module, "candidates", lambda degree: iter(shapes))
    monkeypatch.setattr(module, "NODES", 1000.0)
    [line] = run("dgwave_shapes", "--kinds", "bricks", "--degrees", "2")
    assert line.startswith("2: ((") and "# bricks: GDOF/s" in line


@pytest.mark.gpu
def test_blocks_that_wait(gpu: Backend, run: Run) -> None:
    rows = run("waiting_blocks", "--degrees", "3", "--waits", "10", "--dofs", "1e5")
    assert len(rows) % 3 == 0 and rows[0].startswith("N=3 stored: ")


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.sh")), ids=lambda path: path.name)
def test_shell_scripts_start_what_exists(path: Path) -> None:
    subprocess.run(["sh", "-n", str(path)], check=True)
    started = set(re.findall(r"benchmarks/(\w+\.\w+)", path.read_text())) - {path.name}
    assert started and all((FOLDER / name).is_file() for name in started)
