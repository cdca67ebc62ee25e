"""Exchanges that papers compare, of cavities and k-Wave, and routes over an emulated network."""

from __future__ import annotations

from dataclasses import dataclass, replace

from groundswell.bench import Benchmark
from groundswell.bench.exchange import Sizes as OwnSizes
from groundswell_rivals.exchange.draw import draw
from groundswell_rivals.exchange.tables import (
    ALL_PAIRS,
    GAINS,
    OPTIMISATIONS,
    OVERLAPS,
    SPEEDUPS,
)


@dataclass(frozen=True)
class Sizes(OwnSizes):
    """Sizes of the measured problems.

    Args:
        cavity: points along an edge of the whole cavity.
        cube, overlaps: points along an edge of a rank's cube, and overlaps, see `measure_overlaps`.
    """

    cavity: int = 256
    cube: int = 256
    overlaps: tuple[int, ...] = (2, 4, 8, 16, 32)


EDGES = {"cuda": (256, 256), "cpu": (64, 96)}  # of the cavity, and of a rank's cube


def extend(benchmark: Benchmark) -> Benchmark:
    """Add these tables, and draw them."""
    links, paths, neighbours, *others = benchmark.tables
    rivals = [OPTIMISATIONS, GAINS, OVERLAPS, SPEEDUPS]
    sizes = {
        name: Sizes(**vars(own), cavity=EDGES[name][0], cube=EDGES[name][1])
        for name, own in benchmark.sizes.items()
    }
    tables = [links, paths, neighbours, *rivals, *others, ALL_PAIRS]
    return replace(benchmark, sizes=sizes, tables=tables, draw=draw, missing="")
