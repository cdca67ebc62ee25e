"""Exchanges of ghost layers between ranks: speed by size, transport and option, beside others'."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from groundswell.backends import Backend
from groundswell.bench import Benchmark
from groundswell.bench.exchange import published
from groundswell.bench.exchange.assembly import measure_assembly
from groundswell.bench.exchange.draw import draw
from groundswell.bench.exchange.fused import measure_fused
from groundswell.bench.exchange.ladder import measure_ladder
from groundswell.bench.exchange.links import measure_links, measure_neighbours
from groundswell.bench.exchange.overlaps import measure_overlaps
from groundswell.bench.exchange.progress import measure_progress
from groundswell.bench.exchange.rig import Rig
from groundswell.bench.exchange.tables import show
from groundswell.bench.tell import Tell, silent
from groundswell.errors import InputError
from groundswell.exchange import probe
from groundswell.exchange.world import MpiWorld, world

__all__ = ["Sizes", "draw", "measure"]

KIB, MIB = 1 << 10, 1 << 20


@dataclass(frozen=True)
class Sizes:
    """How large the measured problems are.

    Args:
        faces, shifts, messages: bytes, see `measure_links` and `measure_progress`.
        blocks: see `measure_neighbours`.
        cavity: points of the edge of the whole cavity.
        cube, overlaps: points of a rank's edge, and overlaps, see `measure_overlaps`.
        elements: see `measure_assembly`.
    """

    faces: tuple[int, ...] = tuple(4 * KIB * 4**n for n in range(8))
    shifts: tuple[int, ...] = (4 * KIB, 64 * KIB, MIB, 16 * MIB)
    blocks: tuple[tuple[int, int], ...] = ((128, 1), (256, 4), (512, 16))
    cavity: int = 256
    cube: int = 256
    overlaps: tuple[int, ...] = (2, 4, 8, 16, 32)
    messages: tuple[int, ...] = (MIB, 16 * MIB)
    elements: tuple[int, int] = (48, 8)


SIZES = {
    "cuda": Sizes(),
    "cpu": Sizes(
        blocks=((128, 1), (256, 4), (256, 64)),
        cavity=64,
        cube=96,
        elements=(12, 4),
    ),
}


def measure(backend: Backend, sizes: Sizes | None = None, *, tell: Tell = silent) -> dict[str, Any]:
    """All tables; every rank must call it, and gets the same.

    What does not work is named in `notes`, and the rest goes on; seven minutes are the most that
    it takes, if no rank falls silent.

    Raises:
        InputError: there is one rank only.
    """
    job, chosen, begun = world(), sizes or SIZES[backend.name], time.monotonic()
    if not isinstance(job, MpiWorld):
        raise InputError(
            "the exchange is between ranks and needs at least 2; start it with "
            "`mpiexec -n 2 groundswell bench exchange`"
        )
    reasons = probe.usable(backend, job)
    rig = Rig(backend, job, [name for name, why in reasons.items() if not why])
    rig.notes += [f"{name}: {why}" for name, why in reasons.items() if why]
    tables = _tables(rig, chosen, tell)
    return {
        "subject": "exchange",
        "backend": backend.name,
        "devices": job.share(backend.device),
        "versions": backend.versions(),
        "ranks": job.size,
        "seconds": time.monotonic() - begun,
        **tables,
        "published": _published(),
        "notes": rig.notes,
    }


def _tables(rig: Rig, sizes: Sizes, tell: Tell) -> dict[str, Any]:
    tables: dict[str, Any] = {}
    parts = {
        "links": (70, lambda: measure_links(rig, sizes.faces, sizes.shifts)),
        "neighbours": (40, lambda: measure_neighbours(rig, sizes.blocks)),
        "fused": (10, lambda: measure_fused(rig, [edge for edge, _ in sizes.blocks])),
        "ladder": (60, lambda: measure_ladder(rig, sizes.cavity)),
        "overlaps": (50, lambda: measure_overlaps(rig, sizes.cube, sizes.overlaps)),
        "progress": (20, lambda: measure_progress(rig, sizes.messages)),
        "assembly": (100, lambda: measure_assembly(rig, *sizes.elements)),
    }
    for part, (seconds, act) in parts.items():
        tell(part)
        rig.begin(part, seconds)
        tables[part] = act()
    return tables


def _published() -> dict[str, Any]:
    """The figures of others, in a form that JSON holds."""
    cavity = [
        {
            "rung": rung,
            "grid": grid,
            "efficiency": efficiency,
            "weak_efficiency": published.WEAK[rung, grid][1],
            "lost_seconds": published.lost_seconds(speed),
        }
        for (rung, grid), (speed, efficiency) in published.STRONG.items()
    ]
    overlaps = [{"overlap": n, "speedup": pair} for n, pair in published.KWAVE.items()]
    links = [
        {"way": way, "bytes": size, "seconds": seconds}
        for way, times in published.LINKS.items()
        for size, seconds in times.items()
    ]
    return {"links": links, "ladder": cavity, "overlaps": overlaps}


BENCHMARK = Benchmark(measure, draw, show)
