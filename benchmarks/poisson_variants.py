"""Measures every variant of the Poisson operator's kernel on a GPU, by degree.

    python benchmarks/poisson_variants.py --degrees 7 15 --dtype float64

Prints the time for each degree, metric and variant, and the share of it that the least traffic
takes at the rate of a streaming kernel. The best ones belong in solvers/poisson/kernel_variants.py.
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
from groundswell.exchange.communicator import SerialCommunicator
from groundswell.solvers.poisson.benchmarks.problems import SCREENING, Cubes
from groundswell.solvers.poisson.benchmarks.speed import streaming_rate
from groundswell.solvers.poisson.coefficients import Coefficients
from groundswell.solvers.poisson.element_operator import (
    METRICS,
    ElementOperator,
    operator_source,
)
from groundswell.solvers.poisson.kernel_variants import OperatorVariant
from groundswell.solvers.poisson.roofline import stored_factors
from groundswell.spectral_elements.kernel_variants import (
    PENCILS,
    SLICES,
    TENSOR_CORES,
    threads_per_element,
)

NAMES = {SLICES: "slices", TENSOR_CORES: "tensor", PENCILS: "pencils"}
TIMES = 10


@dataclass(frozen=True)
class Work:
    """The operator for vectors of a type, which all variants apply."""

    backend: str
    dtype: str
    screening: float
    components: int

    def build(self, degree: int, metric: str, variant: OperatorVariant) -> Path | None:
        """The kernel, into the cache; None if the compiler refuses it."""
        given = (self.dtype, degree, self.screening, metric, variant, self.components)
        try:
            return open_backend(self.backend).build(operator_source(*given))
        except GroundswellError:
            return None

    def variants(
        self, degree: int, metric: str, layouts: Iterable[int], planes: Iterable[int]
    ) -> Iterator[OperatorVariant]:
        """Blocks of 64 to 512 threads; with limits on registers where there are many.

        Rings only where a processor has shared memory for that of all blocks.
        """
        n, size = degree + 1, np.dtype(self.dtype).itemsize
        factors = stored_factors(metric, self.screening)
        for layout in layouts:
            threads = threads_per_element(layout, degree)
            ringed = metric == "stored" and layout != SLICES
            rings = sorted({min(ring, n) for ring in planes}) if ringed else [0]
            if layout == TENSOR_CORES and (self.dtype, n > 4) != ("float64", True):
                continue
            for elements in (1, 2, 3, 4, 5, 6, 8, 12, 14, 16, 32):
                alone = layout == TENSOR_CORES and n > 8  # an element has several warps
                if not 48 <= elements * threads <= 512 or (alone and elements > 1):
                    continue
                limited = (0, *limits(elements * threads))
                for blocks, ring in product(limited, rings):
                    variant = OperatorVariant(layout, elements, blocks, ring)
                    if variant.fits(degree, size, factors):
                        yield variant

    def measured(
        self, backend: Backend, cubes: Cubes, metric: str, chosen: Iterable[OperatorVariant]
    ) -> Iterator[tuple[float, str]]:
        """Seconds of a launch for all elements, with each variant that can be launched."""
        everyone = np.arange(cubes.box.count)
        values = (n // self.components for n in (cubes.assembled, cubes.local))
        x, y = (backend.zeros((self.components, n), self.dtype) for n in values)
        backend.assign(x, np.broadcast_to(cubes.load.astype(self.dtype), x.shape))
        elements = ElementOperator(
            backend, cubes.space, Coefficients.screened(self.screening), self.dtype, metric=metric
        )
        for variant in chosen:
            elements.variant = variant
            energies = backend.zeros((elements.blocks(everyone),), "f8")
            told = (
                f"{NAMES[variant.layout]} {variant.elements} elements, {variant.blocks} blocks, "
                f"ring of {variant.ring}"
            )
            try:
                run = in_order(elements.launches(everyone, x, y, energies) * TIMES)
                run()
                yield min(backend.measure_seconds(run) for _ in range(3)) / TIMES, told
            except Exception as error:  # a launch that the driver refuses
                print(f"N={cubes.degree} {metric} {told}: {error}")


def main() -> None:
    """Every variant of every degree."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--degrees", type=int, nargs="*", default=range(1, 16))
    parser.add_argument("--dtype", choices=("float64", "float32"), default="float64")
    parser.add_argument("--metrics", nargs="*", default=list(METRICS))
    parser.add_argument("--screening", type=float, default=SCREENING, help="1/m^2")
    parser.add_argument("--components", type=int, default=1, help="of vectors")
    parser.add_argument("--dofs", type=float, default=4e6, help="of a component")
    parser.add_argument("--backend", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument(
        "--layouts", choices=NAMES.values(), nargs="*", default=list(NAMES.values())
    )
    parser.add_argument("--ring", type=int, nargs="*", default=[0], help="planes")
    parser.add_argument("--best", type=int, default=1000, help="how many of each to print")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="that compile")
    chosen = parser.parse_args()
    work = Work(chosen.backend, chosen.dtype, chosen.screening, chosen.components)
    layouts = [layout for layout, name in NAMES.items() if name in chosen.layouts]
    tried = {
        (degree, metric): list(work.variants(degree, metric, layouts, chosen.ring))
        for degree, metric in product(chosen.degrees, chosen.metrics)
    }
    every = [(*kind, variant) for kind, each in tried.items() for variant in each]
    with ProcessPoolExecutor(chosen.processes, get_context("spawn")) as pool:
        built = [pool.submit(work.build, *one) for one in every]
        refused = {one for one, done in zip(every, built, strict=True) if done.result() is None}
    backend = open_backend(chosen.backend)
    rate = streaming_rate(backend, 1 << 24)
    print(f"streaming rate {rate / 1e9:,.0f} GB/s; {len(refused)} of {len(every)} refused")
    for (degree, metric), variants in tried.items():
        cubes = Cubes.on(
            backend, SerialCommunicator(), degree, max(1, round(chosen.dofs ** (1 / 3) / degree))
        )
        cubes = replace(cubes, screening=work.screening, components=work.components)
        traffic = replace(cubes.traffic(metric), size=np.dtype(work.dtype).itemsize)
        left = [variant for variant in variants if (degree, metric, variant) not in refused]
        for seconds, told in sorted(work.measured(backend, cubes, metric, left))[: chosen.best]:
            share = traffic.operator / seconds / rate
            print(f"N={degree} {metric} {told}: {1e6 * seconds:.1f} us, {100 * share:.0f} %")


def limits(threads: int) -> Iterator[int]:
    """Blocks a processor that leave a thread 64, 96, 128 or 168 registers."""
    yield from sorted({65536 // (threads * registers) for registers in (64, 96, 128, 168)} - {0})


if __name__ == "__main__":
    main()
