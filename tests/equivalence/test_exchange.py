"""Ghost layers exchanged between ranks, against the whole array that they are parts of."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from gpu import gpu_count
from ranks import run_on_ranks
from variants import long_variants

PROGRAM = Path(__file__).parents[1] / "support" / "halo_program.py"


OnRanks = Callable[..., str]


@pytest.mark.parametrize("transport", ["mpi", "mpi-thread", "peer"])
@pytest.mark.parametrize("ranks", [2, 4, *long_variants([3, 8])])
def test_ghosts_on_cpus(on_ranks: OnRanks, full: bool, ranks: int, transport: str) -> None:
    cases = "85" if full else "8"  # full: 1,020 random domains
    assert "all cases hold" in on_ranks(ranks, PROGRAM, "cpu", transport, str(ranks), cases)


@pytest.mark.gpu
@pytest.mark.skipif(not gpu_count(), reason="needs a GPU")
@pytest.mark.parametrize("transport", ["mpi", "nccl", "peer", "direct", "peer+nccl", "direct+mpi"])
def test_ghosts_on_gpus(transport: str) -> None:
    if gpu_count() < 2 and "nccl" in transport:
        pytest.skip("NCCL needs a GPU for each rank")
    ranks = max(2, gpu_count())
    done = run_on_ranks(ranks, PROGRAM, "cuda", transport, "1", "25")
    assert done.returncode == 0, done.stderr[-2000:]
    assert "all cases hold" in done.stdout


@pytest.mark.parametrize("ranks", [1, 3, *long_variants([2, 4, 8])])
def test_ghosts_that_are_stored_straight_into_arrays(
    on_ranks: OnRanks, full: bool, ranks: int
) -> None:
    cases, program = "10" if full else "5", PROGRAM.with_name("one_sided_program.py")
    assert "all cases hold" in on_ranks(ranks, program, str(ranks), cases)


BUFFERS = PROGRAM.with_name("buffers_program.py")


@pytest.mark.parametrize(
    "ranks, transport", [(1, "auto"), (3, "peer"), (2, "mpi"), (4, "peer+mpi")]
)
def test_buffers_that_launches_fill_and_read(
    on_ranks: OnRanks, full: bool, ranks: int, transport: str
) -> None:
    cases = "20" if full else "4"
    assert "all cases hold" in on_ranks(ranks, BUFFERS, "cpu", transport, str(ranks), cases)


@pytest.mark.gpu
@pytest.mark.skipif(not gpu_count(), reason="needs a GPU")
@pytest.mark.parametrize("transport", ["mpi", "nccl", "peer", "peer+mpi"])
def test_buffers_on_gpus(transport: str) -> None:
    if gpu_count() < 2 and "nccl" in transport:
        pytest.skip("NCCL needs a GPU for each rank")
    done = run_on_ranks(max(2, gpu_count()), BUFFERS, "cuda", transport, "1", "10")
    assert done.returncode == 0, done.stderr[-2000:]
    assert "all cases hold" in done.stdout
