"""ZFP: lossy, with a fixed number of bits per value."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from groundswell.arrays import DeviceArray
from groundswell.backends import Backend, Items, Launch, Source
from groundswell.backends.source import precision
from groundswell.compression.base import Coder

SOURCE = Path(__file__).with_name("zfp.h")


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

    def encode(self, strips: DeviceArray, stream: DeviceArray | int) -> list[Launch]:
        items = Items(-(-self._blocks // self._at_once))
        return [self._module.launch("zfp_compress", items, **self._arguments(strips, stream))]

    def decode(self, stream: DeviceArray | int, strips: DeviceArray) -> list[Launch]:
        arguments = self._arguments(strips, stream)
        return [self._module.launch("zfp_decompress", Items(self._blocks), **arguments)]

    def _arguments(
        self, strips: DeviceArray, stream: DeviceArray | int
    ) -> dict[str, DeviceArray | int]:
        """The arguments that both kernels take, by name."""
        sizes = {"count": self._strips, "blocks": self._blocks, "words": self.capacity // 8}
        return {"table": strips, "stream": stream, **sizes}


def zfp_source(dtype: str, rate: int) -> Source:
    """The kernels of ZFP for values of a type, with `rate` bits per value."""
    return Source(SOURCE, {**precision(dtype), "ZFP_BITS": 4 * rate})
