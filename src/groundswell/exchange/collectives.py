"""Non-blocking collective operations of MPI on bytes and integers, in chunks.

Many MPI libraries count in 32 bits, so no call moves more than `CHUNK` bytes to or from a rank.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

CHUNK = 2**30  # bytes
Content = bytes | memoryview
Sizes = NDArray[np.int64]  # (size,), of the contents of all ranks, bytes


class Collectives:
    """Collective operations on contents whose sizes all ranks know.

    Args:
        comm: an mpi4py communicator.
        wait: completes a request, or raises.
    """

    def __init__(self, comm: Any, wait: Callable[[Any], None]) -> None:
        from mpi4py import MPI

        self._comm, self._wait, self._byte = comm, wait, MPI.BYTE

    def allgather(self, content: bytes, sizes: Sizes) -> list[Content]:
        """The contents of all ranks."""
        return self._gather(self._comm.Iallgatherv, content, sizes)

    def gather(self, content: bytes, sizes: Sizes) -> list[Content]:
        """The contents of all ranks at rank 0; an empty list on other ranks."""
        if self._comm.rank == 0:
            return self._gather(self._comm.Igatherv, content, sizes)
        share = max(CHUNK // self._comm.size, 1)
        for begin in range(0, int(sizes.max()), share):
            self._wait(self._comm.Igatherv(self._part(content, begin, share), None))
        return []

    def _gather(self, start: Callable[..., Any], content: bytes, sizes: Sizes) -> list[Content]:
        share = max(CHUNK // self._comm.size, 1)
        rounds = []
        for begin in range(0, int(sizes.max()), share):
            counts = (sizes - begin).clip(0, share)
            found = np.empty(counts.sum(), np.uint8)
            self._wait(start(self._part(content, begin, share), [found, counts, self._byte]))
            rounds.append([part.data for part in _split(found, counts)])
        return [b"".join(r) if len(r) > 1 else r[0] for r in zip(*rounds, strict=True)]

    def bcast(self, content: bytes, sizes: Sizes) -> list[Content]:
        """The content of rank 0."""
        found = content if self._comm.rank == 0 else bytearray(sizes[0])
        for begin in range(0, len(found), CHUNK):
            self._wait(self._comm.Ibcast(self._part(found, begin, CHUNK)))
        return [memoryview(found)]

    def _part(self, content: bytes | bytearray, begin: int, size: int) -> list[Any]:
        return [memoryview(content)[begin : begin + size], self._byte]

    def alltoallv(
        self, parts: Mapping[int, NDArray[np.int64]], longest: int
    ) -> dict[int, NDArray[np.int64]]:
        """The parts that all ranks have for this one, without empty ones.

        Args:
            parts: arrays (n,) by receiving rank.
            longest: length of the longest part on any rank.
        """
        sent, received = np.zeros((2, self._comm.size), np.int64)
        for rank, part in parts.items():
            sent[rank] = len(part)
        self._wait(self._comm.Ialltoall(sent, received))
        share = max(CHUNK // sent.nbytes, 1)
        rounds = []
        for begin in range(0, longest, share):
            chunks = [parts[rank][begin : begin + share] for rank in sorted(parts)]
            out = np.concatenate([np.empty(0, np.int64), *chunks], casting="no")
            counts = (received - begin).clip(0, share)
            found = np.empty(counts.sum(), np.int64)
            self._wait(self._comm.Ialltoallv([out, (sent - begin).clip(0, share)], [found, counts]))
            rounds.append(_split(found, counts))
        joined = enumerate(zip(*rounds, strict=True))
        return {n: np.concatenate(r) if len(r) > 1 else r[0] for n, r in joined if received[n]}


def _split(values: NDArray[Any], counts: Sizes) -> list[NDArray[Any]]:
    """Consecutive parts of an array, of these lengths."""
    return np.split(values, np.cumsum(counts)[:-1])
