"""Gather, scatter, gather-scatter and halo: operations on values with several copies.

A rank has one local value for each given id, and one assembled value for each distinct id, in the
order of `Sharing.ids`. In a finite-element method with local values y, assembled values x and the
boolean matrix Z that maps x to y (Chalmers et al. 2023, Int. J. High Perform. Comput. Appl., eq.
2), the operations are Z'y, Zx, ZZ'y, and the part of Zx that needs other ranks. "gather-all" is a
gather whose result all ranks get that have the value, in one exchange. The constructor shows all
steps: pattern, transport, packing and reduction.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from groundswell.arrays import DeviceArray
from groundswell.backends import Backend, KernelLaunch, Launch
from groundswell.errors import InputError, counted
from groundswell.exchange.codecs import common_type
from groundswell.exchange.communicator import opened
from groundswell.exchange.connect import reason_for
from groundswell.exchange.gather_scatter.pattern import PHASES, ROUTES, ExchangePattern
from groundswell.exchange.gather_scatter.rows import OPERATIONS, Operand, reduce_rows
from groundswell.exchange.gather_scatter.sharing import Sharing
from groundswell.exchange.gather_scatter.tiles import SECTOR, reduce_in_place
from groundswell.exchange.gather_scatter.transfers import Connection, connect_rows
from groundswell.exchange.messages import Operation

DEFAULT = Connection()


class GatherScatter(Operation):
    """One of these operations on given arrays; creating, running and closing it is collective.

    Sums have a fixed order: first the copies of a rank in the order of its values, then the ranks
    in their order. All copies of a result, and results of repeated runs, are therefore
    bit-identical.

    Args:
        kind: "gather", "gather-all", "scatter", "gather-scatter" or "halo".
        arrays: source and target, (values,) or (components, values); the same array for
            "gather-scatter" and "halo". After a "gather", assembled values that another rank owns
            are undefined; "scatter" and "halo" do not read them.
        reduction: "sum", "multiply", "min" or "max", for all kinds of gather.

    Attributes:
        start: launches that read the values that other ranks need, and send them.
        local: launches that need no other rank; independent of `start` and `finish`.
        finish: launches that wait for the values of other ranks, and finish the operation.

    Raises:
        InputError: arrays do not fit, or the kind, reduction, route or transport does not exist.
        BackendError: the transport does not work here, or not with the route.
    """

    local: list[Launch]
    _arrays: tuple[DeviceArray, DeviceArray]

    def __init__(
        self,
        backend: Backend,
        sharing: Sharing,
        kind: str,
        arrays: tuple[DeviceArray, DeviceArray],
        *,
        reduction: str = "sum",
        connection: Connection = DEFAULT,
    ) -> None:
        self._backend, self._sharing, self.closed = backend, sharing, False
        self._kind, self._reduction, comm = kind, reduction, sharing.comm
        comm.collective_try(lambda: _require_known(kind, reduction, connection.route))
        source, target = comm.collective_try(lambda: self._checked(*arrays))
        if connection.codec != "none":  # also without messages
            types = [str(array.dtype) for array in arrays]
            comm.collective_try(lambda: common_type(zip(types, types, strict=True)))
        self._pattern = ExchangePattern.plan(sharing, kind, connection.route)
        self._transfer = connect_rows(backend, self._pattern, source, reduction, connection)
        self._parts = [self._transfer]
        opened(self)
        self.path, self.in_graph = self._transfer.path, self._transfer.in_graph
        self.sends_in_finish = len(self._pattern.route.stages) > 1
        self.bytes = self._pattern.route.sent * source.components * source.array.dtype.itemsize
        self.peers = sorted(sharing.shared_with)
        self.reason = reason_for(comm, connection.transport)
        if connection.route == "alltoall" and comm.size > 1:
            self.reason = "as the route requires"
        comm.collective_try(lambda: self._set_up(source, target))

    def _checked(self, source: DeviceArray, target: DeviceArray) -> tuple[Operand, Operand]:
        values = Operand(source), Operand(target)
        _require_sizes(self._sharing, self._kind, *values)
        _require_memory(self._backend, self._kind, source, target)
        return values

    def _set_up(self, source: Operand, target: Operand) -> None:
        phases = PHASES[self._kind](self._pattern)
        self._arrays = source.array, target.array
        self._transfer.bind(phases, source, target)
        self.start, self.finish = self._transfer.start, self._transfer.finish
        (old, new), reduction = phases.local, self._reduction
        if old is new:
            self.local = reduce_in_place(self._backend, reduction, source, old, phases.unpack[1])
        else:
            self.local = reduce_rows(self._backend, reduction, (source, old), (target, new))

    # --- other arrays -----------------------------------------------------------------------------

    def is_bound(self, source: DeviceArray, target: DeviceArray) -> bool:
        """Whether it operates on these arrays."""
        return self._places(*self._arrays) == self._places(source, target)

    def _places(self, *arrays: DeviceArray, modulo: int = 2**64) -> list[tuple[Hashable, ...]]:
        """Address, shape and strides of each array."""
        return [(self._backend.address(a) % modulo, a.shape, a.strides) for a in arrays]

    def bind(self, source: DeviceArray, target: DeviceArray) -> bool:
        """Replace the arrays, without communication.

        Args:
            source, target: arrays with the same types and components as before.

        Returns:
            Whether the launches are new.

        Raises:
            InputError: arrays do not fit.
        """
        if self.is_bound(source, target):
            return False
        values = self._checked(source, target)
        modulo = 1 if self._backend.on_host else SECTOR
        old, new = (self._places(*pair, modulo=modulo) for pair in (self._arrays, (source, target)))
        if old != new:
            self._backend.synchronize()  # running kernels read the tables that are replaced
            self._set_up(*values)
            return True
        arrays = {id(a): b for a, b in zip(self._arrays, (source, target), strict=True)}
        self._arrays = (source, target)
        self.start, self.local, self.finish = (
            [x.with_arrays(arrays) if isinstance(x, KernelLaunch) else x for x in launches]
            for launches in (self.start, self.local, self.finish)
        )
        return True

    # --- running it -------------------------------------------------------------------------------

    @property
    def launches(self) -> list[Launch]:
        """The whole operation; the messages overlap with the local part."""
        return self.overlap_with(interior=[])

    def overlap_with(self, *, interior: Sequence[Launch]) -> list[Launch]:
        """The whole operation; its messages overlap with other work and the local part.

        Args:
            interior: launches of other work. They may compute the values of the local part, but not
                the values that are sent.
        """
        if not self.start or not (interior or self.local):
            return [*self.start, *interior, *self.local, *self.finish]
        fork, join = self._backend.fork(self.start), self._backend.join(self.finish)
        return [*fork, *interior, *self.local, *join]

    @property
    def forked(self) -> tuple[list[Launch], list[Launch]]:
        """`start` with the local part, and `finish`; see `HaloExchange.forked`."""
        start = [*self._backend.fork(self.start), *self.local]
        return start, self._backend.join(self.finish)

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            self._backend.synchronize()
            super().close()


# --- checks ---------------------------------------------------------------------------------------


def _require_known(kind: str, reduction: str, route: str) -> None:
    for what, name, allowed in (
        ("operation", kind, PHASES),
        ("reduction", reduction, OPERATIONS),
        ("route", route, ROUTES),
    ):
        if name not in allowed:
            raise InputError(f"{what} {name!r} does not exist; allowed: {', '.join(allowed)}")


def _require_sizes(sharing: Sharing, kind: str, source: Operand, target: Operand) -> None:
    local, assembled = len(sharing.indices), len(sharing.ids)
    counts = {
        "gather": (local, assembled),
        "gather-all": (local, assembled),
        "scatter": (assembled, local),
        "gather-scatter": (local, local),
        "halo": (assembled, assembled),
    }[kind]
    if (source.count, target.count) != counts:
        raise InputError(
            f"{kind} of {counted(source.count, 'value')} into {target.count}: rank "
            f"{sharing.comm.rank} has {local} local and {assembled} assembled values; give "
            f"{counts[0]}, and {counts[1]}"
        )
    types = source.array.dtype, target.array.dtype
    if source.components != target.components or types[0] != types[1]:
        raise InputError(
            f"{kind} of {counted(source.components, 'component')} of {types[0]} into "
            f"{target.components} of {types[1]}: give equal numbers of the same type"
        )


def _require_memory(backend: Backend, kind: str, source: DeviceArray, target: DeviceArray) -> None:
    """Require one array for an operation in place, and arrays that do not overlap for others."""
    old, new = (_extent(backend, array) for array in (source, target))
    if kind in ("gather-scatter", "halo"):
        if old != new:
            raise InputError(f"{kind} is done in place: give the same array as source and target")
    elif old[0] < new[1] and new[0] < old[1]:
        raise InputError(f"{kind} between arrays that overlap in memory: give separate arrays")


def _extent(backend: Backend, array: DeviceArray) -> tuple[int, int]:
    """Addresses of the first byte of an array and of the end of its last value."""
    if not array.size:
        return 0, 0
    begin = backend.address(array)
    steps = zip(array.shape, array.strides, strict=True)
    return begin, begin + sum((n - 1) * stride for n, stride in steps) + array.dtype.itemsize
