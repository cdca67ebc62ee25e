"""Collective calls on one process and on several: values, errors, and calls that cannot succeed."""

from __future__ import annotations

import re
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ranks import run_on_ranks
from variants import long_variants

from groundswell.errors import InputError, RunFailed
from groundswell.exchange.communicator import SerialCommunicator, SingleRank
from groundswell.exchange.mpi_communicator import MpiCommunicator
from groundswell.exchange.waiting import TIMEOUT
from groundswell.processes import Process

PROGRAM = Path(__file__).parents[2] / "support" / "communicator_program.py"


# --- one process ----------------------------------------------------------------------------------


def test_one_process() -> None:
    job = SerialCommunicator()
    assert (job.rank, job.size, job.first) == (0, 1, True)
    assert job.allgather("a") == job.gather("a") == ["a"] and job.bcast("a") == "a"
    assert job.collective_try(lambda: 7) == 7
    job.require_alive()
    with pytest.raises(SystemExit) as caught:
        job.abort(3)
    assert caught.value.code == 3


def test_one_process_raises_its_own_error() -> None:
    error = InputError("no")

    def act() -> None:
        raise error

    with pytest.raises(InputError) as caught:
        SerialCommunicator().collective_try(act)
    assert caught.value is error


def test_other_ranks_are_told_what_fails_on_a_single_rank() -> None:
    told: list[Any] = []

    class Telling(SerialCommunicator):
        def _allgather(self, kind: str, value: Any) -> list[Any]:
            told.append(value)
            return [value]

    error = InputError("no")

    def act() -> None:
        raise error

    with pytest.raises(InputError):
        Telling().collective_try(lambda: SingleRank().collective_try(act))
    assert told == [error]
    assert SingleRank().collective_try(lambda: 7) == 7


class Reported(SerialCommunicator):
    """The first rank of several whose values are known."""

    def __init__(self, others: list[Any]) -> None:
        self._others = others

    def _allgather(self, kind: str, value: Any) -> list[Any]:
        return [value, *self._others]


def test_a_disagreement_names_the_setting_and_the_ranks_of_each_value() -> None:
    mine = {"shape": (8, 8), "transport": "peer", "array 0": 1}
    same = {"shape": "(8, 8)", "transport": "'peer'", "array 0": "1"}
    Reported([same] * 3).require_same(mine)
    other, fewer = {**same, "transport": "'mpi'"}, {"shape": "(8, 8)", "transport": "'peer'"}
    words = "transport must be the same on all ranks, but is 'peer' on rank 0, 1, 3 and 2 more, "
    with pytest.raises(InputError, match=f"^{words}'mpi' on rank 2$"):
        Reported([same, other, *[same] * 3]).require_same(mine)
    with pytest.raises(InputError, match=r"^array 0 must .*, but is 1 on rank 0, nothing on"):
        Reported([fewer]).require_same(mine)


def test_other_exceptions_keep_their_type() -> None:
    """A mistake in the program does not become an error for its user."""
    with pytest.raises(ZeroDivisionError):
        SerialCommunicator().collective_try(lambda: 1 // 0)


# --- processes that have ended --------------------------------------------------------------------


def test_a_dead_rank_is_named() -> None:
    """Of the ranks on this host; those on others are not visible."""
    job = object.__new__(MpiCommunicator)  # without MPI
    here = Process.this()
    dead = here._replace(pid=2**22 + 1)  # larger than any process id
    reports: list[Exception] = []
    ended: set[int] = set()
    job.rank, job.size, job._error = 0, 3, None
    job._processes, job._hosts = [here, dead, here], [0, 1, 0]
    job._progress = SimpleNamespace(
        check=lambda: None, fail=reports.append, has_ended=ended.__contains__
    )
    job.require_alive()
    assert job.same_host == [0, 2] and job.same_machine == [0, 1, 2]
    job._processes[2] = dead
    ended.add(2)
    job.require_alive()  # its program has ended without an error
    ended.clear()
    with pytest.raises(RunFailed, match=rf"rank 2 \(process {dead.pid}\) has ended") as caught:
        job.require_alive()
    assert reports == [caught.value]
    with pytest.raises(RunFailed, match="rank 2") as again:
        job.alltoallv({})
    assert again.value is caught.value


# --- several ranks --------------------------------------------------------------------------------


def lines_of(ranks: int, name: str, timeout: str = "20") -> list[str]:
    """The sorted lines that the ranks of communicator_program.py print, within 30 s."""
    done = run_on_ranks(ranks, PROGRAM, name, timeout=30, **{TIMEOUT: timeout})
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    return sorted(done.stdout.splitlines())


def by_rank(ranks: int, text: str) -> list[str]:
    return [f"rank {rank} {text}" for rank in range(ranks)]


@pytest.fixture(scope="module")
def found() -> dict[str, list[str]]:
    """The results of three ranks, by call."""
    results: dict[str, list[str]] = {}
    for line in lines_of(3, "operations"):
        match = re.fullmatch(r"rank (\d) (same host|\w+) (.*)", line)
        assert match, line
        results.setdefault(match[2], []).append(match[3])
    return results


def test_ranks_receive_the_values_of_others(found: dict[str, list[str]]) -> None:
    assert found["allgather"] == ["2", "2", "2"]
    assert found["gather"] == ["[0, 10, 20]", "[]", "[]"]
    assert found["bcast"] == ["from 0"] * 3
    assert found["same host"] == ["True"] * 3


def test_what_succeeds_on_all_ranks_succeeds(found: dict[str, list[str]]) -> None:
    assert found["success"] == [f"returned done by {rank}" for rank in range(3)]
    assert found["afterwards"] == found["success"]


def test_an_error_of_one_rank_is_raised_on_all(found: dict[str, list[str]]) -> None:
    error = "raised InputError: file 'x.bin' has 3 bytes; 4 are needed: give another"
    assert found["input"] == [error] * 3


def test_a_mistake_on_one_rank_fails_on_all(found: dict[str, list[str]]) -> None:
    """That rank keeps the type of its exception, and others do not wait for it."""
    error = "raised RunFailed: rank 1 failed: ZeroDivisionError: by 0"
    assert found["mistake"] == [error, "raised ZeroDivisionError: by 0", error]
    assert found["nested"] == found["mistake"]


def test_errors_that_forbid_attributes_are_reported(found: dict[str, list[str]]) -> None:
    error = "raised RunFailed: rank 1 failed: Frozen: by 0"
    assert found["frozen"] == [error, "raised Frozen: by 0", error]


def test_the_same_object_is_reported_each_time_it_is_raised(found: dict[str, list[str]]) -> None:
    """Also twice within a collective operation."""
    assert found["sameInputError"] == ["raised InputError: refused"] * 9
    error = "raised RunFailed: rank 1 failed: ZeroDivisionError: by 0"
    expected = [error] * 3 + ["raised ZeroDivisionError: by 0"] * 3 + [error] * 3
    assert found["sameZeroDivisionError"] == expected


def test_problems_of_a_case_reach_all_ranks(found: dict[str, list[str]]) -> None:
    error = "raised CaseError: case.toml cannot be used:|  grid.size = 1 m: at least 1 km"
    assert found["case"] == [error] * 3


@pytest.mark.parametrize("ranks", [1, 3, *long_variants([2, 5])])
def test_random_calls_agree_with_one_process(ranks: int) -> None:
    """Empty values, short ones, and those of many chunks."""
    assert lines_of(ranks, "random") == by_rank(ranks, "agrees")


def test_parts_of_all_ranks_and_cartesian_grids() -> None:
    assert lines_of(4, "communicators") == by_rank(4, "sees 2 and 4")


def test_ranks_know_their_hosts_and_machines() -> None:
    """Ranks 1 and 3 are as in a container, rank 4 as in a copy of the virtual machine."""
    all_of, rest = list(range(5)), [0, 2]
    hosts = [rest, [1, 3], rest, [1, 3], [4], [5]]
    machines = [all_of] * 5 + [[5]]
    assert lines_of(6, "hosts") == [f"rank {n} {hosts[n]} {machines[n]}" for n in range(6)]


@pytest.mark.parametrize("name", ["unknown", "begun"])
def test_ranks_of_an_unknown_launcher_find_each_other(name: str) -> None:
    """It sets only the variables of PMIx, or none: then MPI that the program has initialised."""
    assert lines_of(2, name) == ["rank 0 of 2", "rank 1 of 2"]


# --- calls that cannot succeed --------------------------------------------------------------------


def test_different_calls_are_refused_on_all_ranks() -> None:
    """At once, and so is all that follows."""
    error = "raised RunFailed: ranks are out of step; all must make the same calls, but call: "
    error += "rank 0 gather after exchange 0, rank 1 bcast after exchange 0, "
    error += "rank 2 gather after exchange 0"
    expected = [f"rank {n} {call} {error}" for n in range(3) for call in ("first", "second")]
    assert lines_of(3, "different") == expected


def test_an_error_before_the_call_of_the_others_is_raised_on_all() -> None:
    lines = lines_of(3, "failing_call")
    assert len(lines) == 6 and all("raised InputError: refused, for many" in s for s in lines)


def test_a_rank_that_ends_early_is_named() -> None:
    """Long before the time-out, and the others do not hang at their ends."""
    error = "raised RunFailed: rank 1 has ended its program before the others; all ranks must make "
    expected = [f"rank {n} {call} {error}" for n in (0, 2) for call in ("first", "second")]
    lines = lines_of(3, "exit_early", "60")
    assert [line.partition("the same")[0] for line in lines] == expected


def test_a_late_rank_is_named_and_its_messages_are_dropped() -> None:
    """The call that others have given up breaks the communicator on all ranks."""
    lines = lines_of(3, "late", "1")
    error = "raised RunFailed: rank 1 has sent no message for 1 s"
    raised = [line for line in lines if error in line]
    # The late rank may still receive the complete first call before the report of the others.
    assert {"rank 1 first returned ['first 0', 'first 1', 'first 2']", *raised} >= set(lines)
    assert len(lines) == 6 and sum(" second " in line for line in raised) == 3, lines


def test_a_rank_that_gives_up_a_call_breaks_the_communicator() -> None:
    """All ranks get its error, and none takes the old message for the new one."""
    error = "second raised RunFailed: rank 0 gave up a call: KeyboardInterrupt()"
    lines = lines_of(3, "interrupted")
    assert lines == ["rank 0 is interrupted", *by_rank(3, error)]


@pytest.mark.parametrize("name", ["stopped", "stopped_in_call"])
def test_a_job_with_a_stopped_rank_ends(name: str) -> None:
    begun = time.monotonic()
    done = run_on_ranks(3, PROGRAM, name, timeout=30, **{TIMEOUT: "2"})
    assert time.monotonic() - begun < 20 and done.returncode != 0
    # The launcher continues a stopped rank before it ends it.
    lines = [line for line in done.stdout.splitlines() if re.match("rank [02]", line)]
    assert "\n".join(lines).count("rank 1 has sent no message for 2 s") == 2, done.stdout
    seconds = [float(n) for n in re.findall(r"after (\S+) s", " ".join(lines))]
    assert len(seconds) == 2 and all(2 <= s < 4 for s in seconds), done.stdout
    assert "rank 1 does not end; the job is aborted" in done.stderr


def test_a_killed_rank_ends_the_job() -> None:
    begun = time.monotonic()
    done = run_on_ranks(3, PROGRAM, "killed", timeout=30, **{TIMEOUT: "60"})
    assert time.monotonic() - begun < 20 and done.returncode != 0 and "returned" not in done.stdout


def test_all_ranks_get_the_error_of_a_rank_that_waits_for_a_dead_one() -> None:
    lines = lines_of(3, "dead")
    assert len(lines) == 3 and all(re.search(r"rank 1 \(process \d+\) has", s) for s in lines)


def test_a_missing_rank_does_not_block_a_duplicate() -> None:
    [line] = lines_of(2, "undivided", "1")
    assert line.startswith("raised RunFailed: rank 1 has sent no message for 1 s")


def test_a_timeout_that_is_no_number_ends_all_ranks() -> None:
    done = run_on_ranks(2, PROGRAM, "operations", timeout=30, **{TIMEOUT: "soon"})
    assert done.returncode != 0 and f"{TIMEOUT} = 'soon' must be" in done.stderr
