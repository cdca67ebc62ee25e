"""Exchanges that papers compare, of cavities and k-Wave, and routes over an emulated network."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

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


MORE: dict[str, dict[str, Any]] = {"cuda": {}, "cpu": {"cavity": 64, "cube": 96}}


def extend(benchmark: Benchmark) -> Benchmark:
    """Add these tables, and draw them."""
    links, paths, neighbours, *others = benchmark.tables
    rivals = [OPTIMISATIONS, GAINS, OVERLAPS, SPEEDUPS]
    sizes = {name: Sizes(**vars(own), **MORE[name]) for name, own in benchmark.sizes.items()}
    tables = [links, paths, neighbours, *rivals, *others, ALL_PAIRS]
    return replace(benchmark, sizes=sizes, tables=tables, draw=draw, missing="")
