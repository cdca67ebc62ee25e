"""Benchmarks of the Poisson solver, as in Chalmers et al. (2023): the operator and NekBone.

On one rank, the operator by degree with its roofline (their figure 3). On any number of ranks, a
hundred iterations by size, for degrees 7 and 15 (figures 4 to 6, table 2), bake-off problems 5 and
6 by degree and size, and complete solutions. On several ranks, also the times of each rank alone.
The tables compare geometric factors stored for each node, as in the paper, with factors computed in
the kernel. A clone of the repository also computes the occupancy of a GPU (table 1), and measures
bake-off problems 1 to 4 and NekBone's storage of vectors.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from groundswell.bench import Benchmark, Session
from groundswell.errors import InputError
from groundswell.solvers.poisson.benchmarks.bakeoff import NO_SWEEP, Sweep
from groundswell.solvers.poisson.benchmarks.document import DOCUMENT
from groundswell.solvers.poisson.benchmarks.draw import draw
from groundswell.solvers.poisson.benchmarks.speed import compute_rate
from groundswell.solvers.poisson.benchmarks.tables import TABLES

__all__ = ["BENCHMARK", "Sizes", "Sweep", "draw"]

MAX_DEGREE = 15  # kernels of higher degrees take more registers than a thread has


@dataclass(frozen=True)
class Sizes:
    """Sizes of the measured problems.

    Args:
        stream: values that the streaming kernel writes.
        dofs: approximate degrees of freedom of the operator, for each degree.
        degrees: polynomial degrees of the operator.
        edges: elements along an edge of each rank's cube, by degree.
        bakeoff: of the bake-off problems.
        solves: elements along an edge of the cube of complete solutions, shared by all ranks, by
            degree.
    """

    stream: int
    dofs: int
    degrees: tuple[int, ...]
    edges: dict[int, tuple[int, ...]]
    bakeoff: Sweep = NO_SWEEP
    solves: dict[int, tuple[int, ...]] = field(default_factory=dict)

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
        bakeoff=Sweep(tuple(range(1, 9)), (3e4, 1e5, 3e5, 1e6, 3e6, 1e7)),
        solves={3: (28, 47), 5: (17, 28), 7: (12, 20)},
    ),
    "cpu": Sizes(
        stream=1 << 22,
        dofs=1_500_000,  # beyond what caches hold
        degrees=tuple(range(1, 16)),
        edges={7: (2, 4, 6, 8, 12), 15: (1, 2, 3, 4, 6)},
        bakeoff=Sweep((1, 2, 3, 5, 7), (1e3, 3e3, 1e4, 3e4, 1e5, 3e5), iterations=20),
        solves={3: (14,), 7: (6,)},
    ),
}
SIZES = {
    "cuda": replace(
        FULL["cuda"],
        dofs=10_000_000,  # most of the time goes into numbering nodes, on the host
        edges={7: (8, 20, 48), 15: (22,)},
        bakeoff=NO_SWEEP,
        solves={},
    ),
    "cpu": replace(FULL["cpu"], bakeoff=NO_SWEEP, solves={7: (6,)}),
}

QUICK = {
    "cuda": replace(
        SIZES["cuda"], dofs=2_000_000, degrees=(3, 7, 11, 15), edges={7: (8, 20), 15: (9,)}
    ),
    "cpu": replace(
        SIZES["cpu"],
        stream=1 << 20,
        dofs=150_000,
        degrees=(1, 3, 7, 11, 15),
        edges={7: (2, 6), 15: (1, 3)},
        solves={},
    ),
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


def restrict(sizes: Sizes, degrees: Sequence[int], most_dofs: float | None) -> Sizes:
    """The sizes of these degrees, up to a limit; any degree may be chosen for bake-off problems.

    Raises:
        InputError: a degree or the limit is out of range.
    """
    if wrong := [n for n in degrees if not 1 <= n <= MAX_DEGREE]:
        raise InputError(f"degree {wrong[0]}; allowed: 1 to {MAX_DEGREE}")
    limit = math.inf if most_dofs is None else most_dofs
    if not limit >= 1:
        raise InputError(f"at most {limit:g} degrees of freedom; allowed: 1 or more")
    return replace(
        sizes,
        dofs=int(min(sizes.dofs, limit)),
        degrees=tuple(n for n in sizes.degrees if not degrees or n in degrees),
        edges=_chosen(sizes.edges, degrees, limit),
        bakeoff=sizes.bakeoff.restrict(degrees, limit),
        solves=_chosen(sizes.solves, degrees, limit),
    )


def _chosen(
    edges: Mapping[int, tuple[int, ...]], degrees: Sequence[int], most_dofs: float
) -> dict[int, tuple[int, ...]]:
    every = {n: edges[n] for n in edges if not degrees or n in degrees}
    within = {n: tuple(e for e in every[n] if (n * e) ** 3 <= most_dofs) for n in every}
    return {n: found for n, found in within.items() if found}


BENCHMARK = Benchmark(
    SIZES,
    prepare,
    TABLES,
    draw,
    FULL,
    missing="the occupancy of the operator (their table 1), bake-off problems 1 to 4 and NekBone's "
    "storage of vectors",
    restrict=restrict,
    quick=QUICK,
    document=DOCUMENT,
)
