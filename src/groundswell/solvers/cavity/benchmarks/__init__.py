"""The cavity in the form of Xue & Roy (2020): one device, strong and weak scaling, and the way to
a steady flow.

Their unit "ssspnt" is ten million points that one device updates in a second; where they print
figures of two devices, these are of both together, and so are ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from groundswell.bench import Benchmark, Session
from groundswell.bench.rig import Rig
from groundswell.exchange.world import MpiWorld
from groundswell.solvers.cavity.benchmarks.draw import draw
from groundswell.solvers.cavity.benchmarks.tables import TABLES

__all__ = ["BENCHMARK", "Sizes", "draw"]


@dataclass(frozen=True)
class Sizes:
    """How large the measured problems are.

    Args:
        edges: points of the cubes that one device computes.
        edge: of the cube that ranks share, or hold each.
        large: of another one, in our own way only; 0 for none.
        steady: points of an edge, and Rayleigh number, of the flow that is brought to rest.
    """

    edges: tuple[int, ...]
    edge: int
    large: int
    steady: tuple[int, float]


SIZES = {
    "cuda": Sizes((64, 128, 256, 512), 256, 512, (127, 1e6)),
    "cpu": Sizes((32, 64, 96), 64, 0, (31, 1e5)),
}


def prepare(session: Session) -> dict[str, Any]:
    """The device's bandwidth and the ranks' clock."""
    backend, job = session.backend, session.world
    facts = {
        "about": "ssspnt: ten million points updated a second; those of several ranks together.",
        "bandwidth": backend.measure_bandwidth(),
    }
    if isinstance(job, MpiWorld):
        session.rig = Rig(backend, job, ["mpi", "peer" if backend.on_host else "direct"])
        facts["notes"] = session.rig.notes
    return facts


BENCHMARK = Benchmark(SIZES, prepare, TABLES, draw)
