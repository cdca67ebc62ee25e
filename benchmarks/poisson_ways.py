"""How fast a GPU's threads work on elements in each of the ways, by degree.

    python benchmarks/poisson_ways.py --degrees 7 15 --dtype float64

Prints, for each degree, metric and way, microseconds, and the least traffic's share of that, at the
rate of a streaming kernel. The best ones belong into solvers/poisson/ways.py.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from itertools import product
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from groundswell.backends import Backend, open_backend
from groundswell.backends.base import in_order
from groundswell.errors import GroundswellError
from groundswell.exchange.world import Alone
from groundswell.solvers.poisson.benchmarks.problems import SCREENING, Cubes
from groundswell.solvers.poisson.benchmarks.speed import streaming_rate
from groundswell.solvers.poisson.operator import operator_source
from groundswell.spectral_elements.elements import METRICS, Elements
from groundswell.spectral_elements.kernel_variants import (
    PENCILS,
    SLICES,
    TENSOR,
    Way,
    threads_of_element,
)
from groundswell.spectral_elements.roofline import stored_factors

NAMES = {SLICES: "slices", TENSOR: "tensor", PENCILS: "pencils"}
TIMES = 10


@dataclass(frozen=True)
class Work:
    """What all of the ways do: the operator for vectors of a type."""

    backend: str
    dtype: str
    screening: float
    components: int

    def build(self, degree: int, metric: str, way: Way) -> Path | None:
        """The kernel, into the cache; None if the compiler refuses it."""
        given = (self.dtype, degree, self.screening, metric, way, self.components)
        try:
            return open_backend(self.backend).build(operator_source(*given))
        except GroundswellError:
            return None

    def ways(
        self, degree: int, metric: str, shapes: Iterable[int], planes: Iterable[int]
    ) -> Iterator[Way]:
        """Blocks of 64 to 512 threads; with limits on registers where there are many.

        Rings only where a processor has shared memory for that of all blocks.
        """
        n, size = degree + 1, np.dtype(self.dtype).itemsize
        factors = stored_factors(metric, self.screening)
        for shape in shapes:
            threads = threads_of_element(shape, degree)
            ringed = metric == "stored" and shape != SLICES
            rings = sorted({min(ring, n) for ring in planes}) if ringed else [0]
            if shape == TENSOR and (self.dtype, n > 4) != ("float64", True):
                continue
            for elements in (1, 2, 3, 4, 5, 6, 8, 12, 14, 16, 32):
                alone = shape == TENSOR and n > 8  # several warps of an element meet as a block
                if not 48 <= elements * threads <= 512 or (alone and elements > 1):
                    continue
                limited = (0, *limits(elements * threads))
                for blocks, ring in product(limited, rings):
                    way = Way(shape, elements, blocks, ring)
                    if way.fits(degree, size, factors):
                        yield way

    def measured(
        self, backend: Backend, cubes: Cubes, metric: str, which: Iterable[Way]
    ) -> Iterator[tuple[float, str]]:
        """Seconds of a launch for all elements, in each of the ways that can be launched."""
        everyone = np.arange(cubes.box.count)
        values = (n // self.components for n in (cubes.assembled, cubes.local))
        x, y = (backend.zeros((self.components, n), self.dtype) for n in values)
        backend.assign(x, np.broadcast_to(cubes.load.astype(self.dtype), x.shape))
        elements = Elements(backend, cubes.space, self.screening, self.dtype, metric=metric)
        for way in which:
            elements.way = way
            energies = backend.zeros((elements.blocks(everyone),), "f8")
            told = (
                f"{NAMES[way.shape]} {way.elements} elements, {way.blocks} blocks, "
                f"ring of {way.ring}"
            )
            try:
                run = in_order(elements.launches(everyone, x, y, energies) * TIMES)
                run()
                yield min(backend.seconds(run) for _ in range(3)) / TIMES, told
            except Exception as error:  # a launch that the driver refuses
                print(f"N={cubes.degree} {metric} {told}: {error}")


def main() -> None:
    """Every way of every degree."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--degrees", type=int, nargs="*", default=range(1, 16))
    parser.add_argument("--dtype", choices=("float64", "float32"), default="float64")
    parser.add_argument("--metrics", nargs="*", default=list(METRICS))
    parser.add_argument("--screening", type=float, default=SCREENING, help="1/m^2")
    parser.add_argument("--components", type=int, default=1, help="of vectors")
    parser.add_argument("--dofs", type=float, default=4e6, help="of a component")
    parser.add_argument("--backend", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--shapes", choices=NAMES.values(), nargs="*", default=list(NAMES.values()))
    parser.add_argument("--ring", type=int, nargs="*", default=[0], help="planes; see Way.ring")
    parser.add_argument("--best", type=int, default=1000, help="how many of each to print")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="that compile")
    chosen = parser.parse_args()
    work = Work(chosen.backend, chosen.dtype, chosen.screening, chosen.components)
    shapes = [shape for shape, name in NAMES.items() if name in chosen.shapes]
    tried = {
        (degree, metric): list(work.ways(degree, metric, shapes, chosen.ring))
        for degree, metric in product(chosen.degrees, chosen.metrics)
    }
    every = [(*kind, way) for kind, which in tried.items() for way in which]
    with ProcessPoolExecutor(chosen.processes, get_context("spawn")) as pool:
        built = [pool.submit(work.build, *one) for one in every]
        refused = {one for one, done in zip(every, built, strict=True) if done.result() is None}
    backend = open_backend(chosen.backend)
    rate = streaming_rate(backend, 1 << 24)
    print(f"streaming rate {rate / 1e9:,.0f} GB/s; {len(refused)} of {len(every)} refused")
    for (degree, metric), which in tried.items():
        cubes = Cubes.on(backend, Alone(), degree, max(1, round(chosen.dofs ** (1 / 3) / degree)))
        cubes = replace(cubes, screening=work.screening, components=work.components)
        traffic = replace(cubes.traffic(metric), size=np.dtype(work.dtype).itemsize)
        left = [way for way in which if (degree, metric, way) not in refused]
        for seconds, told in sorted(work.measured(backend, cubes, metric, left))[: chosen.best]:
            share = traffic.operator / seconds / rate
            print(f"N={degree} {metric} {told}: {1e6 * seconds:.1f} us, {100 * share:.0f} %")


def limits(threads: int) -> Iterator[int]:
    """Blocks a processor that leave a thread 64, 96, 128 or 168 registers."""
    yield from sorted({65536 // (threads * registers) for registers in (64, 96, 128, 168)} - {0})


if __name__ == "__main__":
    main()
