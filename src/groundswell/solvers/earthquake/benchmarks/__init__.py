"""Benchmarks of the earthquake solver, as in Callaghan & Cui (2024).

On one rank, throughput with published figures; on several ranks, codecs and slower links.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from groundswell.bench import Benchmark, Session
from groundswell.bench.rig import FASTEST, Rig
from groundswell.exchange.mpi_communicator import MpiCommunicator
from groundswell.solvers.earthquake.benchmarks import throughput
from groundswell.solvers.earthquake.benchmarks.slow_links import SIZES
from groundswell.solvers.earthquake.benchmarks.tables import TABLES

__all__ = ["BENCHMARK", "draw"]


def prepare(session: Session) -> dict[str, Any]:
    """The device's bandwidth and the ranks' clock."""
    backend, job = session.backend, session.comm
    facts: dict[str, Any] = {"bandwidth": backend.measure_bandwidth()}
    if isinstance(job, MpiCommunicator):
        session.rig = Rig(backend, job, [FASTEST[backend.name]])
        facts["notes"] = session.rig.notes
    return facts


def draw(measured: dict[str, Any], path: Path) -> None:
    """Throughput as bars; several ranks have tables only."""
    if measured.get("throughput"):
        throughput.draw(measured, path)


BENCHMARK = Benchmark(SIZES, prepare, TABLES, draw)
