"""The contract of executors, which local processes, Parsl and a stand-in keep."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from ensemble_plans import contents, groups, write_plan
from here_executor import HereExecutor
from variants import short_and_long

from groundswell.ensembles.executors import Executor
from groundswell.ensembles.executors import local as local_workers
from groundswell.ensembles.executors.forked import WITHOUT_THREADS, ForkServer
from groundswell.ensembles.executors.local import LocalWorkers, Place
from groundswell.ensembles.fork_server import _spawn, exit_code
from groundswell.ensembles.lines import decode, encode
from groundswell.ensembles.plan import Plan, load_plan
from groundswell.ensembles.rows import Row
from groundswell.ensembles.store import Store
from groundswell.ensembles.worker import Assignment, Outcome
from groundswell.errors import InputError

RUNS = 3
THREADS = {"OMP_NUM_THREADS": "1"}
Open = Callable[[Plan], Any]


def here(plan: Plan) -> Executor:
    return HereExecutor(plan)


def local(plan: Plan) -> Executor:
    return LocalWorkers(Assignment.of(plan), [Place(THREADS)])


@contextmanager
def forked(plan: Plan) -> Iterator[LocalWorkers]:
    with ForkServer() as server:
        server.prepare(Assignment.of(plan), plan.rows[0])
        with LocalWorkers(Assignment.of(plan), [Place(THREADS)], server) as executor:
            yield executor


def parsl(plan: Plan) -> Executor:
    pytest.importorskip("parsl", reason="needs Parsl")
    from parsl.config import Config
    from parsl.executors import ThreadPoolExecutor

    from groundswell.ensembles.executors.parsl_workers import on_parsl

    run_dir = str(plan.store.with_name("parsl"))
    config = Config(executors=[ThreadPoolExecutor(max_threads=2)], run_dir=run_dir)
    return on_parsl(config)(plan, RUNS)


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    plan = load_plan(write_plan(tmp_path, RUNS))
    Store(plan.store).create({})
    return plan


def outcomes(executor: Executor, count: int) -> Iterator[Outcome]:
    """So many outcomes, as they come."""
    ends, found = time.monotonic() + 60, 0
    while found < count:
        assert time.monotonic() < ends
        for outcome in executor.poll(0.1):
            found += 1
            yield outcome


def run_all(executor: Executor, rows: list[Row]) -> list[Outcome]:
    """Submit rows as soon as there is room."""
    waiting, found = list(rows), []
    while len(found) < len(rows):
        while waiting and executor.free:
            executor.submit(waiting.pop(0))
        found += outcomes(executor, 1)
    return found


@pytest.mark.most(2)
@pytest.mark.parametrize("opened", [here, local, forked, parsl])
def test_every_run_has_one_outcome_and_its_group(opened: Open, plan: Plan) -> None:
    """A row that is invalid by now fails alone; a claimed run is left to others."""
    rows, store = list(plan.rows), Store(plan.store)
    rows.append(Row("fails", {"source.0.depth": "4 kg"}))
    with opened(plan) as executor:
        assert executor.poll(0) == [] and executor.free
        with store.claimed(rows[0].name):
            [claimed] = run_all(executor, rows[:1])
        found = {outcome.name: outcome for outcome in run_all(executor, rows)}
        [again] = run_all(executor, rows[:1])
    assert claimed.state == "elsewhere"
    assert {name: outcome.state for name, outcome in found.items()} == {
        **{row.name: "complete" for row in plan.rows},
        "fails": "failed",
    }
    assert "source[0].depth" in found["fails"].message
    assert again.state == "complete" and groups(plan.store) == {row.name for row in plan.rows}


@pytest.mark.parametrize("opened", short_and_long([here, local, forked, parsl], {local}))
def test_cancelled_runs_stop_and_can_be_made_later(opened: Open, plan: Plan) -> None:
    """What has begun may still be completed."""
    with opened(plan) as executor:
        run_all(executor, [plan.rows[0]])
        executor.submit(plan.rows[1])
        executor.cancel()
        [outcome] = outcomes(executor, 1)
    assert outcome.state in ("stopped", "complete")
    with opened(plan) as executor:
        assert [found.state for found in run_all(executor, list(plan.rows))] == ["complete"] * RUNS


@pytest.mark.parametrize("opened", short_and_long([local, forked], {local}))
def test_a_worker_that_dies_has_an_outcome_and_a_successor(opened: Open, plan: Plan) -> None:
    with opened(plan) as executor:
        run_all(executor, [plan.rows[0]])
        executor.submit(plan.rows[1])
        [worker] = executor._working()
        worker.process.kill()
        [crashed] = outcomes(executor, 1)
        assert crashed.state == "crashed" and "ended with signal SIGKILL" in crashed.message
        assert groups(plan.store) == {"run-0001"}
        assert [found.state for found in run_all(executor, list(plan.rows))] == ["complete"] * RUNS


def test_workers_outlive_their_server(plan: Plan) -> None:
    """A server that has died takes no worker with it, and later workers are programs."""
    with forked(plan) as executor:
        run_all(executor, [plan.rows[0]])
        server = executor._server
        assert server is not None
        os.kill(server._process.pid, signal.SIGKILL)
        assert [found.state for found in run_all(executor, [plan.rows[1]])] == ["complete"]
        executor.submit(plan.rows[2])
        [worker] = executor._working()
        worker.process.kill()
        [crashed] = outcomes(executor, 1)
        assert crashed.state == "crashed" and not server.is_alive
        assert [found.state for found in run_all(executor, [plan.rows[2]])] == ["complete"]


def test_workers_that_have_not_started_are_stopped_at_once(plan: Plan) -> None:
    """The server has not been told yet what to prepare, so that it starts no worker."""
    with ForkServer() as server, LocalWorkers(Assignment.of(plan), [Place()], server) as executor:
        executor.submit(plan.rows[0])
        executor.cancel()
        [outcome] = outcomes(executor, 1)
        assert outcome.state == "stopped" and not server.is_alive
        assert [found.state for found in run_all(executor, [plan.rows[0]])] == ["complete"]


def test_a_server_forks_only_without_threads_and_devices(tmp_path: Path) -> None:
    program = (
        "import sys, threading\n"
        "from groundswell.ensembles.fork_server import can_fork\n"
        "found, wait = [can_fork()], threading.Event()\n"
        "with open(sys.argv[1], 'w'):\n"
        "    found.append(can_fork())\n"
        "found.append(can_fork())\n"
        "threading.Thread(target=wait.wait).start()\n"
        "print(*found, can_fork(), flush=True)\nwait.set()\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "nvidiactl")]
    made = subprocess.run(command, env={**os.environ, **WITHOUT_THREADS}, capture_output=True)
    assert made.stdout.split() == [b"True", b"False", b"True", b"False"], made.stderr.decode()


def test_a_server_that_cannot_fork_starts_programs(plan: Plan) -> None:
    """They have the same standard streams and exit codes."""
    errors = (plan.store.with_name("errors")).open("w+b")
    (stdin, write), (read, stdout) = os.pipe(), os.pipe()
    number = _spawn(THREADS, (stdin, stdout, errors.fileno()))
    for descriptor in (stdin, stdout):
        os.close(descriptor)
    with os.fdopen(write, "wb") as lines, os.fdopen(read, "rb") as replies:
        for content in ((Assignment.of(plan), None), plan.rows[0]):
            lines.write(encode(content))
        lines.flush()
        assert decode(replies.readline()).state == "complete"
    while (code := exit_code(number)) is None:
        time.sleep(0.01)
    assert code == 0 and not errors.tell()


def test_the_last_words_of_a_worker_are_its_message(plan: Plan) -> None:
    place = Place({"PYTHONPATH": "", "PYTHONHOME": "/nowhere"})
    with LocalWorkers(Assignment.of(plan), [place]) as executor:
        [crashed] = run_all(executor, [plan.rows[0]])
    assert crashed.state == "crashed" and "ended with exit code 1: " in crashed.message


BANNER = "-----\nprterun has found that it cannot run.\n\nSome advice.\n-----\n"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", ""),
        ("-----\n", ""),
        ("Traceback:\n  in a line\nValueError: no\n", "ValueError: no"),
        (BANNER, "prterun has found that it cannot run."),
        (f"Traceback:\nValueError: no\n{BANNER}", "ValueError: no"),
    ],
)
def test_the_line_that_says_best_why_a_worker_has_ended(text: str, line: str) -> None:
    assert local_workers._last_words(text) == line


@pytest.mark.parametrize(
    ("launcher", "told"),
    [
        (
            "nosuchprogram -n 2",
            "nosuchprogram cannot be started: No such file.*; check",
        ),
        ('mpiexec "-n 2', "launcher = .*: no closing quotation"),
    ],
)
def test_a_launcher_that_cannot_start(plan: Plan, launcher: str, told: str) -> None:
    with (
        pytest.raises(InputError, match=told),
        LocalWorkers(Assignment.of(plan), [Place(launcher=launcher)]),
    ):
        pass


def test_a_run_on_two_ranks(plan: Plan) -> None:
    """The same bits as on one."""
    pytest.importorskip("mpi4py")
    if shutil.which("mpiexec") is None:
        pytest.skip("needs mpiexec")
    from ranks import environment

    launcher = f"{shutil.which('mpiexec')} -n 2 --oversubscribe --bind-to none"
    place = Place(environment(), ranks=2, launcher=launcher)
    with LocalWorkers(Assignment.of(plan), [place]) as executor:
        assert [found.state for found in run_all(executor, list(plan.rows))] == ["complete"] * RUNS
    on_two = contents(plan.store)
    assert Store(plan.store).log("run-0001")["run"]["ranks"]["count"] == 2
    shutil.rmtree(plan.store)
    Store(plan.store).create({})
    with here(plan) as executor:
        run_all(executor, list(plan.rows))
    assert contents(plan.store) == on_two


def test_workers_with_one_turn_make_steps_one_after_another(plan: Plan, tmp_path: Path) -> None:
    """A run waits for its steps as long as another process has the lock, and then holds it."""
    turn = tmp_path / "turn.lock"
    with LocalWorkers(Assignment.of(plan), [Place(THREADS, turn)]) as executor:
        run_all(executor, [plan.rows[0]])
        with turn.open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            executor.submit(plan.rows[1])
            assert executor.poll(1) == []
        list(outcomes(executor, 1))
    wall = [Store(plan.store).log(name)["run"]["wall"]["wait"] for name in ("run-0001", "run-0002")]
    assert wall[0] < 0.1 < wall[1]


def test_several_ranks_need_a_launcher(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groundswell.ensembles.executors.local.find_mpiexec", lambda: None)
    with pytest.raises(InputError, match="ranks_per_run = 2 needs mpiexec"):
        Place(ranks=2).command()
    assert Place(ranks=2, launcher="srun -n 2").command()[:3] == ["srun", "-n", "2"]
