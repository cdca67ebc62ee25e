"""How fast messages are coded, and how much shorter they become.

    python benchmarks/codecs.py --sizes 8 256

Prints, for each code, data and size, GB/s of values coded and decoded, and the ratio of lengths.
Values are float32 along a line: a travelling sum of sines, and normal random numbers.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np

from groundswell.backends import Backend, Launch, open_backend
from groundswell.backends.base import in_order
from groundswell.exchange.codecs import Mpc, Zfp

BYTES = 4  # of a value
DATA = ("wave", "random")
CODES = ("MPC", "MPC in three", "ZFP 16", "ZFP 8")


def values_of(data: str, count: int) -> Any:
    """Values that begin at another place of the wave, or of the random numbers, for each count."""
    if data == "random":
        return np.random.default_rng(count).normal(size=count).astype(np.float32)
    x = np.arange(count, dtype=np.float64) - 0.37 * (count % 1000)
    waves = sum(np.sin(2 * np.pi * x / n + n) / n**0.5 for n in (13.1, 31.7, 70.3, 211.9))
    return np.asarray(waves, np.float32)


def code_of(name: str, backend: Backend, count: int) -> Any:
    """A code by the name that the table has for it."""
    kind, *rest = name.split()
    if kind == "MPC":
        return Mpc(backend, "float32", count, at_once=False if rest else None)
    return Zfp(backend, "float32", (count,), int(rest[0]))


def seconds(backend: Backend, launches: Sequence[Launch], times: int, repeats: int) -> float:
    """The shortest time of one run of all launches, of `times` in a recorded row."""
    all_of_them = in_order(launches)
    all_of_them()
    graph = backend.capture(all_of_them)
    graph.replay(times)
    return min(backend.seconds(lambda: graph.replay(times)) for _ in range(repeats)) / times


def measure(
    backend: Backend, name: str, data: str, size: int, repeats: int
) -> tuple[float, float, float]:
    """GB/s of compression and decompression, and the ratio."""
    count = size // BYTES
    code = code_of(name, backend, count)
    values, back = backend.to_device(values_of(data, count)), backend.zeros((count,), np.float32)
    room = code.capacity if isinstance(code, Mpc) else code.size
    stream = backend.zeros((room,), np.uint8)
    times = 1 if backend.on_host else int(np.clip(2**28 // size, 4, 64))
    there, home = code.compress(values, stream), code.decompress(stream, back)
    spent = [seconds(backend, launches, times, repeats) for launches in (there, home)]
    used = int(backend.to_host(code.used)[0]) if isinstance(code, Mpc) else code.size
    return size / spent[0] / 1e9, size / spent[1] / 1e9, size / used


def main() -> None:
    """Measure every code that was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", default="cuda")
    parser.add_argument("--codes", nargs="*", default=CODES, choices=CODES)
    parser.add_argument("--sizes", type=float, nargs="*", help="of messages, MiB")
    parser.add_argument("--repeats", type=int, default=7)
    args = parser.parse_args()
    backend = open_backend(args.backend)
    sizes = args.sizes or [2.0**n for n in range(-4, 9)]
    print(backend.device)
    print(f"{'code':>13} {'data':>7} {'MiB':>9} {'compress':>9} {'decompress':>10} {'ratio':>6}")
    for name in args.codes:
        for data in DATA:
            for mebibytes in sizes:
                size = int(mebibytes * 2**20) // BYTES * BYTES
                there, home, ratio = measure(backend, name, data, size, args.repeats)
                print(
                    f"{name:>13} {data:>7} {mebibytes:9.4f} {there:9.1f} {home:10.1f} {ratio:6.2f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
