"""Measures whether messages make progress while the host computes.

Xue & Roy (2020), section 4.7, found that they did not: their MPI libraries moved messages only
during calls of the library.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from groundswell.bench.exchange.links import face_exchange
from groundswell.bench.rig import Rig
from groundswell.bench.tables import Row
from groundswell.exchange.halo import HaloExchange

HOST_DRIVEN = ("mpi", "mpi-thread", "mpi-gpu")  # transports in which the host takes part
POINTS = 8192  # of one call: few, so that they stay in the cache and calls are short


def measure_progress(rig: Rig, sizes: Sequence[int]) -> Iterator[Row]:
    """Time an exchange, host work of about the same length, and both at once.

    Args:
        sizes: bytes of the message that each rank sends to the next.

    Yields:
        Rows: `bytes`, `transport`, `exchange`, `work` and `both` in seconds, and `hidden`:
        the fraction of the shorter one that took no additional time, at most 1.
    """
    for size in sizes:
        for transport in (name for name in rig.transports if name in HOST_DRIVEN):
            if row := rig.attempt(transport, partial(_measured, rig, transport, size)):
                yield row


def _measured(rig: Rig, transport: str, size: int) -> Row:
    halo = face_exchange(rig, transport, size, faces=1)
    try:
        return {"bytes": size, "transport": transport, "path": halo.path, **_times(rig, halo)}
    finally:
        halo.close()


def _times(rig: Rig, halo: HaloExchange) -> dict[str, float]:
    exchange = rig.seconds(lambda: _both(rig, halo, 0), in_graph=False)
    calls = max(1, round(exchange / rig.seconds(lambda: compute(1), in_graph=False)))
    work = rig.seconds(lambda: compute(calls), in_graph=False)
    both = rig.seconds(lambda: _both(rig, halo, calls), in_graph=False)
    hidden = (exchange + work - both) / min(exchange, work)
    return {"exchange": exchange, "work": work, "both": both, "hidden": hidden}


def _both(rig: Rig, halo: HaloExchange, calls: int) -> None:
    """Start an exchange, do the work, and finish the exchange."""
    for launch in halo.start:
        launch()
    compute(calls)
    for launch in halo.finish:
        launch()
    rig.backend.synchronize()


_ANGLES, _SINES = np.linspace(0, 1, POINTS), np.empty(POINTS)


def compute(calls: int) -> None:
    """Work of one core, during which other threads of this process may run."""
    for _ in range(calls):
        np.sin(_ANGLES, out=_SINES)
