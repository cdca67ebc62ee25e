"""ZFP at a fixed rate along one axis: every block of four values gets the same number of bits.

Lindstrom, Fixed-rate compressed floating-point arrays, IEEE TVCG 20, 2014; streams of libzfp 1.0.
"""

from __future__ import annotations

from pathlib import Path
from typing import SupportsIndex

from groundswell.backends import Backend, Items, Launch, Source
from groundswell.backends.base import Array
from groundswell.backends.source import precision
from groundswell.errors import InputError
from groundswell.exchange.codecs.mpc import require_aligned

SOURCE = Path(__file__).parent / "zfp_kernels.h"
WIDTH = {"float32": 32, "float64": 64}
LEAST_BITS = {"float32": 9, "float64": 12}  # of a block: its exponent
SLACK = 2  # times what values take; more would be padding


class Zfp:
    """Code of arrays of one length and type.

    Args:
        dtype: "float32" or "float64".
        count: values in an array.
        rate: bits that a value takes, in steps of 1/4.
        strips: how many rows of strips.h are given instead of an array, each coded on its own; the
            values then are those of the groups of four that they are coded in.

    Attributes:
        size: bytes of a stream, a multiple of 8.

    Raises:
        InputError: another type, length or rate.
    """

    def __init__(
        self,
        backend: Backend,
        dtype: str,
        count: int,
        rate: float,
        *,
        strips: int = 0,
    ) -> None:
        _require(dtype, count)
        self.dtype, self.count, self._strips = dtype, count, strips
        bits = block_bits(dtype, rate)
        self._items, self._blocks = strips or count, -(-count // 4)
        self.size = -(-self._blocks * bits // 64) * 8
        self._run = max(8 // (bits & -bits), 1)  # blocks that end where a byte does
        self._backend = backend
        self._module = backend.compile(zfp_source(dtype, bits, strips=bool(strips)))

    def compress(self, values: Array, stream: Array | int) -> list[Launch]:
        """Launches that code `values` in the first `size` bytes of `stream`.

        The stream may be given by its address, for memory that another process has allocated.

        Raises:
            InputError: arrays of another type or size, with gaps, or a stream that does not begin
                at a multiple of 8 bytes.
        """
        self._require_arrays(values, stream)
        items = Items(-(-self._blocks // self._run))
        given = (values, self._items, self._blocks, stream, self.size // 8)
        return [self._module.launch("zfp_compress", items, *given)]

    def decompress(self, stream: Array | int, values: Array) -> list[Launch]:
        """Launches that decode `stream` into `values`; any bits are some values.

        Raises:
            InputError: arrays of another type or size, with gaps, or a stream that does not begin
                at a multiple of 8 bytes.
        """
        self._require_arrays(values, stream)
        given = (stream, self.size // 8, values, self._items, self._blocks)
        return [self._module.launch("zfp_decompress", Items(self._blocks), *given)]

    def _require_arrays(self, values: Array, stream: Array | int) -> None:
        if self._strips or isinstance(stream, int):
            return
        if str(values.dtype) != self.dtype or values.size != self.count:
            raise InputError(
                f"values are {values.size} of type {values.dtype}; this code is for "
                f"{self.count} of type {self.dtype}: make one for each length and type"
            )
        if stream.nbytes < self.size:
            raise InputError(f"a stream of {stream.nbytes} bytes; at least {self.size} are needed")
        if not (values.flags.c_contiguous and stream.flags.c_contiguous):
            raise InputError("values and stream must have no gaps; copy them into new arrays")
        require_aligned(self._backend, stream, 8)


def block_bits(dtype: str, rate: float) -> int:
    """Bits of a block at so many bits a value.

    Raises:
        InputError: no whole number, too few for an exponent, or more than blocks can use.
    """
    bits, least, most = 4 * rate, LEAST_BITS[dtype] / 4, SLACK * WIDTH[dtype]
    if not least <= rate <= most or bits != int(bits):
        raise InputError(
            f"rate = {rate}: allowed are {least:g} to {most} bits a value, in steps of 1/4, for "
            f"{dtype}"
        )
    return int(bits)


def zfp_source(dtype: str, bits: int, *, strips: bool = False) -> Source:
    """The kernels for values of a type, in blocks of so many bits."""
    return Source(SOURCE, {**precision(dtype), "ZFP_BITS": bits, "STRIPS": strips})


def _require(dtype: str, count: int) -> None:
    if dtype not in WIDTH:
        raise InputError(f"values of type {dtype} cannot be coded; allowed: {', '.join(WIDTH)}")
    if not isinstance(count, SupportsIndex) or count < 1:
        raise InputError(f"count = {count}: allowed is a number of values, 1 or more, along a line")
