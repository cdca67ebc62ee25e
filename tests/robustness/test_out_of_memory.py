"""A rank that runs out of memory while all ranks make something together."""

from __future__ import annotations

from pathlib import Path

import pytest
from gpu import gpu_count
from ranks import run_on_ranks
from variants import long_variants

PROGRAM = Path(__file__).parents[1] / "support" / "out_of_memory_program.py"


@pytest.mark.parametrize("what", ["peer", "sharing", *long_variants(["mailboxes", "sums"])])
def test_all_are_told_and_stay_in_step(what: str) -> None:
    """Long before any time-out."""
    done = run_on_ranks(3, PROGRAM, what, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]


@pytest.mark.gpu
@pytest.mark.skipif(not gpu_count(), reason="needs a GPU")
def test_a_gpu_without_room_is_an_error_on_all_ranks() -> None:
    done = run_on_ranks(2, PROGRAM, "gpu", timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
