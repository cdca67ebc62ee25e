"""Sums over ranks in conjugate gradients: the transport that they take, and their bits."""

from __future__ import annotations

from pathlib import Path

from ranks import run_on_ranks

PROGRAM = Path(__file__).parents[1] / "support" / "cg_program.py"


def test_multigrid_takes_the_transport_that_was_asked_for() -> None:
    done = run_on_ranks(2, PROGRAM, "multigrid", timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]


def test_sums_are_one_collective_call_and_the_same_bits() -> None:
    done = run_on_ranks(3, PROGRAM, "sums", timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
