"""The fastest way for values that ranks share by ids, found by trying all that work here."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from groundswell.backends import Backend
from groundswell.backends.base import in_order
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.gather_scatter.gather_scatter import GatherScatter
from groundswell.exchange.gather_scatter.sharing import Sharing
from groundswell.exchange.tuning import (
    Choice,
    Timer,
    Tuning,
    TuningCache,
    gather_scatter_candidates,
    tune,
    usable,
)


def tune_sharing(
    backend: Backend,
    comm: Communicator,
    sharing: Sharing,
    dtype: DTypeLike,
    *,
    transport: str = "auto",
    route: str = "auto",
) -> Tuning | None:
    """How long a halo and a gather of these values are under way, by transport and route.

    All ranks must call it. None where there is nothing to choose.

    Args:
        dtype: of the values.
        transport: a name in connect.TRANSPORTS, or "auto" for all that work here.
        route: one of routes.ROUTES, or "auto" for all.

    Raises:
        GroundswellError: no way that is allowed works here.
    """
    wanted = ("fastest" if name == "auto" else name for name in (transport, route))
    choices = gather_scatter_candidates(
        backend, comm, **dict(zip(("transport", "route"), wanted, strict=True))
    )
    if comm.size == 1:
        return None
    some, kind = sharing.of_several, np.dtype(dtype)
    assembled = backend.zeros((len(sharing.ids),), kind)
    local, gathered = (backend.zeros((n,), kind) for n in (len(some.rows), len(some.ids)))
    made: list[GatherScatter] = []

    def timer_of(choice: Choice) -> Timer:
        both = [
            GatherScatter(backend, comm, *of_values, transport=choice.transport, route=choice.route)
            for of_values in (
                (sharing, "halo", assembled, assembled),
                (some, "gather", local, gathered),
            )
        ]
        made.extend(both)
        launches = [launch for each in both for launch in (*each.start, *each.finish)]
        in_graph = all(each.in_graph for each in both)
        graph = backend.capture(in_order(launches), in_graph=in_graph)
        return lambda times: backend.measure_seconds(lambda: graph.replay(times))

    sizes = comm.allgather([len(places) for places in sharing.sharers.values()])
    cache = TuningCache.of(comm, backend, ["shared values", kind.name, transport, route, sizes])
    found = tune(comm, usable(backend, comm, choices), timer_of, cache)
    for operation in made:
        operation.close()
    return found
