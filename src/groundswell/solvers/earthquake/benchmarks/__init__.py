"""Benchmarks of the earthquake solver, as in Callaghan & Cui (2024).

They measure the throughput on one rank, and weak scaling on several.
"""

from __future__ import annotations

from typing import Any

from groundswell.bench import Benchmark, Session
from groundswell.bench.rig import Rig
from groundswell.exchange.mpi_communicator import MpiCommunicator
from groundswell.exchange.probing import find_obstacles
from groundswell.solvers.earthquake.benchmarks.document import DOCUMENT
from groundswell.solvers.earthquake.benchmarks.draw import draw
from groundswell.solvers.earthquake.benchmarks.published import CELLS
from groundswell.solvers.earthquake.benchmarks.ranks import TRANSPORTS
from groundswell.solvers.earthquake.benchmarks.tables import TABLES
from groundswell.solvers.earthquake.benchmarks.throughput import (
    Sizes,
    Variant,
    all_physics,
    cube,
)

__all__ = ["BENCHMARK", "Sizes", "draw"]


def prepare(session: Session) -> dict[str, Any]:
    """The device's bandwidth and the ranks' clock."""
    backend, job = session.backend, session.comm
    facts: dict[str, Any] = {"bandwidth": backend.measure_bandwidth()}
    if isinstance(job, MpiCommunicator):
        reasons = find_obstacles(backend, job, TRANSPORTS[backend.name])
        session.rig = Rig(backend, job, [name for name, why in reasons.items() if not why])
        session.rig.notes += [f"{name}: {why}" for name, why in reasons.items() if why]
        facts["notes"] = session.rig.notes
    return facts


# The problem of the reference on a GPU; on a CPU the same physics on fewer points.
SIZES = {
    "cuda": Sizes((*all_physics(CELLS), cube(512), cube(64)), CELLS),
    "cpu": Sizes((*all_physics((160, 160, 128)), cube(64)), (64, 64, 128)),
}
QUICK = {
    "cuda": Sizes((Variant("anelastic", CELLS),), (160, 160, 512)),
    "cpu": Sizes((Variant("anelastic", (96, 96, 96)),), (48, 48, 64)),
}

BENCHMARK = Benchmark(
    SIZES,
    prepare,
    TABLES,
    draw,
    missing="codecs over slower links between several ranks",
    quick=QUICK,
    document=DOCUMENT,
)
