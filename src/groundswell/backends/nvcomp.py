"""NVIDIA's nvCOMP: codes without loss whose sources are closed, to be compared with ours."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundswell.backends.base import Array
from groundswell.errors import BackendError

ALGORITHMS = {"bitcomp": "Bitcomp", "ans": "ANS"}  # nvCOMP's names, by ours
CHUNK = 1 << 16  # bytes that it codes together, unless told otherwise
SPARE = 1 << 13  # bytes that it may add to each of these


class NvComp:
    """A code of arrays of one size.

    Streams are nvCOMP's native ones, and begin with a header: bytes 8 to 15 are the length of what
    follows it, bytes 40 to 43 its own.

    Args:
        backend: of CUDA.
        name: in ALGORITHMS.
        dtype: "float32" or "float64".
        size: bytes of an array.

    Attributes:
        capacity: bytes that a stream can need.

    Raises:
        BackendError: nvCOMP is not installed, or the backend has no GPU.
    """

    def __init__(self, backend: Any, name: str, dtype: str, size: int) -> None:
        if backend.on_host:
            raise BackendError(
                f"codec {name!r} is nvCOMP's, for GPUs; take mpc, which runs anywhere"
            )
        self._module, self._backend = _nvcomp(name), backend
        kind = "|u1" if (name, dtype) == ("ans", "float64") else np.dtype(dtype).str
        self._options = {"algorithm": ALGORITHMS[name], "data_type": kind}
        self._size, self._codecs = size, dict[int, Any]()
        self.capacity = -(-size // CHUNK) * (CHUNK + SPARE) + SPARE

    def compress(self, values: Array, stream: Array) -> None:
        """Enqueue the code of `values` in `stream`, of `capacity` bytes."""
        codec, configuration, _ = self._codec()
        codec.encode(self._module.as_array(values), out=stream, compression_config=configuration)

    def decompress(self, stream: Array, values: Array) -> None:
        """Enqueue the values of a stream."""
        codec, _, configuration = self._codec()
        codec.decode(self._module.as_array(stream), out=values, decompression_config=configuration)

    def _codec(self) -> Any:
        """What works in the current stream, without asking the device anything."""
        where = int(self._backend.stream.ptr)
        if where not in self._codecs:
            codec = self._module.Codec(cuda_stream=where, **self._options)
            forth = codec.compression_config(self._size)
            self._codecs[where] = codec, forth, codec.decompression_config(forth)
        return self._codecs[where]


def stream_length(header: NDArray[np.uint8]) -> int:
    """Bytes of a stream that begins with these, 44 or more."""
    return int(header[8:16].view(np.uint64)[0] + header[40:44].view(np.uint32)[0])


def installed() -> bool:
    """Whether nvCOMP can be imported."""
    try:
        _nvcomp("")
    except BackendError:
        return False
    return True


def _nvcomp(name: str) -> Any:
    try:
        from nvidia import nvcomp
    except ImportError as error:
        raise BackendError(
            f"codec {name!r} needs nvCOMP ({error}): pip install nvidia-nvcomp-cu13, or -cu12"
        ) from error
    return nvcomp
