"""Sums over ranks in conjugate gradients: the transport that they take, and their bits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

PROGRAM = Path(__file__).parents[1] / "support" / "cg_program.py"


def test_multigrid_takes_the_transport_that_was_asked_for(on_ranks: Callable[..., str]) -> None:
    assert "all holds" in on_ranks(2, PROGRAM, "multigrid")


def test_sums_are_one_collective_call_and_the_same_bits(on_ranks: Callable[..., str]) -> None:
    assert "all holds" in on_ranks(3, PROGRAM, "sums")
