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

from groundswell.arrays import Integers
from groundswell.backends import Launch
from groundswell.backends.base import in_order
from groundswell.bench.rig import FASTEST, Rig
from groundswell.bench.tables import Row
from groundswell.exchange.gather_scatter import GatherScatter
from groundswell.exchange.gather_scatter.sharing import Sharing, find_sharing
from groundswell.exchange.gather_scatter.transfers import Connection

DEGREE = 7


def box_ids(elements: int, degree: int, rank: int) -> Integers:
    """Ids of the nodes of a rank's cube of elements, (elements^3 (degree + 1)^3,)."""
    inside = degree * np.arange(elements)[:, None] + np.arange(degree + 1)
    across = elements * degree + 1
    z, y, x = inside + rank * elements * degree, inside, inside
    planes = z[:, None, None, :, None, None] * across + y[None, :, None, None, :, None]
    ids: Integers = planes * across + x[None, None, :, None, None, :]
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
        make = partial(measure_route, rig, rig.backend, sharing, Connection(transport, route))
        if row := rig.attempt(f"{transport}, {route}", make):
            yield row


def measure_route(rig: Rig, backend: Any, sharing: Sharing, connection: Connection) -> Row:
    """Measure a gather-scatter of one value for each id; a row as in `measure_routes`."""
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
