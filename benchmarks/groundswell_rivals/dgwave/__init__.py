"""The kernels and messages of Hanindhito et al., GAPS (ICS 2022), and local time steps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from groundswell.bench import Benchmark
from groundswell.bench.drawing import Page
from groundswell.bench.tables import Column, Measured, Row, Table, field, times
from groundswell.solvers.dgwave.benchmarks.published import OVER_64, OVER_BASE, OVER_CPU
from groundswell.solvers.dgwave.benchmarks.ranks import OWN, measure_exchange
from groundswell.solvers.dgwave.benchmarks.speed import (
    find_rooflines,
    measure_degrees,
    measure_kernels,
)
from groundswell.solvers.dgwave.benchmarks.tables import (
    DEGREES,
    EXCHANGE,
    KERNELS,
    ROOFLINES,
    title_of_kernels,
)
from groundswell_rivals.dgwave.draw import with_means
from groundswell_rivals.dgwave.ghost_exchange import REDUCED, WHOLE, create_exchange
from groundswell_rivals.dgwave.ladder import F1S, VERSIONS
from groundswell_rivals.dgwave.local_steps import measure_local_steps
from groundswell_rivals.dgwave.savings import SAVINGS

EXCHANGES = {sent: partial(create_exchange, sent=sent) for sent in (WHOLE, REDUCED)}


def extend(benchmark: Benchmark) -> Benchmark:
    """Measure these versions in the solver's tables, and the savings of local time steps.

    The picture shows the paper's means.
    """
    page, tables = benchmark.draw, list[Table]()
    assert isinstance(page, Page)
    for table in benchmark.tables:
        tables.append(CHANGED.get(table.name, table))
        tables += AFTER.get(table.name, [])
    return replace(benchmark, tables=tables, draw=with_means(page), missing="")


def _title(measured: Measured) -> str:
    """The title of kernels, and what the paper compares with."""
    return f"{title_of_kernels(measured)}; in the paper, one V100 over 40 cores of two POWER9"


def _published_versions(measured: Measured) -> Iterator[Row]:
    for version, over_cpu in OVER_CPU.items():
        row = {"configuration": "mean of the paper", "precision": "", "device": "V100"}
        compared = {"over_base": OVER_BASE.get(version), "over_cpu": over_cpu}
        yield {**row, "version": version, **compared}


def _published_degrees(measured: Measured) -> Iterator[Row]:
    row = {"configuration": "mean of the paper", "precision": "", "version": "f1s", "degree": 7}
    yield {**row, "over_64": OVER_64}


LOCAL_STEPS = Table(
    "local_steps",
    "Savings of clustered local time steps; the solver has one global step",
    [
        field("mesh", 33),
        Column("elements", "elements", "{:,d}", 8),
        times("longest step over shortest", "ratio"),
        Column("by cluster", lambda row: " + ".join(f"{n:,}" for n in row["clusters"])),
        times("gain", "gain"),
        times("own steps", "bound"),
    ],
    measure_local_steps,
    ranks="one",
)

CHANGED = {
    "kernels": replace(
        KERNELS,
        title=_title,
        measure=partial(measure_kernels, rivals=VERSIONS),
        others=_published_versions,
    ),
    "degrees": replace(
        DEGREES, measure=partial(measure_degrees, rivals=(F1S,)), others=_published_degrees
    ),
    "rooflines": replace(ROOFLINES, measure=partial(find_rooflines, rivals=VERSIONS)),
    "exchange": replace(
        EXCHANGE, measure=partial(measure_exchange, exchanges=EXCHANGES | dict(OWN))
    ),
}
AFTER = {"features": [LOCAL_STEPS], "exchange": [SAVINGS]}  # new tables, by the one before
