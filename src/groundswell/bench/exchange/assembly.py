"""Measures gather, scatter and gather-scatter of a spectral-element mesh.

The mesh is NekBone's: a box of cubes of degree N on each rank, with (N + 1)^3 nodes each. Nodes
on common faces are copies of each other. Ranks are stacked along z. hipBone (Chalmers et al. 2023)
times its three routes when it starts. This benchmark compares them.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundswell.backends import Launch
from groundswell.backends.base import in_order
from groundswell.bench.exchange.slow_link import Link, LinkedBackend
from groundswell.bench.rig import FASTEST, Rig
from groundswell.bench.tables import Row
from groundswell.exchange.gather_scatter import GatherScatter
from groundswell.exchange.gather_scatter.sharing import Sharing, find_sharing
from groundswell.exchange.gather_scatter.transfers import Connection

DEGREE = 7
BANDWIDTH, LATENCY = 25e9, 2e-6  # of a fast network, bytes/s and s
GAPS = (0.0, 1e-6, 5e-6, 20e-6)  # cost of a message, s: from none to that of GPU-aware MPI


def box_ids(elements: int, degree: int, rank: int) -> NDArray[np.int64]:
    """Ids of the nodes of a rank's cube of elements, (elements^3 (degree + 1)^3,)."""
    inside = degree * np.arange(elements)[:, None] + np.arange(degree + 1)
    across = elements * degree + 1
    z, y, x = inside + rank * elements * degree, inside, inside
    planes = z[:, None, None, :, None, None] * across + y[None, :, None, None, :, None]
    ids: NDArray[np.int64] = planes * across + x[None, None, :, None, None, :]
    return ids.ravel()


def measure_local(rig: Rig, elements: int) -> Iterator[Row]:
    """Measure the throughput of the part that needs no other rank.

    Args:
        elements: along an edge of a rank's cube.

    Yields:
        Rows: `kind`, `values`, `seconds`, `bytes` (the minimum traffic), `share` of the
        device's bandwidth, `remote` and `whole` in seconds, and `setup`: seconds to create the
        numbering and the operation.
    """
    begun = time.monotonic()
    ids = box_ids(elements, DEGREE, rig.comm.rank)
    sharing = rig.attempt("numbering", lambda: find_sharing(rig.comm, ids))
    numbered, bandwidth = time.monotonic() - begun, rig.backend.measure_bandwidth()
    if sharing is None:
        return
    for kind in ("gather-scatter", "gather", "scatter"):
        if row := rig.attempt(kind, partial(_local, rig, sharing, kind, bandwidth)):
            yield row | {"setup": numbered + row["setup"]}


def _local(rig: Rig, sharing: Sharing, kind: str, bandwidth: float) -> Row:
    local = rig.filled((len(sharing.indices),), "float64")
    whole = rig.filled((len(sharing.ids),), "float64")
    pairs = {"gather-scatter": (local, local), "gather": (local, whole), "scatter": (whole, local)}
    begun = time.monotonic()
    connection = Connection(FASTEST[rig.backend.name])
    operation = GatherScatter(rig.backend, sharing, kind, pairs[kind], connection=connection)
    setup = time.monotonic() - begun
    moved, seconds = _moved(sharing, kind), _seconds(rig, operation, operation.local)
    row = {"kind": kind, "values": len(sharing.indices), "seconds": seconds, "bytes": moved}
    row |= {"share": moved / seconds / bandwidth, "setup": setup} | _times(rig, operation)
    operation.check()
    operation.close()
    return row


def _moved(sharing: Sharing, kind: str) -> int:
    """Minimum traffic: each value (8 bytes) read or written once, and its index (4 bytes).

    In a gather-scatter, every cache line has a shared value, so all values are moved.
    """
    copies = np.bincount(sharing.indices)
    local, whole, several = len(sharing.indices), len(sharing.ids), int(copies[copies > 1].sum())
    return {
        "gather-scatter": 16 * local + 4 * several,
        "gather": 12 * local + 8 * whole,
        "scatter": 12 * local + 8 * whole,
    }[kind]


def measure_routes(rig: Rig, elements: int) -> Iterator[Row]:
    """Measure the part that needs other ranks, by transport and route.

    Args:
        elements: along an edge of a rank's cube.

    Yields:
        Rows: `transport`, `route`, `bytes` sent, `remote` and `whole` in seconds, and `path`.
    """
    sharing = find_sharing(rig.comm, box_ids(elements, DEGREE, rig.comm.rank))
    pairs = [(name, route) for name in rig.transports for route in ("pairwise", "crystal")]
    pairs += [("mpi", "alltoall")] * ("mpi" in rig.transports)
    for transport, route in pairs:
        make = partial(_route, rig, rig.backend, sharing, Connection(transport, route))
        if row := rig.attempt(f"{transport}, {route}", make):
            yield row


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
    return _route(rig, linked, sharing, Connection(FASTEST[rig.backend.name], route))


def _route(rig: Rig, backend: Any, sharing: Sharing, connection: Connection) -> Row:
    values = rig.filled((len(sharing.indices),), "float64")
    arrays = (values, values)
    operation = GatherScatter(backend, sharing, "gather-scatter", arrays, connection=connection)
    row: Row = {"transport": connection.transport, "route": connection.route}
    row["bytes"] = operation.bytes
    row |= {"path": operation.path} | _times(rig, operation)
    operation.check()
    operation.close()
    return row


def _times(rig: Rig, operation: GatherScatter) -> dict[str, float]:
    remote = [*operation.start, *operation.finish]
    return {
        "remote": _seconds(rig, operation, remote),
        "whole": _seconds(rig, operation, operation.launches),
    }


def _seconds(rig: Rig, operation: GatherScatter, launches: list[Launch]) -> float:
    with rig.holding(operation):
        return rig.seconds(in_order(launches), in_graph=operation.in_graph)
