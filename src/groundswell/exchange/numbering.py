"""The public interface of gather-scatter: values with global ids and copies on several ranks.

    numbering = Numbering(ids)                    # (n,), one for each local value of this rank
    numbering.gather_scatter(u)                   # every copy becomes the sum of all
    v = numbering.gather(u)                       # one value for each different id of this rank
    numbering.scatter(v, u)                       # and back to all copies

All ranks must make the same calls, as for `Domain`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any, TypeVar

from numpy.typing import ArrayLike, DTypeLike

from groundswell.arguments import integers, require_arguments
from groundswell.arrays import DeviceArray
from groundswell.backends import Backend
from groundswell.backends.viewable import as_dtype
from groundswell.compression import require_codec
from groundswell.errors import InputError, counted
from groundswell.exchange.communicator import reported
from groundswell.exchange.connect import transport_of
from groundswell.exchange.devices import find_device
from groundswell.exchange.gather_scatter import DEFAULT, GatherScatter
from groundswell.exchange.gather_scatter.pattern import ROUTES
from groundswell.exchange.gather_scatter.rows import TYPES
from groundswell.exchange.gather_scatter.sharing import find_sharing
from groundswell.exchange.gather_scatter.transfers import Connection
from groundswell.exchange.mpi_communicator import ranks_of
from groundswell.exchange.plan import Plan
from groundswell.exchange.plan_cache import PlanCache
from groundswell.exchange.tuning import Choice, gather_scatter_candidates

if TYPE_CHECKING:
    from mpi4py import MPI

UserArray = TypeVar("UserArray")  # of any supported library


class Numbering(PlanCache):
    """Global ids of local values, on all ranks.

    >>> import numpy as np
    >>> from groundswell.exchange import Numbering
    >>> with Numbering([0, 1, 1, 2]) as numbering:  # two elements share a node
    ...     u = numbering.gather_scatter(np.array([1.0, 2.0, 3.0, 4.0]))
    >>> u.tolist()
    [1.0, 5.0, 5.0, 4.0]

    There is one local value for each given id, and one assembled value for each distinct id of this
    rank: first the `own` values that it owns, then copies of values that other ranks own.

    Args:
        ids: (n,), integers in any order: 0 or more, or -1 for values to ignore. Values with the
            same id, on this rank or on others, are copies of each other.
        comm: an mpi4py communicator; None for all processes.
        device: "cpu"; "cuda" for one of the host's GPUs per rank; "cuda:1"; or a backend.
        transport: see docs/exchange.md; "auto" for the default one, "fastest" to measure all.
        route: "pairwise" (one message to each neighbour), "alltoall" (one call of MPI), "crystal"
            (the crystal router: at most log2(ranks) messages from each rank), or "fastest" to
            measure all.
        codec: "none", "mpc" for lossless compression of messages, or a lossy codec such as "zfp16",
            with which copies of a value differ between ranks.

    Attributes:
        ids: ids of the assembled values, a NumPy array.
        own: number of ids that this rank owns. A hash of the id chooses its owner.

    Raises:
        InputError: an argument is invalid; raised on all ranks.
        BackendError: the device is absent.
    """

    what = "numbering"

    def __init__(
        self,
        ids: ArrayLike,
        *,
        comm: MPI.Comm | None = None,
        device: str | Backend = "cpu",
        transport: str = "auto",
        route: str = "pairwise",
        codec: str = "none",
    ) -> None:
        ranks = ranks_of(comm)
        self._sharing = find_sharing(ranks, ids)
        backend = find_device(device, ranks)
        super().__init__(ranks, backend, frees_comm=comm is not None)
        options = {"transport": transport, "route": route, "codec": codec}
        complete = partial(self._complete, DEFAULT, options)
        self._connection = self.comm.collective_try(complete)
        self.ids, self.own = self._sharing.ids, self._sharing.own

    def __repr__(self) -> str:
        values, ids = len(self._sharing.indices), len(self.ids)
        options = ", ".join(f"{name} {value}" for name, value in asdict(self._connection).items())
        return (
            f"<Numbering: {counted(values, 'value')} of {counted(ids, 'id')}, {self.own} of them "
            f"own, rank {self.rank} of {self.size}, device {self.backend.name}, {options}>"
        )

    def zeros(self, dtype: DTypeLike = "float64", components: int | None = None) -> DeviceArray:
        """Zero assembled values as a NumPy or CuPy array, (values,) or (components, values).

        Raises:
            InputError: the type is not supported, or `components` is invalid.
        """
        kind, leading = as_dtype(dtype), () if components is None else integers([components])
        if kind.name not in TYPES:
            raise InputError(f"dtype = {dtype!r}: give one of {', '.join(TYPES)}")
        if leading is None or min(leading, default=1) < 1:
            raise InputError(f"components = {components!r}: give a whole number above zero")
        return self._interop.zeros((*leading, len(self.ids)), kind)

    # --- the four operations ----------------------------------------------------------------------

    def gather_scatter(self, local: UserArray, op: str = "sum", stream: object = None) -> UserArray:
        """Set every copy to the sum of all copies; returns the array.

        Sums have a fixed order, so all copies, and repeated runs, are bit-identical.

        Args:
            local: (n,) or (components, n) of float32, float64, int32 or int64, of NumPy, CuPy,
                PyTorch or any library with DLPack; it is overwritten.
            op: "sum", "multiply", "min" or "max".
            stream: GPU stream, see `Plan`.

        Raises:
            InputError: the array does not fit, or differs between ranks; as for the other methods.
            RunFailed: a rank is late or lost; on a GPU, the error may appear later, see `check`.
        """
        self._do("gather-scatter", local, local, op, stream)
        return local

    def gather(self, local: object, out: Any = None, op: str = "sum", stream: object = None) -> Any:
        """The sum of all copies, at each id's owner; returns the assembled values.

        Args:
            out: assembled values to overwrite; by default, a new array. Values that another rank
                owns do not change; `halo` fills them.
            op, stream: see `gather_scatter`.
        """
        out = self._like(local, len(self.ids)) if out is None else out
        self._do("gather", local, out, op, stream)
        return out

    def scatter(self, assembled: object, out: Any = None, stream: object = None) -> Any:
        """Copy the owners' values to all copies; returns the local values.

        Args:
            out: local values to overwrite; by default, a new array. Values without an id do not
                change.
        """
        out = self._like(assembled, len(self._sharing.indices)) if out is None else out
        self._do("scatter", assembled, out, "sum", stream)
        return out

    def halo(self, assembled: UserArray, stream: object = None) -> UserArray:
        """Fill the assembled values that other ranks own; returns the array."""
        self._do("halo", assembled, assembled, "sum", stream)
        return assembled

    @reported
    def plan(
        self,
        /,
        kind: str,
        source: object,
        target: object = None,
        *,
        op: str = "sum",
        **options: str | None,
    ) -> Plan:
        """Prepare a "gather-scatter", "gather", "scatter" or "halo" of given arrays.

        Other work can run between `start` and `finish` of the plan, during the communication.

        Args:
            target: by default `source`, as "gather-scatter" and "halo" require.
            options: `transport`, `route` and `codec`; by default, those of the numbering.

        Raises:
            InputError: arrays do not fit, or a value is not allowed.
            BackendError: the transport does not work here.
        """
        self._require_open()
        connection = self.comm.collective_try(lambda: self._complete(self._connection, options))
        return self._new_plan(kind, (source, source if target is None else target), op, connection)

    # --- plans ------------------------------------------------------------------------------------

    @reported
    def _do(self, kind: str, source: object, target: object, op: str, stream: object) -> None:
        self._require_open()
        given, connection = (source, target), self._connection
        streams = self._interop.user_streams(stream, given)
        arrays = self._views(*given)
        # The same on all ranks, so that either all or none find a plan.
        key = (kind, op, source is target, *((a.dtype.str, a.shape[:-1]) for a in arrays))
        make = partial(self._new_plan, kind, given, op, connection)
        self._run_cached(lambda: key, make, streams, *arrays)

    def _new_plan(
        self, kind: str, given: tuple[object, object], op: str, connection: Connection
    ) -> Plan:
        """A plan, which keeps the given arrays alive."""
        arrays = self.comm.collective_try(lambda: self._views(*given))
        terms = {
            "operation": kind,
            "reduction": op,
            "dtype": arrays[0].dtype.str,
            "components": arrays[0].shape[:-1],
            **asdict(connection),
        }
        self.comm.require_same(terms)
        choices = gather_scatter_candidates(self.backend, self.comm, connection)

        def make(choice: Choice, arrays: tuple[DeviceArray, DeviceArray] = arrays) -> GatherScatter:
            of = self.backend, self._sharing, kind, arrays
            return GatherScatter(*of, reduction=op, connection=choice)

        @cache
        def scratch() -> tuple[DeviceArray, DeviceArray]:  # trials overwrite arrays
            new = [self.backend.zeros(tuple(a.shape), a.dtype) for a in arrays]
            return new[0], new[0 if arrays[0] is arrays[1] else 1]

        sizes = self.comm.allgather([len(ids) for ids in self._sharing.shared_with.values()])
        problem = [terms, len(self._sharing.indices), len(self.ids), choices, sizes]
        return self._planned(make, choices, problem, given, lambda c: make(c, scratch()))

    def _views(self, source: object, target: object) -> tuple[DeviceArray, DeviceArray]:
        """Source and target; the source may be read-only if it is not the target."""
        view = self._interop.view(target)
        return (view if source is target else self._interop.view(source, writable=False)), view

    def _like(self, array: object, values: int) -> DeviceArray:
        view = self._interop.view(array, writable=False)
        return self._interop.zeros((*view.shape[:-1], values), view.dtype)

    def _complete(self, usual: Connection, given: Mapping[str, str | None]) -> Connection:
        """The usual connection, with the given changes."""
        require_arguments(given, ("target", "op", "transport", "route", "codec"))
        changes = {name: value for name, value in given.items() if value is not None}
        wanted: Connection = replace(usual, **changes)
        if wanted.route not in (*ROUTES, "fastest"):
            raise InputError(
                f"route = {wanted.route!r} does not exist; give {', '.join(ROUTES)}, or fastest"
            )
        transport = transport_of(self.backend, wanted.transport)
        return Connection(transport, wanted.route, require_codec(wanted.codec))
