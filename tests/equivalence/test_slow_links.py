"""Links of described bandwidth, latency and gap: what they deliver, and not before when."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from gpu import gpu_count

PROGRAM = Path(__file__).parents[1] / "support" / "slow_link_program.py"


OnRanks = Callable[..., str]


def test_on_cpus(on_ranks: OnRanks) -> None:
    assert "all cases hold" in on_ranks(3, PROGRAM, "cpu", "peer")


@pytest.mark.gpu
@pytest.mark.skipif(not gpu_count(), reason="needs a GPU")
@pytest.mark.parametrize("transport", ["peer", "direct"])
def test_on_gpus(on_ranks: OnRanks, transport: str) -> None:
    assert "all cases hold" in on_ranks(max(3, gpu_count()), PROGRAM, "cuda", transport)
