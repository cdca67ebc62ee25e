"""Exchanges that are prepared once and run many times, ordered with the user's streams."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from typing import Any, TypeAlias

from groundswell.backends import Launch
from groundswell.backends.array_interop import ArrayInterop, StreamHandles
from groundswell.backends.base import in_order
from groundswell.errors import InputError
from groundswell.exchange.communicator import Communicator, reported
from groundswell.exchange.gather_scatter import GatherScatter
from groundswell.exchange.halo import HaloExchange

Exchange: TypeAlias = HaloExchange | GatherScatter


class Plan:
    """An exchange of certain arrays, prepared once; created by `Domain.plan` and `Numbering.plan`.

    >>> from groundswell.exchange import Domain
    >>> with Domain((6, 4), ghosts=1, periodic=True) as domain:
    ...     u = domain.zeros("float64")
    ...     fill = domain.plan(u)
    ...     for step in range(3):
    ...         domain.interior(u)[...] = step
    ...         fill.start()
    ...         # compute here what needs no ghosts
    ...         fill.finish()
    >>> float(u.mean())
    2.0

    A call of the plan, `plan()`, makes the whole exchange; so do `start` and `finish`, between
    which other work may run. It keeps its arrays alive. On a GPU, events order the exchange with
    the user's stream: work that is in the stream when the exchange begins runs before it, and later
    work runs after it. The default stream is the current one of PyTorch for tensors, and of CuPy
    for other arrays: the legacy default stream, unless another one is current. Between `start` and
    `finish`, the stream does not wait. Others are a stream of CuPy, PyTorch or cuda.core, or a
    handle. CUDA graphs can capture the transports "direct", "peer" and "nccl". Several plans may be
    under way.

    Methods raise InputError if the plan is closed, or if `start` and `finish` do not alternate; and
    RunFailed if a rank is late or lost. On a GPU, the latter may happen later, see `check`.

    Attributes:
        comm: the ranks.
        under_way: whether it has been started and must be finished.
    """

    def __init__(
        self,
        interop: ArrayInterop,
        exchange: Exchange,
        owners: Iterable[object],
        comm: Communicator,
    ) -> None:
        self._interop, self._owners, self.comm = interop, tuple(owners), comm
        self._exchange: Exchange | None = exchange
        self.under_way = False
        self._whole = exchange.launches
        self._forked: tuple[Sequence[Launch], Sequence[Launch]] = ((), ())  # until `start`
        comm.plans += 1
        self._number = comm.plans

    @property
    def path(self) -> str:
        """Description of the transport in use."""
        return self._open.path

    @property
    def bytes(self) -> int:
        """Bytes of the values that this rank sends per exchange; a codec sends fewer."""
        return self._open.bytes

    @property
    def rebindable(self) -> bool:
        """Whether it can exchange other arrays, see `run_with`."""
        return self._open.rebindable

    def __repr__(self) -> str:
        return f"<Plan {self._number}: {self._exchange!r}>" if self._exchange else "<Plan, closed>"

    @property
    def closed(self) -> bool:
        """Whether it has been closed."""
        return self._exchange is None

    @reported
    def __call__(self, stream: object = None) -> None:
        """Run the whole exchange, such as to fill ghost layers."""
        self._run(self._interop.user_streams(stream, self._owners))

    def _run(self, streams: StreamHandles) -> None:
        self._require(under_way=False)
        self._interop.wait_for_user(streams)
        self.comm.begin_exchange(self._number)
        self._launch(self._whole)
        self._interop.make_user_wait(streams)

    def run_again(self) -> None:
        """Repeat the last `run_with` on a CPU; see `move` if its arrays have other addresses."""
        self._run(())

    def move(self, shifts: Sequence[int]) -> None:
        """Exchange other arrays of the same layout from now on, `shifts` bytes further."""
        exchange = self._open
        assert isinstance(exchange, HaloExchange)
        exchange.move(shifts)

    def run_with(self, streams: StreamHandles, *arrays: Any, capturing: bool) -> None:
        """Exchange other arrays of the same kind, without preparatory communication.

        The plan does not keep them alive afterwards.

        Args:
            capturing: whether a graph is being captured; the graph will use the present addresses.

        Raises:
            InputError: arrays other than before cannot be exchanged, or not in a graph.
        """
        exchange = self._open
        if capturing and not exchange.is_bound(*arrays):
            raise InputError(
                "a graph is being captured, and the arrays are not those of the last exchange; "
                "exchange them once before the capture, or capture a plan of these arrays"
            )
        if not capturing and exchange.bind(*arrays):
            self._whole = exchange.launches
        self._run(streams)
        exchange.release()

    def _launch(self, launches: Sequence[Launch]) -> None:
        """Run a part of an exchange that has begun; after an error, it cannot be repeated."""
        try:
            in_order(launches)()
        except BaseException as error:
            self.comm.give_up(error)
            raise

    @reported
    def start(self, stream: object = None) -> None:
        """Send. Until `finish`, do not write values that are sent, and do not read ghosts."""
        self._require(under_way=False)
        self._interop.wait_for_user(self._interop.user_streams(stream, self._owners))
        self.under_way = True
        self.comm.begin_exchange(self._number)
        self._forked = self._forked if any(self._forked) else self._open.forked
        self._launch(self._forked[0])

    @reported
    def finish(self, stream: object = None) -> None:
        """Receive, and store the received values; later work in the stream may read them.

        With sweeps, and with route "crystal", it also sends.
        """
        self._require(under_way=True)
        streams = self._interop.user_streams(stream, self._owners)
        self.under_way = False  # also after an error: it cannot be repeated
        if self._open.sends_in_finish:
            self.comm.begin_exchange(self._number)
        self._launch(self._forked[1])
        self._interop.make_user_wait(streams)

    def keep(self, owners: Iterable[object]) -> None:
        """Keep arrays alive."""
        self._owners = tuple(owners)

    def check(self) -> None:
        """Wait for the device, and check that none of its waits timed out.

        Raises:
            RunFailed: a rank is late or lost; names it.
        """
        self._open.check()

    @reported
    def close(self) -> None:
        """Release memory and handles of other ranks; collective, before MPI ends.

        Raises:
            InputError: it has been started and must be finished first.
            RunFailed: a wait of some GPU timed out, so its results are invalid.
        """
        if self._exchange is None:
            return
        self._require(under_way=False)
        exchange, self._exchange, self._owners = self._exchange, None, ()
        self._whole, self._forked = [], ((), ())
        with ExitStack() as rest:
            rest.callback(exchange.close)  # also after an error
            self.comm.fail_together(None, "close")  # a rank that still uses it must not wait

    def __enter__(self) -> Plan:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:  # after an error, other ranks might not close theirs
            self.close()

    @property
    def _open(self) -> Exchange:
        if self._exchange is None:
            raise InputError("this plan is closed; create another one")
        return self._exchange

    def _require(self, *, under_way: bool) -> None:
        if self._open and self.under_way != under_way:
            missing = "start it first" if under_way else "finish it first"
            raise InputError(f"this exchange is {'not ' * under_way}under way; {missing}")
