"""Benchmarks of the exchange: speed by size, transport and options."""

from __future__ import annotations

from dataclasses import dataclass

from groundswell.bench import Benchmark, Session
from groundswell.bench.exchange.draw import draw
from groundswell.bench.exchange.tables import TABLES
from groundswell.bench.rig import Rig
from groundswell.exchange.mpi_communicator import MpiCommunicator
from groundswell.exchange.probing import find_obstacles

__all__ = ["BENCHMARK", "Sizes", "draw"]

KIB, MIB = 1 << 10, 1 << 20


@dataclass(frozen=True)
class Sizes:
    """Sizes of the measured problems.

    Args:
        faces, shifts, messages: bytes, see `measure_links` and `measure_progress`.
        blocks: see `measure_neighbours`.
        elements: along an edge of a rank's cube, see `measure_local` and `measure_routes`.
    """

    faces: tuple[int, ...] = tuple(4 * KIB * 4**n for n in range(8))
    shifts: tuple[int, ...] = (4 * KIB, 64 * KIB, MIB, 16 * MIB)
    blocks: tuple[tuple[int, int], ...] = ((128, 1), (256, 4), (512, 16))
    messages: tuple[int, ...] = (MIB, 16 * MIB)
    elements: tuple[int, int] = (48, 8)


SIZES = {
    "cuda": Sizes(),
    "cpu": Sizes(blocks=((128, 1), (256, 4), (256, 64)), elements=(12, 4)),
}


def prepare(session: Session) -> dict[str, object]:
    """Find the transports that work; `notes` lists the others."""
    job = session.comm
    assert isinstance(job, MpiCommunicator)
    reasons = find_obstacles(session.backend, job)
    works = [name for name, why in reasons.items() if not why]
    session.rig = Rig(session.backend, job, works)
    session.rig.notes += [f"{name}: {why}" for name, why in reasons.items() if why]
    return {
        "about": "Times are medians of repeats, of the slowest rank each.",
        "transports": works,
        "notes": session.rig.notes,
    }


BENCHMARK = Benchmark(
    SIZES, prepare, TABLES, draw, missing="exchanges of other programs, and emulated networks"
)
