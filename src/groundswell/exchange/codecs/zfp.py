"""ZFP at a fixed rate: every block of 4^d values gets the same number of bits.

Lindstrom, Fixed-rate compressed floating-point arrays, IEEE TVCG 20, 2014; streams of libzfp 1.0.
"""

from __future__ import annotations

from math import prod
from pathlib import Path

from groundswell.backends import Backend, Items, Launch, Source
from groundswell.backends.base import Array
from groundswell.backends.source import precision
from groundswell.errors import InputError
from groundswell.exchange.codecs.mpc import require_aligned

SOURCE = Path(__file__).parent / "zfp_kernels.h"
MOST_AXES = 3
WIDTH = {"float32": 32, "float64": 64}
LEAST_BITS = {"float32": 9, "float64": 12}  # of a block: its exponent
SLACK = 2  # times what values take; more would be padding


class Zfp:
    """Code of arrays of one shape and type.

    Args:
        dtype: "float32" or "float64".
        shape: points along one to three axes, the last one contiguous.
        rate: bits that a value takes, such that a block of 4^d takes a whole number.
        strips: how many rows of strips.h are given instead of an array, each coded on its own; the
            shape then is that of the groups of four that they are coded in, one behind the other.

    Attributes:
        size: bytes of a stream, a multiple of 8.

    Raises:
        InputError: another type, shape or rate.
    """

    def __init__(
        self,
        backend: Backend,
        dtype: str,
        shape: tuple[int, ...],
        rate: float,
        *,
        strips: int = 0,
    ) -> None:
        _require(dtype, shape)
        self.dtype, self.shape, self._strips = dtype, tuple(shape), strips
        bits = block_bits(dtype, len(shape), rate)
        self._blocks = prod(-(-n // 4) for n in shape)
        self.size = -(-self._blocks * bits // 64) * 8
        self._run = max(8 // (bits & -bits), 1)  # blocks that end where a byte does
        self._backend = backend
        self._module = backend.compile(zfp_source(dtype, len(shape), bits, strips=bool(strips)))

    def compress(self, values: Array, stream: Array | int) -> list[Launch]:
        """Launches that code `values` in the first `size` bytes of `stream`.

        The stream may be given by its address, for memory that another process has allocated.

        Raises:
            InputError: arrays of another type or size, with gaps, or a stream that does not begin
                at a multiple of 8 bytes.
        """
        self._require_arrays(values, stream)
        items = Items(-(-self._blocks // self._run))
        words = self.size // 8
        return [self._module.launch("zfp_compress", items, values, *self._extents, stream, words)]

    def decompress(self, stream: Array, values: Array) -> list[Launch]:
        """Launches that decode `stream` into `values`; any bits are some values.

        Raises:
            InputError: arrays of another type or size, with gaps, or a stream that does not begin
                at a multiple of 8 bytes.
        """
        self._require_arrays(values, stream)
        items, words = Items(self._blocks), self.size // 8
        return [self._module.launch("zfp_decompress", items, stream, words, values, *self._extents)]

    @property
    def _extents(self) -> tuple[int, ...]:
        """Points along x, y, z; of strips, how many there are in place of y."""
        if self._strips:
            return self.shape[0], self._strips, 1
        return (*self.shape[::-1], 1, 1)[:MOST_AXES]

    def _require_arrays(self, values: Array, stream: Array | int) -> None:
        if self._strips or isinstance(stream, int):
            return
        if str(values.dtype) != self.dtype or values.size != prod(self.shape):
            raise InputError(
                f"values are {values.size} of type {values.dtype}; this code is for "
                f"{prod(self.shape)} of type {self.dtype}: make one for each shape and type"
            )
        if stream.nbytes < self.size:
            raise InputError(f"a stream of {stream.nbytes} bytes; at least {self.size} are needed")
        if not (values.flags.c_contiguous and stream.flags.c_contiguous):
            raise InputError("values and stream must have no gaps; copy them into new arrays")
        require_aligned(self._backend, stream, 8)


def block_bits(dtype: str, axes: int, rate: float) -> int:
    """Bits of a block of 4^axes values at so many bits a value.

    Raises:
        InputError: no whole number, too few for an exponent, or more than blocks can use.
    """
    bits, least = rate * 4**axes, LEAST_BITS[dtype]
    most = SLACK * WIDTH[dtype]
    if not least / 4**axes <= rate <= most or bits != int(bits):
        raise InputError(
            f"rate = {rate}: allowed are {least / 4**axes:g} to {most} bits a value, in steps of "
            f"1/{4**axes}, for {dtype} along {axes} axes"
        )
    return int(bits)


def zfp_source(dtype: str, axes: int, bits: int, *, strips: bool = False) -> Source:
    """The kernels for values of a type, in blocks of so many axes and bits."""
    words = precision(dtype)
    return Source(SOURCE, {**words, "ZFP_DIMS": axes, "ZFP_BITS": bits, "STRIPS": strips})


def _require(dtype: str, shape: tuple[int, ...]) -> None:
    if dtype not in WIDTH:
        raise InputError(f"values of type {dtype} cannot be coded; allowed: {', '.join(WIDTH)}")
    if not 1 <= len(shape) <= MOST_AXES or min(shape) < 1:
        raise InputError(f"an array of shape {shape}; allowed: 1 to {MOST_AXES} axes with points")
