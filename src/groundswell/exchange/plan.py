"""Exchanges that are prepared once and run many times, ordered with the user's streams.

A `PlanCache` creates, keeps and closes plans, at the latest when the program ends.
"""

from __future__ import annotations

import atexit
import sys
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import ExitStack
from typing import Any, Self, TypeAlias

from groundswell.backends import Backend, Launch
from groundswell.backends.array_interop import ArrayInterop, StreamHandles, array_interop
from groundswell.backends.base import in_order
from groundswell.errors import GroundswellError, InputError
from groundswell.exchange import rank_progress
from groundswell.exchange.communicator import Communicator, reported
from groundswell.exchange.gather_scatter import GatherScatter
from groundswell.exchange.halo import HaloExchange
from groundswell.exchange.mpi_communicator import MpiCommunicator
from groundswell.exchange.tuning import Choice, fastest

Exchange: TypeAlias = HaloExchange | GatherScatter
MOST_PLANS = 16  # number of plans kept for exchanges without an explicit plan


class Plan:
    """An exchange of certain arrays, prepared once; created by `Domain.plan` and `Numbering.plan`.

    It keeps its arrays alive. On a GPU, events order the exchange with the user's stream: work that
    is in the stream when the exchange begins runs before it, and later work runs after it. The
    default stream is the current one of PyTorch for tensors, and of CuPy for other arrays: the
    legacy default stream, unless another one is current.

    Methods raise InputError if the plan is closed, or if `start` and `finish` do not alternate; and
    RunFailed if a rank is late or lost. On a GPU, the latter may happen later, see `check`.

    Attributes:
        comm: the ranks.
        under_way: whether it has been started and must be finished.
    """

    def __init__(
        self, interop: ArrayInterop, exchange: Exchange, owners: Iterable[Any], comm: Communicator
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
    def __call__(self, stream: Any = None) -> None:
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
    def start(self, stream: Any = None) -> None:
        """Send. Until `finish`, do not write values that are sent, and do not read ghosts."""
        self._require(under_way=False)
        self._interop.wait_for_user(self._interop.user_streams(stream, self._owners))
        self.under_way = True
        self.comm.begin_exchange(self._number)
        self._forked = self._forked if any(self._forked) else self._open.forked
        self._launch(self._forked[0])

    @reported
    def finish(self, stream: Any = None) -> None:
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

    def keep(self, owners: Iterable[Any]) -> None:
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

    def __exit__(self, kind: Any, *_: Any) -> None:
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


class PlanCache:
    """All plans of a domain or numbering, including those for exchanges without an explicit plan.

    Attributes:
        comm, backend: the ranks, the device.
        rank, size: number of this rank, and number of ranks.
    """

    what: str  # name of the object in messages

    def __init__(self, comm: Communicator, backend: Backend, *, frees_comm: bool) -> None:
        self.comm, self.backend = comm, backend
        self.rank, self.size = comm.rank, comm.size
        self._interop: ArrayInterop = array_interop(backend)
        self._cached: OrderedDict[Any, Plan] = OrderedDict()
        self._plans: list[Plan] = []
        self._frees_comm = frees_comm
        _OPEN.append(self)

    def _run_cached(
        self,
        key: Callable[[], Hashable],
        make: Callable[[], Plan],
        streams: StreamHandles,
        *arrays: Any,
    ) -> Plan:
        """Exchange arrays with the plan kept for this key, or a new one, which is returned.

        Args:
            key: returns the key of the plan, which may change when `make` creates the plan.
        """
        capturing = self._interop.is_capturing(streams)
        plan = self._cached.get(key())
        if plan is None:
            if capturing:
                raise InputError(
                    "a graph is being captured, and there is no plan for these arrays; exchange "
                    "them once before the capture, or capture a plan of them"
                )
            self.comm.fail_together(None)  # another rank may report that its array is wrong
            plan = make()
        self._cached[key()] = plan
        self._cached.move_to_end(key())  # most recently used last
        if len(self._cached) > MOST_PLANS:
            self._cached.popitem(last=False)[1].close()
        plan.run_with(streams, *arrays, capturing=capturing)
        if capturing:
            del self._cached[key()]  # from now on, the graph owns this plan
        return plan

    def _planned(
        self,
        make: Callable[[Choice], Exchange],
        choices: Sequence[Choice],
        problem: Iterable[object],
        owners: Iterable[Any],
        trial: Callable[[Choice], Exchange] | None = None,
    ) -> Plan:
        """A new plan with the fastest choice; it is closed at the end.

        Args:
            problem: everything on which the speed depends, except ranks and devices.
            owners: arrays to keep alive.
            trial: creates the operation to measure; `make` by default.
        """
        if len(choices) == 1 or self.size == 1:
            exchange = make(choices[0])
        else:
            self._interop.synchronize_device()  # trials must not write what the user reads
            measured = trial or make
            tuning = fastest(self.backend, self.comm, problem, choices, lambda c: [measured(c)])
            exchange = make(tuning.best)
            exchange.reason = f"the fastest of {tuning}"
        plan = Plan(self._interop, exchange, owners, self.comm)
        self._plans = [*(p for p in self._plans if not p.closed), plan]
        return plan

    def check(self) -> None:
        """Wait for the device, and check that none of its waits timed out.

        Raises:
            RunFailed: a rank is late or lost; names it.
        """
        for plan in self._plans:
            if not plan.closed:
                plan.check()

    @reported
    def close(self) -> None:
        """Close all plans; collective, before MPI ends. The normal end of a script does this.

        Raises:
            InputError: plans have been started and must be finished first; nothing is closed.
            RunFailed: a wait of some GPU timed out, so its results are invalid.
        """
        if self not in _OPEN:
            return
        if count := sum(plan.under_way for plan in self._plans):
            raise InputError(f"plans of this {self.what} are under way: {count}; finish them first")
        _OPEN.remove(self)
        plans, self._plans = self._plans, []
        self._cached.clear()
        with ExitStack() as rest:  # close everything, even if a plan raises
            rest.callback(self._leave)
            for plan in reversed(plans):
                rest.callback(plan.close)

    def _leave(self) -> None:
        """Free the communicator, after all ranks have released shared memory."""
        self.comm.fail_together(None, "close")
        if self._frees_comm and isinstance(self.comm, MpiCommunicator):
            self.comm.mpi_comm.Free()

    def finish_and_close(self) -> None:
        """Close all plans, also those under way, which can no longer be finished."""
        for plan in self._plans:
            if plan.under_way:
                plan.finish()
        self.close()

    def _require_open(self) -> None:
        if self not in _OPEN:
            raise InputError(f"this {self.what} is closed; create another one")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is None:  # after an error, other ranks might not close theirs
            self.close()


_OPEN: list[PlanCache] = []


@atexit.register
def _close_all() -> None:
    """Close all open caches, unless the program ends by an error or MPI has ended."""
    rank_progress.report_end()
    mpi = sys.modules.get("mpi4py.MPI")
    if getattr(sys, "last_value", None) is None and not (mpi and mpi.Is_finalized()):
        for cache in list(_OPEN):
            try:
                cache.finish_and_close()
            except GroundswellError as error:  # too late for an exception to end the program
                if cache.size == 1:
                    raise
                print(f"groundswell, rank {cache.rank}: {error}", file=sys.stderr, flush=True)
                cache.comm.abort(error.exit_code)
