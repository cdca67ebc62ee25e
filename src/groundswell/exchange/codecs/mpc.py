"""MPC, a lossless codec for floating-point numbers that are similar to their neighbours.

Yang, Mukka, Hesaaraki & Burtscher, MPC: a massively parallel compression algorithm for scientific
data, Cluster 2015. Streams have version 1.2 of its format.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from groundswell.backends import Backend, Blocks, Launch, Source
from groundswell.backends.base import Array, Event
from groundswell.backends.source import precision
from groundswell.errors import InputError
from groundswell.exchange.codecs.strips import STRIP

SOURCE = Path(__file__).with_name("mpc.h")
WORDS = {"float32": 4, "float64": 8}  # bytes by type
RESIDENT = 4  # blocks that share a multiprocessor
BLOCK_BYTES = 32768  # of the chunks that a block encodes at once; as in mpc_gpu.h
MOST_VALUES = 2**31 - 1
STATUS = ("", "not MPC of this length and type", "truncated")  # by Status of mpc.h


class Mpc:
    """Encoder and decoder of messages of one size; see `coder.Coder`.

    A stream that is damaged or truncated decodes to any values, but nothing outside of it is read,
    and nothing outside of the strips is written. Missing words count as zero. A stream with a wrong
    header leaves the values as they are.

    Args:
        dtype: "float32" or "float64".
        sizes: numbers of values of the strips. MPC encodes each strip but the last as a full one.

    Attributes:
        capacity: largest possible length of a stream, bytes: 3.1 % more than full strips, and up
            to 600 bytes.
        status: of the last stream that was not intact, an index of STATUS, int64, (1,), on the
            device; 0 if there was none.

    Raises:
        InputError: more than 2^31 - 1 values.
    """

    def __init__(self, backend: Backend, dtype: str, sizes: Sequence[int]) -> None:
        self._count = STRIP * (len(sizes) - 1) + sizes[-1]
        if self._count > MOST_VALUES:
            raise InputError(
                f"codec mpc: a message of {self._count} values; allowed are {MOST_VALUES}: use "
                "more ranks, or a zfp codec"
            )
        self._backend, self._word = backend, WORDS[dtype]
        groups = -(-self._count // (8 * self._word))
        self.capacity = 8 + groups * (8 * self._word + 1) * self._word + self._word
        self.used, self.status = (backend.zeros((1,), np.int64) for _ in range(2))
        self._module = backend.compile(mpc_source(dtype))
        self._extent = self._blocks(len(sizes))
        self._states = [backend.zeros((3 + len(sizes),), np.uint64) for _ in range(2)]

    def encode(self, strips: Array, stream: Array | int) -> list[Launch]:
        """See `Coder`."""
        given = (strips, self._count, stream, self.used, self._states[0])
        return [self._module.launch("mpc_compress", self._extent, *given)]

    def decode(self, stream: Array | int, strips: Array) -> list[Launch]:
        """See `Coder`."""
        size = self.capacity if isinstance(stream, int) else stream.nbytes
        given = (stream, size // self._word, self._count, strips, self.status, self._states[1])
        return [self._module.launch("mpc_decompress", self._extent, *given)]

    def fault(self, after: Event | None) -> str:
        """See `Coder`."""
        return STATUS[int(self._backend.to_host(self.status, after)[0])]

    def _blocks(self, chunks: int) -> Blocks:
        """Blocks with a warp per chunk: few warps for short messages, so that all processors work.

        There are at most as many blocks as are resident, each of which encodes several tiles.
        """
        most = BLOCK_BYTES // (STRIP * self._word)
        wanted = min(max(chunks // (2 * self._backend.processors), 1), most)
        warps = 1 << wanted.bit_length() - 1
        tiles = -(-chunks // warps)
        return Blocks(min(tiles, RESIDENT * self._backend.processors), 32 * warps)


def mpc_source(dtype: str) -> Source:
    """The kernels for values of a type, "float32" or "float64"."""
    return Source(SOURCE, {**precision(dtype), "MIN_BLOCKS_PER_SM": RESIDENT})
