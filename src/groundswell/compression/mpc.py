"""MPC: lossless, for values that are similar to their neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from groundswell.arrays import DeviceArray
from groundswell.backends import Backend, Blocks, Launch, Source
from groundswell.backends.base import Event
from groundswell.backends.source import precision
from groundswell.compression.base import Coder
from groundswell.compression.strips import STRIP
from groundswell.errors import InputError

SOURCE = Path(__file__).with_name("mpc.h")
RESIDENT = 4  # blocks that share a multiprocessor
BLOCK_BYTES = 32768  # of the chunks that a block encodes at once; as in mpc_gpu.h
MOST_VALUES = 2**31 - 1  # of a stream
STATUS = ("", "not MPC of this length and type", "truncated")  # by Status of mpc.h


class Mpc(Coder):
    """MPC, a lossless codec for floating-point numbers that are similar to their neighbours.

    Yang, Mukka, Hesaaraki & Burtscher, MPC: a massively parallel compression algorithm for
    scientific data, Cluster 2015. Streams have version 1.2 of its format.

    A damaged or truncated stream decodes to arbitrary values, but nothing outside the stream is
    read, and nothing outside the strips is written. Missing words count as zero. A stream with a
    wrong header does not change the values.

    Args:
        sizes: numbers of values of the strips. All strips except the last count as full strips.

    Attributes:
        capacity: up to 3.1 % more than full strips, and 600 bytes.
        status: status of the last damaged stream, an index of STATUS, int64, (1,), on the device;
            0 if there was none.

    Raises:
        InputError: more than MOST_VALUES values.
    """

    used: DeviceArray

    def __init__(self, backend: Backend, dtype: str, sizes: Sequence[int]) -> None:
        self._count = STRIP * (len(sizes) - 1) + sizes[-1]
        if self._count > MOST_VALUES:
            raise InputError(
                f"codec mpc: a stream of {self._count} values; allowed: at most {MOST_VALUES}; "
                "use a zfp codec, or more ranks with fewer values each"
            )
        self._backend, self._word = backend, np.dtype(dtype).itemsize
        groups = -(-self._count // (8 * self._word))
        self.capacity = 8 + groups * (8 * self._word + 1) * self._word + self._word
        self.used, self.status = (backend.zeros((1,), np.int64) for _ in range(2))
        self._module = backend.compile(mpc_source(dtype))
        self._extent = self._blocks(len(sizes))
        self._states = [backend.zeros((3 + len(sizes),), np.uint64) for _ in range(2)]

    def encode(self, strips: DeviceArray, stream: DeviceArray | int) -> list[Launch]:
        arrays = {"table": strips, "used": self.used, "state": self._states[0]}
        return self._launch("mpc_compress", stream=stream, **arrays)

    def decode(self, stream: DeviceArray | int, strips: DeviceArray) -> list[Launch]:
        size = self.capacity if isinstance(stream, int) else stream.nbytes
        arrays = {"table": strips, "status": self.status, "state": self._states[1]}
        return self._launch("mpc_decompress", stream=stream, capacity=size // self._word, **arrays)

    def _launch(self, name: str, **arguments: DeviceArray | int) -> list[Launch]:
        return [self._module.launch(name, self._extent, count=self._count, **arguments)]

    def fault(self, after: Event | None) -> str:
        return STATUS[int(self._backend.to_host(self.status, after)[0])]

    def _blocks(self, chunks: int) -> Blocks:
        """Blocks with a warp per chunk; few warps for few values, to use all multiprocessors.

        There are at most as many blocks as can be resident. Each block encodes several tiles.
        """
        most = BLOCK_BYTES // (STRIP * self._word)
        wanted = min(max(chunks // (2 * self._backend.processors), 1), most)
        warps = 1 << wanted.bit_length() - 1
        tiles = -(-chunks // warps)
        return Blocks(min(tiles, RESIDENT * self._backend.processors), 32 * warps)


def mpc_source(dtype: str) -> Source:
    """The kernels of MPC for values of a type, "float32" or "float64"."""
    return Source(SOURCE, {**precision(dtype), "MIN_BLOCKS_PER_SM": RESIDENT})
