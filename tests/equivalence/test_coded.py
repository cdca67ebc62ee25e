"""Messages that are coded: ghosts are those of messages that are not, or nearly so."""

from __future__ import annotations

from pathlib import Path

import pytest
from gpu import gpu_count
from ranks import run_on_ranks

from groundswell.backends.nvcomp import installed

PROGRAM = Path(__file__).parents[1] / "support" / "coded_program.py"


def check(ranks: int, *arguments: str) -> None:
    done = run_on_ranks(ranks, PROGRAM, *arguments)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "all cases hold" in done.stdout


@pytest.mark.parametrize(("ranks", "transport"), [(2, "peer"), (3, "mpi"), (4, "mpi-thread")])
@pytest.mark.parametrize("codec", ["mpc", "zfp8", "zfp16", "zfp24"])
def test_on_cpus(ranks: int, transport: str, codec: str) -> None:
    check(ranks, "cpu", transport, codec, str(ranks), "8")


@pytest.mark.gpu
@pytest.mark.skipif(not gpu_count(), reason="needs a GPU")
@pytest.mark.parametrize("transport", ["direct", "peer", "mpi"])
@pytest.mark.parametrize("codec", ["mpc", "zfp16"])
def test_on_gpus(transport: str, codec: str) -> None:
    check(max(2, gpu_count()), "cuda", transport, codec, "1", "12")


@pytest.mark.gpu
@pytest.mark.skipif(not (gpu_count() and installed()), reason="needs a GPU and nvCOMP")
@pytest.mark.parametrize("transport", ["direct", "mpi"])
@pytest.mark.parametrize("codec", ["bitcomp", "ans"])
def test_nvcomps_codes(transport: str, codec: str) -> None:
    check(max(2, gpu_count()), "cuda", transport, codec, "1", "12")


@pytest.mark.gpu
@pytest.mark.skipif(gpu_count() < 2, reason="NCCL needs a GPU for each rank")
def test_on_nccl() -> None:
    check(2, "cuda", "nccl", "zfp16", "1", "12")
