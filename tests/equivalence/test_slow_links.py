"""Links of described bandwidth, latency and gap: what they deliver, and not before when."""

from __future__ import annotations

from pathlib import Path

import pytest
from gpu import gpu_count
from ranks import run_on_ranks

PROGRAM = Path(__file__).parents[1] / "support" / "slow_link_program.py"


def check(ranks: int, *arguments: str) -> None:
    done = run_on_ranks(ranks, PROGRAM, *arguments)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "all cases hold" in done.stdout


def test_on_cpus() -> None:
    check(3, "cpu", "peer")


@pytest.mark.gpu
@pytest.mark.skipif(not gpu_count(), reason="needs a GPU")
@pytest.mark.parametrize("transport", ["peer", "direct"])
def test_on_gpus(transport: str) -> None:
    check(max(3, gpu_count()), "cuda", transport)
