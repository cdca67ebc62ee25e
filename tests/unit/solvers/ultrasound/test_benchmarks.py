"""The ultrasound benchmark: its tables and its picture, on problems of a few points."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from matplotlib.figure import Figure
from ranks import run_to_json
from variants import long_variants

import groundswell_rivals.ultrasound
from groundswell.backends import open_backend
from groundswell.bench import Session, benchmark, measure
from groundswell.bench.rig import counts
from groundswell.bench.tables import show
from groundswell.exchange.communicator import SerialCommunicator
from groundswell.solvers.ultrasound.benchmarks import Sizes
from groundswell.solvers.ultrasound.benchmarks.blocks import (
    CUTS,
    LOSSY,
    blocks_of_eight,
    medium_of,
    small_setup,
)
from groundswell.solvers.ultrasound.benchmarks.published import published_communication
from groundswell.solvers.ultrasound.benchmarks.single import parts_of
from groundswell.solvers.ultrasound.window import Window, bell, bell_shape

BENCHMARK = benchmark("ultrasound")
SMALL = Sizes((24,), (16,), (3,), (12, 2))
ERRORS = ((4.0, (4, 12)), (6.0, (4,)))
ON_RANKS = """
import json, sys
from groundswell.backends import open_backend
from groundswell.bench import Session, benchmark, measure
from groundswell.exchange.mpi_communicator import get_communicator
from groundswell.solvers.ultrasound.benchmarks import Sizes
sizes = Sizes((), (16, 24), (2, 3), (12, 2), ("mpi", "peer"))
found = measure(benchmark("ultrasound"), Session(open_backend("cpu"), get_communicator(), sizes))
if get_communicator().first:
    json.dump(found, open(sys.argv[1], "w"))
"""


@pytest.fixture(scope="module")
def alone() -> dict[str, Any]:
    with patch.object(groundswell_rivals.ultrasound, "CASES", ERRORS):
        return measure(BENCHMARK, Session(open_backend("cpu"), SerialCommunicator(), SMALL))


@pytest.fixture(scope="module")
def shared(
    on_ranks: Callable[..., str], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:
    found: dict[str, Any] = run_to_json(on_ranks, 2, ON_RANKS, tmp_path_factory.mktemp("bench"))
    return found


def test_errors_fall_with_the_overlap_and_the_wavelength(alone: dict[str, Any]) -> None:
    errors = {
        (row["points_per_wavelength"], row["overlap"]): row["error"]
        for row in alone["overlap_error"]
    }
    assert errors[4.0, 4] < 2e-2 and errors[4.0, 12] < 1e-3
    assert errors[4.0, 4] > errors[6.0, 4]


def test_the_solvers_bell_is_the_one_of_its_shape(alone: dict[str, Any]) -> None:
    """With four points its parameter is 2, which is measured as such, too."""
    row = alone["overlap_error"][0]
    assert (row["overlap"], row["shape"]) == (4, 2.0)
    assert row["error"] == pytest.approx(row["errors"]["2.0"])
    assert row["errors"]["0.5"] > 10 * row["error"]
    assert np.array_equal(bell(8), bell(8, bell_shape(8)))


def test_a_step_on_one_device(alone: dict[str, Any]) -> None:
    lossless, lossy = alone["single"]
    assert (lossless["count"], lossy["count"]) == (10, 14)
    for row in (lossless, lossy):
        assert row["MLUPS"] == pytest.approx(24**3 / row["seconds"] / 1e6)
        assert row["share"] == pytest.approx(row["floor"] / row["seconds"])
        assert row["memory"] is None
    moved = [row["floor"] * row["bandwidth"] / 24**3 for row in (lossless, lossy)]
    assert moved == pytest.approx([4 * 36, 4 * 50])


def test_the_medium_varies_around_that_of_the_case() -> None:
    window = Window.whole_of((32, 24, 16))
    medium, uniform = medium_of(LOSSY, window), small_setup(LOSSY, varying=False).medium
    for name in ("speed", "density", "absorption", "nonlinearity"):
        values = np.asarray(getattr(medium, name))
        assert values.shape == (16, 24, 32)
        assert values.mean() == pytest.approx(getattr(uniform, name), rel=1e-3)
        assert values.std() > 0
    assert medium.fractional_laplacians == 2


def test_blocks_of_eight_ranks(alone: dict[str, Any]) -> None:
    slab, cube = (blocks_of_eight(64, cut, 3, 8) for cut in CUTS)
    assert slab.whole == cube.whole == (64, 64, 64)
    assert (slab.extended, slab.largest_factor) == ((64, 64, 14), 7)
    assert (cube.processes, cube.extended, cube.largest_factor) == ((2, 2, 2), (38, 38, 38), 19)
    assert cube.window(1).start == (32, 0, 0)
    rows = alone["breakdown"]
    assert [(row["cut"], row["overlap"]) for row in rows] == [(c, 3) for c in CUTS]


def test_parts_add_up_to_a_step(alone: dict[str, Any]) -> None:
    for row in [
        *alone["breakdown"],
        parts_of(5.0, 4.0, 3.0),
        parts_of(5.0, 4.0, 6.0),
        parts_of(3, 4, 2),
    ]:
        parts = row["transforms"] + row["kernels"] + row["exchange"]
        assert parts == pytest.approx(row["seconds"])


def test_numbers_of_ranks() -> None:
    assert [counts(n) for n in (2, 3, 4, 8)] == [[1, 2], [1, 2, 3], [1, 2, 4], [1, 2, 4, 8]]


def test_tables_of_one_rank(alone: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    show(BENCHMARK.tables, alone)
    said = capsys.readouterr().out
    assert "6.7e-03" in said and "k-Wave, in tissue" in said
    assert "kspaceFirstOrder-CUDA, H200" in said and "14.1" in said


def test_the_line_of_acceptable_errors(alone: dict[str, Any]) -> None:
    """1e-3 in medical applications (Vaverka et al., text on figure 1)."""
    axes = Figure().subplots()
    groundswell_rivals.ultrasound.draw_errors(axes, alone)
    level = [line for line in axes.lines if "acceptable" in str(line.get_label())]
    assert [list(line.get_ydata()) for line in level] == [[1e-3, 1e-3]]


def test_published_communication() -> None:
    """As much of a step for overlaps of 16 and 32 (text on figure 2), and only there."""
    found = {overlap: published_communication(overlap) for overlap in (8, 16, 32)}
    assert found == {8: "", 16: "66 to 80 %", 32: "66 to 80 %"}


@pytest.mark.full
def test_on_two_ranks(shared: dict[str, Any]) -> None:
    assert not shared["notes"]
    cases = [(e, c, o) for e in (16, 24) for c in CUTS for o in (2, 3)]
    rows = shared["transports"]
    assert [(r["edge"], r["cut"], r["overlap"]) for r in rows[::2]] == cases
    for staged, other in zip(rows[::2], rows[1::2], strict=True):
        assert (staged["transport"], other["transport"]) == ("mpi", "peer")
        assert other["speedup"] == pytest.approx(staged["seconds"] / other["seconds"])
    assert len(shared["breakdown"]) == 8
    assert [row["ranks"] for row in shared["weak"]] == [1, 2]
    assert [row["extended"] for row in shared["weak"]] == [[12, 12, 12], [12, 12, 16]]


@pytest.mark.full
def test_published_speedups_stand_beside_ours(
    shared: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    show(BENCHMARK.tables, shared)
    said = capsys.readouterr().out
    assert "up to 1.8x" in said and "efficiency" in said


@pytest.mark.parametrize("which", ["alone", *long_variants(["shared"])])
def test_its_picture(which: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    found = request.getfixturevalue(which)
    assert BENCHMARK.draw(found, tmp_path / "bench.png").stat().st_size > 10_000
