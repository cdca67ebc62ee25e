"""Compression of floating-point numbers in device memory, by codecs with names:

- "mpc": lossless; the length of a stream depends on the values.
- "zfp3" to "zfp64": lossy, with this number of bits per value; streams have a fixed length.

    code = coder("mpc", backend, "float32", strip_sizes([box.shape]))
    table = backend.to_device(strip_table([box]))
    launches = code.encode(table, stream)

Codecs read and write values in boxes of memory with any strides, so encoding includes packing, and
decoding includes unpacking.
"""

from __future__ import annotations

from collections.abc import Sequence

from groundswell.backends import Backend
from groundswell.compression.base import Coder
from groundswell.compression.mpc import Mpc
from groundswell.compression.zfp import Zfp
from groundswell.errors import InputError

VARIABLE_LENGTH = ("mpc",)  # codecs with stream lengths that only the device knows
LOSSLESS = ("none", *VARIABLE_LENGTH)
LOSSY = tuple(f"zfp{rate}" for rate in range(3, 65))
TYPES = ("float32", "float64")


def require_codec(name: str) -> str:
    """Check the name of a codec, or "none"; raises InputError if it does not exist."""
    if name not in LOSSLESS + LOSSY:
        raise InputError(
            f"codec {name!r} does not exist; allowed: {', '.join(LOSSLESS)}, and zfp3 to zfp64, "
            "such as zfp16 for 16 bits per value"
        )
    return name


def coder(name: str, backend: Backend, dtype: str, sizes: Sequence[int]) -> Coder:
    """The codec of this name for a fixed number of values.

    Args:
        dtype: one of TYPES.
        sizes: numbers of values of the strips, see `strips.strip_sizes`.

    Raises:
        InputError: the codec does not exist, or there are too many values for it.
    """
    if require_codec(name) == "mpc":
        return Mpc(backend, dtype, sizes)
    return Zfp(backend, dtype, sizes, int(name.removeprefix("zfp")))
