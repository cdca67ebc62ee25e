"""Lossless codecs of NVIDIA's nvCOMP, which is closed source, for comparison with ours."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundswell.backends.base import Array
from groundswell.errors import BackendError

ALGORITHMS = {"bitcomp": "Bitcomp", "ans": "ANS"}  # our names, nvCOMP's names
CHUNK = 1 << 16  # nvCOMP's default chunk size, bytes
CHUNK_OVERHEAD = 1 << 13  # bytes that a chunk may grow by


class NvComp:
    """A codec for arrays of one size.

    A compressed stream has nvCOMP's native format. It starts with a header: bytes 8 to 15 contain
    the length of the data that follows, bytes 40 to 43 the length of the header.

    Args:
        backend: a CUDA backend.
        name: a key of ALGORITHMS.
        dtype: "float32" or "float64".
        size: of an array, bytes.

    Attributes:
        capacity: largest possible size of a compressed stream, bytes.

    Raises:
        BackendError: nvCOMP is not installed, or the backend has no GPU.
    """

    def __init__(self, backend: Any, name: str, dtype: str, size: int) -> None:
        if backend.on_host:
            raise BackendError(
                f"codec {name!r} is part of nvCOMP and needs a GPU; use mpc, which runs anywhere"
            )
        self._module, self._backend = _nvcomp(name), backend
        kind = "|u1" if (name, dtype) == ("ans", "float64") else np.dtype(dtype).str
        self._options = {"algorithm": ALGORITHMS[name], "data_type": kind}
        self._size, self._codecs = size, dict[int, Any]()
        self.capacity = -(-size // CHUNK) * (CHUNK + CHUNK_OVERHEAD) + CHUNK_OVERHEAD

    def compress(self, values: Array, stream: Array) -> None:
        """Enqueue the compression of `values` into `stream`, (capacity,)."""
        codec, configuration, _ = self._codec()
        codec.encode(self._module.as_array(values), out=stream, compression_config=configuration)

    def decompress(self, stream: Array, values: Array) -> None:
        """Enqueue the decompression of `stream` into `values`."""
        codec, _, configuration = self._codec()
        codec.decode(self._module.as_array(stream), out=values, decompression_config=configuration)

    def _codec(self) -> Any:
        """Codec, and its configurations for compression and decompression, for the current stream.

        The second is derived from the first, so nothing has to be read from the device.
        """
        stream = int(self._backend.stream.ptr)
        if stream not in self._codecs:
            codec = self._module.Codec(cuda_stream=stream, **self._options)
            compression = codec.compression_config(self._size)
            decompression = codec.decompression_config(compression)
            self._codecs[stream] = codec, compression, decompression
        return self._codecs[stream]


def stream_length(header: NDArray[np.uint8]) -> int:
    """Length in bytes of the compressed stream with this header, at least 44 bytes."""
    return int(header[8:16].view(np.uint64)[0] + header[40:44].view(np.uint32)[0])


def is_installed() -> bool:
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
