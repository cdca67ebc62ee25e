"""The kernels and messages of Hanindhito et al., GAPS (ICS 2022), and local time steps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from groundswell.bench import Benchmark
from groundswell.bench.tables import Column, Measured, Row, Table, field, percent, times
from groundswell.solvers.dgwave.benchmarks.ranks import OWN, measure_exchange
from groundswell.solvers.dgwave.benchmarks.speed import (
    find_rooflines,
    measure_degrees,
    measure_kernels,
)
from groundswell.solvers.dgwave.benchmarks.tables import DEGREES, EXCHANGE, KERNELS, ROOFLINES
from groundswell_rivals.dgwave.ghost_exchange import REDUCED, WHOLE, create_exchange
from groundswell_rivals.dgwave.ladder import F1S, VERSIONS
from groundswell_rivals.dgwave.local_steps import measure_local_steps
from groundswell_rivals.dgwave.published import (
    OVER_64,
    OVER_BASE,
    OVER_CPU,
    SAVED,
    SAVED_BY_PROGRESS,
)

EXCHANGES = {sent: partial(create_exchange, sent=sent) for sent in (WHOLE, REDUCED)}


def extend(benchmark: Benchmark) -> Benchmark:
    """Measure these versions in the solver's tables, and the savings of local time steps."""
    changed = {table.name: table for table in CHANGED}
    tables = [changed.get(table.name, table) for table in benchmark.tables]
    several = next(n for n, table in enumerate(tables) if table.ranks == "several")
    return replace(
        benchmark, tables=[*tables[:several], LOCAL_STEPS, *tables[several:]], missing=""
    )


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

CHANGED = [
    replace(KERNELS, measure=partial(measure_kernels, rivals=VERSIONS), others=_published_versions),
    replace(DEGREES, measure=partial(measure_degrees, rivals=(F1S,)), others=_published_degrees),
    replace(ROOFLINES, measure=partial(find_rooflines, rivals=VERSIONS)),
    replace(
        EXCHANGE,
        title=f"{EXCHANGE.title} (figures 6 and 7; in the paper, sending only variables and "
        f"materials saves {percent(SAVED)} of the exchange, and asynchronous progress saves "
        f"{percent(SAVED_BY_PROGRESS)} of the rest)",
        measure=partial(measure_exchange, exchanges=EXCHANGES | dict(OWN)),
    ),
]
