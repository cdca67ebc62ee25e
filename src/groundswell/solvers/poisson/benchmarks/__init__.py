"""Benchmarks of the Poisson solver, as in Chalmers et al. (2023): the operator and NekBone.

On one rank, the operator by degree with its roofline (their figure 3). On any number of ranks, a
hundred iterations by size, for degrees 7 and 15 (figures 4 to 6, table 2), bake-off problems 5 and
6, and complete solutions. On several ranks, also the times of each rank alone. The tables compare
geometric factors stored for each node, as in the paper, with factors computed in the kernel. A
clone of the repository also computes the occupancy of a GPU (table 1).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from groundswell.bench import Benchmark, Session
from groundswell.solvers.poisson.benchmarks.draw import draw
from groundswell.solvers.poisson.benchmarks.speed import compute_rate
from groundswell.solvers.poisson.benchmarks.tables import TABLES

__all__ = ["BENCHMARK", "Sizes", "draw"]


@dataclass(frozen=True)
class Sizes:
    """Sizes of the measured problems.

    Args:
        stream: values that the streaming kernel writes.
        dofs: approximate degrees of freedom of the operator, for each degree.
        degrees: polynomial degrees of the operator.
        edges: elements along an edge of each rank's cube, by degree.
        bakeoff: the same for the bake-off problems, of degree 7.
        solves: elements along an edge of the cube of complete solutions, shared by all ranks.
    """

    stream: int
    dofs: int
    degrees: tuple[int, ...]
    edges: dict[int, tuple[int, ...]]
    bakeoff: tuple[int, ...]
    solves: tuple[int, ...] = ()

    @property
    def operator(self) -> dict[int, int]:
        """Elements along an edge, by degree."""
        return {n: max(1, round(self.dofs ** (1 / 3) / n)) for n in self.degrees}


FULL = {
    "cuda": Sizes(
        stream=1 << 26,
        dofs=40_000_000,  # so that the last blocks, which leave processors idle, matter little
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
SIZES = FULL | {
    "cuda": replace(
        FULL["cuda"],
        dofs=10_000_000,  # most of the time goes into numbering nodes, on the host
        edges={7: (8, 20, 48), 15: (22,)},
        bakeoff=(),
        solves=(),
    )
}


def prepare(session: Session) -> dict[str, Any]:
    """Measure the rates of the device for rooflines."""
    backend, job = session.backend, session.comm
    job.allgather(None)  # ranks of one host share its bandwidth, so they measure together
    facts: dict[str, Any] = {"bandwidth": sum(job.allgather(backend.measure_bandwidth()))}
    facts["about"] = (
        f"memory: {facts['bandwidth'] / 1e9:,.0f} GB/s; DOFs (degrees of freedom): N^3 per element"
    )
    if job.size == 1:
        facts["peak"] = compute_rate(backend)
    return facts


BENCHMARK = Benchmark(
    SIZES, prepare, TABLES, draw, FULL, missing="the occupancy of the operator (their table 1)"
)
