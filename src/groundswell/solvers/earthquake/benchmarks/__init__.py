"""The earthquake solver in the form of Callaghan & Cui (2024).

On one rank: throughput beside published figures. On several: codecs and slower links.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from groundswell.bench import Benchmark, Session
from groundswell.bench.rig import FASTEST, Rig
from groundswell.exchange.world import MpiWorld
from groundswell.solvers.earthquake.benchmarks import throughput
from groundswell.solvers.earthquake.benchmarks.published import AWP_ODC, AWP_ODC_ON_H200
from groundswell.solvers.earthquake.benchmarks.slow_links import SIZES, Sizes
from groundswell.solvers.earthquake.benchmarks.tables import TABLES

__all__ = ["BENCHMARK", "draw"]

MEASURED_PEER = "H200, awp-odc-os, measured by us"


def sizes(backend: str, full: bool) -> Sizes:
    """Those of several ranks; one has the document's own."""
    return SIZES[backend]


def prepare(session: Session) -> dict[str, Any]:
    """The device's bandwidth, the ranks' clock, and published throughputs."""
    backend, job = session.backend, session.world
    facts: dict[str, Any] = {
        "bandwidth": backend.measure_bandwidth(),
        "unit": "MLUPS",
        "published": AWP_ODC | {MEASURED_PEER: AWP_ODC_ON_H200},
    }
    if isinstance(job, MpiWorld):
        session.rig = Rig(backend, job, [FASTEST[backend.name]])
        facts["notes"] = session.rig.notes
    return facts


def draw(measured: dict[str, Any], path: Path) -> None:
    """Throughput as bars; several ranks have tables only."""
    if measured.get("throughput"):
        throughput.draw(measured, path)


BENCHMARK = Benchmark(sizes, prepare, TABLES, draw)
