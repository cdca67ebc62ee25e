"""Transfers that are bound to other arrays, on two transports, and where that fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from groundswell.backends import HostCall, open_backend
from groundswell.errors import InputError
from groundswell.exchange import Domain
from groundswell.exchange.boxes import Copy, StridedBox
from groundswell.exchange.communicator import SerialCommunicator, opened
from groundswell.exchange.connect import connect
from groundswell.exchange.ghost_field import GhostField
from groundswell.exchange.halo import HaloExchange
from groundswell.exchange.messages import Buffer, Message, TransferRequest
from groundswell.exchange.transfer import Binding, HybridTransfer, Transfer


class Ranks(SerialCommunicator):
    """The first of three ranks, two of which are on its host."""

    size, same_host = 3, (0, 1)


class Part(Transfer):
    """Launches named after what is prepared, unless the request says that it fails."""

    def __init__(self, name: str, request: TransferRequest, *, fused: bool = False) -> None:
        self.path, self._fused, self.in_graph = name, fused, fused
        self.sent = [Buffer(m.peer, m.send_bytes) for m in request.messages]
        self.received = [Buffer(-m.peer, m.receive_bytes) for m in request.messages]
        self.closed = False
        opened_parts.append(self)

    def prepare(self, request: TransferRequest) -> Binding:
        lengths = [m.send_bytes for m in request.messages]
        if 13 in lengths:
            raise InputError("no luck")
        names = (f"{self.path} {step} {lengths}" for step in ("open", "start", "finish", "whole"))
        opens, start, finish, whole = (HostCall(name, int) for name in names)
        return Binding([start], [finish], open=[opens], fused=[whole] * self._fused)

    def close(self) -> None:
        self.closed = True
        if self.path == "near":
            raise RuntimeError("lost")


opened_parts: list[Part] = []


def request_of(*sizes: int) -> TransferRequest:
    messages = [Message(peer, 0, size, size) for peer, size in zip((2, 1, 2), sizes, strict=True)]
    return TransferRequest(open_backend("cpu"), Ranks(), messages, fixed_buffers=True)


def hybrid(request: TransferRequest, *, fused: bool = False) -> HybridTransfer:
    def make(name: str, fused: bool) -> Callable[[TransferRequest], Part]:
        return lambda part: Part(name, part, fused=fused)

    return HybridTransfer(request, make("near", fused), make("far", False))


def names_of(launches: Any) -> list[str]:
    return [launch.name for launch in launches]


def test_messages_to_other_hosts_start_first_and_finish_last() -> None:
    transfer = hybrid(request := request_of(1, 2, 3))
    transfer.bind(request)
    assert transfer.path == "near within a host, far between hosts" and not transfer.in_graph
    assert names_of(transfer.open) == ["far open [1, 3]", "near open [2]"]
    assert names_of(transfer.start) == ["far start [1, 3]", "near start [2]"]
    assert names_of(transfer.finish) == ["near finish [2]", "far finish [1, 3]"]
    assert transfer.launches == [*transfer.open, *transfer.start, *transfer.finish]


def test_one_launch_within_the_host_runs_between_those_of_other_hosts() -> None:
    transfer = hybrid(request := request_of(1, 2, 3), fused=True)
    transfer.bind(request)
    expected = ["far start [1, 3]", "near whole [2]", "far finish [1, 3]"]
    assert names_of(transfer.launches) == expected


def test_buffers_of_both_parts_are_in_the_order_of_the_messages() -> None:
    transfer = hybrid(request_of(1, 2, 3))
    assert transfer.sent == [Buffer(2, 1), Buffer(1, 2), Buffer(2, 3)]
    assert transfer.received == [Buffer(-2, 1), Buffer(-1, 2), Buffer(-2, 3)]


@pytest.mark.parametrize("sizes", [(13, 5, 6), (4, 13, 6)])
def test_both_parts_are_bound_or_neither(sizes: tuple[int, ...]) -> None:
    transfer = hybrid(request := request_of(1, 2, 3))
    transfer.bind(request)
    before = [transfer.open, transfer.start, transfer.finish, transfer.launches]
    with pytest.raises(InputError, match="no luck"):
        transfer.bind(request_of(*sizes))
    assert before == [transfer.open, transfer.start, transfer.finish, transfer.launches]


def test_both_parts_are_closed_even_if_one_fails() -> None:
    opened_parts.clear()
    transfer = hybrid(request_of(1, 2, 3))
    with pytest.raises(RuntimeError, match="lost"):
        transfer.close()
    assert [part.closed for part in opened_parts] == [True, True]


# --- halo exchanges -------------------------------------------------------------------------------


def halo_of(domain: Domain, array: Any, **options: Any) -> HaloExchange:
    field = GhostField(array, (1, 1), domain.ghosts)
    return HaloExchange(domain.backend, domain.comm, domain.decomposition, [field], **options)


@pytest.mark.parametrize("poison", [False, True])
def test_an_exchange_that_cannot_be_bound_goes_on_as_before(poison: bool) -> None:
    domain = Domain((6, 5), 1, periodic=True)
    u = domain.zeros()
    halo = halo_of(domain, u, poison=poison)
    packed = np.zeros(domain.local_shape, np.dtype([("flag", "i1"), ("u", "f8")]))["u"]
    field = GhostField(packed, (1, 1), domain.ghosts)
    with pytest.raises(InputError, match="packed structure"):
        halo.bind([field])
    assert halo.is_bound([GhostField(u, (1, 1), domain.ghosts)])
    u[1:-1, 1:-1] = np.arange(30).reshape(6, 5)
    halo()
    assert np.array_equal(u, np.pad(u[1:-1, 1:-1], 1, mode="wrap")) and not packed.any()


def test_an_option_that_does_not_exist_is_refused() -> None:
    domain = Domain((6, 5), 1, periodic=True)
    with pytest.raises(InputError, match="agregate"):
        halo_of(domain, domain.zeros(), agregate=True)


# --- one rank -------------------------------------------------------------------------------------


def test_one_rank_receives_what_it_sends_itself() -> None:
    backend = open_backend("cpu")
    values, copy = np.arange(3.0), np.zeros(3)
    places = (StridedBox(array.ctypes.data, array.strides) for array in (values, copy))
    own = [Copy((3,), *places, "float64", "float64")]
    messages = [Message(0, tag, size, size) for tag, size in enumerate((128, 0, 256))]
    request = TransferRequest(backend, SerialCommunicator(), messages, own, fixed_buffers=True)
    transfer = connect(request)
    assert transfer.sent == transfer.received and [b.size for b in transfer.sent] == [128, 0, 256]
    for launch in transfer.launches:
        launch()
    assert np.array_equal(copy, values)


def test_a_transfer_that_cannot_be_bound_is_closed() -> None:
    closed = []

    class Failing(Transfer):
        def __init__(self) -> None:
            opened(self)

        def prepare(self, request: TransferRequest) -> Binding:
            raise InputError("no such memory")

        def close(self) -> None:
            closed.append(self)

    request = TransferRequest(open_backend("cpu"), Ranks(), [])
    with pytest.raises(InputError, match="no such memory"):
        connect(request, lambda request: Failing())
    assert len(closed) == 1
