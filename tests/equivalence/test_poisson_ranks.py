"""The screened Poisson operator on any number of ranks, against one."""

from __future__ import annotations

from pathlib import Path

import pytest
from gpu import gpu_count
from ranks import run_on_ranks
from variants import long_variants

PROGRAM = Path(__file__).parents[1] / "support" / "poisson_program.py"


def check(ranks: int, *arguments: str) -> None:
    done = run_on_ranks(ranks, PROGRAM, *arguments)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "all cases hold" in done.stdout


@pytest.mark.parametrize(
    ("ranks", "way"),
    [
        (2, "peer crystal"),
        *long_variants([(2, "peer pairwise"), (3, "mpi crystal"), (4, "peer crystal")]),
    ],
)
def test_on_cpus(full: bool, ranks: int, way: str) -> None:
    check(ranks, "cpu", *way.split(), str(ranks), "8" if full else "1")


@pytest.mark.gpu
@pytest.mark.skipif(not gpu_count(), reason="needs a GPU")
@pytest.mark.parametrize("transport", ["peer", "mpi"])
def test_on_gpus(transport: str) -> None:
    # Few cases: each has kernels of its own, which want to be compiled. The oracle, on a CPU, knows
    # these transports, too.
    check(max(2, gpu_count()), "cuda", transport, "pairwise", "1", "2")
