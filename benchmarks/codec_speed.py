"""Speed and compression ratio of the codecs of messages, and of nvCOMP's for comparison.

    python benchmarks/codec_speed.py --sizes 8 256

Prints, for each codec, data and size, the GB/s of values encoded and decoded, and the compression
ratio. Values are float32 in a contiguous array: a sum of sines, and normally distributed random
numbers. "In four streams" encodes an array in four parts at once. "bitcomp" and "ans" are nvCOMP's
lossless codecs, which is closed source (`pip install nvidia-nvcomp-cu13`); they need a GPU.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from groundswell.arrays import DeviceArray
from groundswell.backends import Backend, Launch, open_backend
from groundswell.backends.base import in_order
from groundswell.compression import Coder, coder
from groundswell.compression.strips import StridedValues, strip_sizes, strip_table

ITEMSIZE = 4  # bytes of a value
PARTS = 4
DATA = ("wave", "random")
NVCOMP = {"bitcomp": "Bitcomp", "ans": "ANS"}  # by our names
CODECS = ("mpc", "mpc in four streams", "zfp16", "zfp8", *NVCOMP)
NVCOMP_CHUNK, NVCOMP_OVERHEAD = 1 << 16, 1 << 13  # bytes; what a chunk may grow by


@dataclass(frozen=True)
class Launches:
    """Launches that encode an array and decode it into another one.

    Args:
        length: returns the bytes of the last stream.
        in_graph: whether a CUDA graph can contain the launches.
    """

    encode: list[Launch]
    decode: list[Launch]
    length: Callable[[], int]
    in_graph: bool = True


def values_of(data: str, count: int) -> Any:
    """Values of a kind, another part of the wave or other random numbers for each count."""
    if data == "random":
        return np.random.default_rng(count).normal(size=count).astype(np.float32)
    x = np.arange(count, dtype=np.float64) - 0.37 * (count % 1000)
    waves = sum(np.sin(2 * np.pi * x / n + n) / n**0.5 for n in (13.1, 31.7, 70.3, 211.9))
    return np.asarray(waves, np.float32)


def with_coder(backend: Backend, name: str, values: DeviceArray, decoded: DeviceArray) -> Launches:
    """Launches of a codec of this package."""
    code = coder(name, backend, "float32", strip_sizes([values.shape]))
    stream = backend.zeros((code.capacity,), np.uint8)
    return Launches(
        code.encode(strips_of(backend, values), stream),
        code.decode(stream, strips_of(backend, decoded)),
        lambda: length_of(backend, code),
    )


def strips_of(backend: Backend, array: DeviceArray) -> DeviceArray:
    """The table of an array's strips, on the device."""
    box = StridedValues(backend.address(array), (0, 0, ITEMSIZE), (1, 1, len(array)))
    return backend.to_device(strip_table([box]))


def length_of(backend: Backend, code: Coder) -> int:
    """Bytes of a coder's last stream."""
    return code.capacity if code.used is None else int(backend.to_host(code.used)[0])


def in_parts(backend: Backend, name: str, values: DeviceArray, decoded: DeviceArray) -> Launches:
    """The same for equal parts of the arrays, each in a stream of its own."""
    size = len(values) // PARTS
    slices = [slice(n * size, (n + 1) * size) for n in range(PARTS)]
    parts = [with_coder(backend, name, values[s], decoded[s]) for s in slices]
    return Launches(
        backend.concurrently(*(part.encode for part in parts)),
        backend.concurrently(*(part.decode for part in parts)),
        lambda: sum(part.length() for part in parts),
    )


def with_nvcomp(backend: Any, name: str, values: DeviceArray, decoded: DeviceArray) -> Launches:
    """Launches of a codec of nvCOMP, with streams in its native format.

    The configuration of the decoder derives from that of the encoder, so nothing is read from the
    device. CUDA refuses graphs of nvCOMP that keep priorities.
    """
    from nvidia import nvcomp

    cuda_stream = int(backend.stream.ptr)
    codec = nvcomp.Codec(cuda_stream=cuda_stream, algorithm=NVCOMP[name], data_type="<f4")
    encoding = codec.compression_config(values.nbytes)
    decoding = codec.decompression_config(encoding)
    chunks = -(-values.nbytes // NVCOMP_CHUNK)
    capacity = chunks * (NVCOMP_CHUNK + NVCOMP_OVERHEAD) + NVCOMP_OVERHEAD
    stream = backend.zeros((capacity,), np.uint8)

    def encode() -> None:
        codec.encode(nvcomp.as_array(values), out=stream, compression_config=encoding)

    def decode() -> None:
        codec.decode(nvcomp.as_array(stream), out=decoded, decompression_config=decoding)

    def length() -> int:  # of the data, and of the header before them
        header = backend.to_host(stream[:48])
        return int(header[8:16].view(np.uint64)[0] + header[40:44].view(np.uint32)[0])

    return Launches([encode], [decode], length, in_graph=False)


def launches_of(backend: Backend, name: str, values: DeviceArray, decoded: DeviceArray) -> Launches:
    """Launches of a codec, by its name in CODECS."""
    codec, *parts = name.split()
    if codec in NVCOMP:
        return with_nvcomp(backend, codec, values, decoded)
    return (in_parts if parts else with_coder)(backend, codec, values, decoded)


def seconds(
    backend: Backend, launches: Sequence[Launch], times: int, repeats: int, *, in_graph: bool
) -> float:
    """The shortest time of the launches, of `times` in succession."""
    run = in_order(launches)
    run()
    graph = backend.capture(run, in_graph=in_graph)
    graph.replay(times)
    return min(backend.measure_seconds(lambda: graph.replay(times)) for _ in range(repeats)) / times


def measure(
    backend: Backend, name: str, data: str, size: int, repeats: int
) -> tuple[float, float, float]:
    """GB/s of encoding and of decoding, and the compression ratio."""
    count = size // ITEMSIZE
    values, decoded = backend.to_device(values_of(data, count)), backend.zeros((count,), np.float32)
    launches = launches_of(backend, name, values, decoded)
    times = 1 if backend.on_host else int(np.clip(2**28 // size, 4, 64))
    encoding, decoding = (
        seconds(backend, steps, times, repeats, in_graph=launches.in_graph)
        for steps in (launches.encode, launches.decode)
    )
    same = backend.to_host(decoded).tobytes() == backend.to_host(values).tobytes()
    assert same or name.startswith("zfp")
    return size / encoding / 1e9, size / decoding / 1e9, size / launches.length()


def available(backend: Backend) -> list[str]:
    """The codecs that can be measured: nvCOMP's where it is installed."""
    try:
        from nvidia import nvcomp  # noqa: F401
    except ImportError:
        return [name for name in CODECS if name not in NVCOMP]
    return [name for name in CODECS if name not in NVCOMP or not backend.on_host]


def main() -> None:
    """Measure the codecs that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", default="cuda")
    parser.add_argument("--codecs", nargs="*", choices=CODECS)
    parser.add_argument("--sizes", type=float, nargs="*", help="of messages, MiB")
    parser.add_argument("--repeats", type=int, default=7)
    args = parser.parse_args()
    backend = open_backend(args.backend)
    sizes = args.sizes or [2.0**n for n in range(-4, 9)]
    print(backend.device)
    print(f"{'codec':>19} {'data':>7} {'MiB':>9} {'encode':>9} {'decode':>9} {'ratio':>6}")
    for name in args.codecs or available(backend):
        for data in DATA:
            for mebibytes in sizes:
                size = int(mebibytes * 2**20) // (PARTS * ITEMSIZE) * PARTS * ITEMSIZE
                found = "{:9.1f} {:9.1f} {:6.2f}".format(
                    *measure(backend, name, data, size, args.repeats)
                )
                print(f"{name:>19} {data:>7} {mebibytes:9.4f} {found}", flush=True)


if __name__ == "__main__":
    main()
