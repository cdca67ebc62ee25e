"""Boxes of values in memory, and one kernel that copies any number of them at once.

Addresses, byte strides and extents describe a copy. One mechanism (exchange.h) therefore serves for
packing, unpacking, copying to a rank's own ghost layers, conversion to narrower types, and storing
directly into another rank's memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import gcd, prod
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from groundswell.arrays import DeviceArray, Integers
from groundswell.backends import Backend, Blocks, Launch, Module, Source
from groundswell.backends.launch import KernelArguments
from groundswell.errors import InputError
from groundswell.exchange.decomposition import AXES

SOURCE = Path(__file__).parent / "exchange.h"
THREADS = 256
CHUNK = 4 * THREADS  # values per block: those that its threads have in flight together
MOST_VALUES = 2**32 - 2 * CHUNK  # of a box; kernels count slightly beyond it in 32 bits
ROW, FROM, TO = 13, 3, 8  # numbers of a BoxCopy in strided_boxes.h, and its columns of addresses
WORDS = (16, 8, 4, 2, 1)  # sizes of words that kernels move, bytes; longer words are faster

# Kinds of strided_boxes.h, by source type and target type.
RAW = {1: 0, 2: 1, 4: 2, 8: 3, 16: 4}
PAIRS = {8: 11, 16: 12}  # complex numbers, by size in bytes, with the alignment of one part
CONVERSIONS = {
    ("float64", "float32"): 5,
    ("float32", "float64"): 6,
    ("float32", "float16"): 7,
    ("float16", "float32"): 8,
    ("float32", "bfloat16"): 9,
    ("bfloat16", "float32"): 10,
}
ITEMSIZE = {"float64": 8, "float32": 4, "float16": 2, "bfloat16": 2}

Extents = tuple[int, int, int]  # planes, rows, and values of a row


def itemsize_of(dtype: str) -> int:
    """Size of a value, bytes; NumPy does not know bfloat16."""
    return ITEMSIZE.get(dtype) or np.dtype(dtype).itemsize


@dataclass(frozen=True)
class StridedBox:
    """A box in memory.

    Args:
        address: address of the first value.
        strides: bytes between values along each axis.
        flip: offset in bytes in odd epochs.
        array: index of the array that contains the box, see `AddressTable`; -1 for none.
    """

    address: int
    strides: tuple[int, ...]
    flip: int = 0
    array: int = -1

    @classmethod
    def in_array(
        cls,
        backend: Backend,
        array: DeviceArray,
        origin: Sequence[int],
        first: Sequence[int],
        number: int = -1,
    ) -> StridedBox:
        """The box of array `number` that begins `first` points from `origin`."""
        steps = zip(origin, first, array.strides, strict=True)
        offset = sum((o + f) * stride for o, f, stride in steps)
        return cls(backend.address(array) + offset, tuple(array.strides), array=number)

    @classmethod
    def packed(cls, address: int, shape: Sequence[int], itemsize: int, flip: int = 0) -> StridedBox:
        """A contiguous box."""
        strides = tuple(itemsize * prod(shape[n + 1 :]) for n in range(len(shape)))
        return cls(address, strides, flip)

    @property
    def alignment(self) -> int:
        """The alignment of its rows in even and odd epochs, bytes."""
        return gcd(self.address, *self.strides[:2], self.flip)

    def require_aligned(self, dtype: str, size: int) -> None:
        """Raise InputError unless all values are aligned to `size` bytes."""
        if gcd(self.alignment, self.strides[-1]) % size:
            raise InputError(
                f"values of type {dtype} at address {self.address} with strides {self.strides} "
                f"bytes: allowed are multiples of {size}; copy the array, such as a field of a "
                "packed structure, to a separate array"
            )


def steps(array: DeviceArray) -> tuple[int, ...]:
    """Strides of an array; 0 along axes of length 1, where they have no effect."""
    return tuple(s * (n > 1) for n, s in zip(array.shape, array.strides, strict=True))


@dataclass(frozen=True)
class Copy:
    """A box to be copied.

    Args:
        shape: points along each axis, at most 3.
        dtype, as_dtype: source and target type of values; equal if values are only moved.
        message: number of the message to which the copy belongs.
    """

    shape: tuple[int, ...]
    source: StridedBox
    target: StridedBox
    dtype: str
    as_dtype: str
    message: int = 0

    @property
    def bytes(self) -> int:
        """Bytes that are stored."""
        return prod(self.shape) * itemsize_of(self.as_dtype)

    def row(self) -> list[int]:
        """The numbers of the box in the layout of strided_boxes.h."""
        shape, source, target = merged(self.shape, self.source, self.target)
        if self.dtype != self.as_dtype:
            kind = CONVERSIONS[self.dtype, self.as_dtype]
            source.require_aligned(self.dtype, ITEMSIZE[self.dtype])
            target.require_aligned(self.as_dtype, ITEMSIZE[self.as_dtype])
        else:
            kind, shape, source, target = _in_words(self.dtype, shape, source, target)
        planes, rows, length = shape
        ends = (n for box in (source, target) for n in (box.address, *box.strides, box.flip))
        return [kind, rows, length, *ends, planes * rows * length]


def _in_words(
    dtype: str, shape: Extents, source: StridedBox, target: StridedBox
) -> tuple[int, Extents, StridedBox, StridedBox]:
    """The box in the widest possible words, and its kind."""
    size = np.dtype(dtype).itemsize
    unit = gcd(source.alignment, target.alignment)
    if source.strides[-1] == target.strides[-1] == size:
        length = shape[2] * size
        word = next(w for w in WORDS if gcd(unit, length) % w == 0)
        source, target = (replace(p, strides=(*p.strides[:2], word)) for p in (source, target))
        return RAW[word], (*shape[:2], length // word), source, target
    if gcd(unit, source.strides[-1], target.strides[-1]) % size == 0:
        return RAW[size], shape, source, target
    for box in (source, target):
        box.require_aligned(dtype, size // 2 if size in PAIRS else size)
    return PAIRS[size], shape, source, target


def merged(
    shape: tuple[int, ...], source: StridedBox, target: StridedBox
) -> tuple[Extents, StridedBox, StridedBox]:
    """The same box with three axes; axes that are contiguous in both are merged."""
    axes: list[tuple[int, int, int]] = []
    for n, s, t in zip(shape, source.strides, target.strides, strict=True):
        if n == 1:
            continue
        if axes and axes[-1][1:] == (n * s, n * t):
            axes[-1] = (axes[-1][0] * n, s, t)
        else:
            axes.append((n, s, t))
    last = (1, source.strides[-1], target.strides[-1])
    padded = [(1, 0, 0)] * (AXES - max(len(axes), 1)) + (axes or [last])
    extents, *strides = zip(*padded, strict=True)
    source, target = (replace(p, strides=s) for p, s in zip((source, target), strides, strict=True))
    return extents, source, target


class AddressTable:
    """A device table of addresses in arrays; `move` redirects it to arrays of the same layout.

    Args:
        rows: (rows, columns), int64.
        columns: the columns with addresses.
        arrays: for each row and each of these columns, the index of the array; -1 for none.
    """

    def __init__(
        self, backend: Backend, rows: Integers, columns: Sequence[int], arrays: ArrayLike
    ) -> None:
        self._backend, self._rows, self._columns = backend, rows, [*columns]
        self._arrays = np.array(arrays, np.int64).reshape(len(rows), len(columns))
        self.on_device = backend.to_device(rows)

    def move(self, shifts: Sequence[int]) -> None:
        """Replace the arrays by others with the same layout, in stream order.

        Args:
            shifts: for each array, the distance from the old address to the new one, bytes.
        """
        by_array = np.array([*shifts, 0], np.int64)  # the last entry is for index -1: no array
        self._rows[:, self._columns] += by_array[self._arrays]
        self._backend.assign(self.on_device, self._rows)


class Copies:
    """Tables of boxes on a device, for the kernels of exchange.h.

    Args:
        messages: number of messages. Copies within a rank belong to no message.

    Attributes:
        boxes: the boxes.
        count: number of chunks.
        per_message: chunks of each message, (messages,).
    """

    def __init__(self, backend: Backend, copies: Sequence[Copy], messages: int = 0) -> None:
        self._backend, self._messages = backend, messages
        rows = np.array([copy.row() for copy in copies], np.int64).reshape(len(copies), ROW + 1)
        sizes = rows[:, -1]
        if sizes.max(initial=0) > MOST_VALUES:
            raise InputError(
                f"a box of {sizes.max()} values is too large to be exchanged: at most "
                f"{MOST_VALUES} are allowed; use more ranks"
            )
        self._chunks = _chunks(sizes, [copy.message for copy in copies])
        self.count = len(self._chunks)
        self.per_message = np.bincount(self._chunks[:, 3], minlength=messages)[:messages]
        arrays = [(copy.source.array, copy.target.array) for copy in copies]
        boxes = np.ascontiguousarray(rows[:, :-1])
        self.boxes = AddressTable(backend, boxes, (FROM, TO), arrays)

    def arguments(self, name: str, blocks: int) -> KernelArguments:
        """The kernel arguments LOAD_ARGUMENTS(name) for a launch with this number of blocks."""
        chunks, shares = in_turns(self._chunks, blocks, self._messages)
        to_device = self._backend.to_device
        return {
            f"{name}_boxes": self.boxes.on_device,
            f"{name}_chunks": to_device(chunks),
            f"{name}_count": self.count,
            f"{name}_shares": to_device(shares),
        }


def in_turns(chunks: Integers, blocks: int, messages: int) -> tuple[Integers, Integers]:
    """Chunks in the layout of exchange.h, in the order of processing, and the counts per block.

    Copies within the rank are spread among messages, so that they run while the links are busy.
    """
    own = chunks[:, 3] >= messages
    turn = np.empty(len(chunks))
    for part in (own, ~own):
        count = np.arange(int(part.sum()))
        turn[part] = (count // blocks + 0.5) / max(1, -(-len(count) // blocks))
    chunks = chunks[np.lexsort((own, turn))]
    block = np.arange(len(chunks)) % blocks
    pairs = block * (chunks[:, 3].max(initial=0) + 1) + chunks[:, 3]
    opens = np.zeros((len(chunks), 1), np.int64)
    opens[np.unique(pairs, return_index=True)[1]] = 1
    shares = np.zeros((blocks if messages else 1, max(messages, 1)), np.int64)
    sent = chunks[:, 3] < messages
    np.add.at(shares, (block[sent], chunks[sent, 3]), 1)
    return np.hstack([chunks, opens]), shares


def _chunks(sizes: Integers, messages: Sequence[int]) -> Integers:
    """Chunks of boxes: box, first value, number of values and message, (chunks, 4)."""
    counts = -(-sizes // CHUNK)
    box = np.repeat(np.arange(len(sizes)), counts)
    first = CHUNK * (np.arange(len(box)) - (np.cumsum(counts) - counts)[box])
    lengths = np.minimum(sizes[box] - first, CHUNK)
    return np.stack([box, first, lengths, np.array(messages, np.int64)[box]], axis=1)


def compile_kernels(backend: Backend) -> Module:
    """The kernels of the exchange; one compilation serves every exchange."""
    return backend.compile(Source(SOURCE, {}))


class CopyLaunch:
    """All copies in one launch.

    Args:
        kept: memory that must stay alive as long as the launch.

    Attributes:
        launches: the launch; empty without copies.
        tables: tables that must be updated if arrays move.
    """

    def __init__(self, backend: Backend, copies: Sequence[Copy], kept: object = None) -> None:
        self._kept = kept
        self.launches: list[Launch] = []
        self.tables: list[AddressTable] = []
        if copies:
            tables, module = Copies(backend, copies), compile_kernels(backend)
            boxes, chunks, *_ = tables.arguments("own", max(tables.count, 1)).values()
            work = f"{sum(copy.bytes for copy in copies):,} bytes"
            extent = Blocks(tables.count, THREADS, work=work)
            self.launches = [module.launch("copy_boxes", extent, boxes, chunks, tables.count)]
            self.tables = [tables.boxes]
