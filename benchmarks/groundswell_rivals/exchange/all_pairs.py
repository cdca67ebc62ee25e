"""Measures routes between ranks that all share values, over an emulated network."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from groundswell.bench.exchange.assembly import measure_route
from groundswell.bench.rig import FASTEST, Rig
from groundswell.bench.tables import Row
from groundswell.exchange.gather_scatter.sharing import Sharing, find_sharing
from groundswell.exchange.gather_scatter.transfers import Connection
from groundswell_rivals.exchange.slow_link import Link, LinkedBackend

BANDWIDTH, LATENCY = 25e9, 2e-6  # of a fast network, bytes/s and s
GAPS = (0.0, 1e-6, 5e-6, 20e-6)  # cost of a message, s: from none to that of GPU-aware MPI


def measure_all_pairs(rig: Rig) -> Iterator[Row]:
    """Measure routes between ranks that all share values, with increasing cost of a message.

    The crystal router sends the fewest messages, so it should be fastest at the highest cost.

    Yields:
        Rows: `gap`, the cost of a message, and the keys of `measure_routes`.
    """
    rank = rig.comm.rank
    others = np.delete(np.arange(rig.comm.size), rank)
    ids = np.minimum(others, rank) * rig.comm.size + np.maximum(others, rank)
    sharing = find_sharing(rig.comm, ids)
    for gap in GAPS:
        for route in ("pairwise", "crystal"):
            make = partial(_slow, rig, sharing, route, gap)
            if row := rig.attempt(f"{route} with a gap of {gap:g} s", make):
                yield {"gap": gap, **row}


def _slow(rig: Rig, sharing: Sharing, route: str, gap: float) -> Row:
    linked = LinkedBackend(rig.backend, Link(BANDWIDTH, LATENCY, gap))
    return measure_route(rig, linked, sharing, Connection(FASTEST[rig.backend.name], route))
