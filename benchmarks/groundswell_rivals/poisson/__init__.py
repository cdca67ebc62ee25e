"""Bake-off problems 1 to 4, NekBone's storage of vectors, and the occupancy beside hipBone's.

The occupancy is the number of warps of the operator's kernels that a multiprocessor runs at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from groundswell.bench import Benchmark
from groundswell.bench.tables import Column, Measured, Row, Table, field, times
from groundswell.solvers.poisson.benchmarks.bakeoff import table_of
from groundswell.solvers.poisson.benchmarks.columns import (
    BYTES,
    DEGREE,
    DOFS,
    ELEMENTS,
    ITERATION,
    OF_BANDWIDTH,
    RESIDUAL,
)
from groundswell.solvers.poisson.benchmarks.published import OCCUPANCY as PUBLISHED
from groundswell.solvers.poisson.benchmarks.published import OCCUPANCY_DEGREES
from groundswell_rivals.poisson.bakeoff import PROBLEMS
from groundswell_rivals.poisson.occupancy import measure_occupancy
from groundswell_rivals.poisson.storage import measure_storage


def extend(benchmark: Benchmark) -> Benchmark:
    """Add the occupancy after the operator, and other problems before problem 5."""
    operator, *others = benchmark.tables
    first = [table.name for table in others].index("bp5")
    added = [STORAGE, *map(table_of, PROBLEMS)]
    tables = [operator, OCCUPANCY, *others[:first], *added, *others[first:]]
    return replace(benchmark, tables=tables, missing="")


def _published(measured: Measured) -> Iterator[Row]:
    for machine, columns in PUBLISHED.items():
        for degree, column in zip(OCCUPANCY_DEGREES, columns, strict=True):
            warps, registers, occupancy, elements = column
            row = {"machine": f"hipBone, {machine}", "degree": degree, "threads": (degree + 1) ** 2}
            row |= {"warps": warps, "registers": registers, "occupancy": occupancy}
            yield row | {"elements": elements}


STORAGE = Table(
    "storage",
    "NekBone's own options, lambda I and 0 on all sides, by the storage of vectors: element by "
    "element with all copies, assembled, and assembled with the fused iteration",
    [
        DEGREE,
        ELEMENTS,
        DOFS,
        field("storage", 16),
        ITERATION,
        Column("MDOF/s", "throughput", "{:,.1f}", 8, 1e6),
        BYTES,
        OF_BANDWIDTH,
        RESIDUAL,
        times("gain", "gain"),
    ],
    measure_storage,
    ranks="one",
)
OCCUPANCY = Table(
    "occupancy",
    "Occupancy of a multiprocessor by the operator with a stored metric, from the registers that "
    "NVRTC reports for an H200 and the shared memory; hipBone: as published (their table 1). AMD: "
    "wavefronts of 64 threads, compute units",
    [
        field("machine", 33, head=""),
        DEGREE,
        field("threads", head="threads a block"),
        field("warps", head="warps a block"),
        field("registers", head="registers a thread"),
        field("occupancy", head="warps a multiprocessor"),
        field("elements", head="elements a multiprocessor"),
    ],
    measure_occupancy,
    ranks="one",
    others=_published,
)
