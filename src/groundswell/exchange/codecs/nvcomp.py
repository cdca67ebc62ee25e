"""Messages coded by nvCOMP, for comparison: packed first, because it knows arrays only."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from groundswell.backends import Backend, Blocks, Launch, Source
from groundswell.backends.base import Array, Event
from groundswell.backends.nvcomp import NvComp
from groundswell.backends.source import precision
from groundswell.exchange.codecs.strips import STRIP

SOURCE = Path(__file__).with_name("packed.h")
THREADS = 256


class NvCompCoder:
    """Streams of Bitcomp or ANS; a `codecs.coder.Coder`."""

    in_graph = False  # it may allocate memory when it likes

    def __init__(self, backend: Backend, name: str, dtype: str, sizes: Sequence[int]) -> None:
        self._strips = len(sizes)
        self._values = backend.zeros((STRIP * len(sizes),), dtype)
        self._code = NvComp(backend, name, dtype, self._values.nbytes)
        self._module = backend.compile(packed_source(dtype))
        self.capacity, self.used = self._code.capacity, backend.zeros((1,), np.int64)

    def encode(self, strips: Array, stream: Array | int) -> list[Launch]:
        """See `Coder`."""
        assert not isinstance(stream, int), "it reads what it has written, so not across a link"
        return [
            self._each("pack_strips", strips, self._strips, self._values),
            lambda: self._code.compress(self._values, stream),
            self._module.launch("measure_stream", Blocks(1, 32), stream, self.used),
        ]

    def decode(self, stream: Array, strips: Array) -> list[Launch]:
        """See `Coder`."""
        return [
            lambda: self._code.decompress(stream, self._values),
            self._each("unpack_strips", self._values, self._strips, strips),
        ]

    def fault(self, after: Event | None) -> str:
        """It says nothing of the kind."""
        return ""

    def _each(self, name: str, *arguments: object) -> Launch:
        return self._module.launch(name, Blocks(self._strips, THREADS), *arguments)


def packed_source(dtype: str) -> Source:
    """The kernels for values of a type, "float32" or "float64"."""
    return Source(SOURCE, precision(dtype))
