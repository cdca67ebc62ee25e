"""Codecs of messages, by the names that users give them.

- "mpc": without loss; streams are as long as their content wants.
- "zfp8", "zfp16", ...: so many bits a value; streams have a fixed length.
- "bitcomp", "ans": nvCOMP's, without loss, for comparison; on GPUs, where it is installed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

from groundswell.backends import Backend, Launch
from groundswell.backends.base import Array, Event
from groundswell.backends.nvcomp import ALGORITHMS
from groundswell.errors import InputError
from groundswell.exchange.codecs.mpc import VERDICTS, Mpc
from groundswell.exchange.codecs.nvcomp import NvCompCoder
from groundswell.exchange.codecs.strips import STRIP
from groundswell.exchange.codecs.zfp import Zfp

FOREIGN = tuple(ALGORITHMS)
ANY_LENGTH = ("mpc", *FOREIGN)  # the device alone knows how long their streams are
LOSSLESS = ("none", *ANY_LENGTH)
_ZFP = re.compile(r"zfp([1-9]\d?)")


class Coder(Protocol):
    """One message's streams.

    Attributes:
        capacity: bytes that a stream can need.
        used: bytes that the last one has, on the device; None if all have `capacity`.
        in_graph: whether a graph of launches may hold its own.
    """

    capacity: int
    used: Array | None
    in_graph: bool

    def encode(self, strips: Array, stream: Array | int) -> list[Launch]:
        """Launches that code strips in a stream: an array, or an address."""

    def decode(self, stream: Array | int, strips: Array) -> list[Launch]:
        """Launches that decode a stream, an array or an address, into strips."""

    def fault(self, after: Event | None) -> str:
        """What was wrong with any of the streams decoded so far; nothing as a rule."""


class MpcCoder:
    """Streams without loss."""

    in_graph = True

    def __init__(self, backend: Backend, dtype: str, sizes: Sequence[int]) -> None:
        self._backend = backend
        self._code = Mpc(backend, dtype, STRIP * (len(sizes) - 1) + sizes[-1], strips=True)
        self.capacity, self.used = self._code.capacity, self._code.used
        self.encode, self.decode = self._code.compress, self._code.decompress

    def fault(self, after: Event | None) -> str:
        """What the decoder has noticed."""
        verdict = int(self._backend.to_host(self._code.verdict, after)[0])
        return VERDICTS[verdict] if verdict else ""


class ZfpCoder:
    """Streams of a fixed rate."""

    used = None
    in_graph = True

    def __init__(self, backend: Backend, dtype: str, sizes: Sequence[int], rate: int) -> None:
        values = 4 * sum(-(-size // 4) for size in sizes)
        code = Zfp(backend, dtype, values, rate, strips=len(sizes))
        self.capacity, self.encode, self.decode = code.size, code.compress, code.decompress

    def fault(self, after: Event | None) -> str:
        """Any bits are some values."""
        return ""


def coder(name: str, backend: Backend, dtype: str, sizes: Sequence[int]) -> Coder:
    """The codec of that name for messages of strips of so many values.

    Raises:
        InputError: there is no such codec, or not for such values.
        BackendError: it is not installed, or needs a GPU.
    """
    if name in FOREIGN:
        return NvCompCoder(backend, name, dtype, sizes)
    if name == "mpc":
        return MpcCoder(backend, dtype, sizes)
    return ZfpCoder(backend, dtype, sizes, rate_of(name))


def require_codec(name: str) -> str:
    """The name, if a codec has it; raises InputError."""
    if name not in LOSSLESS:
        rate_of(name)
    return name


def rate_of(name: str) -> int:
    """Bits of a value of a codec with loss.

    Raises:
        InputError: there is no such codec.
    """
    found = _ZFP.fullmatch(name) if isinstance(name, str) else None
    if found is None or not 3 <= int(found[1]) <= 64:
        raise InputError(
            f"codec {name!r} does not exist; allowed: {', '.join(LOSSLESS)}, and zfp3 to zfp64, "
            "zfp16 for 16 bits a value"
        )
    return int(found[1])
