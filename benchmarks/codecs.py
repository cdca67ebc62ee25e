"""How fast messages are coded, and how much shorter they become.

    python benchmarks/codecs.py --sizes 8 256

Prints, for each code, data and size, GB/s of values coded and decoded, and the ratio of lengths.
Values are float32 along a line: a travelling sum of sines, and normal random numbers. "In three"
are launches that need no blocks that wait for each other; "in four streams" is a message in four
parts, at once; bitcomp and ans are nvCOMP's, where it is installed.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from groundswell.backends import Backend, Launch, open_backend
from groundswell.backends.base import in_order
from groundswell.backends.nvcomp import ALGORITHMS as OTHERS
from groundswell.backends.nvcomp import NvComp, is_installed, stream_length
from groundswell.exchange.codecs import Mpc, Zfp

BYTES = 4  # of a value
PARTS = 4 * BYTES  # what sizes are multiples of
DATA = ("wave", "random")
CODES = ("MPC", "MPC in three", "MPC in four streams", "ZFP 16", "ZFP 8", "bitcomp", "ans")


def values_of(data: str, count: int) -> Any:
    """Values that begin at another place of the wave, or of the random numbers, for each count."""
    if data == "random":
        return np.random.default_rng(count).normal(size=count).astype(np.float32)
    x = np.arange(count, dtype=np.float64) - 0.37 * (count % 1000)
    waves = sum(np.sin(2 * np.pi * x / n + n) / n**0.5 for n in (13.1, 31.7, 70.3, 211.9))
    return np.asarray(waves, np.float32)


Codes = Callable[[Any, Any], list[Launch]]
Length = Callable[[Any], int]  # of the stream that was coded last


def code_of(name: str, backend: Backend, count: int) -> tuple[Codes, Codes, int, Length]:
    """What codes and decodes, by the table's name; room for streams, and how long the last was."""
    kind, *rest = name.split()
    if kind in OTHERS:
        other = NvComp(backend, kind, "float32", BYTES * count)
        return (
            lambda values, stream: [lambda: other.compress(values, stream)],
            lambda stream, values: [lambda: other.decompress(stream, values)],
            other.capacity,
            lambda stream: stream_length(backend.to_host(stream[:48])),
        )
    if rest[-1:] == ["streams"]:
        return in_parts(backend, count, 4)
    if kind == "MPC":
        code = Mpc(backend, "float32", count, at_once=False if rest else None)
        return code.compress, code.decompress, code.capacity, lambda _: used(backend, code)
    zfp = Zfp(backend, "float32", count, int(rest[0]))
    return zfp.compress, zfp.decompress, zfp.size, lambda _: zfp.size


def in_parts(backend: Backend, count: int, parts: int) -> tuple[Codes, Codes, int, Length]:
    """MPC of equal parts of an array, each in a stream of its own."""
    codes = [Mpc(backend, "float32", count // parts) for _ in range(parts)]
    room = -(-codes[0].capacity // 128) * 128

    def beside(act: str, first: Any, second: Any) -> list[Launch]:
        def part(array: Any, n: int) -> Any:
            size = room if array.dtype == np.uint8 else count // parts
            return array[n * size : (n + 1) * size]

        return backend.concurrently(
            *(getattr(c, act)(part(first, n), part(second, n)) for n, c in enumerate(codes))
        )

    return (
        lambda values, stream: beside("compress", values, stream),
        lambda stream, values: beside("decompress", stream, values),
        room * parts,
        lambda _: sum(used(backend, code) for code in codes),
    )


def used(backend: Backend, code: Mpc) -> int:
    """Bytes of the last stream."""
    return int(backend.to_host(code.used)[0])


def seconds(
    backend: Backend, launches: Sequence[Launch], times: int, repeats: int, *, in_graph: bool
) -> float:
    """The shortest time of one run of all launches, of `times` in a recorded row."""
    all_of_them = in_order(launches)
    all_of_them()
    graph = backend.capture(all_of_them, in_graph=in_graph)
    graph.replay(times)
    return min(backend.measure_seconds(lambda: graph.replay(times)) for _ in range(repeats)) / times


def measure(
    backend: Backend, name: str, data: str, size: int, repeats: int
) -> tuple[float, float, float]:
    """GB/s of compression and decompression, and the ratio."""
    count = size // BYTES
    compress, decompress, room, length = code_of(name, backend, count)
    values, back = backend.to_device(values_of(data, count)), backend.zeros((count,), np.float32)
    stream = backend.zeros((room,), np.uint8)
    times = 1 if backend.on_host else int(np.clip(2**28 // size, 4, 64))
    there, home = compress(values, stream), decompress(stream, back)
    recorded = name not in OTHERS  # CUDA refuses graphs of nvCOMP that keep priorities
    spent = [
        seconds(backend, launches, times, repeats, in_graph=recorded) for launches in (there, home)
    ]
    stored = length(stream)
    assert backend.to_host(back).tobytes() == backend.to_host(values).tobytes() or "ZFP" in name
    return size / spent[0] / 1e9, size / spent[1] / 1e9, size / stored


def main() -> None:
    """Measure every code that was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", default="cuda")
    parser.add_argument("--codes", nargs="*", choices=CODES)
    parser.add_argument("--sizes", type=float, nargs="*", help="of messages, MiB")
    parser.add_argument("--repeats", type=int, default=7)
    args = parser.parse_args()
    backend = open_backend(args.backend)
    others = () if backend.on_host or not is_installed() else OTHERS
    codes = args.codes or [name for name in CODES if name not in OTHERS or name in others]
    sizes = args.sizes or [2.0**n for n in range(-4, 9)]
    print(backend.device)
    print(f"{'code':>19} {'data':>7} {'MiB':>9} {'compress':>9} {'decompress':>10} {'ratio':>6}")
    for name in codes:
        for data in DATA:
            for mebibytes in sizes:
                size = int(mebibytes * 2**20) // PARTS * PARTS
                there, home, ratio = measure(backend, name, data, size, args.repeats)
                print(
                    f"{name:>19} {data:>7} {mebibytes:9.4f} {there:9.1f} {home:10.1f} {ratio:6.2f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
