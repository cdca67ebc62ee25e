"""Keeps the plans of exchanges, and closes them, at the latest when the program ends."""

from __future__ import annotations

import atexit
import sys
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import ExitStack
from typing import Any, Self

from groundswell.backends import Backend
from groundswell.backends.array_interop import ArrayInterop, StreamHandles, array_interop
from groundswell.errors import GroundswellError, InputError
from groundswell.exchange import rank_progress
from groundswell.exchange.communicator import Communicator, reported
from groundswell.exchange.mpi_communicator import MpiCommunicator
from groundswell.exchange.plan import Exchange, Plan
from groundswell.exchange.tuning import Choice, fastest

MOST_PLANS = 16  # number of plans kept for exchanges without an explicit plan


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
        self._cached: OrderedDict[Hashable, Plan] = OrderedDict()
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
        owners: Iterable[object],
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

    def __exit__(self, kind: object, *_: object) -> None:
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
