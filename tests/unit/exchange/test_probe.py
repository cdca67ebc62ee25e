"""Which transports work: requirements, tests between ranks, and MPI with GPU memory."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ranks import launcher, run_on_ranks

from groundswell.backends import open_backend
from groundswell.cli.machine import describe_mpi
from groundswell.errors import InputError
from groundswell.exchange import connect
from groundswell.exchange.communicator import SerialCommunicator
from groundswell.exchange.connect import TRANSPORTS
from groundswell.exchange.probing import find_obstacles

PROGRAM = Path(__file__).parents[2] / "support" / "probe_program.py"


# --- on ranks -------------------------------------------------------------------------------------


def test_ranks_agree_on_what_works() -> None:
    done = run_on_ranks(3, PROGRAM, timeout=150)
    assert done.returncode == 0, done.stderr[-3000:]
    found = dict(line.split(": ", 1) for line in done.stdout.splitlines())
    assert found["peer"] == found["mpi"] == found["mpi-thread"] == "None"
    assert "arrived wrong" in found["spoilt"]
    assert "rank 1" in found["lame"]
    assert found["broken"] == "OSError: no such device"
    assert found["hosts"].endswith("is on another host: its memory is out of reach")


def test_alone_nothing_works() -> None:
    found = find_obstacles(open_backend("cpu"), SerialCommunicator())
    assert set(found) == set(TRANSPORTS["cpu"])
    assert all(reason and "mpiexec -n 4" in reason for reason in found.values())


# --- MPI with GPU memory --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "reported", "reason"),
    [
        ("", True, None),
        ("", False, "reports that it cannot"),
        ("1", False, None),
        ("0", True, "GROUNDSWELL_GPU_MPI = 0"),
    ],
)
def test_the_library_says_whether_it_reads_gpu_memory_and_the_user_overrides_it(
    answer: str, reported: bool, reason: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(connect.GPU_MPI, answer)
    monkeypatch.setattr(connect, "is_active", lambda: True)
    monkeypatch.setattr(connect, "reports_gpu_support", lambda: reported)
    found = connect._gpu_mpi(None, SerialCommunicator())
    assert found is None if reason is None else found is not None and reason in found


def test_an_answer_that_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(connect.GPU_MPI, "maybe")
    with pytest.raises(InputError, match="maybe"):
        connect._gpu_mpi(None, SerialCommunicator())


# --- the library ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("functions", "expected"),
    [
        ({"MPIX_Query_cuda_support": lambda: 1}, True),
        ({"MPIX_Query_cuda_support": lambda: 0}, False),
        ({"MPIX_GPU_query_support": lambda kind, answer: _answer(answer, 1, 0)}, True),
        ({"MPIX_GPU_query_support": lambda kind, answer: _answer(answer, 0, 0)}, False),
        ({"MPIX_GPU_query_support": lambda kind, answer: _answer(answer, 1, 5)}, False),
        ({}, False),
    ],
)
def test_what_a_library_claims(
    functions: dict[str, Any], expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("mpi4py")
    connect.load_mpi()  # it uses ctypes
    monkeypatch.setattr(connect.ctypes, "CDLL", lambda path: SimpleNamespace(**functions))
    assert connect.reports_gpu_support() is expected


def _answer(place: Any, value: int, status: int) -> int:
    place._obj.value = value
    return status


def test_the_library_of_this_python() -> None:
    launcher()
    found = describe_mpi()
    assert found["library"] and found["standard"][0] in "345" and found["thread_level"] is None
    assert found["mpiexec"] and os.access(found["mpiexec"], os.X_OK)
    assert not connect.is_active()


def test_without_mpi4py(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    connect.load_mpi.cache_clear()
    try:
        found = describe_mpi()
        assert found["library"] is None and "'.[mpi]'" in found["reason"]
        assert all("'.[mpi]'" in str(r) for r in on_host("cpu").values())
    finally:
        connect.load_mpi.cache_clear()


# --- requirements ---------------------------------------------------------------------------------


def on_host(name: str) -> dict[str, str | None]:
    """The obstacles of a backend's transports between ranks that are not started yet."""
    device: Any = SimpleNamespace(bus="x")
    comm = SerialCommunicator()
    return {n: connect.obstacle(n, device, comm) for n in TRANSPORTS[name]}


def rank(rank: int, hosts: str, buses: Sequence[str]) -> Any:
    here = [n for n, host in enumerate(hosts) if host == hosts[rank]]
    return SimpleNamespace(
        rank=rank,
        size=len(hosts),
        same_host=here,
        same_machine=here,
        allgather=lambda value: list(buses),
    )


def test_nccl_needs_a_gpu_for_each_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groundswell.backends.nccl.load", lambda: None)
    device = SimpleNamespace(bus="x")
    assert connect._nccl(device, rank(1, "aabb", ["x", "y", "x", "y"])) is None
    reason = connect._nccl(device, rank(2, "aabb", ["x", "y", "x", "x"]))
    assert reason and "ranks 2, 3" in reason


@pytest.mark.parametrize(("level", "works"), [("multiple", True), ("serialized", False)])
def test_a_thread_needs_a_thread_level(
    level: str, works: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connect, "thread_level", lambda: level)
    reason = connect._threads(open_backend("cpu"), rank(0, "aa", ""))
    assert (reason is None) is works and (works or level in str(reason))


def test_requirements_on_a_host_with_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connect, "find_mpiexec", lambda: "mpiexec")
    monkeypatch.setenv(connect.GPU_MPI, "0")
    monkeypatch.setattr("groundswell.backends.nccl.load", lambda: None)
    for count, reason in (
        (1, "NCCL needs one GPU per rank, but this host has only one GPU"),
        (4, None),
    ):
        monkeypatch.setattr(connect, "gpu_buses", lambda count=count: ["x"] * count)
        found = on_host("cuda")
        assert "disables it" in str(found.pop("mpi-gpu"))
        assert found.pop("nccl") == reason and set(found.values()) == {None}
    monkeypatch.setattr(connect, "find_mpiexec", lambda: None)
    assert {"mpiexec, which starts" in str(reason) for reason in on_host("cuda").values()} == {True}
