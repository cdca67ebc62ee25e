"""NCCL's communicators where some rank cannot have one; with a library that only pretends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from thread_ranks import run_on_threads

from groundswell.errors import BackendError, InputError, RunFailed, now_known
from groundswell.exchange.communicator import Communicator, SerialCommunicator, all_or_nothing
from groundswell.exchange.messages import TransferRequest
from groundswell.exchange.transports import nccl


class Group:
    """A communicator that tells what becomes of it."""

    def __init__(self, *, broken: bool = False) -> None:
        self.fate, self.broken = "open", broken

    def exchange(self, ends: list[Any]) -> None:
        if self.broken:
            raise RunFailed("NCCL: unhandled system error")

    def close(self) -> None:
        self.fate = "closed"

    def abort(self) -> None:
        self.fate = "aborted"


class Backend:
    """A GPU, or one that NCCL cannot use."""

    def __init__(self, *, bus: str = "x", lame: bool = False, broken: bool = False) -> None:
        self.bus, self.lame, self.broken, self.groups = bus, lame, broken, list[Group]()
        self.polled: list[Any] = []

    def nccl_unique_id(self) -> str:
        return "token"

    def nccl_communicator(self, size: int, token: str, rank: int) -> Group:
        assert token == "token"
        if self.lame:
            raise BackendError("NCCL cannot connect the ranks")
        self.groups.append(Group(broken=self.broken))
        return self.groups[-1]

    def add_poll_callback(self, callback: Any) -> Any:
        self.polled.append(callback)
        return lambda: self.polled.remove(callback)

    def synchronize(self) -> None:
        """All is done."""


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    """Nobody else's communicators."""
    nccl._GROUPS.clear()
    yield
    nccl._GROUPS.clear()


def communicators(lame: int | None = None, buses: str = "xyz") -> tuple[list[Backend], list[Any]]:
    """Three ranks' backends, and what comes of asking each for a communicator."""
    backends = [Backend(bus=bus, lame=rank == lame) for rank, bus in enumerate(buses)]

    def ask(comm: Communicator) -> Any:
        return nccl.communicator(comm, backends[comm.rank])

    return backends, run_on_threads(3, ask)


def test_a_rank_that_cannot_join_ends_the_others_communicators() -> None:
    backends, found = communicators(lame=1)
    assert [str(error) for error in found] == ["NCCL cannot connect the ranks"] * 3
    assert [[g.fate for g in b.groups] for b in backends] == [["aborted"], [], ["aborted"]]
    assert not nccl._GROUPS


def test_a_rank_with_its_own_gpu_does_not_wait_for_those_that_share_one() -> None:
    backends, found = communicators(buses="xyx")
    assert {type(error) for error in found} == {BackendError}
    assert {str(error) for error in found} == {
        "ranks 0, 2 share a GPU, but NCCL needs one GPU per rank"
    }
    assert not any(backend.groups for backend in backends) and not nccl._GROUPS


@pytest.mark.parametrize(("failed", "fate"), [(False, "closed"), (True, "aborted")])
def test_communicators_end_with_the_program(
    monkeypatch: pytest.MonkeyPatch, failed: bool, fate: str
) -> None:
    backends, found = communicators()
    assert found == [b.groups[0] for b in backends] and {g.fate for g in found} == {"open"}
    monkeypatch.delattr(nccl.sys, "last_value", raising=False)
    if failed:
        monkeypatch.setattr(nccl.sys, "last_value", ValueError(), raising=False)
    nccl.close_all()
    assert {g.fate for g in found} == {fate} and not nccl._GROUPS


def connected(backend: Any) -> nccl.NcclTransport:
    return nccl.NcclTransport(TransferRequest(backend, SerialCommunicator(), []), [], [])


def test_an_error_on_all_ranks_ends_the_polling() -> None:
    backend = Backend()
    with pytest.raises(InputError, match="elsewhere"), all_or_nothing():
        transport = connected(backend)
        assert len(backend.polled) == 1
        raise now_known(InputError("elsewhere"))
    assert not backend.polled and backend.groups[0].fate == "open"  # for later exchanges
    transport.close()


def test_a_transport_that_cannot_connect_leaves_nothing() -> None:
    backend = Backend(broken=True)
    with pytest.raises(RunFailed, match="unhandled system error"):
        connected(backend)
    assert not backend.polled and backend.groups[0].fate == "aborted" and not nccl._GROUPS
