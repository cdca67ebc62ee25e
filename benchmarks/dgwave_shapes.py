"""Finds the fastest thread blocks of DG waves on this GPU, by kind of element and degree.

    python benchmarks/dgwave_shapes.py --kinds bricks nodal curved --degrees 4 7

Prints the entries of MEASURED in solvers/dgwave/kernel_shapes.py, each as soon as it is found, with
the speeds of the fastest shape and of the current one.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import product

from groundswell.backends import Backend, open_backend
from groundswell.backends.base import in_order
from groundswell.errors import GroundswellError
from groundswell.exchange.communicator import SerialCommunicator
from groundswell.solvers.dgwave.benchmarks.features import BRICKS, CURVED, NODAL, features, set_up
from groundswell.solvers.dgwave.benchmarks.problems import fill
from groundswell.solvers.dgwave.discretisation import Discretisation, discretise
from groundswell.solvers.dgwave.kernel_shapes import KernelShape, kernel_shape
from groundswell.solvers.dgwave.kernel_source import kernel_source
from groundswell.solvers.dgwave.propagation import Propagation
from groundswell.time_integration.low_storage import CARPENTER_KENNEDY as SCHEME

KINDS = {"bricks": BRICKS, "nodal": NODAL, "curved": CURVED}
COLUMNS = list(product((False, True), ("double", "single")))  # fluid or not, and precision
NODES = 1.7e7  # approximate number of nodes of a problem, which exceeds the cache
MAX_THREADS = 768  # of a block
# Threads on a multiprocessor; 0 for no minimum.
RESIDENT = (0, 384, 448, 512, 576, 648, 704, 768, 1024)
REPEATS = 3


def build(kind: str, degree: int, fluid: bool, precision: str) -> Discretisation:
    """A problem whose elements are of one kind."""
    cells = max(4, round(NODES ** (1 / 3) / (degree + 1)))
    content = features(cells, degree, fluid=fluid)[KINDS[kind]]
    setup = set_up(content | {"run": {"precision": precision}})
    return discretise(setup, setup.partition.elements(1, 0))


def candidates(degree: int) -> Iterator[KernelShape]:
    """Shapes that may be fast."""
    for layers, elements in product(range(1, degree + 2), (1, 2, 4, 8, 16)):
        threads = (degree + 1) ** 2 * layers * elements
        turns = -(-(degree + 1) // layers)
        wasted = turns * layers > 1.34 * (degree + 1)  # threads idle in the last turn
        if wasted or threads > MAX_THREADS or (threads < 64 and elements < 16):
            continue
        if elements > 1 and threads > 256:
            continue
        for blocks in sorted({resident // threads for resident in RESIDENT}):
            if blocks <= 16:
                yield KernelShape(layers, elements, blocks)


def measure(backend: Backend, problem: Discretisation, shape: KernelShape) -> float:
    """Unknowns per second and stage."""
    propagation = Propagation(backend, SerialCommunicator(), problem, shape=shape)
    fill(backend, propagation.u, problem.elements.numbers)
    graph = backend.capture(in_order(propagation.step))
    graph.replay(1)
    seconds = min(backend.measure_seconds(lambda: graph.replay(2)) for _ in range(REPEATS))
    unknowns = problem.elements.count * len(problem.equations.fields) * problem.nodes
    return unknowns * 2 * SCHEME.stages / seconds


def fastest(backend: Backend, problem: Discretisation) -> tuple[KernelShape, float]:
    """The fastest shape and its speed."""
    available = backend.shared_bytes_per_block
    shapes = [s for s in candidates(problem.degree) if s.shared_bytes(problem.variant) <= available]
    shapes = shapes or [KernelShape(layers, in_shared=False) for layers in (1, 2, 3)]
    for shape in shapes:  # compiles in parallel
        backend.compile(kernel_source("advance.h", problem, shape))
    found = []
    for shape in shapes:
        try:
            found.append((shape, measure(backend, problem, shape)))
        except GroundswellError as error:
            print(f"# {shape}: {error}", flush=True)
    return max(found, key=lambda each: each[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kinds", nargs="+", choices=list(KINDS), default=list(KINDS))
    parser.add_argument("--degrees", nargs="+", type=int, default=list(range(1, 16)))
    options = parser.parse_args()
    backend = open_backend("cuda")
    for kind, degree in product(options.kinds, options.degrees):
        entry, speeds = [], []
        for fluid, precision in COLUMNS:
            problem = build(kind, degree, fluid, precision)
            now = measure(backend, problem, kernel_shape(backend, problem.variant))
            shape, speed = fastest(backend, problem)
            entry.append((shape.layers, shape.elements, shape.blocks))
            speeds.append(f"{speed / 1e9:.1f} (now {now / 1e9:.1f})")
        print(f"{degree}: {tuple(entry)},  # {kind}: GDOF/s {', '.join(speeds)}", flush=True)


if __name__ == "__main__":
    main()
