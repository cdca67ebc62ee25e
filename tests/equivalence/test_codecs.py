"""Compressed messages: ghosts equal those of uncompressed ones, or nearly so for lossy codecs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from gpu import gpu_count
from variants import long_variants

PROGRAM = Path(__file__).parents[1] / "support" / "codec_program.py"


OnRanks = Callable[..., str]


def check(on_ranks: OnRanks, ranks: int, *arguments: str) -> None:
    assert "all cases hold" in on_ranks(ranks, PROGRAM, *arguments)


@pytest.mark.parametrize("codec", ["mpc", "zfp16", *long_variants(["zfp8", "zfp24"])])
@pytest.mark.parametrize(
    ("ranks", "transport"), [(2, "peer"), (4, "mpi-thread"), *long_variants([(3, "mpi")])]
)
def test_on_cpus(on_ranks: OnRanks, full: bool, ranks: int, transport: str, codec: str) -> None:
    check(on_ranks, ranks, "cpu", transport, codec, str(ranks), "8" if full else "4")


@pytest.mark.gpu
@pytest.mark.skipif(not gpu_count(), reason="needs a GPU")
@pytest.mark.parametrize("transport", ["direct", "peer", "mpi"])
@pytest.mark.parametrize("codec", ["mpc", "zfp16"])
def test_on_gpus(on_ranks: OnRanks, transport: str, codec: str) -> None:
    check(on_ranks, max(2, gpu_count()), "cuda", transport, codec, "1", "12")


@pytest.mark.gpu
@pytest.mark.skipif(gpu_count() < 2, reason="NCCL needs a GPU for each rank")
def test_on_nccl(on_ranks: OnRanks) -> None:
    check(on_ranks, 2, "cuda", "nccl", "zfp16", "1", "12")
