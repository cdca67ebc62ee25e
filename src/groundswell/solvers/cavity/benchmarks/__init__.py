"""Benchmarks of the cavity solver, as in Xue & Roy (2020): one device, strong and weak scaling, and
the time to a steady flow.

Their unit "ssspnt" is ten million point updates per second. Their figures for two devices are the
sum of both, and so are ours.
"""

from __future__ import annotations

from dataclasses import dataclass

from groundswell.bench import Benchmark, Session
from groundswell.bench.rig import Rig
from groundswell.exchange.mpi_communicator import MpiCommunicator
from groundswell.exchange.probing import find_obstacles
from groundswell.solvers.cavity.benchmarks.document import DOCUMENT
from groundswell.solvers.cavity.benchmarks.draw import draw
from groundswell.solvers.cavity.benchmarks.tables import TABLES, TRANSPORTS

__all__ = ["BENCHMARK", "Sizes", "draw"]


@dataclass(frozen=True)
class Sizes:
    """Sizes of the measured problems.

    Args:
        edges: points along an edge of the cubes on one device.
        edge: the same for the cube that ranks share, and for the cube of each rank.
        large: the same for a larger cube, without the paper's versions; 0 for none.
        steady: points along an edge, and Rayleigh number, of the flow computed to steady state.
    """

    edges: tuple[int, ...]
    edge: int
    large: int
    steady: tuple[int, float]


SIZES = {
    "cuda": Sizes((64, 128, 256, 512), 256, 512, (127, 1e6)),
    "cpu": Sizes((32, 64, 96), 64, 0, (31, 1e5)),
}
QUICK = {
    "cuda": Sizes((64, 128, 256), 128, 0, (63, 1e5)),
    "cpu": Sizes((32, 48), 32, 0, (23, 1e4)),
}


def prepare(session: Session) -> dict[str, object]:
    """The device's bandwidth and the ranks' clock."""
    backend, job = session.backend, session.comm
    facts = {
        "about": "ssspnt: ten million points updated a second; those of several ranks together.",
        "bandwidth": backend.measure_bandwidth(),
    }
    if isinstance(job, MpiCommunicator):
        reasons = find_obstacles(backend, job, TRANSPORTS[backend.name])
        session.rig = Rig(backend, job, [name for name, why in reasons.items() if not why])
        session.rig.notes += [f"{name}: {why}" for name, why in reasons.items() if why]
        facts["notes"] = session.rig.notes
    return facts


BENCHMARK = Benchmark(
    SIZES,
    prepare,
    TABLES,
    draw,
    missing="the exchanges of Xue & Roy on several ranks",
    quick=QUICK,
    document=DOCUMENT,
)
