"""Benchmarks of the earthquake solver, as in Callaghan & Cui (2024): throughput on one rank."""

from __future__ import annotations

from typing import Any

from groundswell.bench import Benchmark, Session
from groundswell.bench.rig import FASTEST, Rig
from groundswell.exchange.mpi_communicator import MpiCommunicator
from groundswell.solvers.earthquake.benchmarks.draw import draw
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


BENCHMARK = Benchmark(
    {"cuda": None, "cpu": None},
    prepare,
    TABLES,
    draw,
    missing="codecs over slower links between several ranks",
)
