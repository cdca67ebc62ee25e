"""The earthquake solver in the form of Callaghan & Cui (2024).

On one rank: throughput beside published figures. On several: codecs and slower links.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from groundswell.backends import Backend
from groundswell.bench import Benchmark
from groundswell.bench.tell import Tell, silent
from groundswell.exchange.world import world
from groundswell.solvers.earthquake.benchmarks import throughput
from groundswell.solvers.earthquake.benchmarks.slow_links import measure_ranks
from groundswell.solvers.earthquake.benchmarks.tables import show


def measure(backend: Backend, *, tell: Tell = silent) -> dict[str, Any]:
    """The tables for one rank or for several; every rank must call it."""
    chosen = measure_ranks if world().size > 1 else throughput.measure
    return chosen(backend, tell=tell)


def draw(measured: dict[str, Any], path: Path) -> None:
    """Throughput as bars; several ranks have tables only."""
    if "rows" in measured:
        throughput.draw(measured, path)


BENCHMARK = Benchmark(measure, draw, show)
