"""Caches of plans: they make, keep and close plans, at the latest when the program ends."""

from __future__ import annotations

import atexit
import sys
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any, Self

from groundswell.backends import Backend
from groundswell.backends.array_interop import ArrayInterop, StreamHandles, array_interop
from groundswell.errors import GroundswellError, InputError
from groundswell.exchange import waiting
from groundswell.exchange.communicator import Communicator, SerialCommunicator
from groundswell.exchange.mpi_communicator import MpiCommunicator, get_communicator
from groundswell.exchange.plan import Exchanging, Plan

MOST_PLANS = 16  # that are kept for exchanges without an explicit plan

_OPEN: list[PlanCache] = []


class PlanCache:
    """The plans that a user has made, and those that are kept for the arrays of simple calls.

    Attributes:
        comm, backend: the ranks, the device.
        rank, size: this rank's number, and how many there are.
    """

    what: str  # that is kept, in messages

    def __init__(self, comm: Communicator, backend: Backend, *, frees_comm: bool) -> None:
        self.comm, self.backend = comm, backend
        self.rank, self.size = comm.rank, comm.size
        self._interop: ArrayInterop = array_interop(backend)
        self._cached: OrderedDict[Any, Plan] = OrderedDict()
        self._plans: list[Plan] = []
        self._frees_comm = frees_comm
        _OPEN.append(self)

    def _plan_of(self, key: Any, make: Callable[[], Plan]) -> Plan:
        """The plan kept for this key, or a new one."""
        if key not in self._cached:
            self._cached[key] = make()
            if len(self._cached) > MOST_PLANS:
                self._cached.popitem(last=False)[1].close()
        self._cached.move_to_end(key)
        return self._cached[key]

    def _require_no_capture(self, streams: StreamHandles) -> None:
        """Raise InputError if a graph is being captured, in which no plan can be made."""
        if self._interop.is_capturing(streams):
            raise InputError(
                "a graph is being captured, and there is no plan for these arrays; exchange them "
                "once before the capture, or capture a plan of them"
            )

    def _run(self, plan: Plan, streams: StreamHandles, *arrays: Any) -> None:
        """Exchange these arrays with a plan that is kept."""
        if self._interop.is_capturing(streams):  # a graph goes on to use the addresses of now
            self._cached = OrderedDict((k, p) for k, p in self._cached.items() if p is not plan)
            plan.require_bound(*arrays)
        else:
            plan.bind(*arrays)
        plan.run(streams)
        plan.release()

    def _planned(self, exchange: Exchanging, owners: Sequence[Any]) -> Plan:
        """A new plan, to be closed in the end."""
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

    def close(self) -> None:
        """Close all plans. Every rank must, before MPI ends; a script that ends well does it so.

        Raises:
            InputError: plans have been started, and are to be finished first; nothing is closed.
            RunFailed: a wait of some GPU timed out, so that its results are stale.
        """
        if self not in _OPEN:
            return
        if count := sum(plan.under_way for plan in self._plans):
            raise InputError(f"plans of this {self.what} are under way: {count}; finish them first")
        _OPEN.remove(self)
        plans, self._plans = self._plans, []
        self._cached.clear()
        with ExitStack() as rest:  # all of it, whatever one of the plans raises
            rest.callback(self._leave)
            for plan in reversed(plans):
                rest.callback(plan.close)

    def _finish_and_close(self) -> None:
        """Close all plans, also those under way, which nobody else is left to finish."""
        for plan in self._plans:
            if plan.under_way:
                plan.finish()
        self.close()

    def _leave(self) -> None:
        """Part from the others, when all have let go of each other's memory."""
        self.comm.fail_together(None, "close")
        if self._frees_comm and isinstance(self.comm, MpiCommunicator):
            self.comm.mpi_comm.Free()

    def _require_open(self) -> None:
        if self not in _OPEN:
            raise InputError(f"this {self.what} is closed; make another one")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is None:  # after an error the others might not come
            self.close()


@atexit.register
def _close_all() -> None:
    """Close what is open still, unless the program ends by an error or MPI has ended."""
    waiting.report_end()
    mpi = sys.modules.get("mpi4py.MPI")
    if getattr(sys, "last_value", None) is None and not (mpi and mpi.Is_finalized()):
        for cache in list(_OPEN):
            try:
                cache._finish_and_close()
            except GroundswellError as error:  # too late for an exception to end the program
                if cache.size == 1:
                    raise
                print(f"groundswell, rank {cache.rank}: {error}", file=sys.stderr, flush=True)
                cache.comm.abort(error.exit_code)


def ranks_of(comm: Any) -> Communicator:
    """The ranks of a communicator of mpi4py; None for all that were started.

    Raises:
        InputError: it is none, or this rank is not in it.
    """
    if comm is None:
        return get_communicator()
    if not comm or not hasattr(comm, "Dup"):
        raise InputError(f"comm = {comm!r}: give a communicator of mpi4py that this rank is in")
    return MpiCommunicator(comm) if comm.size > 1 else SerialCommunicator()


def cartesian(comm: Any) -> tuple[Sequence[int] | None, Sequence[bool] | bool]:
    """Processes along each axis of a Cartesian communicator, and whether each axis is periodic.

    None and False for any other communicator. Its ranks are numbered as those of a `Decomposition`.
    """
    if comm is None:
        return None, False
    from mpi4py import MPI

    if comm.Get_topology() != MPI.CART:
        return None, False
    dims, periods, _ = MPI.Cartcomm(comm).Get_topo()
    return dims, [bool(period) for period in periods]
