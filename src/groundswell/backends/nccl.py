"""NCCL operations in the current stream of a CUDA backend."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING

from groundswell.errors import BackendError

if TYPE_CHECKING:
    import cupy

# Peer; address and size in bytes of the sent buffer; the same of the received one.
PeerMessage = tuple[int, tuple[int, int], tuple[int, int]]


class NcclCommunicator:
    """An NCCL communicator.

    Args:
        nccl: the library, see `load`.
        size: number of ranks.
        unique_id: the same on all ranks.
        rank: this rank.
        current_stream: returns the stream that launches go to.

    Raises:
        BackendError: NCCL cannot connect the ranks.
    """

    def __init__(
        self,
        nccl: ModuleType,
        size: int,
        unique_id: object,
        rank: int,
        current_stream: Callable[[], cupy.cuda.Stream],
    ) -> None:
        self._nccl, self._current_stream = nccl, current_stream
        try:
            self._communicator = nccl.NcclCommunicator(size, unique_id, rank)
        except nccl.NcclError as error:
            raise BackendError(f"NCCL cannot connect the ranks: {error}") from error

    def exchange(self, messages: Sequence[PeerMessage]) -> None:
        """Enqueue all sends and receives in this order, as one NCCL group."""
        nccl, stream = self._nccl, self._current_stream().ptr
        nccl.groupStart()
        for peer, (source, sent), (target, received) in messages:
            if sent:
                self._communicator.send(source, sent, nccl.NCCL_CHAR, peer, stream)
            if received:
                self._communicator.recv(target, received, nccl.NCCL_CHAR, peer, stream)
        nccl.groupEnd()

    def allgather(self, source: int, target: int, size: int) -> None:
        """Enqueue an allgather of `size` bytes of each rank, between two addresses."""
        nccl, stream = self._nccl, self._current_stream().ptr
        self._communicator.allGather(source, target, size, nccl.NCCL_CHAR, stream)

    def close(self) -> None:
        """Destroy the communicator; all ranks must call this."""
        self._communicator.destroy()

    def abort(self) -> None:
        """Destroy the communicator without the other ranks, even during an operation."""
        self._communicator.abort()


def load() -> ModuleType:
    """CuPy's NCCL bindings.

    Raises:
        BackendError: CuPy was built without NCCL, or the library is missing.
    """
    try:
        from cupy.cuda import nccl

        nccl.get_version()
    except (ImportError, AttributeError, RuntimeError) as error:
        raise BackendError(f"NCCL is not available: {error}") from error
    return nccl
