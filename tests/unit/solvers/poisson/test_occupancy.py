"""Occupancy of a GPU by the operator's kernels, and hipBone's figures in the benchmark."""

from __future__ import annotations

from typing import Any
from unittest.mock import Mock, patch

import pytest

from groundswell.backends import nvrtc
from groundswell.bench import benchmark
from groundswell.bench.tables import show
from groundswell.errors import BackendError
from groundswell.solvers.poisson.benchmarks import published
from groundswell_rivals.poisson import OCCUPANCY, occupancy


@pytest.mark.parametrize("column", range(len(published.OCCUPANCY_DEGREES)))
def test_occupancy_as_published_for_a_v100(column: int) -> None:
    """Chalmers et al., table 1, from its warps of a block and registers of a thread."""
    warps, registers, resident, elements = published.OCCUPANCY["Tesla V100"][column]
    blocks = occupancy.resident_blocks(warps, registers)
    assert (blocks * warps, blocks) == (resident, elements)


def test_occupancy_is_limited_by_warps_and_blocks() -> None:
    assert occupancy.resident_blocks(8, 16) == 8  # 64 warps
    assert occupancy.resident_blocks(1, 16) == 32


def test_occupancy_of_the_operator(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("cuda.bindings.nvrtc", reason="needs nvidia-cuda-nvrtc and cuda-core")
    with patch.object(occupancy, "OCCUPANCY_DEGREES", (9, 13)):
        rows = [*occupancy.measure_occupancy(Mock())]
    for row in rows:
        assert row["warps"] * 32 == row["threads"] >= (row["degree"] + 1) ** 2
        assert row["occupancy"] * 32 * row["registers"] <= 65_536
        assert 0 < row["elements"] <= row["occupancy"]
    # As docs/performance/poisson.md says of the shared memory: two blocks of seven warps.
    assert (rows[1]["warps"], rows[1]["occupancy"]) == (7, 14)
    show([OCCUPANCY], {"occupancy": rows})
    said = capsys.readouterr().out
    assert "Tesla V100" in said and "MI250X" in said


def test_without_a_compiler_a_note_says_so() -> None:
    session = Mock(measured={"notes": []})
    missing = BackendError("CUDA's run-time compiler is not installed\nmore")
    with patch.object(nvrtc, "compile_cubin", side_effect=missing):
        assert not [*occupancy.measure_occupancy(session)]
    assert session.measured["notes"] == ["occupancy: CUDA's run-time compiler is not installed"]


def test_a_compiler_that_reports_no_registers_is_noted() -> None:
    session = Mock(measured={"notes": []})
    with patch.object(nvrtc, "compile_cubin", return_value=(b"", [])):
        assert not [*occupancy.measure_occupancy(session)]
    assert "does not report registers" in session.measured["notes"][0]


def test_the_occupancy_is_computed_in_a_clone() -> None:
    found: Any = benchmark("poisson")
    assert [table.name for table in found.tables][:2] == ["operator", "occupancy"]
    assert not found.missing
