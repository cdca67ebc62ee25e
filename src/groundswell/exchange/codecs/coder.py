"""Codecs of messages, by the names that users give them.

- "mpc": lossless; the length of a stream depends on the values.
- "zfp3" to "zfp64": lossy, with this number of bits per value; streams have a fixed length.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

from groundswell.backends import Backend, Launch
from groundswell.backends.base import Array, Event
from groundswell.errors import InputError
from groundswell.exchange.codecs.mpc import Mpc
from groundswell.exchange.codecs.zfp import Zfp

VARIABLE_LENGTH = ("mpc",)  # codecs whose streams have a length that only the device knows
LOSSLESS = ("none", *VARIABLE_LENGTH)
_ZFP = re.compile(r"zfp([1-9]\d?)")


class Coder(Protocol):
    """Encoder and decoder of one message, whose values are in strips (see strips.py).

    Attributes:
        capacity: largest possible length of a stream, bytes.
        used: length of the last encoded stream, bytes, int64, (1,), on the device; None if all
            streams have length `capacity`.
    """

    capacity: int
    used: Array | None

    def encode(self, strips: Array, stream: Array | int) -> list[Launch]:
        """Launches that encode values.

        Args:
            strips: the table of the values, (strips, 8), on the device.
            stream: at least `capacity` bytes, aligned to 8 bytes: an array, or an address, which
                may be in memory of another process.
        """

    def decode(self, stream: Array | int, strips: Array) -> list[Launch]:
        """Launches that decode a stream, of at most `capacity` bytes, into values."""

    def fault(self, after: Event | None) -> str:
        """What is wrong with any stream decoded so far, or "" if they are all intact."""


def coder(name: str, backend: Backend, dtype: str, sizes: Sequence[int]) -> Coder:
    """The codec of this name for messages whose strips have these numbers of values.

    Args:
        dtype: "float32" or "float64".
        sizes: see strips.strip_sizes.

    Raises:
        InputError: there is no such codec, or the message is too long for it.
    """
    if name == "mpc":
        return Mpc(backend, dtype, sizes)
    return Zfp(backend, dtype, sizes, rate_of(name))


def require_codec(name: str) -> str:
    """The name, if there is such a codec; raises InputError otherwise."""
    if name not in LOSSLESS:
        rate_of(name)
    return name


def rate_of(name: str) -> int:
    """Bits per value of a lossy codec.

    Raises:
        InputError: there is no such codec.
    """
    found = _ZFP.fullmatch(name) if isinstance(name, str) else None
    if found is None or not 3 <= int(found[1]) <= 64:
        raise InputError(
            f"codec {name!r} does not exist; allowed: {', '.join(LOSSLESS)}, and zfp3 to zfp64, "
            "such as zfp16 for 16 bits per value"
        )
    return int(found[1])
