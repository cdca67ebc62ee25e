"""Benchmarks of the ultrasound solver: a step on one device, and on several ranks.

They measure the quantities in the figures of Vaverka, Spetko, Treeby & Jaros on the multi-GPU
k-Wave: the parts of a step, and the speed-up of GPU-aware transports over MPI through the host. A
clone of the repository also measures the error of overlaps.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from groundswell.bench import Benchmark, Session
from groundswell.bench.rig import Rig
from groundswell.exchange.mpi_communicator import MpiCommunicator
from groundswell.exchange.probing import find_obstacles
from groundswell.solvers.ultrasound.benchmarks.document import DOCUMENT
from groundswell.solvers.ultrasound.benchmarks.draw import draw
from groundswell.solvers.ultrasound.benchmarks.tables import TABLES

__all__ = ["BENCHMARK", "Sizes", "draw"]


@dataclass(frozen=True)
class Sizes:
    """Sizes of the measured problems.

    Args:
        edges: points along an edge of the cubes on one device.
        domains: points along an edge of the cubes that eight ranks share. The parts of a step are
            measured for the last one.
        overlaps: overlaps of the blocks of these cubes, points.
        weak: points along an edge of a rank's cube, and its overlap, for weak scaling.
        transports: transports to measure; None for all that work.
    """

    edges: tuple[int, ...]
    domains: tuple[int, ...]
    overlaps: tuple[int, ...]
    weak: tuple[int, int]
    transports: tuple[str, ...] | None = None


FEW = (2, 4, 8, 16, 32)
SIZES = {
    "cuda": Sizes((256, 512), (256, 512), FEW, (240, 8)),
    "cpu": Sizes((64, 96), (32, 48), (2, 4, 8, 16), (40, 8), ("mpi", "peer")),
}
QUICK = {
    "cuda": Sizes((128, 256), (128,), (4, 16), (120, 8)),
    "cpu": Sizes((32,), (32,), (2, 8, 16), (24, 4), ("mpi", "peer")),
}
FULL = SIZES | {"cuda": replace(SIZES["cuda"], domains=(256, 512, 1024), weak=(480, 16))}


def prepare(session: Session) -> dict[str, object]:
    """Set up the timing of ranks, and find the transports that work."""
    backend, job, wanted = session.backend, session.comm, session.sizes.transports
    facts: dict[str, object] = {
        "about": "Times are medians over repeats of the slowest rank's time."
    }
    if isinstance(job, MpiCommunicator):
        reasons = find_obstacles(backend, job, wanted)
        works = [name for name, why in reasons.items() if not why]
        session.rig = Rig(backend, job, works)
        session.rig.notes += [f"{name}: {why}" for name, why in reasons.items() if why]
        facts |= {"works": works, "notes": session.rig.notes}
    return facts


BENCHMARK = Benchmark(
    SIZES,
    prepare,
    TABLES,
    draw,
    FULL,
    missing="the error of overlaps by the shape of the bell",
    quick=QUICK,
    document=DOCUMENT,
)
