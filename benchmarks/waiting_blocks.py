"""What blocks that wait for messages on a GPU cost Poisson's operator, which runs beside them.

    python benchmarks/waiting_blocks.py --degrees 3 7 15

Prints, for each degree and metric, how much longer the operator takes beside one block that waits
in the urgent stream, and beside one on each processor.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from groundswell.backends import Backend, Blocks, Launch, Source, open_backend
from groundswell.backends.base import in_order
from groundswell.exchange.communicator import SerialCommunicator
from groundswell.solvers.poisson.benchmarks.problems import METRICS, SCREENING, Cubes
from groundswell.solvers.poisson.coefficients import Coefficients
from groundswell.solvers.poisson.element_operator import ElementOperator

SOURCE = Path(__file__).with_suffix(".h")
TIMES, REPEATS, THREADS = 10, 4, 256


def main() -> None:
    """Each degree and metric."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--degrees", type=int, nargs="*", default=(3, 7, 11, 15))
    parser.add_argument("--waits", type=int, nargs="*", default=(10, 40), help="us")
    parser.add_argument("--dofs", type=float, default=3e7)
    chosen = parser.parse_args()
    backend = open_backend("cuda")
    for degree in chosen.degrees:
        cubes = Cubes.on(
            backend, SerialCommunicator(), degree, round(chosen.dofs ** (1 / 3) / degree)
        )
        for metric in METRICS:
            work = operator(backend, cubes, metric)
            alone = seconds_beside(backend, work, 1, 0)
            print(f"N={degree} {METRICS[metric]}: {1e6 * alone:.1f} us")
            for blocks in (1, backend.processors):
                more = [seconds_beside(backend, work, blocks, t) - alone for t in chosen.waits]
                told = (f"{t} us {1e6 * s:+.1f}" for t, s in zip(chosen.waits, more, strict=True))
                print(f"    beside {blocks} blocks that wait:", ", ".join(told))


def operator(backend: Backend, cubes: Cubes, metric: str) -> list[Launch]:
    """For all elements."""
    everyone = np.arange(cubes.box.count)
    x, y = (backend.zeros((n,), "f8") for n in (cubes.assembled, cubes.local))
    backend.assign(x, cubes.load)
    elements = ElementOperator(
        backend, cubes.space, Coefficients.screened(SCREENING), "f8", metric=metric
    )
    return elements.launches(everyone, x, y, backend.zeros((elements.blocks(everyone),), "f8"))


def seconds_beside(backend: Backend, work: list[Launch], blocks: int, microseconds: int) -> float:
    """Of the work, while so many blocks wait."""
    module, extent = backend.compile(Source(SOURCE, {})), Blocks(blocks, THREADS)
    wait = module.launch("wait_a_while", extent, blocks, 1000 * microseconds)
    step = in_order([*backend.fork([wait]), *work, *backend.join([])])
    graph = backend.capture(step, in_graph=True)
    graph.replay(TIMES)
    return min(backend.measure_seconds(lambda: graph.replay(TIMES)) for _ in range(REPEATS)) / TIMES


if __name__ == "__main__":
    main()
