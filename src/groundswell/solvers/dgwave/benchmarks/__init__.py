"""Benchmarks of DG waves, as in Hanindhito et al., GAPS (ICS 2022): kernels, degrees and ranks.

On one rank: the solver's kernel with its roofline (figure 4), and elements of 64 and 512 nodes
(figure 5). On several ranks: the time that the exchange adds to a step (figures 6 and 7); weak
scaling (figure 8); and the effect of rounded traces. A clone of the repository also measures the
paper's kernels and messages, and computes the savings of local time steps.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from groundswell.backends import Backend
from groundswell.bench import Benchmark, Session
from groundswell.bench.rig import Rig
from groundswell.exchange.connect import obstacle
from groundswell.exchange.mpi_communicator import MpiCommunicator
from groundswell.exchange.probing import find_obstacles
from groundswell.grids.cartesian import Triple
from groundswell.solvers.dgwave.benchmarks.document import DOCUMENT
from groundswell.solvers.dgwave.benchmarks.draw import draw
from groundswell.solvers.dgwave.benchmarks.problems import TABLE_2, Configuration
from groundswell.solvers.dgwave.benchmarks.ranks import THREADED
from groundswell.solvers.dgwave.benchmarks.tables import TABLES

__all__ = ["BENCHMARK", "Sizes", "draw"]

TRANSPORTS = {
    "cuda": ("mpi", "mpi-gpu", "peer", "nccl"),
    "cpu": ("mpi", "mpi-thread", "peer"),
}


@dataclass(frozen=True)
class Sizes:
    """Sizes of the measured problems.

    Args:
        cells: elements of the box on one device, along x, y, z, and on the CPU of a machine with a
            GPU.
        nodes: approximate number of nodes for the comparison of degrees; fewer if memory is short.
        featured: elements along the edges of a box with each feature.
        shared, weak: elements of each rank's box, for the exchange and for weak scaling.
        configurations: configurations for the exchange.
        compared: configurations for the kernels and for degrees.
    """

    cells: Triple
    nodes: int
    featured: int
    shared: Triple
    weak: Triple
    configurations: tuple[Configuration, ...]
    compared: tuple[Configuration, ...] = TABLE_2


SMALL, LARGE = (8, 8, 8), (32, 32, 32)  # 32,768 elements, as in the paper
DOUBLE = tuple(each for each in TABLE_2 if each.precision == "double")
FULL = {
    "cuda": Sizes(LARGE, 63_000_000, 24, LARGE, LARGE, TABLE_2),
    "cpu": Sizes(LARGE, 63_000_000, 12, SMALL, SMALL, TABLE_2),
}
SIZES = {
    "cuda": replace(FULL["cuda"], configurations=DOUBLE),
    "cpu": Sizes(LARGE, 1_000_000, 6, (4, 4, 4), (4, 4, 4), DOUBLE[1:]),
}

ONE = (Configuration("elastic", "Riemann", "double"),)
QUICK = {
    "cuda": Sizes((16, 16, 16), 4_000_000, 12, (16, 16, 16), (16, 16, 16), ONE, DOUBLE),
    "cpu": Sizes((6, 6, 6), 100_000, 2, (3, 3, 3), (3, 3, 3), ONE, ONE),
}


def prepare(session: Session) -> dict[str, Any]:
    """Measure the bandwidth of all ranks, and find the transports that work."""
    backend, job = session.backend, session.comm
    job.allgather(None)  # ranks of one host share its bandwidth, so they measure together
    bandwidths = job.allgather(backend.measure_bandwidth())
    facts: dict[str, Any] = {"bandwidths": bandwidths, "bandwidth": sum(bandwidths)}
    facts["about"] = (
        f"memory: {facts['bandwidth'] / 1e9:,.0f} GB/s; GDOF/s: billion values of all fields and "
        "nodes, per second and stage"
    )
    if isinstance(job, MpiCommunicator):
        reasons = _find_obstacles(backend, job)
        works = [name for name, why in reasons.items() if not why]
        session.rig = Rig(backend, job, works)
        session.rig.notes += [f"{name}: {why}" for name, why in reasons.items() if why]
        facts |= {"works": works, "notes": session.rig.notes}
    return facts


def _find_obstacles(backend: Backend, job: MpiCommunicator) -> dict[str, str | None]:
    """The reason why each transport does not work; None if it works."""
    reasons = find_obstacles(backend, job, TRANSPORTS[backend.name])
    if not backend.on_host:
        why = reasons["mpi-gpu"] or obstacle("mpi-thread", backend, job)
        reasons |= dict.fromkeys(THREADED, why)
    return reasons


BENCHMARK = Benchmark(
    SIZES,
    prepare,
    TABLES,
    draw,
    FULL,
    missing="the kernels and messages of GAPS, and local time steps",
    quick=QUICK,
    document=DOCUMENT,
)
