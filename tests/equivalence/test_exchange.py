"""Ghost layers exchanged between ranks, against the whole array that they are parts of."""

from __future__ import annotations

from pathlib import Path

import pytest
from gpu import gpu_count
from ranks import run_on_ranks

PROGRAM = Path(__file__).parents[1] / "support" / "halo_program.py"


@pytest.mark.parametrize("transport", ["mpi", "mpi-thread", "peer"])
@pytest.mark.parametrize("ranks", [2, 3, 4, 8])
def test_ghosts_on_cpus(ranks: int, transport: str) -> None:
    done = run_on_ranks(ranks, PROGRAM, "cpu", transport, str(ranks), "25")
    assert done.returncode == 0, done.stderr[-2000:]
    assert "all cases hold" in done.stdout


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


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 8])
def test_ghosts_that_are_stored_straight_into_arrays(ranks: int) -> None:
    done = run_on_ranks(ranks, PROGRAM.with_name("put_program.py"), str(ranks), "10")
    assert done.returncode == 0, done.stderr[-2000:]
    assert "all cases hold" in done.stdout
