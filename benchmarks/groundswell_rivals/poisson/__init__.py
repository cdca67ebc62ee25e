"""How many warps of the operator's kernels a multiprocessor runs at once, beside hipBone's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from groundswell.bench import Benchmark
from groundswell.bench.tables import Column, Measured, Row, Table, field
from groundswell_rivals.poisson.occupancy import DEGREES, measure_occupancy
from groundswell_rivals.poisson.published import OCCUPANCY as PUBLISHED


def extend(benchmark: Benchmark) -> Benchmark:
    """Add the occupancy, after the operator."""
    operator, *others = benchmark.tables
    return replace(benchmark, tables=[operator, OCCUPANCY, *others], missing="")


def _published(measured: Measured) -> Iterator[Row]:
    for machine, columns in PUBLISHED.items():
        for degree, column in zip(DEGREES, columns, strict=True):
            warps, registers, occupancy, elements = column
            row = {"machine": machine, "degree": degree, "threads": (degree + 1) ** 2}
            row |= {"warps": warps, "registers": registers, "occupancy": occupancy}
            yield row | {"elements": elements}


OCCUPANCY = Table(
    "occupancy",
    "Occupancy of a multiprocessor by the operator with a stored metric, from the registers that "
    "NVRTC reports for an H200 and the shared memory; hipBone: as published (their table 1). AMD: "
    "wavefronts of 64 threads, compute units",
    [
        field("machine", 33, head=""),
        Column("N", "degree", width=2),
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
