"""MPC, a lossless code for floating-point numbers that resemble their neighbours.

Yang, Mukka, Hesaaraki & Burtscher, MPC: a massively parallel compression algorithm for scientific
data, Cluster 2015; version 1.2 of its streams.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from groundswell.backends import Backend, Blocks, Launch, Source
from groundswell.backends.base import Array
from groundswell.backends.source import precision
from groundswell.errors import InputError

SOURCE = Path(__file__).parent / "mpc_kernels.h"
CHUNK = 1024  # words that are coded together, each chunk by one warp of a GPU
SCRATCH = 32768  # bytes that a block puts chunks together in; as in mpc.h
RESIDENT = 4  # blocks that find room on a processor
MOST_DIM = 32
WORDS = {"float32": 4, "float64": 8}  # bytes by type; a word of 4 has a header of two, of 8 of one
VERDICTS = ("sound", "foreign", "too short")


class Mpc:
    """Code of arrays of one length and type.

    Args:
        dtype: "float32" or "float64".
        count: values in an array, 1 to 2^31 - 1.
        dim: values between one and the earlier one that it resembles most, 1 to 32: components of
            a vector that lie side by side.
        strips: whether values are given as rows of strips.h, one a chunk, instead of as an array.
        at_once: whether all is done in one launch, whose blocks wait for each other; by default
            where they can, on a GPU.

    Attributes:
        capacity: bytes that a stream can need: 3.1 % more than the values, and some dozen.
        used: length of the last stream in bytes, int64, (1,), on the device.
        verdict: of the last stream that was not sound, int64, (1,), on the device: a place in
            VERDICTS, 0 as long as all were.

    Raises:
        InputError: another type, length or dim.
    """

    def __init__(
        self,
        backend: Backend,
        dtype: str,
        count: int,
        dim: int = 1,
        *,
        strips: bool = False,
        at_once: bool | None = None,
    ) -> None:
        _require(dtype, count, dim)
        self.dtype, self.count, self.dim, self._strips = dtype, count, dim, strips
        self._backend, self._word = backend, WORDS[dtype]
        self.capacity = (self._begin + self._groups * 8 * self._word + 1) * self._word
        self._at_once = not backend.on_host if at_once is None else at_once
        if self._at_once and backend.on_host:
            raise InputError("at_once = True needs blocks that wait for each other: use a GPU")
        self.used, self.verdict = (backend.zeros((1,), np.int64) for _ in range(2))
        self._module = backend.compile(mpc_source(dtype, strips=strips))
        self._chunks = -(-count // CHUNK)
        self._shape(backend.processors)
        self._starts = backend.zeros((self._chunks + 1,), np.uint32)
        self._boards = [backend.zeros((3 + self._tiles,), np.uint64) for _ in range(2)]

    def compress(self, values: Array, stream: Array | int) -> list[Launch]:
        """Launches that code `values`, (count,), in `stream`, at least `capacity` bytes.

        The stream may be given by its address, for memory that another process has allocated.

        Raises:
            InputError: arrays of another type or length, or with gaps.
        """
        self._require_values(values)
        if not isinstance(stream, int):
            self._require_stream(stream, self.capacity)
        given = (values, self.count, self.dim, stream)
        if self._at_once:
            return [self._one("mpc_compress", *given, self.used, self._boards[0], self._blocks)]
        return [
            self._each("mpc_measure", *given, self._starts),
            self._scan(),
            self._each("mpc_write", *given, self._starts, self.used),
        ]

    def decompress(self, stream: Array | int, values: Array) -> list[Launch]:
        """Launches that decode all of `stream` into `values`, (count,).

        Of a stream that is damaged nothing outside is read and nothing beyond `values` is written;
        words that it lacks count as zero, and values of a foreign stream are left as they are.

        Raises:
            InputError: arrays of another type or length, or with gaps.
        """
        self._require_values(values)
        size = self.capacity
        if not isinstance(stream, int):
            self._require_stream(stream, self._begin * self._word)
            size = stream.nbytes
        given = (stream, size // self._word, self.count, self.dim)
        if self._at_once:
            board = self._boards[1]
            return [self._one("mpc_decompress", *given, values, self.verdict, board, self._blocks)]
        return [
            self._each("mpc_count", *given, self._starts),
            self._scan(),
            self._each("mpc_read", *given, values, self._starts, self.verdict),
        ]

    @property
    def _groups(self) -> int:
        """Words of the bitmap."""
        return -(-self.count // (8 * self._word))

    @property
    def _begin(self) -> int:
        """Where kept words begin."""
        return 8 // self._word + self._groups

    def _shape(self, processors: int) -> None:
        """Warps of a block: many for long arrays, few if all processors shall have some."""
        most = SCRATCH // (CHUNK * self._word)
        wanted = min(max(self._chunks // (2 * processors), 1), most)
        self._warps = 1 << wanted.bit_length() - 1
        self._tiles = -(-self._chunks // self._warps)
        self._blocks = min(self._tiles, RESIDENT * processors)

    def _one(self, name: str, *arguments: Any) -> Launch:
        return self._module.launch(name, Blocks(self._blocks, 32 * self._warps), *arguments)

    def _each(self, name: str, *arguments: Any) -> Launch:
        return self._module.launch(name, Blocks(self._tiles, 32 * self._warps), *arguments)

    def _scan(self) -> Launch:
        return self._module.launch(
            "mpc_scan", Blocks(1, 256), self._starts, self._chunks, self._begin
        )

    def _require_stream(self, stream: Array, size: int) -> None:
        _require_array("a stream", stream, size)
        require_aligned(self._backend, stream, self._word)

    def _require_values(self, values: Array) -> None:
        if self._strips:
            return
        if str(values.dtype) != self.dtype or values.size != self.count:
            raise InputError(
                f"values are {values.size} of type {values.dtype}; this code is for "
                f"{self.count} of type {self.dtype}: make one for each length and type"
            )
        _require_array("values", values, self.count * self._word)


def mpc_source(dtype: str, *, strips: bool = False) -> Source:
    """The kernels for values of a type, "float32" or "float64"."""
    words = precision(dtype)
    return Source(SOURCE, {**words, "MIN_BLOCKS_PER_SM": RESIDENT, "STRIPS": strips})


def _require(dtype: str, count: int, dim: int) -> None:
    if dtype not in WORDS:
        raise InputError(f"values of type {dtype} cannot be coded; allowed: {', '.join(WORDS)}")
    if not 1 <= count < 2**31:
        raise InputError(f"{count} values cannot be coded at once; allowed: 1 to {2**31 - 1}")
    if not 1 <= dim <= MOST_DIM:
        raise InputError(f"dim = {dim}; allowed: 1 to {MOST_DIM}, and 1 is right for most fields")


def _require_array(name: str, array: Array, size: int) -> None:
    if array.nbytes < size or not array.flags.c_contiguous:
        raise InputError(
            f"{name} of {array.nbytes} bytes: {size} are needed, without gaps; allocate a new array"
        )


def require_aligned(backend: Backend, stream: Array, word: int) -> None:
    """Processors read words where these belong only; raises InputError."""
    if backend.address(stream) % word:
        raise InputError(f"a stream must begin at a multiple of {word} bytes; allocate a new array")
