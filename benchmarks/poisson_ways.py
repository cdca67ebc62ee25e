"""How fast a GPU's threads work on elements in each of the ways, by degree.

    python benchmarks/poisson_ways.py --degrees 7 15 --dtype float64

Prints, for each degree, metric and way, microseconds, and the least traffic's share of that, at the
rate of a streaming kernel. The best ones belong into solvers/poisson/ways.py.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from groundswell.backends import Backend, open_backend
from groundswell.backends.base import in_order
from groundswell.bench.poisson.problems import SCREENING, Cubes
from groundswell.bench.poisson.speed import streaming_rate
from groundswell.errors import GroundswellError
from groundswell.exchange.world import Alone
from groundswell.solvers.poisson.elements import METRICS, Elements
from groundswell.solvers.poisson.ways import NODES, SLICES, TENSOR, Way

NAMES = {NODES: "nodes", SLICES: "slices", TENSOR: "tensor"}
TIMES = 10


def main() -> None:
    """Every way of every degree."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--degrees", type=int, nargs="*", default=range(1, 16))
    parser.add_argument("--dtype", choices=("float64", "float32"), default="float64")
    parser.add_argument("--metrics", nargs="*", default=list(METRICS))
    parser.add_argument("--dofs", type=float, default=4e6)
    parser.add_argument("--backend", choices=("cuda", "cpu"), default="cuda")
    chosen = parser.parse_args()
    backend = open_backend(chosen.backend)
    size = np.dtype(chosen.dtype).itemsize
    rate = streaming_rate(backend, 1 << 24)
    print(f"streaming rate {rate / 1e9:,.0f} GB/s")
    for degree in chosen.degrees:
        cubes = Cubes(Alone(), degree, max(1, round(chosen.dofs ** (1 / 3) / degree)))
        for metric in chosen.metrics:
            rows = [measured(backend, cubes, chosen.dtype, metric, way) for way in ways(degree)]
            for seconds, way in sorted((row for row in rows if row), key=lambda row: row[0]):
                share = replace(cubes.traffic(metric), size=size).operator / seconds / rate
                told = f"{NAMES[way.shape]} {way.elements} elements, {way.blocks} blocks"
                print(f"N={degree} {metric} {told}: {1e6 * seconds:.1f} us, {100 * share:.0f} %")


def ways(degree: int) -> Iterator[Way]:
    """Blocks of 64 to 512 threads; with limits on registers where there are many."""
    n = degree + 1
    of_element = {NODES: n**3, SLICES: n**2, TENSOR: n**2 // 2}
    for shape, threads in of_element.items():
        if shape == TENSOR and n not in (8, 16):
            continue
        for elements in (1, 2, 3, 4, 6, 8, 12, 16, 32):
            alone = shape == TENSOR and n == 16  # several warps of an element meet as a block
            if not 48 <= elements * threads <= 512 or (alone and elements > 1):
                continue
            for blocks in (0, *limits(elements * threads)):
                yield Way(shape, elements, blocks)


def limits(threads: int) -> Iterator[int]:
    """Blocks a processor that leave a thread 64, 80, 96, 128 or 168 registers."""
    yield from sorted(
        {65536 // (threads * registers) for registers in (64, 80, 96, 128, 168)} - {0}
    )


def measured(
    backend: Backend, cubes: Cubes, dtype: str, metric: str, way: Way
) -> tuple[float, Way] | None:
    """Seconds of a launch for all elements; None if it cannot be made."""
    everyone = np.arange(cubes.box.count)
    x, y = (backend.zeros((n,), dtype) for n in (cubes.assembled, cubes.local))
    backend.assign(x, cubes.load.astype(dtype))
    try:
        elements = Elements(backend, cubes.space, SCREENING, dtype, metric=metric, way=way)
        energies = backend.zeros((elements.blocks(everyone),), "f8")
        run = in_order(elements.launches(everyone, x, y, energies) * TIMES)
        run()
        return min(backend.seconds(run) for _ in range(3)) / TIMES, way
    except GroundswellError as error:
        print(f"{way}: {error}")
        return None


if __name__ == "__main__":
    main()
