"""The cavity solver with the exchanges of Xue & Roy (2020), beside its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, cast

from groundswell.bench import Benchmark
from groundswell.solvers.cavity.benchmarks.scaling import measure_strong, measure_weak
from groundswell.solvers.cavity.solver import Cavity
from groundswell_rivals.exchange.versions import VERSIONS, VersionExchange


def extend(benchmark: Benchmark) -> Benchmark:
    """Measure the scaling of these versions, too."""
    measures: dict[str, Any] = {
        "strong": lambda s: measure_strong(s.rig, s.sizes.edge, s.sizes.large, rivals()),
        "weak": lambda s: measure_weak(s.rig, s.sizes.edge, s.sizes.large, rivals()),
    }
    tables = [
        replace(table, measure=measures.get(table.name, table.measure))
        for table in benchmark.tables
    ]
    return replace(benchmark, tables=tables, missing="")


def rivals() -> dict[str, Callable[[Cavity], None]]:
    """What makes a solver exchange like a version, by name."""
    return {name: partial(exchange_as, version=name) for name in VERSIONS}


def exchange_as(solver: Cavity, version: str) -> None:
    """Make a solver exchange like a version of the paper; all ranks call it."""
    for level in solver.levels:
        level.make_exchange = cast(Any, partial(VersionExchange, VERSIONS[version]))
    solver.set_exchange(replace(solver.choice, overlap=False))
