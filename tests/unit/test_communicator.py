"""What ranks tell each other, and what becomes of those that say nothing."""

from __future__ import annotations

import os
import pickle
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from ranks import run_on_ranks

from groundswell.errors import BackendError, InputError, RunFailed
from groundswell.exchange import collective_message
from groundswell.exchange import deadline as deadline_module
from groundswell.exchange import mpi_communicator as module
from groundswell.exchange.collective_message import CollectiveMessage
from groundswell.exchange.communicator import SerialCommunicator
from groundswell.exchange.deadline import (
    DEFAULT_TIMEOUT,
    TIMEOUT,
    Deadline,
    late,
    timeout_seconds,
)
from groundswell.exchange.launcher import (
    LAUNCHER_VARIABLES,
    SIZE_VARIABLES,
    exclude_libfabric,
    started_ranks,
)
from groundswell.exchange.mpi_communicator import MpiCommunicator
from groundswell.exchange.processes import Process

PROGRAM = Path(__file__).parents[1] / "support" / "communicator_program.py"


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.delenv(TIMEOUT, raising=False)
    return monkeypatch


# --- one process ----------------------------------------------------------------------------------


def test_alone() -> None:
    job = SerialCommunicator()
    assert (job.rank, job.size, job.first) == (0, 1, True)
    assert job.allgather("a") == job.gather("a") == ["a"] and job.bcast("a") == "a"
    assert job.collective_try(lambda: 7) == 7
    job.require_alive()
    with pytest.raises(SystemExit) as caught:
        job.abort(3)
    assert caught.value.code == 3


def test_alone_raises_its_own_error() -> None:
    error = InputError("no")

    def act() -> None:
        raise error

    with pytest.raises(InputError) as caught:
        SerialCommunicator().collective_try(act)
    assert caught.value is error


def test_other_exceptions_are_nobodys_business() -> None:
    """A mistake in the program is not turned into words for its user."""
    with pytest.raises(ZeroDivisionError):
        SerialCommunicator().collective_try(lambda: 1 // 0)


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """As if nobody had asked for the communicator yet, and no launcher had started this process."""
    for name in (*SIZE_VARIABLES, *LAUNCHER_VARIABLES):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delitem(sys.modules, "mpi4py.MPI", raising=False)
    module.get_communicator.cache_clear()
    yield monkeypatch
    module.get_communicator.cache_clear()


def test_a_process_of_its_own_needs_no_mpi(launched: pytest.MonkeyPatch) -> None:
    launched.setitem(sys.modules, "mpi4py", None)  # importing it fails
    assert (
        isinstance(module.get_communicator(), SerialCommunicator)
        and module.get_communicator() is module.get_communicator()
    )


@pytest.mark.parametrize("name", SIZE_VARIABLES)
def test_several_processes_need_mpi(launched: pytest.MonkeyPatch, name: str) -> None:
    launched.setitem(sys.modules, "mpi4py", None)
    launched.setenv(name, "4")
    with pytest.raises(BackendError, match=r"4 processes were started.*groundswell\[mpi\]"):
        module.get_communicator()


@pytest.mark.parametrize("name", LAUNCHER_VARIABLES)
def test_a_launcher_that_does_not_tell_how_many_needs_mpi(
    launched: pytest.MonkeyPatch, name: str
) -> None:
    launched.setitem(sys.modules, "mpi4py", None)
    launched.setenv(name, "0")
    assert started_ranks() == 0
    with pytest.raises(BackendError, match=rf"several processes were started \({name}\)"):
        module.get_communicator()


@pytest.mark.parametrize(
    ("local", "given", "used"),
    [("4", None, "^ofi"), ("2", None, None), (None, None, None), ("4", "tcp", "tcp")],
)
def test_open_mpi_starts_without_a_network_on_one_machine(
    launched: pytest.MonkeyPatch, local: str | None, given: str | None, used: str | None
) -> None:
    values = {"OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_LOCAL_SIZE": local}
    for name, value in {**values, "OMPI_MCA_btl": given}.items():
        if value is None:
            launched.delenv(name, raising=False)
        else:
            launched.setenv(name, value)
    exclude_libfabric()
    assert dict(os.environ).get("OMPI_MCA_btl") == used


class FakeMpi:
    """mpi4py with a library that has begun."""

    def __init__(self, size: int) -> None:
        self.MPI = self
        self.COMM_WORLD = SimpleNamespace(size=size)

    def Is_initialized(self) -> bool:
        return True

    def Is_finalized(self) -> bool:
        return False

    def Get_library_version(self) -> str:
        return "Some MPI 4.2, of today"


def with_mpi(launched: pytest.MonkeyPatch, size: int) -> None:
    for name in ("mpi4py", "mpi4py.MPI"):
        launched.setitem(sys.modules, name, FakeMpi(size))


def test_mpi_that_has_begun_is_asked(launched: pytest.MonkeyPatch) -> None:
    """Whatever the launcher; a program may have begun MPI itself."""
    with_mpi(launched, 3)
    launched.setattr(module, "MpiCommunicator", lambda comm: comm.size)
    assert started_ranks() == module.get_communicator() == 3  # type: ignore[comparison-overlap]


def test_one_process_may_begin_mpi(launched: pytest.MonkeyPatch) -> None:
    with_mpi(launched, 1)
    launched.setenv("PMIX_RANK", "0")
    assert isinstance(module.get_communicator(), SerialCommunicator)


def test_processes_of_another_mpi_are_not_left_alone(launched: pytest.MonkeyPatch) -> None:
    """Each would take itself for the only one, and its part for the whole."""
    with_mpi(launched, 1)
    launched.setenv("PMI_SIZE", "4")
    with pytest.raises(BackendError, match=r"4 processes.*Some MPI 4.2\).*unset PMI_SIZE"):
        module.get_communicator()


# --- deadlines ----------------------------------------------------------------------------------


@pytest.mark.parametrize("text, seconds", [("2", 2.0), ("0.25", 0.25), ("1e3", 1000.0), (" 7 ", 7)])
def test_the_timeout_is_read_from_the_environment(
    patient: pytest.MonkeyPatch, text: str, seconds: float
) -> None:
    assert timeout_seconds() == DEFAULT_TIMEOUT
    patient.setenv(TIMEOUT, text)
    assert timeout_seconds() == seconds
    patient.setenv(TIMEOUT, "")
    assert timeout_seconds() == DEFAULT_TIMEOUT


@pytest.mark.parametrize("text", ["0", "-3", "inf", "nan", "five", "2 s", "1e999"])
def test_other_timeouts_are_refused(patient: pytest.MonkeyPatch, text: str) -> None:
    patient.setenv(TIMEOUT, text)
    with pytest.raises(InputError) as caught:
        timeout_seconds()
    assert str(caught.value) == f"{TIMEOUT} = {text!r} must be a number of seconds above zero"


def test_deadlines_pass_and_name_who_is_late() -> None:
    deadline, begun = Deadline(SerialCommunicator(), 0.05), time.monotonic()
    with pytest.raises(RunFailed, match="rank 3, 5 has sent no message for 0 s.*" + TIMEOUT):
        while time.monotonic() - begun < 5:
            deadline.pause("message", [3, 5])
    assert 0.04 < time.monotonic() - begun < 1


def test_pauses_look_for_the_dead_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[float] = []

    class Watched(SerialCommunicator):
        def require_alive(self) -> None:
            looks.append(time.monotonic())
            if len(looks) == 3:
                raise RunFailed("rank 1 has ended")

    monkeypatch.setattr(deadline_module, "CHECK_SECONDS", 0.05)
    deadline = Deadline(Watched(), 60, busy=0.0)
    with pytest.raises(RunFailed, match="rank 1 has ended"):
        while True:
            deadline.pause("message", [1])
    assert looks[2] - looks[0] > 0.09


def test_the_message_of_a_late_rank_has_a_cure() -> None:
    text = str(late("ghost layers", [4], 12.4))
    assert text.startswith("rank 4 has sent no ghost layers for 12 s") and TIMEOUT in text


# --- the living and the dead ----------------------------------------------------------------------


def test_a_dead_rank_is_named() -> None:
    """Of the ranks of this host; processes of others cannot be seen."""
    job = object.__new__(MpiCommunicator)  # what it knows of its processes, without MPI
    here = Process.this()
    dead = here._replace(number=2**22 + 1)  # more than there can be
    job.rank, job.size = 0, 3
    job._processes, job._hosts = [here, dead, here], [0, 1, 0]
    job._progress = SimpleNamespace(check=lambda: None)
    job.require_alive()
    assert job.same_host == [0, 2] and job.same_machine == [0, 1, 2]
    job._processes[2] = dead
    with pytest.raises(RunFailed, match=rf"rank 2 \(process {dead.number}\) has ended"):
        job.require_alive()


# --- long messages --------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [0, 5, 99, 1000])
def test_parts_make_up_a_message_and_the_last_is_shorter(
    monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(collective_message, "PART", 10)
    message = CollectiveMessage("gather", bytes(size))
    *parts, last = collective_message.parts(message)
    assert {len(part) for part in parts} <= {10} and len(last) < 10
    assert pickle.loads(b"".join([*parts, last])) == message


def test_a_message_of_whole_parts_has_an_empty_end(monkeypatch: pytest.MonkeyPatch) -> None:
    message = CollectiveMessage("gather", bytes(1000))
    size = len(pickle.dumps(message, pickle.HIGHEST_PROTOCOL))
    monkeypatch.setattr(collective_message, "PART", size)
    assert [len(part) for part in collective_message.parts(message)] == [size, 0]


# --- several ranks --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def spoken() -> dict[str, list[str]]:
    """What three ranks said, by subject and rank."""
    done = run_on_ranks(3, PROGRAM, "words", timeout=60)
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, list[str]] = {}
    for line in sorted(done.stdout.splitlines()):
        match = re.fullmatch(r"rank (\d) (same host|\w+) (.*)", line)
        assert match, line
        found.setdefault(match[2], []).append(match[3])
    return found


def test_ranks_hear_each_other(spoken: dict[str, list[str]]) -> None:
    assert spoken["share"] == ["2", "2", "2"]
    assert spoken["gather"] == ["[0, 10, 20]", "[]", "[]"]
    assert spoken["tell"] == ["said by 0"] * 3
    assert spoken["same host"] == ["True"] * 3


def test_what_all_ranks_can_do_is_done(spoken: dict[str, list[str]]) -> None:
    assert spoken["agree"] == [f"returned done by {rank}" for rank in range(3)]
    assert spoken["afterwards"] == spoken["agree"]


def test_what_one_rank_cannot_do_fails_everywhere(spoken: dict[str, list[str]]) -> None:
    error = "raised InputError: file 'x.bin' has 3 bytes; 4 are needed: give another"
    assert spoken["input"] == [error] * 3


def test_what_nobody_foresaw_ends_all_ranks(spoken: dict[str, list[str]]) -> None:
    """It is told where it happened, and others do not wait for that rank."""
    error = "raised RunFailed: rank 1 failed: ZeroDivisionError: by 0"
    assert spoken["mistake"] == [error, "raised ZeroDivisionError: by 0", error]
    assert spoken["nested"] == spoken["mistake"]


def test_errors_that_let_nobody_set_attributes_are_told(spoken: dict[str, list[str]]) -> None:
    error = "raised RunFailed: rank 1 failed: Frozen: by 0"
    assert spoken["frozen"] == [error, "raised Frozen: by 0", error]


def test_the_same_object_is_told_each_time_it_is_raised(spoken: dict[str, list[str]]) -> None:
    """Also twice in what all ranks do together."""
    assert spoken["sameInputError"] == ["raised InputError: refused"] * 9
    error = "raised RunFailed: rank 1 failed: ZeroDivisionError: by 0"
    expected = [error] * 3 + ["raised ZeroDivisionError: by 0"] * 3 + [error] * 3
    assert spoken["sameZeroDivisionError"] == expected


def test_problems_of_a_case_reach_all_ranks(spoken: dict[str, list[str]]) -> None:
    error = "raised CaseError: case.toml cannot be used:|  grid.size = 1 m: at least 1 km"
    assert spoken["case"] == [error] * 3


def test_what_no_message_holds_is_sent_in_parts() -> None:
    done = run_on_ranks(3, PROGRAM, "parts", timeout=60)
    assert done.returncode == 0, done.stderr[-2000:]
    assert sorted(done.stdout.splitlines()) == [f"rank {n} parts arrived" for n in range(3)]


def test_ranks_know_who_shares_their_host_and_machine() -> None:
    """Ranks 1 and 3 are as in a container, rank 4 as in a copy of the virtual machine."""
    done = run_on_ranks(6, PROGRAM, "hosts", timeout=60)
    assert done.returncode == 0, done.stderr[-2000:]
    all_of, rest = list(range(5)), [0, 2]
    hosts = [rest, [1, 3], rest, [1, 3], [4], [5]]
    machines = [all_of] * 5 + [[5]]
    expected = [f"rank {n} {hosts[n]} {machines[n]}" for n in range(6)]
    assert sorted(done.stdout.splitlines()) == expected


@pytest.mark.parametrize("how", ["unknown", "begun"])
def test_ranks_of_an_unknown_launcher_find_each_other(how: str) -> None:
    """It tells only PMIx, or nobody: then MPI that the program has begun."""
    done = run_on_ranks(2, PROGRAM, how, timeout=60)
    assert done.returncode == 0, done.stderr[-2000:]
    assert sorted(done.stdout.splitlines()) == ["rank 0 of 2", "rank 1 of 2"]


def test_a_rank_that_sleeps_too_long_is_named() -> None:
    begun = time.monotonic()
    done = run_on_ranks(2, PROGRAM, "late", timeout=60, **{TIMEOUT: "2"})
    assert time.monotonic() - begun < 15 and done.returncode != 0  # long before it wakes up
    match = re.search(r"rank 0 after (.*) s: rank 1 has sent no message for 2 s", done.stdout)
    assert match and 2 <= float(match[1]) < 4, done.stdout + done.stderr[-1000:]


def test_late_words_are_not_taken_for_others() -> None:
    """Of a call that rank 0 has given up all ranks are told, and none waits longer than it did."""
    done = run_on_ranks(3, PROGRAM, "missed", timeout=60, **{TIMEOUT: "1"})
    assert done.returncode == 0, done.stderr[-2000:]
    lines = sorted(done.stdout.splitlines())
    assert "rank 0 interrupted ['new 0', 'new 1', 'new 2']" in lines
    raised = [line for line in lines if "raised rank 1 has sent no message for 1 s" in line]
    assert len(raised) == 6 and not any("heard" in line for line in lines), lines


def test_a_timeout_that_is_no_number_ends_all_ranks() -> None:
    done = run_on_ranks(2, PROGRAM, "words", timeout=60, **{TIMEOUT: "soon"})
    assert done.returncode != 0 and f"{TIMEOUT} = 'soon' must be" in done.stderr
