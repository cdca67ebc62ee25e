"""Values that several ranks hold copies of, for any code: told by global ids.

    numbering = Numbering(ids)                    # (n,), one for each local value of this rank
    numbering.gather_scatter(u)                   # every copy becomes the sum of all
    v = numbering.gather(u)                       # one value for each different id of this rank
    numbering.scatter(v, u)                       # and back to all copies

All that is said of one rank holds for all, as for `Domain`.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from groundswell.backends import Array, Backend
from groundswell.errors import InputError
from groundswell.exchange.codecs.coder import require_codec
from groundswell.exchange.gather_scatter.gather_scatter import GatherScatter
from groundswell.exchange.gather_scatter.routes import ROUTES
from groundswell.exchange.gather_scatter.rows import TYPES
from groundswell.exchange.gather_scatter.sharing import find_sharing
from groundswell.exchange.plan import Plan
from groundswell.exchange.plan_cache import PlanCache, ranks_of
from groundswell.exchange.request import find_device, transport_of
from groundswell.exchange.tuning import Choice, fastest, gather_scatter_candidates


class Numbering(PlanCache):
    """Global ids of local values, on all ranks.

    Local values have one for each id given, assembled values one for each different id of this
    rank: first those that it owns, `own` of them, then copies of those that other ranks own.

    Args:
        ids: (n,), whole numbers from 0 on, in any order; values with the same number, on this rank
            or on others, are copies of each other. -1 for those that take part in nothing.
        comm: mpi4py's communicator of the ranks; None for all that were started.
        device: "cpu"; "cuda" for one of the host's GPUs a rank; "cuda:1"; or a backend.
        transport: as docs/exchange.md lists them; "auto" for the usual one.
        route: "pairwise", "alltoall" or "crystal". "fastest" for either tries what there is.
        codec: "none"; "mpc" makes messages shorter without loss, "zfp16" and so on with: copies of
            a value then differ between ranks.

    Attributes:
        ids: of the assembled values, NumPy's.
        own: how many of these this rank owns. An id's owner follows from the id alone.

    Raises:
        InputError: an argument that cannot be honoured.
        BackendError: the device is absent.
    """

    what = "numbering"

    def __init__(
        self,
        ids: ArrayLike,
        *,
        comm: Any = None,
        device: str | Backend = "cpu",
        transport: str = "auto",
        route: str = "pairwise",
        codec: str = "none",
    ) -> None:
        ranks = ranks_of(comm)
        self._sharing = find_sharing(ranks, ids)
        backend = find_device(device, ranks, np.zeros((ranks.size, ranks.size), np.int64))
        super().__init__(ranks, backend, frees_comm=comm is not None)
        self._how = self.comm.collective_try(lambda: self._options(transport, route, codec))
        self.ids, self.own = self._sharing.ids, self._sharing.own

    def zeros(self, dtype: Any = "float64", components: int | None = None) -> Array:
        """Assembled values, NumPy's or CuPy's: (values,), or (components, values).

        Raises:
            InputError: another type than those of values, or no components.
        """
        kind = np.dtype(dtype).name
        if kind not in TYPES or (components is not None and components < 1):
            raise InputError(
                f"{components} components of {kind}: give 1 or more, of {', '.join(TYPES)}"
            )
        shape = (len(self.ids),) if components is None else (components, len(self.ids))
        return self._interop.zeros(shape, np.dtype(dtype))

    # --- the four operations ----------------------------------------------------------------------

    def gather_scatter(self, local: Any, op: str = "sum", stream: Any = None) -> Any:
        """Give every copy the sum of all; returns the array.

        Sums have a fixed order, so all copies are the same bits, and so are repeated runs.

        Args:
            local: (n,) or (components, n) of float32, float64, int32 or int64, NumPy's, CuPy's,
                PyTorch's or any that speaks DLPack; it is changed.
            op: "sum", "multiply", "min" or "max".
            stream: of a GPU: see `Plan`.
        """
        self._do("gather-scatter", local, local, op, stream)
        return local

    def gather(self, local: Any, out: Any = None, op: str = "sum", stream: Any = None) -> Any:
        """The sum of all copies, at each id's owner; returns the assembled values.

        Args:
            out: assembled values to be overwritten; by default new ones. Those that another rank
                owns are left as they are: `halo` fills them in.
        """
        out = self._like(local, len(self.ids)) if out is None else out
        self._do("gather", local, out, op, stream)
        return out

    def scatter(self, assembled: Any, out: Any = None, stream: Any = None) -> Any:
        """Copy the owners' values to all copies; returns the local values.

        Args:
            out: local values to be overwritten; by default new ones. Those without an id are left.
        """
        out = self._like(assembled, len(self._sharing.rows)) if out is None else out
        self._do("scatter", assembled, out, "sum", stream)
        return out

    def halo(self, assembled: Any, stream: Any = None) -> Any:
        """Fill in the assembled values that other ranks own; returns the array."""
        self._do("halo", assembled, assembled, "sum", stream)
        return assembled

    def plan(
        self,
        kind: str,
        source: Any,
        target: Any = None,
        *,
        op: str = "sum",
        transport: str | None = None,
        route: str | None = None,
        codec: str | None = None,
    ) -> Plan:
        """Prepare "gather-scatter", "gather", "scatter" or "halo" of given arrays.

        Between `start` and `finish` of the plan other work hides the messages.

        Args:
            target: by default `source`, as "gather-scatter" and "halo" want it.

        Raises:
            InputError: arrays that do not fit, or an unknown option.
            BackendError: the transport does not work here.
        """
        given = {"transport": transport, "route": route, "codec": codec}
        how = self._how | {name: value for name, value in given.items() if value is not None}
        self._require_open()
        how = self.comm.collective_try(lambda: self._options(**how))
        return self._made(kind, source, source if target is None else target, op, how)

    # --- plans ------------------------------------------------------------------------------------

    def _do(self, kind: str, source: Any, target: Any, op: str, stream: Any) -> None:
        self._require_open()
        streams = self._interop.user_streams(stream, [source, target])
        arrays = self._viewed(source, target)
        # The same on all ranks. Arrays that cannot be viewed are refused on all, by a new plan.
        terms = tuple((a.dtype.str, a.shape[:-1]) for a in arrays) or (id(source), id(target))
        key = (kind, op, source is target, *terms)
        make = partial(self._made, kind, source, target, op, self._how)
        plan = self._plan_of(key, make)
        self._run(plan, streams, *arrays)

    def _viewed(self, source: Any, target: Any) -> tuple[Array, ...]:
        """Both arrays; none if they cannot be viewed."""
        try:
            return self._views(source, target)
        except InputError:
            return ()

    def _made(self, kind: str, source: Any, target: Any, op: str, how: dict[str, str]) -> Plan:
        old, new = self.comm.collective_try(lambda: self._views(source, target))
        terms = (kind, op, old.dtype.str, old.shape[:-1], *how.values())
        self._require_agreement(terms)

        def make(choice: Choice, old: Array = old, new: Array = new) -> Plan:
            operation = GatherScatter(
                *(self.backend, self.comm, self._sharing, kind, old, new),
                reduction=op,
                transport=choice.transport,
                route=choice.route,
                codec=choice.codec,
            )
            return self._planned(operation, [source, target])

        choices = gather_scatter_candidates(self.backend, self.comm, **how)
        if len(choices) == 1 or self.size == 1:
            return make(choices[0])
        # Trials change what they are done to.
        scratch = [self.backend.zeros(tuple(a.shape), a.dtype) for a in (old, new)]
        trial = partial(make, old=scratch[0], new=scratch[0] if new is old else scratch[1])
        sizes = self.comm.allgather([len(rows) for rows in self._sharing.sharers.values()])
        problem = [terms, len(self._sharing.rows), len(self.ids), choices, sizes]
        return make(fastest(self.backend, self.comm, problem, trial, choices))

    def _views(self, source: Any, target: Any) -> tuple[Array, Array]:
        """The arrays of an operation, of which the source may be read-only if it stays as it is."""
        view = self._interop.view(target)
        return (view if source is target else self._interop.view(source, writable=False)), view

    def _require_agreement(self, terms: tuple[Any, ...]) -> None:
        said = self.comm.allgather(terms)
        if different := [rank for rank, other in enumerate(said) if other != said[0]]:
            raise InputError(
                f"rank {different[0]} wants {said[different[0]]}, and rank 0 {said[0]}; all must "
                "ask for the same, of arrays of the same type and components"
            )

    def _like(self, array: Any, values: int) -> Array:
        view = self._interop.view(array, writable=False)
        return self._interop.zeros((*view.shape[:-1], values), view.dtype)

    def _options(self, transport: str, route: str, codec: str) -> dict[str, str]:
        if route not in (*ROUTES, "fastest"):
            raise InputError(
                f"route = {route!r} does not exist; give {', '.join(ROUTES)}, or fastest"
            )
        transport = transport_of(self.backend, transport)
        return {"transport": transport, "route": route, "codec": require_codec(codec)}
