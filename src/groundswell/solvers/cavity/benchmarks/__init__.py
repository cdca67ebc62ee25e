"""The cavity in the form of Xue & Roy (2020): one device, strong and weak scaling, and the way to
a steady flow.

Their unit "ssspnt" is ten million points that one device updates in a second; where they print
figures of two devices, these are of both together, and so are ours.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from groundswell.backends import Backend
from groundswell.bench import Benchmark
from groundswell.bench.exchange import published
from groundswell.bench.exchange.rig import Rig
from groundswell.bench.tell import Tell, silent
from groundswell.exchange.world import MpiWorld, world
from groundswell.solvers.cavity.benchmarks.draw import draw
from groundswell.solvers.cavity.benchmarks.scaling import (
    measure_growth,
    measure_strong,
    measure_weak,
)
from groundswell.solvers.cavity.benchmarks.speed import measure_sizes
from groundswell.solvers.cavity.benchmarks.steady import measure_steady
from groundswell.solvers.cavity.benchmarks.tables import show

__all__ = ["Sizes", "draw", "measure"]


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


def measure(backend: Backend, sizes: Sizes | None = None, *, tell: Tell = silent) -> dict[str, Any]:
    """All tables; every rank must call it, and gets the same.

    On one rank: speed by size, and the time to a steady flow. On several: how their speed scales.
    """
    job, chosen, begun = world(), sizes or SIZES[backend.name], time.monotonic()
    found: dict[str, Any] = {
        "subject": "cavity",
        "backend": backend.name,
        "devices": job.share(backend.device),
        "ranks": job.size,
        "bandwidth": backend.measure_bandwidth(),
        "published": _published(),
        "notes": [],
    }
    if isinstance(job, MpiWorld):
        rig = Rig(backend, job, ["mpi", "peer" if backend.on_host else "direct"])
        tell("strong scaling")
        found["strong"] = measure_strong(rig, chosen.edge, chosen.large)
        tell("weak scaling")
        found["weak"] = measure_weak(rig, chosen.edge, chosen.large)
        tell("growing grids")
        found |= {"growth": measure_growth(rig, chosen.edge), "notes": rig.notes}
    else:
        tell("speed by size")
        found["sizes"] = measure_sizes(backend, chosen.edges, found["bandwidth"])
        tell("steady flow")
        found["steady"] = measure_steady(backend, *chosen.steady)
    return found | {"seconds": time.monotonic() - begun}


def _published() -> dict[str, Any]:
    """The paper's tables 3 and 4, in a form that JSON holds."""
    tables = {"strong": published.STRONG, "weak": published.WEAK}
    return {"one": published.ONE_GPU} | {
        name: [
            {"version": version, "processes": grid, "ssspnt": speed, "efficiency": share}
            for (version, grid), (speed, share) in table.items()
        ]
        for name, table in tables.items()
    }


BENCHMARK = Benchmark(measure, draw, show)
