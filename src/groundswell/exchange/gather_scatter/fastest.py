"""The fastest connection for values that ranks share, found by trials on this machine.

`tune_sharing` measures each transport and route that works here.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from groundswell.backends import Backend
from groundswell.backends.base import in_order
from groundswell.exchange.gather_scatter.gather_scatter import GatherScatter
from groundswell.exchange.gather_scatter.sharing import Sharing
from groundswell.exchange.gather_scatter.transfers import Connection
from groundswell.exchange.tuning import (
    Choice,
    Timer,
    Tuning,
    TuningCache,
    gather_scatter_candidates,
    tune,
    usable,
)


def connection_of(choice: Choice) -> Connection:
    """What a choice says about connections."""
    return Connection(choice.transport, choice.route, choice.codec)


def tune_sharing(
    backend: Backend,
    sharing: Sharing,
    dtype: DTypeLike,
    *,
    transport: str = "auto",
    route: str = "auto",
) -> Tuning | None:
    """Measure a halo and a gather of shared values, by transport and route.

    All ranks must call it. None where there is nothing to choose.

    Args:
        dtype: of the values.
        transport: a name in connect.TRANSPORTS, or "auto" for all that work here.
        route: one of pattern.ROUTES, or "auto" for all.

    Raises:
        GroundswellError: no allowed choice works here.
    """
    asked = ("fastest" if name == "auto" else name for name in (transport, route))
    comm, kind = sharing.comm, np.dtype(dtype)
    options = dict(zip(("transport", "route"), asked, strict=True))
    choices = gather_scatter_candidates(backend, comm, **options)
    if comm.size == 1:
        return None
    shared, made = sharing.shared_part, list[GatherScatter]()
    counts = len(sharing.ids), len(shared.indices), len(shared.ids)
    assembled, local, gathered = (backend.zeros((n,), kind) for n in counts)
    halo, gather = (sharing, "halo", (assembled, assembled)), (shared, "gather", (local, gathered))

    def timer_of(choice: Choice) -> Timer:
        connection = connection_of(choice)
        operations = [GatherScatter(backend, *of, connection=connection) for of in (halo, gather)]
        made.extend(operations)
        launches = [launch for each in operations for launch in (*each.start, *each.finish)]
        in_graph = all(each.in_graph for each in operations)
        graph = backend.capture(in_order(launches), in_graph=in_graph)
        return lambda times: backend.measure_seconds(lambda: graph.replay(times))

    sizes = comm.allgather([len(ids) for ids in sharing.shared_with.values()])
    cache = TuningCache.of(comm, backend, ["shared values", kind.name, transport, route, sizes])
    found = tune(comm, usable(backend, comm, choices), timer_of, cache)
    for operation in made:
        operation.close()
    return found
