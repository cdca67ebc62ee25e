"""NCCL on the stream of a CUDA backend."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from groundswell.errors import BackendError

Places = tuple[int, tuple[int, int], tuple[int, int]]  # peer; address and bytes sent; received


class NcclGroup:
    """An NCCL communicator.

    Args:
        current: gives the stream that launches go to.
    """

    def __init__(self, nccl: Any, size: int, token: Any, rank: int, current: Callable[[], Any]):
        self._nccl, self._current = nccl, current
        try:
            self._communicator = nccl.NcclCommunicator(size, token, rank)
        except nccl.NcclError as error:
            raise BackendError(f"NCCL cannot connect the ranks: {error}") from error

    def exchange(self, messages: Sequence[Places]) -> None:
        """Enqueue all sends and receives as one group, in this order."""
        nccl, stream = self._nccl, self._current().ptr
        nccl.groupStart()
        for peer, (source, sent), (target, received) in messages:
            if sent:
                self._communicator.send(source, sent, nccl.NCCL_CHAR, peer, stream)
            if received:
                self._communicator.recv(target, received, nccl.NCCL_CHAR, peer, stream)
        nccl.groupEnd()

    def gather(self, source: int, target: int, size: int) -> None:
        """Enqueue a collection of all ranks' bytes at every rank, in the order of ranks."""
        nccl, stream = self._nccl, self._current().ptr
        self._communicator.allGather(source, target, size, nccl.NCCL_CHAR, stream)

    def close(self) -> None:
        """Destroy the communicator; all ranks must."""
        self._communicator.destroy()

    def abort(self) -> None:
        """Destroy the communicator without the other ranks, whatever it is at."""
        self._communicator.abort()


def load() -> Any:
    """CuPy's binding of NCCL.

    Raises:
        BackendError: CuPy was built without it, or the library is missing.
    """
    try:
        from cupy.cuda import nccl

        nccl.get_version()
    except (ImportError, AttributeError, RuntimeError) as error:
        raise BackendError(f"NCCL is not available: {error}") from error
    return nccl
