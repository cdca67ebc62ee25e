"""A rank that runs out of memory while all ranks make something together."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from gpu import gpu_count
from ranks import run_on_ranks
from variants import long_variants

from groundswell.backends.ipc import MEMORY_ALLOCATION, IpcMemory

pytestmark = pytest.mark.each_value

PROGRAM = Path(__file__).parents[1] / "support" / "out_of_memory_program.py"


@pytest.mark.parametrize("what", ["mailboxes", "peer", "sharing", *long_variants(["sums"])])
def test_all_are_told_and_stay_in_step(on_ranks: Callable[..., str], what: str) -> None:
    """Long before any time-out."""
    on_ranks(3, PROGRAM, what, timeout=60)


class CudaError(Exception):
    """An error of CUDA with a status, as CuPy raises it."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


@pytest.mark.parametrize(("status", "kind"), [(MEMORY_ALLOCATION, MemoryError), (999, CudaError)])
def test_a_gpu_without_room_is_out_of_memory(status: int, kind: type[Exception]) -> None:
    """Which ranks tell each other; other errors of CUDA keep their type."""

    def malloc(size: int) -> int:
        raise CudaError(status)

    runtime = SimpleNamespace(malloc=malloc, CUDARuntimeError=CudaError)
    with pytest.raises(kind):
        IpcMemory(SimpleNamespace(cuda=SimpleNamespace(runtime=runtime))).allocate(10**13)


@pytest.mark.gpu
@pytest.mark.skipif(not gpu_count(), reason="needs a GPU")
def test_a_gpu_without_room_is_an_error_on_all_ranks() -> None:
    done = run_on_ranks(2, PROGRAM, "gpu", timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
