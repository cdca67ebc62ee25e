"""ZFP at a fixed rate along one axis: every block of four values has the same number of bits.

Lindstrom, Fixed-rate compressed floating-point arrays, IEEE TVCG 20, 2014. Streams are those of
libzfp 1.0.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from groundswell.backends import Backend, Items, Launch, Source
from groundswell.backends.base import Array, Event
from groundswell.backends.source import precision

SOURCE = Path(__file__).with_name("zfp.h")


class Zfp:
    """Encoder and decoder of messages of one size; see `coder.Coder`.

    Args:
        dtype: "float32" or "float64".
        sizes: numbers of values of the strips, each of which begins a block.
        rate: bits per value, 3 to 64.

    Attributes:
        capacity: length of every stream, bytes, a multiple of 8.
    """

    used = None

    def __init__(self, backend: Backend, dtype: str, sizes: Sequence[int], rate: int) -> None:
        self._strips, self._blocks = len(sizes), sum(-(-size // 4) for size in sizes)
        self.capacity = -(-self._blocks * 4 * rate // 64) * 8
        self._at_once = 1 + rate % 2  # blocks of a thread: those that end with a byte
        self._module = backend.compile(zfp_source(dtype, rate))

    def encode(self, strips: Array, stream: Array | int) -> list[Launch]:
        """See `Coder`."""
        items = Items(-(-self._blocks // self._at_once))
        given = (strips, self._strips, self._blocks, stream, self.capacity // 8)
        return [self._module.launch("zfp_compress", items, *given)]

    def decode(self, stream: Array | int, strips: Array) -> list[Launch]:
        """See `Coder`."""
        given = (stream, self.capacity // 8, strips, self._strips, self._blocks)
        return [self._module.launch("zfp_decompress", Items(self._blocks), *given)]

    def fault(self, after: Event | None) -> str:
        """See `Coder`; any bits decode to some values."""
        return ""


def zfp_source(dtype: str, rate: int) -> Source:
    """The kernels for values of a type, "float32" or "float64", with `rate` bits per value."""
    return Source(SOURCE, {**precision(dtype), "ZFP_BITS": 4 * rate})
