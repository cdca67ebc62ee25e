"""Gather, scatter, gather-scatter and halo: four operations on values with several copies.

Values are local, one for each id that a rank was given, or assembled: one for each different id,
in the order of `Sharing.ids`. In a finite-element method with local values y, assembled ones x and
the boolean matrix Z that copies the latter (Chalmers et al. 2023, Int. J. High Perform. Comput.
Appl., eq. 2), they are Z'y, Zx, ZZ'y, and the part of Zx that needs other ranks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from groundswell.backends import Backend, KernelLaunch, Launch
from groundswell.backends.base import Array, Event
from groundswell.errors import InputError
from groundswell.exchange.cleanup import opened
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.connect import by_memory, reason_for
from groundswell.exchange.gather_scatter.peer_rows import PeerRows
from groundswell.exchange.gather_scatter.routes import travel
from groundswell.exchange.gather_scatter.rows import OPERATIONS, Values, reduce_rows
from groundswell.exchange.gather_scatter.sharing import Sharing
from groundswell.exchange.gather_scatter.tables import TABLES, Mail, Work, pattern
from groundswell.exchange.gather_scatter.tiles import SECTOR, reduce_in_place
from groundswell.exchange.operation import Operation


class GatherScatter(Operation):
    """One of the four on given arrays. All ranks must make it, run it and close it together.

    Sums are taken in a fixed order: of a rank's copies in the order of its ids, of ranks in theirs.
    So all copies of a gather-scatter are the same bits, and so are two runs.

    Args:
        kind: one of TABLES.
        source, target: what is read and written, (values,) or (components, values); for
            "gather-scatter" and "halo" the same array. A gather leaves in assembled values that
            another rank owns nothing of use; "scatter" and "halo" read none of them.
        reduction: "sum", "multiply", "min" or "max", of a gather and a gather-scatter.
        transport: a name in connect.TRANSPORTS, or "auto".
        route: one of routes.ROUTES.
        codec: what messages are coded with, see connect.connect. With loss, copies differ.

    Attributes:
        start: launches that read the values that other ranks need, and send them.
        local: what needs no other rank; independent of `start` and `finish`.
        finish: launches that wait for the values of other ranks, and finish the operation.

    Raises:
        InputError: arrays that do not fit, or no such kind or reduction.
        BackendError: no such transport or route, or it does not work here.
    """

    local: list[Launch]
    _arrays: tuple[Array, Array]
    _layout: list[tuple[object, ...]]

    def __init__(
        self,
        backend: Backend,
        comm: Communicator,
        sharing: Sharing,
        kind: str,
        source: Array,
        target: Array,
        *,
        reduction: str = "sum",
        transport: str = "auto",
        route: str = "pairwise",
        codec: str = "none",
    ) -> None:
        self._backend, self._comm, self.closed = backend, comm, False
        self._sharing, self._kind, self._reduction = sharing, kind, reduction
        old, new = comm.collective_try(lambda: self._checked(source, target))
        self._mail = mail = Mail.plan(comm, sharing, route, *pattern(sharing, comm.rank, kind))
        self.bytes = mail.path.sent * old.components * source.dtype.itemsize
        self._arena: Values | None = None
        if route == "pairwise" and codec == "none" and by_memory(backend, comm, transport):
            described = (str(source.dtype), old.components, reduction)
            self._transfer: Operation = PeerRows(backend, comm, mail, *described)
        else:
            room = (old.components, max(mail.path.size, 1))
            self._arena = comm.collective_try(lambda: Values(backend.zeros(room, source.dtype)))
            stages = mail.path.stages
            arena = self._arena.array
            self._transfer = travel(backend, comm, arena, stages, transport, route, codec=codec)
        opened(self)
        self.path, self.in_graph = self._transfer.path, self._transfer.in_graph
        self.peers, self.reason = sorted({*mail.runs, *mail.incoming}), reason_for(comm, transport)
        comm.collective_try(lambda: self._set_up(old, new))

    def is_bound(self, source: Array, target: Array) -> bool:
        """Whether it operates on these arrays."""
        there, here = (
            [(self._backend.address(a), *self._layout_of(a)) for a in arrays]
            for arrays in (self._arrays, (source, target))
        )
        return there == here

    def bind(self, source: Array, target: Array) -> bool:
        """Operate on these arrays from now on, without communication.

        Args:
            source, target: of the same types and components as before.

        Returns:
            Whether the launches are new.

        Raises:
            InputError: arrays that do not fit.
        """
        if self.is_bound(source, target):
            return False
        old, new = self._checked(source, target)
        arrays = {id(a): b for a, b in zip(self._arrays, (source, target), strict=True)}
        if self._layout_of(source, target) != self._layout:
            self._backend.synchronize()  # launches under way use the tables that are replaced
            self._set_up(old, new)
            return True
        self._arrays = (source, target)
        self.start, self.local, self.finish = (
            [_with_arrays(launch, arrays) for launch in launches]
            for launches in (self.start, self.local, self.finish)
        )
        return True

    def _checked(self, source: Array, target: Array) -> tuple[Values, Values]:
        fitting = _fitting(self._sharing, self._kind, source, target, self._reduction)
        _require_places(self._backend, self._kind, source, target)
        return fitting

    def _layout_of(self, *arrays: Array) -> list[tuple[object, ...]]:
        """What tables depend on besides the addresses of the arrays."""
        address, sector = self._backend.address, 1 if self._backend.on_host else SECTOR
        return [(a.shape, a.strides, address(a) % sector) for a in arrays]

    def _set_up(self, old: Values, new: Values) -> None:
        tables = TABLES[self._kind](self._mail)
        self._arrays = old.array, new.array
        self._layout = self._layout_of(*self._arrays)
        self.local = self._work(tables.local, old, new)
        if isinstance(self._transfer, PeerRows):
            self._transfer.bind(tables, old, new)
            self.start, self.finish = list(self._transfer.start), list(self._transfer.finish)
        elif self._arena is not None:
            pack = self._work(tables.pack, old, self._arena)
            unpack = self._work(tables.unpack, self._arena, new)
            self.start = [*pack, *self._transfer.start]
            self.finish = [*self._transfer.finish, *unpack]

    def _work(self, todo: Work, taken: Values, put: Values) -> list[Launch]:
        backend, reduction = self._backend, self._reduction
        if todo.others is not None:
            return reduce_in_place(backend, reduction, put, todo.target, todo.others)
        return reduce_rows(backend, reduction, (taken, todo.source), (put, todo.target))

    @property
    def launches(self) -> list[Launch]:
        """The whole operation; the messages travel behind the local part."""
        return self.overlap_with(interior=[])

    def overlap_with(self, *, interior: Sequence[Launch]) -> list[Launch]:
        """The whole operation; its messages overlap with other work and the local part.

        Args:
            interior: the other work. It may compute the values of the local part, but not the
                values that are sent.
        """
        if not self._transfer.start or not (interior or self.local):
            return [*self.start, *interior, *self.local, *self.finish]
        fork, join = self._backend.fork(self.start), self._backend.join(self.finish)
        return [*fork, *interior, *self.local, *join]

    @property
    def parts(self) -> tuple[list[Launch], list[Launch]]:
        """All of it, up to where messages are under way, and from there on."""
        start = [*self._backend.fork(self.start), *self.local]
        return start, self._backend.join(self.finish)

    def check(self, after: Event | None = None) -> None:
        """See that no wait was in vain; raises RunFailed."""
        self._transfer.check(after)

    def close(self) -> None:
        """Give back what it holds of other ranks; every rank must, before MPI ends.

        Raises:
            RunFailed: some rank's wait was in vain, so that what it left is stale.
        """
        if not self.closed:
            self.closed = True
            self._backend.synchronize()
            self._transfer.close()


def _with_arrays(launch: Launch, arrays: Mapping[int, Array]) -> Launch:
    return launch.with_arrays(arrays) if isinstance(launch, KernelLaunch) else launch


def _fitting(
    sharing: Sharing, kind: str, source: Array, target: Array, reduction: str
) -> tuple[Values, Values]:
    """The arrays, if they are what the operation wants."""
    _require_one_of("operation", kind, tuple(TABLES))
    _require_one_of("reduction", reduction, tuple(OPERATIONS))
    local, assembled = len(sharing.rows), len(sharing.ids)
    counts = {
        "gather": (local, assembled),
        "scatter": (assembled, local),
        "gather-scatter": (local, local),
        "halo": (assembled, assembled),
    }[kind]
    old, new = Values(source), Values(target)
    if (old.count, new.count) != counts:
        raise InputError(
            f"{kind} of {old.count} values into {new.count}: this rank has {local} local and "
            f"{assembled} assembled values; give {counts[0]}, and {counts[1]}"
        )
    if old.components != new.components or source.dtype != target.dtype:
        raise InputError(
            f"{kind} of {old.components} components of {source.dtype} into {new.components} of "
            f"{target.dtype}: give as many, of the same type"
        )
    return old, new


def _require_places(backend: Backend, kind: str, source: Array, target: Array) -> None:
    """The same memory for what is done in place, and else memory that does not overlap."""
    old, new = (_extent(backend, array) for array in (source, target))
    if kind in ("gather-scatter", "halo"):
        if old != new:
            raise InputError(f"{kind} is done in place: give one array as source and target")
    elif old[0] < new[1] and new[0] < old[1]:
        raise InputError(f"{kind} between arrays that overlap in memory: give two arrays")


def _extent(backend: Backend, array: Array) -> tuple[int, int]:
    """First address of an array, and the end of its last value."""
    if not array.size:
        return 0, 0
    begin = backend.address(array)
    steps = zip(array.shape, array.strides, strict=True)
    return begin, begin + sum((n - 1) * stride for n, stride in steps) + array.dtype.itemsize


def _require_one_of(what: str, name: str, allowed: Sequence[str]) -> None:
    if name not in allowed:
        raise InputError(f"{what} {name!r} does not exist; allowed: {', '.join(allowed)}")
