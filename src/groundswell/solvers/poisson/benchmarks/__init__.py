"""Poisson's operator and NekBone's benchmark in the form of Chalmers et al. (2023).

On one rank: the operator by degree beside its roofline (their figure 3). On any number of ranks: a
hundred iterations by size, for degrees 7 and 15 (figures 4 to 6, table 2), bake-off problems 5 and
6, and whole solutions. On several ranks, also what they take by themselves. Figures with the metric
stored for each node, as theirs is, stand beside those that work it out each time.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from groundswell.backends import Backend
from groundswell.bench import Benchmark
from groundswell.bench.tell import Tell, silent
from groundswell.exchange.world import world
from groundswell.solvers.poisson.benchmarks import published
from groundswell.solvers.poisson.benchmarks.draw import draw
from groundswell.solvers.poisson.benchmarks.solves import measure_solves
from groundswell.solvers.poisson.benchmarks.speed import (
    compute_rate,
    measure_bakeoff,
    measure_iterations,
    measure_operator,
    measure_weak,
)
from groundswell.solvers.poisson.benchmarks.tables import show

__all__ = ["Sizes", "draw", "measure"]


@dataclass(frozen=True)
class Sizes:
    """How large the measured problems are.

    Args:
        stream: values that the streaming kernel writes.
        dofs: about as many degrees of freedom the operator has, of each degree.
        degrees: of the operator.
        edges: elements of an edge of each rank's cube, by degree.
        bakeoff: the same of the bake-off problem, of degree 7.
        solves: elements of an edge of all ranks' cube that is solved on.
    """

    stream: int
    dofs: int
    degrees: tuple[int, ...]
    edges: dict[int, tuple[int, ...]]
    bakeoff: tuple[int, ...]
    solves: tuple[int, ...] = ()

    @property
    def operator(self) -> dict[int, int]:
        """Elements of an edge, by degree."""
        return {n: max(1, round(self.dofs ** (1 / 3) / n)) for n in self.degrees}


SIZES = {
    "cuda": Sizes(
        stream=1 << 26,
        dofs=40_000_000,  # the last blocks, which leave processors idle, are few beside the others
        degrees=tuple(range(1, 16)),
        edges={
            3: (110,),
            7: (2, 4, 6, 8, 12, 16, 20, 28, 36, 48),
            15: (1, 2, 3, 4, 6, 9, 12, 16, 22),
        },
        bakeoff=(8, 20, 48),
        solves=(12, 20),
    ),
    "cpu": Sizes(
        stream=1 << 22,
        dofs=1_500_000,  # beyond what caches hold
        degrees=tuple(range(1, 16)),
        edges={7: (2, 4, 6, 8, 12), 15: (1, 2, 3, 4, 6)},
        bakeoff=(4, 8),
        solves=(6,),
    ),
}


def measure(backend: Backend, sizes: Sizes | None = None, *, tell: Tell = silent) -> dict[str, Any]:
    """All tables; every rank must call it, and gets the same."""
    job, chosen, begun = world(), sizes or SIZES[backend.name], time.monotonic()
    job.share(None)  # ranks of one host share its bandwidth, so they measure together
    bandwidth = sum(job.share(backend.measure_bandwidth()))
    found: dict[str, Any] = {
        "subject": "poisson",
        "backend": backend.name,
        "devices": job.share(backend.device),
        "ranks": job.size,
        "bandwidth": bandwidth,
        "published": _published(job.size),
    }
    if job.size == 1:
        peak = compute_rate(backend)
        given = (backend, chosen.operator, chosen.stream, peak)
        rows = [*measure_operator(*given, tell=tell)]
        rates = [row["rate"] for row in rows]
        found |= {"rates": [min(rates), max(rates)], "peak": peak, "operator": rows}
    found["iterations"] = [
        row
        for degree, edges in chosen.edges.items()
        for row in measure_iterations(backend, job, degree, edges, bandwidth, tell=tell)
    ]
    if job.size > 1:
        weak = measure_weak(backend, found["iterations"], job, bandwidth, tell=tell)
        found["weak"] = [*weak]
    found["bakeoff"] = [*measure_bakeoff(backend, job, 7, chosen.bakeoff, bandwidth, tell=tell)]
    found["solves"] = [*measure_solves(backend, job, chosen.solves, tell=tell)]
    return found | {"seconds": time.monotonic() - begun}


def _published(ranks: int) -> dict[str, Any]:
    """Figures of other machines and codes, in a form that JSON holds."""
    return {
        "peaks": published.PEAKS,
        "bakeoff": published.NEKRS_BP5,
        "solves": published.NEKRS_BPS5,
        "hipbone": [
            {"degree": degree, "edge": edge, "seconds": ms / 1e3, "fom": fom, "dofs_a_second": rate}
            for (count, degree, edge), (ms, fom, rate) in published.HIPBONE_ON_H200.items()
            if count == ranks
        ],
    }


BENCHMARK = Benchmark(measure, draw, show)
