"""Codecs of messages, by name, and transfers with compressed messages.

- "mpc": lossless; the length of a stream depends on the values.
- "zfp3" to "zfp64": lossy, with this number of bits per value; streams have a fixed length.

Codecs read the values of a message from boxes in memory, divided into strips (strips.h). Encoding
thus includes packing, and decoding includes unpacking.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from math import prod
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groundswell.backends import Backend, Blocks, Items, Launch, Source
from groundswell.backends.base import Array, Event
from groundswell.backends.source import precision
from groundswell.errors import InputError, RunFailed
from groundswell.exchange.boxes import CopyLaunch, merged
from groundswell.exchange.messages import Message, Segment, TransferRequest, aligned
from groundswell.exchange.transfer import Binding, Maker, Transfer

HERE = Path(__file__).parents[1] / "compression"
VARIABLE_LENGTH = ("mpc",)  # codecs with stream lengths that only the device knows
LOSSLESS = ("none", *VARIABLE_LENGTH)
LOSSY = tuple(f"zfp{rate}" for rate in range(3, 65))
WORDS = {"float32": 4, "float64": 8}  # bytes by type
STRIP = 1024  # values; as in strips.h
SHORT_ROW = 32  # values; strips do not follow shorter rows
RESIDENT = 4  # blocks of MPC that share a multiprocessor
BLOCK_BYTES = 32768  # of the chunks that a block of MPC encodes at once; as in mpc_gpu.h
MOST_VALUES = 2**31 - 1  # of a message
STATUS = ("", "not MPC of this length and type", "truncated")  # by Status of mpc.h


def require_codec(name: str) -> str:
    """Check the name of a codec; raises InputError if it does not exist."""
    if name not in LOSSLESS + LOSSY:
        raise InputError(
            f"codec {name!r} does not exist; allowed: {', '.join(LOSSLESS)}, and zfp3 to zfp64, "
            "such as zfp16 for 16 bits per value"
        )
    return name


def coder(name: str, backend: Backend, dtype: str, sizes: Sequence[int]) -> Coder:
    """The codec of this name for messages of one size.

    Args:
        dtype: "float32" or "float64".
        sizes: numbers of values of the strips, see `strip_sizes`.

    Raises:
        InputError: the codec does not exist, or the message is too long for it.
    """
    if require_codec(name) == "mpc":
        return Mpc(backend, dtype, sizes)
    return Zfp(backend, dtype, sizes, int(name.removeprefix("zfp")))


class Coder:
    """Encoder and decoder of messages of one size.

    Attributes:
        capacity: largest possible length of a stream, bytes.
        used: length of the last encoded stream, bytes, int64, (1,), on the device; None if all
            streams have length `capacity`.
    """

    capacity: int
    used: Array | None = None

    def encode(self, strips: Array, stream: Array | int) -> list[Launch]:
        """Launches that encode values.

        Args:
            strips: the table of the values, (strips, 8), on the device.
            stream: at least `capacity` bytes, aligned to 8 bytes: an array, or an address, which
                may be in memory of another process.
        """
        raise NotImplementedError

    def decode(self, stream: Array | int, strips: Array) -> list[Launch]:
        """Launches that decode a stream of at most `capacity` bytes into values."""
        raise NotImplementedError

    def fault(self, after: Event | None) -> str:
        """The fault of any stream decoded so far; "" if all are intact."""
        return ""


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

    used: Array

    def __init__(self, backend: Backend, dtype: str, sizes: Sequence[int]) -> None:
        self._count = STRIP * (len(sizes) - 1) + sizes[-1]
        if self._count > MOST_VALUES:
            raise InputError(
                f"codec mpc: a message of {self._count} values; allowed: at most {MOST_VALUES}; "
                "use more ranks, or a zfp codec"
            )
        self._backend, self._word = backend, WORDS[dtype]
        groups = -(-self._count // (8 * self._word))
        self.capacity = 8 + groups * (8 * self._word + 1) * self._word + self._word
        self.used, self.status = (backend.zeros((1,), np.int64) for _ in range(2))
        self._module = backend.compile(mpc_source(dtype))
        self._extent = self._blocks(len(sizes))
        self._states = [backend.zeros((3 + len(sizes),), np.uint64) for _ in range(2)]

    def encode(self, strips: Array, stream: Array | int) -> list[Launch]:
        given = (strips, self._count, stream, self.used, self._states[0])
        return [self._module.launch("mpc_compress", self._extent, *given)]

    def decode(self, stream: Array | int, strips: Array) -> list[Launch]:
        size = self.capacity if isinstance(stream, int) else stream.nbytes
        given = (stream, size // self._word, self._count, strips, self.status, self._states[1])
        return [self._module.launch("mpc_decompress", self._extent, *given)]

    def fault(self, after: Event | None) -> str:
        return STATUS[int(self._backend.to_host(self.status, after)[0])]

    def _blocks(self, chunks: int) -> Blocks:
        """Blocks with a warp per chunk; few warps for short messages, to use all multiprocessors.

        There are at most as many blocks as can be resident. Each block encodes several tiles.
        """
        most = BLOCK_BYTES // (STRIP * self._word)
        wanted = min(max(chunks // (2 * self._backend.processors), 1), most)
        warps = 1 << wanted.bit_length() - 1
        tiles = -(-chunks // warps)
        return Blocks(min(tiles, RESIDENT * self._backend.processors), 32 * warps)


class Zfp(Coder):
    """ZFP at a fixed rate along one axis: every block of four values has the same number of bits.

    Lindstrom, Fixed-rate compressed floating-point arrays, IEEE TVCG 20, 2014. Streams are those of
    libzfp 1.0. Arbitrary bits decode to some values.

    Args:
        sizes: numbers of values of the strips, each of which begins a block.
        rate: bits per value, 3 to 64.
    """

    def __init__(self, backend: Backend, dtype: str, sizes: Sequence[int], rate: int) -> None:
        self._strips, self._blocks = len(sizes), sum(-(-size // 4) for size in sizes)
        self.capacity = -(-self._blocks * 4 * rate // 64) * 8
        self._at_once = 1 + rate % 2  # blocks per thread, which together end at a byte
        self._module = backend.compile(zfp_source(dtype, rate))

    def encode(self, strips: Array, stream: Array | int) -> list[Launch]:
        items = Items(-(-self._blocks // self._at_once))
        given = (strips, self._strips, self._blocks, stream, self.capacity // 8)
        return [self._module.launch("zfp_compress", items, *given)]

    def decode(self, stream: Array | int, strips: Array) -> list[Launch]:
        given = (stream, self.capacity // 8, strips, self._strips, self._blocks)
        return [self._module.launch("zfp_decompress", Items(self._blocks), *given)]


def mpc_source(dtype: str) -> Source:
    """The kernels of MPC for values of a type, "float32" or "float64"."""
    return Source(HERE / "mpc.h", {**precision(dtype), "MIN_BLOCKS_PER_SM": RESIDENT})


def zfp_source(dtype: str, rate: int) -> Source:
    """The kernels of ZFP for values of a type, with `rate` bits per value."""
    return Source(HERE / "zfp.h", {**precision(dtype), "ZFP_BITS": 4 * rate})


# --- strips ---------------------------------------------------------------------------------------


def strip_sizes(shapes: Sequence[Sequence[int]]) -> list[int]:
    """The number of values of each strip of boxes of these shapes."""
    sizes = [prod(shape) for shape in shapes]
    full = sum(size // STRIP for size in sizes)
    return [STRIP] * full + [size % STRIP for size in sizes if size % STRIP]


def strips(segments: Sequence[Segment]) -> NDArray[np.int64]:
    """The table of the strips of segments, (strips, 8); rows are the `Strip` of strips.h.

    Full strips come first. Sender and receiver number the values of a segment in the same way:
    along its last axis or, if that is short, along its longest axis. The values of a strip are thus
    mostly neighbours, which compress well.
    """
    rows = [row for segment in segments for row in _strips(segment)]
    table = np.array(rows, np.int64).reshape(len(rows), 8)
    table = table[np.argsort(table[:, -1] < STRIP, kind="stable")]
    blocks = -(-table[:, -1] // 4)  # of four values
    table[:, -1] |= (np.cumsum(blocks) - blocks) << 32  # blocks of all earlier strips
    return table


def _strips(segment: Segment) -> list[list[int]]:
    order = list(range(len(segment.shape)))
    if segment.shape[-1] < SHORT_ROW:
        order.sort(key=lambda axis: segment.shape[axis])
    shape = tuple(segment.shape[axis] for axis in order)
    along = replace(segment.place, strides=tuple(segment.place.strides[axis] for axis in order))
    (_, rows, length), place, _ = merged(shape, along, along)
    total = prod(shape)
    box = [place.address, *place.strides, rows, length]
    return [[*box, first, min(STRIP, total - first)] for first in range(0, total, STRIP)]


# --- transfers ------------------------------------------------------------------------------------


class CodedTransfer(Transfer):
    """A transfer that encodes segments while packing and decodes them while unpacking.

    Each message is one stream, in a buffer of its largest possible length.

    Args:
        make: creates the transfer of the streams.

    Attributes:
        messages, encoders: the messages, and the encoder of each; None for an empty message.
        encode, decode: launches of the codec alone.

    Raises:
        InputError: segments have different types, or a type that the codec does not support.
    """

    rebindable = False
    encode: Sequence[Launch] = ()
    decode: Sequence[Launch] = ()

    def __init__(self, request: TransferRequest, codec: str, make: Maker) -> None:
        self._backend, self.messages = request.backend, request.messages
        self.encoders, self._decoders = request.comm.collective_try(lambda: self._coders(codec))
        ends = zip(request.messages, self.encoders, self._decoders, strict=True)
        streams = [self._stream(*end) for end in ends]
        self._request = replace(request, messages=streams, own=(), fixed_buffers=True)
        self._transfer = made = make(self._request)
        self._parts, self.sent, self.received = [made], made.sent, made.received
        self.path, self.in_graph = f"{codec} over {made.path}", made.in_graph

    def _coders(self, codec: str) -> tuple[list[Coder | None], list[Coder | None]]:
        """For each message, the coders for sending and receiving; None for an empty direction."""
        dtype = common_type(self.messages)

        def of(segments: Sequence[Segment]) -> Coder | None:
            sizes = strip_sizes([segment.shape for segment in segments])
            return coder(codec, self._backend, dtype, sizes) if sizes else None

        return [of(m.sends) for m in self.messages], [of(m.receives) for m in self.messages]

    def _stream(self, message: Message, encoder: Coder | None, decoder: Coder | None) -> Message:
        sent, received = (aligned(code.capacity if code else 0) for code in (encoder, decoder))
        used = encoder.used if encoder else None
        length = 0 if used is None else self._backend.address(used)
        return Message(message.peer, message.tag, sent, received, length)

    def prepare(self, request: TransferRequest) -> Binding:
        moved, to_device = self._transfer.prepare(self._request), self._backend.to_device
        own = CopyLaunch(request.backend, request.own).launches
        out = zip(request.messages, self.encoders, self.sent, strict=True)
        back = zip(request.messages, self._decoders, self.received, strict=True)
        encode = [c.encode(to_device(strips(m.sends)), at.address) for m, c, at in out if c]
        decode = [c.decode(at.address, to_device(strips(m.receives))) for m, c, at in back if c]
        self.encode, self.decode = [*chain(*encode)], [*chain(*decode)]
        return Binding(
            start=[*moved.open, *self.encode, *own, *moved.start],
            finish=[*moved.finish, *self.decode],
        )

    def check(self, after: Event | None = None) -> None:
        super().check(after)
        for message, code in zip(self.messages, self._decoders, strict=True):
            if fault := code.fault(after) if code else "":
                raise RunFailed(
                    f"the message of rank {message.peer} is damaged: its coded stream is {fault}"
                )


def common_type(messages: Sequence[Message]) -> str:
    """The type of values to compress together; raises InputError if this is not possible."""
    segments = [s for m in messages for s in (*m.sends, *m.receives)]
    types = sorted({segment.dtype for segment in segments})
    if len(types) > 1:
        raise InputError(
            f"fields of types {', '.join(types)} cannot be compressed together; "
            "use one exchange per type"
        )
    if narrow := next((s.wire_dtype for s in segments if s.wire_dtype != s.dtype), None):
        raise InputError(
            f"values that are sent as {narrow} cannot also be compressed; choose sent_as or codec"
        )
    if types and types[0] not in WORDS:
        raise InputError(
            f"values of type {types[0]} cannot be compressed; allowed: {', '.join(WORDS)}"
        )
    return types[0] if types else "float32"
