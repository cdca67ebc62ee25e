"""Exchanges that are prepared once and run often, in step with the user's streams."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from groundswell.backends import Launch
from groundswell.backends.array_interop import ArrayInterop, StreamHandles
from groundswell.backends.base import in_order
from groundswell.errors import InputError
from groundswell.exchange.communicator import Communicator


class Exchanging(Protocol):
    """What can be planned: an exchange of ghosts, an operation on values that ranks share."""

    @property
    def path(self) -> str:
        """The way that messages really take."""

    @property
    def bytes(self) -> int:
        """Bytes that this rank sends to others each time, unless a codec makes them fewer."""

    @property
    def launches(self) -> list[Launch]:
        """The whole exchange."""

    @property
    def parts(self) -> tuple[list[Launch], list[Launch]]:
        """Launches that start the exchange, and launches that finish it."""

    def is_bound(self, *arrays: Any) -> bool:
        """Whether the operation exchanges these arrays."""

    def bind(self, *arrays: Any) -> bool:
        """Exchange other arrays from now on; returns whether the launches are new."""

    def release(self) -> None:
        """Stop keeping the arrays alive."""

    def check(self) -> None:
        """Check that no wait of the device timed out."""

    def close(self) -> None:
        """Give back what it holds of other ranks."""


class Plan:
    """An exchange of certain arrays, prepared once: made by `Domain.plan` and `Numbering.plan`.

    It keeps its arrays alive. A GPU's streams are kept in order by events: what the user's stream
    holds when the exchange begins comes before it, and what it is given afterwards comes after it.
    The user's stream is the one given, else the current one of PyTorch for its tensors, and of CuPy
    for all others: the legacy default stream, unless another was chosen.
    """

    def __init__(
        self, interop: ArrayInterop, exchange: Exchanging, owners: Iterable[Any], comm: Communicator
    ) -> None:
        self._interop, self._owners, self._comm = interop, tuple(owners), comm
        self._exchange: Exchanging | None = exchange
        self._under_way = False
        self._read(exchange)

    def _read(self, exchange: Exchanging) -> None:
        self._whole = exchange.launches
        self._start, self._finish = exchange.parts

    def require_bound(self, *arrays: Any) -> None:
        """Raise InputError unless the plan exchanges these arrays already."""
        if not self._open.is_bound(*arrays):
            raise InputError(
                "a graph is being captured, and the arrays are not those of the last exchange; "
                "exchange them once before the capture, or capture a plan of these arrays"
            )

    def release(self) -> None:
        """Do not keep the arrays of the operation alive, apart from those it was made for."""
        self._open.release()

    def bind(self, *arrays: Any) -> None:
        """Exchange other arrays from now on, without communication."""
        if self._open.bind(*arrays):
            self._read(self._open)

    @property
    def path(self) -> str:
        """The way that messages really take."""
        return self._open.path

    @property
    def bytes(self) -> int:
        """Bytes that this rank sends to others each time, unless a codec makes them fewer."""
        return self._open.bytes

    def __repr__(self) -> str:
        return f"<Plan of {self._exchange!r}>" if self._exchange else "<Plan, closed>"

    @property
    def closed(self) -> bool:
        """Whether it has been closed."""
        return self._exchange is None

    @property
    def under_way(self) -> bool:
        """Whether it has been started and is to be finished."""
        return self._under_way

    def __call__(self, stream: Any = None) -> None:
        """Fill the ghost layers."""
        self.run(self._interop.user_streams(stream, self._owners))

    def run(self, streams: StreamHandles) -> None:
        """The same, for streams by their handles."""
        self._require(under_way=False)
        self._interop.wait_for_user(streams)
        self._comm.begin_exchange()
        in_order(self._whole)()
        self._interop.make_user_wait(streams)

    def start(self, stream: Any = None) -> None:
        """Send. Until `finish`, write no point that is sent, and read no ghost."""
        self._require(under_way=False)
        self._interop.wait_for_user(self._interop.user_streams(stream, self._owners))
        self._under_way = True
        self._comm.begin_exchange()
        in_order(self._start)()

    def finish(self, stream: Any = None) -> None:
        """Receive, and fill the ghost layers; what comes next in the stream may read them."""
        self._require(under_way=True)
        streams = self._interop.user_streams(stream, self._owners)
        self._under_way = False  # whatever becomes of it: it cannot be tried again
        in_order(self._finish)()
        self._interop.make_user_wait(streams)

    def check(self) -> None:
        """Wait for the device, and check that none of its waits timed out.

        Raises:
            RunFailed: a rank is late or lost; names it.
        """
        self._open.check()

    def close(self) -> None:
        """Give back what it holds of other ranks; every rank must, before MPI ends.

        Raises:
            InputError: it has been started, and is to be finished first.
            RunFailed: a wait of some GPU timed out, so that its results are stale.
        """
        if self._exchange is None:
            return
        self._require(under_way=False)
        exchange, self._exchange, self._owners = self._exchange, None, ()
        self._whole, self._start, self._finish = [], [], []
        exchange.close()

    def __enter__(self) -> Plan:
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is None:  # after an error the others might not come
            self.close()

    @property
    def _open(self) -> Exchanging:
        if self._exchange is None:
            raise InputError("this plan is closed; make another one")
        return self._exchange

    def _require(self, *, under_way: bool) -> None:
        if self._open and self._under_way != under_way:
            missing = "start it first" if under_way else "finish it first"
            raise InputError(f"this exchange is {'not ' * under_way}under way; {missing}")
