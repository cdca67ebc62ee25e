"""Halo exchanges fill the ghost layers of fields from the ranks that own those points.

    halo = HaloExchange(backend, comm, decomposition, fields)
    halo()                                                              # all at once, or
    step = halo.overlap_with(boundary=[boundary], interior=[interior])  # during interior work

The constructor shows all steps: pattern, packing, transport, operation.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any, TypedDict

import numpy as np

from groundswell.arguments import flag, require_arguments
from groundswell.backends import Backend, Launch
from groundswell.backends.base import debugging
from groundswell.compression import require_codec
from groundswell.errors import InputError, counted
from groundswell.exchange.boxes import Copy, CopyLaunch, StridedBox
from groundswell.exchange.codecs import common_type
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.connect import connect, transport_of
from groundswell.exchange.decomposition import Decomposition
from groundswell.exchange.ghost_field import GhostField, HaloMessages
from groundswell.exchange.messages import Message, Operation, TransferRequest, peers_of
from groundswell.exchange.transfer import Binding, LocalTransfer


class Options(TypedDict, total=False):
    """Options of an exchange; those of a domain are the defaults for its plans.

    >>> from groundswell.exchange import Domain, Options
    >>> small = Options(aggregate=True, codec="mpc")
    >>> with Domain((6, 4), ghosts=1) as domain:
    ...     u = domain.zeros("float64")
    ...     fill = domain.plan(u, **small)
    ...     fill()

    Keys:
        transport: a name listed in docs/exchange.md; by default "auto", or "fastest" to measure all
            that work, with and without `aggregate`; the result is cached.
        aggregate: whether one message per neighbour contains all arrays, by default True; otherwise
            one per array.
        poison: whether to fill ghosts that some block owns with NaN before each exchange, which
            reveals missing values; by default False, or True with GROUNDSWELL_DEBUG=1.
        sweeps: whether to exchange along one axis after another, by default False. Ghosts at edges
            and corners then need no messages of their own: in three dimensions, a rank exchanges
            with 6 neighbours instead of 26, in three rounds instead of one. `start` begins the
            first round with messages; `finish` completes it and makes the others.
        codec: "mpc" for lossless compression of messages, "zfp16" for 16 bits per value (and so
            on), which does not preserve NaN and infinity, or "none", the default. With a codec,
            all arrays of an exchange must be float32, or all float64.
    """

    transport: str
    aggregate: bool
    poison: bool
    sweeps: bool
    codec: str


MOST_LAYOUTS = 4  # of arrays for which an exchange keeps its launches
DEFAULTS = Options(transport="auto", aggregate=True, poison=False, sweeps=False, codec="none")


def complete_options(backend: Backend, given: Options) -> Options:
    """The options of an exchange, with defaults for those that are not given."""
    require_arguments(given, [*DEFAULTS])
    options: Options = {**DEFAULTS, **given}
    return Options(
        transport=transport_of(backend, options["transport"]),
        aggregate=flag("aggregate", options["aggregate"]),
        poison=flag("poison", options["poison"]),
        sweeps=flag("sweeps", options["sweeps"]),
        codec=require_codec(options["codec"]),
    )


@dataclass(eq=False)
class _Bound:
    """The launches of an exchange for arrays of one layout.

    Args:
        addresses: addresses of the arrays, which the tables of the launches contain.
        poison: sets ghosts to NaN.
        bindings: of each transfer.
    """

    addresses: list[int]
    poison: CopyLaunch
    bindings: Sequence[Binding]

    def move(self, addresses: list[int]) -> None:
        """Replace the arrays."""
        shifts = [new - old for new, old in zip(addresses, self.addresses, strict=True)]
        tables = [*self.poison.tables, *chain(*(binding.tables for binding in self.bindings))]
        for table in tables if any(shifts) else ():
            table.move(shifts)
        self.addresses = addresses


class HaloExchange(Operation):
    """Fills the ghost layers of fields from the ranks that own those points.

    Collective: all ranks create it with the same arguments, except for their own arrays, and must
    run it. It keeps the arrays alive until `release`.

    Args:
        decomposition: the block of each rank.
        fields: arrays and the ghosts that they need.
        options: see `Options`; the transport may also be a `Maker`.

    Attributes:
        transfers: pack, move and unpack the messages: one, or one for each sweep.

    Raises:
        InputError: the transport or codec does not exist, or an array has no room for its ghosts.
        BackendError: the transport does not work here.
    """

    def __init__(
        self,
        backend: Backend,
        comm: Communicator,
        decomposition: Decomposition,
        fields: Sequence[GhostField],
        **options: Any,
    ) -> None:
        if decomposition.ranks != comm.size:
            raise InputError(
                f"{counted(decomposition.ranks, 'block')} for {counted(comm.size, 'rank')}; give "
                "one each"
            )
        require_arguments(options, [*DEFAULTS])
        self.closed, self._backend, self._comm = False, backend, comm
        self._decomposition, self._options = decomposition, {**DEFAULTS, **options}
        self._layouts: OrderedDict[Hashable, _Bound] = OrderedDict()
        self._arrays = [field.array for field in fields]  # tables contain only their addresses
        pattern = self._pattern(fields)  # which rank needs which values of which rank
        comm.collective_try(lambda: self._require_valid(pattern))
        rounds = self._requests(pattern)  # packing: the boxes of each message
        comm.collective_try(lambda: self._connect(rounds, pattern))  # transport, and launches
        self._describe([message for request, _ in rounds for message in request.messages])

    def _require_valid(self, pattern: HaloMessages) -> None:
        pattern.require_room()
        if self._options["sweeps"]:
            pattern.require_whole_sides()
        if isinstance(self._options["transport"], str):
            transport_of(self._backend, self._options["transport"])
        if require_codec(self._options["codec"]) != "none":  # also without messages
            common_type((f.dtype, f.sent_as or f.dtype) for f in pattern.fields)

    def _connect(
        self, rounds: Sequence[tuple[TransferRequest, bool]], pattern: HaloMessages
    ) -> None:
        transport, codec = self._options["transport"], self._options["codec"]
        self.transfers = [
            connect(request, transport if is_divided else LocalTransfer, codec)
            for request, is_divided in rounds
        ]
        self._parts = self.transfers
        each = enumerate(self.transfers)
        self._divided = [n for n, part in each if not isinstance(part, LocalTransfer)]
        self._use(self._add(pattern, [transfer.bound for transfer in self.transfers]))

    def _describe(self, messages: Sequence[Message]) -> None:
        first = self.transfers[self._divided[0] if self._divided else 0]
        self.sends_in_finish = len(self._divided) > 1
        self.path = first.path + ", one axis after another" * (len(self.transfers) > 1)
        self.in_graph = all(transfer.in_graph for transfer in self.transfers)
        self.rebindable = all(transfer.rebindable for transfer in self.transfers)
        self.peers = peers_of(messages)
        self.reason = first.reason if self._divided else ""
        self.bytes = sum(segment.bytes for message in messages for segment in message.sends)

    def _pattern(self, fields: Sequence[GhostField]) -> HaloMessages:
        return HaloMessages(self._backend, self._decomposition, self._comm.rank, fields)

    def _requests(self, pattern: HaloMessages) -> list[tuple[TransferRequest, bool]]:
        """The request of each round, and whether it may have messages on some rank."""
        blocks, aggregate = self._decomposition.processes, self._options["aggregate"]
        rounds: list[tuple[int | None, bool]] = [(None, True)]
        if self._options["sweeps"] and any(field.ghosts.corners for field in pattern.fields):
            rounds = [(axis, count > 1) for axis, count in enumerate(blocks)]
        return [
            (
                TransferRequest(
                    self._backend,
                    self._comm,
                    pattern.messages(aggregate=aggregate, sweep=sweep),
                    pattern.own_copies(sweep),
                ),
                is_divided,
            )
            for sweep, is_divided in rounds
        ]

    def _poison_of(self, pattern: HaloMessages) -> CopyLaunch:
        """Copies of NaN to ghosts of floating-point fields, if requested."""
        address = self._backend.address
        wanted = self._options["poison"] or debugging()
        boxes = list(pattern.surroundings()) if wanted else []
        boxes = [box for box in boxes if np.issubdtype(box[0].array.dtype, np.inexact)]
        types = sorted({field.dtype for field, *_ in boxes})
        nan = {t: self._backend.to_device(np.full((1,), np.nan, t)) for t in types}
        copies = [
            Copy(shape, StridedBox(address(nan[t]), (0,) * len(shape)), target, t, t)
            for field, target, shape in boxes
            for t in [field.dtype]
        ]
        return CopyLaunch(self._backend, copies, kept=nan)

    def _add(self, pattern: HaloMessages, bindings: Sequence[Binding]) -> _Bound:
        """Keep the launches for arrays of a layout."""
        found = _Bound(pattern.addresses, self._poison_of(pattern), bindings)
        if len(self._layouts) == MOST_LAYOUTS:
            self._backend.synchronize()  # running launches may use its tables
            self._layouts.popitem(last=False)
        self._layouts[pattern.layout()] = found
        return found

    def _use(self, bound: _Bound) -> None:
        """Set the launches."""
        self._bound, divided = bound, self._divided
        n = divided[0] if divided else 0  # rounds before the first messages need no other rank
        before, first, after = bound.bindings[:n], bound.bindings[n], bound.bindings[n + 1 :]
        local, following = ([x for b in part for x in b.launches] for part in (before, after))
        self.start = self._kept([*bound.poison.launches, *local, *first.open, *first.start])
        self.finish = self._kept([*first.finish, *following])

    def _kept(self, launches: Sequence[Launch]) -> list[Launch]:
        """Launches that keep the exchange alive, and with it arrays and buffers."""
        return [partial(_call, launch, self) for launch in launches]

    # --- other arrays -----------------------------------------------------------------------------

    def is_bound(self, fields: Sequence[GhostField]) -> bool:
        """Whether it currently exchanges these fields."""
        pattern = self._pattern(fields)
        found = self._layouts.get(pattern.layout())
        return found is self._bound and found.addresses == pattern.addresses

    def bind(self, fields: Sequence[GhostField]) -> bool:
        """Replace the fields, without communication. Launches may change.

        After an error, it still exchanges the previous fields.

        Args:
            fields: the same number of fields as before, with the same types and ghosts.

        Returns:
            Whether `launches`, `start` and `finish` are new. Otherwise the existing launches
            exchange the new fields.

        Raises:
            InputError: an array has no room for its ghosts, or the exchange is not `rebindable`.
        """
        pattern = self._pattern(fields)
        layout, addresses = pattern.layout(), pattern.addresses
        found = self._layouts.get(layout)
        is_bound = found is self._bound and found.addresses == addresses
        if not (self.rebindable or is_bound):
            raise InputError(f"an exchange by {self.path} cannot be bound to other arrays")
        if found is None:
            pattern.require_room()
            requests = zip(self.transfers, self._requests(pattern), strict=True)
            found = self._add(pattern, [transfer.prepare(r) for transfer, (r, _) in requests])
        self._layouts.move_to_end(layout)
        found.move(addresses)
        self._arrays = [field.array for field in fields]
        if is_new := found is not self._bound:
            self._use(found)
        return is_new

    def move(self, shifts: Sequence[int]) -> None:
        """Replace the arrays by others of the same layout, `shifts` bytes further; see `bind`."""
        bound = self._bound
        bound.move([at + shift for at, shift in zip(bound.addresses, shifts, strict=True)])

    def release(self) -> None:
        self._arrays = []

    # --- running it -------------------------------------------------------------------------------

    @property
    def launches(self) -> list[Launch]:
        """The whole exchange."""
        whole = [launch for binding in self._bound.bindings for launch in binding.launches]
        return self._kept([*self._bound.poison.launches, *whole])

    @property
    def forked(self) -> tuple[list[Launch], list[Launch]]:
        """`start` and `finish` in streams of their own; launches between them run meanwhile.

        They must neither write points that are sent nor read ghosts.
        """
        return self._backend.fork(self.start), self._backend.join(self.finish)

    def overlap_with(
        self, *, boundary: Sequence[Launch], interior: Sequence[Launch]
    ) -> list[Launch]:
        """Launches of a step in which interior work overlaps with the exchange.

        Args:
            boundary: launches for the points that are sent, which run first. If there are none,
                the exchange follows the interior launches.
            interior: launches for all other points.
        """
        if not boundary:
            return [*interior, *self.launches]
        fork, join = self.forked
        return [*boundary, *fork, *interior, *join]

    def __call__(self) -> None:
        """Enqueue the whole exchange."""
        for launch in self.launches:
            launch()

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            self._backend.synchronize()
            super().close()


def _call(launch: Launch, exchange: HaloExchange) -> None:
    if exchange.closed:
        raise InputError("this exchange is closed; create a new one")
    launch()
