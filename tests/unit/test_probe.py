"""Which transports work: requirements, tests between ranks, and MPI with GPU memory."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ranks import AS_ROOT, SOURCE, launcher, run_on_ranks

from groundswell.backends import open_backend
from groundswell.errors import BackendError, InputError
from groundswell.exchange import mpi_library, requirements
from groundswell.exchange.communicator import SerialCommunicator
from groundswell.exchange.connect import TRANSPORTS
from groundswell.exchange.mpi_library import (
    PREFIX,
    STARTED,
    WORKS,
    NotProbed,
)
from groundswell.exchange.probe import find_obstacles

PROGRAM = Path(__file__).parents[1] / "support" / "probe_program.py"


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
    assert found["child"] != ""


def test_alone_nothing_works() -> None:
    found = find_obstacles(open_backend("cpu"), SerialCommunicator())
    assert set(found) == set(TRANSPORTS["cpu"])
    assert all(reason and "mpiexec -n 4" in reason for reason in found.values())


# --- processes that probe -------------------------------------------------------------------------


def job(code: str, **limits: float) -> str | None:
    """The result of two processes that run some code."""
    command = [launcher(), "-n", "2", sys.executable, "-c", code]
    return mpi_library.parse(*mpi_library.run(command, **limits))


@pytest.fixture
def path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(SOURCE))


START = f"""
import os, signal, time
from mpi4py import MPI
from groundswell.exchange import mpi_library as probe
probe.limit_time(20)
rank = MPI.COMM_WORLD.rank
if rank == 0: probe.report({STARTED!r})
MPI.COMM_WORLD.Barrier()
"""


def test_a_crash_is_a_result(path: None) -> None:
    begun = time.monotonic()
    reason = job(f"{START}\nif rank == 1: os.kill(os.getpid(), signal.SIGSEGV)\ntime.sleep(60)")
    assert reason and "ended with exit status" in reason
    assert time.monotonic() - begun < 18


def test_processes_that_hang_end_themselves(path: None) -> None:
    begun = time.monotonic()
    reason = job(f"{START.replace('20', '1')}\nwhile True: time.sleep(1)")
    assert reason and "ended with exit status" in reason
    assert time.monotonic() - begun < 18


def test_a_launcher_that_hangs() -> None:
    status, output = mpi_library.run(["sleep", "60"], 0.5)
    assert (status, output) == (None, "")
    words = f"echo '{PREFIX}{STARTED}'; sleep 60"
    assert mpi_library.run(["sh", "-c", words], 1.0) == (None, f"{PREFIX}{STARTED}\n")


def test_a_launcher_of_nothing() -> None:
    with pytest.raises(NotProbed, match="cannot be started"):
        mpi_library.run(["/no/such/mpiexec"])
    with pytest.raises(NotProbed, match="exit status 1"):
        mpi_library.parse(*mpi_library.run(["false"]))


def test_a_launcher_of_another_mpi(path: None) -> None:
    """Each process then thinks that it is alone."""
    program = [sys.executable, "-m", "groundswell.exchange.mpi_library", "0000:00:00.0"]
    with pytest.raises(NotProbed, match="does not belong"):
        mpi_library.parse(*mpi_library.run(["sh", "-c", '"$@"; "$@"', "sh", *program]))


def test_the_real_processes(path: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever MPI and machine: an answer, and soon. Without GPUs nothing can be tried."""
    for name, value in AS_ROOT.items():
        monkeypatch.setenv(name, value)
    begun = time.monotonic()
    try:
        reason = mpi_library.probe(("0000:00:00.0",))
    except NotProbed as obstacle:
        reason = str(obstacle)
        with pytest.raises(BackendError):
            open_backend("cuda")
    assert reason is None or len(reason) > 10
    assert time.monotonic() - begun < mpi_library.SECONDS + mpi_library.GRACE_SECONDS + 5


def test_reports_of_processes() -> None:
    parse = mpi_library.parse
    assert parse(0, f"noise\n{PREFIX}{STARTED}\nnoise\n{PREFIX}{WORKS}\n") is None
    assert "status 3" in str(parse(3, f"{PREFIX}{STARTED}\n{PREFIX}{WORKS}\n"))
    assert parse(0, f"{PREFIX}{STARTED}\n{PREFIX}values arrive wrong\n") == "values arrive wrong"
    assert "status 139" in str(parse(139, f"{PREFIX}{STARTED}\n"))
    assert "stopped after" in str(parse(None, f"{PREFIX}{STARTED}\n"))
    with pytest.raises(NotProbed, match="no GPU"):
        parse(0, f"{PREFIX}no GPU\n")


def test_a_new_job_knows_nothing_of_the_old_one() -> None:
    job = {"OMPI_COMM_WORLD_SIZE", "OMPI_MCA_num_procs", "PMIX_RANK", "PMI_FD", "SLURM_JOB_ID"}
    choices = {"OMPI_MCA_pml", "OMPI_MCA_btl", "UCX_TLS", "LD_LIBRARY_PATH", "OPAL_PREFIX"}
    found = mpi_library.without_job(dict.fromkeys(job | choices, "as before"))
    assert not job & set(found)
    assert all(found[name] == "as before" for name in choices)


# --- reports and probes ---------------------------------------------------------------------------


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., str | None]]:
    """The result of a library's report and a probe."""

    def ask(
        claimed: bool, trial: str | NotProbed | None, ucx: bool = True, begun: bool = True
    ) -> str | None:
        def tried(buses: Sequence[str]) -> str | None:
            if isinstance(trial, NotProbed):
                raise trial
            return trial

        monkeypatch.setattr(mpi_library, "reports_gpu_support", lambda: claimed)
        monkeypatch.setattr(mpi_library, "is_active", lambda: begun)
        monkeypatch.setattr(mpi_library, "loaded_file", lambda name: Path(name) if ucx else None)
        monkeypatch.setattr(mpi_library, "probe", tried)
        mpi_library.gpu_obstacle.cache_clear()
        return mpi_library.gpu_obstacle(("0000:1b:00.0",))

    monkeypatch.delenv(mpi_library.VARIABLE, raising=False)
    yield ask
    mpi_library.gpu_obstacle.cache_clear()


Asked = Callable[..., str | None]


def test_a_probe_overrides_the_report(asked: Asked) -> None:
    assert asked(False, None) is None
    assert asked(True, "crashed") == "crashed"


def test_without_a_probe_the_report_counts(asked: Asked) -> None:
    assert asked(True, NotProbed("no mpiexec")) is None
    reason = asked(False, NotProbed("no mpiexec"))
    assert reason and "not probed: no mpiexec" in reason and "GROUNDSWELL_GPU_MPI=1" in reason


def test_no_probe_where_it_must_fail(asked: Asked) -> None:
    assert "reports that it cannot" in str(asked(False, None, ucx=False))
    assert asked(False, None, ucx=False, begun=False) is None  # it could not be asked


def test_the_user_overrides_everything(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDSWELL_GPU_MPI", "1")
    assert asked(False, "crashed") is None
    monkeypatch.setenv("GROUNDSWELL_GPU_MPI", "0")
    assert "GROUNDSWELL_GPU_MPI = 0" in str(asked(True, None))
    monkeypatch.setenv("GROUNDSWELL_GPU_MPI", "maybe")
    with pytest.raises(InputError, match="maybe"):
        asked(True, None)


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
    mpi_library.load()  # it uses ctypes
    monkeypatch.setattr(mpi_library, "is_active", lambda: True)
    monkeypatch.setattr(mpi_library.ctypes, "CDLL", lambda path: SimpleNamespace(**functions))
    assert mpi_library.reports_gpu_support() is expected


def _answer(place: Any, value: int, status: int) -> int:
    place._obj.value = value
    return status


def test_the_library_of_this_python() -> None:
    launcher()
    found = mpi_library.describe()
    assert found["library"] and found["standard"][0] in "345" and found["thread_level"] is None
    assert found["mpiexec"] and os.access(found["mpiexec"], os.X_OK)
    library = mpi_library.loaded_file("libmpi")
    assert library is not None and library.exists()
    assert mpi_library.loaded_file("libnothing") is None and not mpi_library.is_active()


def test_without_mpi4py(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    mpi_library.load.cache_clear()
    try:
        found = mpi_library.describe()
        assert found["library"] is None and "groundswell[mpi]" in found["reason"]
        assert all("groundswell[mpi]" in str(r) for r in on_host("cpu").values())
    finally:
        mpi_library.load.cache_clear()


# --- requirements ---------------------------------------------------------------------------------


def on_host(name: str) -> dict[str, str | None]:
    """The obstacles of a backend's transports between ranks that are not started yet."""
    device: Any = SimpleNamespace(bus="x")
    comm = SerialCommunicator()
    return {n: requirements.obstacle(n, device, comm) for n in TRANSPORTS[name]}


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
    assert requirements._nccl(device, rank(1, "aabb", ["x", "y", "x", "y"])) is None
    reason = requirements._nccl(device, rank(2, "aabb", ["x", "y", "x", "x"]))
    assert reason and "ranks 2, 3" in reason


def test_the_first_rank_of_each_host_has_gpu_mpi_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mpi_library, "gpu_obstacle", lambda buses: " ".join(buses))
    device, buses = SimpleNamespace(bus=""), ["p", "q", "r", "s", "t"]
    found = [requirements._gpu_mpi(device, rank(n, "abaab", buses)) for n in range(5)]
    assert found == ["p r", "q t", None, None, None]


@pytest.mark.parametrize(("level", "works"), [("multiple", True), ("serialized", False)])
def test_a_thread_needs_a_thread_level(
    level: str, works: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mpi_library, "thread_level", lambda: level)
    reason = requirements._threads(open_backend("cpu"), rank(0, "aa", ""))
    assert (reason is None) is works and (works or level in str(reason))


def test_requirements_on_a_host_with_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mpi_library, "find_mpiexec", lambda: "mpiexec")
    monkeypatch.setattr(mpi_library, "gpu_obstacle", lambda buses: f"not with {len(buses)}")
    monkeypatch.setattr("groundswell.backends.nccl.load", lambda: None)
    for count, reason in ((1, "NCCL needs a GPU for each rank, and this host has one"), (4, None)):
        monkeypatch.setattr(requirements, "gpu_buses", lambda count=count: ["x"] * count)
        found = on_host("cuda")
        assert found.pop("mpi-gpu") == f"not with {min(count, 2)}"
        assert found.pop("nccl") == reason and set(found.values()) == {None}
    monkeypatch.setattr(mpi_library, "find_mpiexec", lambda: None)
    assert {"no mpiexec" in str(reason) for reason in on_host("cuda").values()} == {True}
