"""Autotuning: measurements, candidates and the cache."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from time import sleep
from types import SimpleNamespace
from typing import Any

import pytest

from groundswell.backends import open_backend
from groundswell.errors import BackendError
from groundswell.exchange import tuning as module
from groundswell.exchange.communicator import SerialCommunicator
from groundswell.exchange.tuning import (
    Choice,
    Timer,
    cache_file,
    fastest,
    for_any_arrays,
    halo_candidates,
    tune,
)

SLOW, FAST, FAR = Choice("mpi"), Choice("peer"), Choice("direct")
SECONDS = {SLOW: 3e-2, FAST: 2e-2, FAR: 9e-2}


def timers(seconds: dict[Choice, float], runs: list[Any]) -> Callable[[Choice], Timer]:
    """Timers that report the times given, each several times as long when cold."""

    def make(choice: Choice) -> Timer:
        cold = iter([10.0])

        def run(times: int) -> float:
            runs.append((choice, times))
            return next(cold, 1.0) * seconds[choice] * times

        return run

    return make


def test_the_fastest_comes_first_and_cold_runs_do_not_count() -> None:
    runs: list[Any] = []
    found = tune(SerialCommunicator(), list(SECONDS), timers(SECONDS, runs))
    assert found.best == FAST and not found.cached
    assert [m.choice for m in found.measurements] == [FAST, SLOW, FAR]
    assert [m.seconds for m in found.measurements] == pytest.approx([2e-2, 3e-2, 9e-2])


def test_slow_candidates_are_not_repeated() -> None:
    runs: list[Any] = []
    tune(SerialCommunicator(), [FAST, FAR], timers(SECONDS, runs))
    assert [choice for choice, _ in runs].count(FAR) == 2
    assert [choice for choice, _ in runs].count(FAST) == 2 + module.REPEATS


def test_long_steps_are_measured_once_or_twice() -> None:
    for seconds, times in ((0.3, 3), (0.7, 2)):
        runs: list[Any] = []
        found = tune(SerialCommunicator(), [FAST], timers({FAST: seconds}, runs))
        assert found.measurements[0].seconds == pytest.approx(seconds)
        assert runs == [(FAST, 1)] * times


def test_tuning_ends_when_its_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the first choice differs from in overlap or codec only is measured in any case."""
    clock = iter(range(100))
    monkeypatch.setattr(module.time, "monotonic", lambda: next(clock))
    first, alike = Choice("peer"), [Choice("peer", overlap=False), Choice("peer", codec="zfp")]
    others = [Choice("mpi"), Choice("peer", aggregate=False), Choice("peer", route="crystal")]
    seconds = dict.fromkeys([first, *alike, *others], 1e-2) | {alike[0]: 5e-3, first: 0.0}

    def make(choice: Choice) -> Timer:
        if choice == first:
            raise BackendError("no such link")
        return timers(seconds, [])(choice)

    found = tune(SerialCommunicator(), list(seconds), make)
    assert found.best == alike[0]
    measured = {m.choice for m in found.measurements if m.seconds is not None}
    assert measured == {*alike}
    assert {m.choice for m in found.measurements if m.reason == module.LATE} == {*others}


def test_a_time_is_the_median_of_the_slowest_rank() -> None:
    class Pair(SerialCommunicator):
        """Another rank beside this one, which needs twice as long once in a while."""

        def __init__(self) -> None:
            super().__init__()
            self.turns = 0

        def _allgather(self, kind: str, value: Any) -> list[Any]:
            if not isinstance(value, float):
                return [value]
            self.turns += 1
            return [value, value * (50.0 if self.turns == 4 else 2.0)]

    found = tune(Pair(), [FAST], timers(SECONDS, []))
    assert found.measurements[0].seconds == pytest.approx(4e-2)


def test_a_candidate_that_does_not_work_has_a_reason() -> None:
    def make(choice: Choice) -> Timer:
        if choice == FAST:
            raise BackendError("no such link")
        return timers(SECONDS, [])(choice)

    found = tune(SerialCommunicator(), list(SECONDS), make)
    assert found.best == SLOW
    last = found.measurements[-1]
    assert last.seconds is None and last.reason == "no such link"
    assert str(found).startswith(f"{found.measurements[0]}") and "us" in str(found)
    assert "no such link" not in str(found)
    with pytest.raises(BackendError, match="no such link"):
        tune(SerialCommunicator(), [FAST], make)


def test_it_is_cached_for_the_same_choices(tmp_path: Path) -> None:
    cache, runs = tmp_path / "tuning-key.json", list[Any]()
    first = tune(SerialCommunicator(), list(SECONDS), timers(SECONDS, []), cache)
    again = tune(SerialCommunicator(), list(SECONDS), timers(SECONDS, runs), cache)
    assert again.cached and again.best == first.best and not runs
    assert not tune(SerialCommunicator(), [SLOW], timers(SECONDS, runs), cache).cached


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        json.dumps({"measurements": []}),
        '{"measurements": [{}]}',
        '{"measurements": [1]}',
    ],
)
def test_an_unreadable_cache_is_replaced(tmp_path: Path, text: str) -> None:
    cache = tmp_path / "tuning-key.json"
    cache.write_text(text)
    assert not tune(SerialCommunicator(), [FAST], timers(SECONDS, []), cache).cached
    assert tune(SerialCommunicator(), [FAST], timers(SECONDS, []), cache).cached


def test_keys_tell_problems_machines_and_libraries_apart(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GROUNDSWELL_CACHE", str(tmp_path))

    class Two(SerialCommunicator):
        size = 2

    def key(device: str = "A", library: str = "MPI 1", problem: Any = 1) -> Path:
        monkeypatch.setattr(module, "mpi_version", lambda: library)
        backend: Any = SimpleNamespace(device=device)
        return cache_file(Two(), backend, [problem])

    keys = [key(), key(device="B"), key(library="MPI 2"), key(problem=2)]
    assert len(set(keys)) == 4 and key() == keys[0] and key().parent == tmp_path


def test_later_runs_start_the_fastest_transport_only(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Unless it does not work any more: then all others are measured again."""
    monkeypatch.setenv("GROUNDSWELL_CACHE", str(tmp_path))
    started, broken = list[list[str]](), set[str]()

    def find(backend: Any, comm: Any, names: list[str]) -> dict[str, str | None]:
        started.append(names)
        return {name: "broken" if name in broken else None for name in names}

    monkeypatch.setattr(module, "find_obstacles", find)
    launches: dict[str, int] = dict.fromkeys(("mpi", "peer", "direct"), 0)

    def make(choice: Choice) -> list[Any]:
        def launch() -> None:
            launches[choice.transport] += 1
            sleep({"mpi": 2e-3, "peer": 1e-4, "direct": 1e-3}[choice.transport])

        close = lambda: None  # noqa: E731
        return [SimpleNamespace(launches=[launch], in_graph=False, close=close)]

    def best() -> str:
        started.clear()
        found = fastest(open_backend("cpu"), SerialCommunicator(), ["p"], [SLOW, FAST, FAR], make)
        return found.best.transport

    assert best() == "peer" and started == [["direct", "mpi", "peer"]]
    launches = dict.fromkeys(launches, 0)
    assert best() == "peer" and started == [["peer"]] and not any(launches.values())
    broken.add("peer")
    assert best() == "direct" and started == [["peer"], ["direct", "mpi", "peer"]]
    assert not launches["peer"] and launches["direct"]


def test_candidates_on_a_cpu() -> None:
    found = halo_candidates(open_backend("cpu"), SerialCommunicator())
    assert {c.transport for c in found} == {"peer", "mpi", "mpi-thread"}
    assert len(found) == len(set(found)) == 3 * 2 * 2
    assert halo_candidates(
        open_backend("cpu"), SerialCommunicator(), transport="mpi", overlap=False
    ) == [
        Choice("mpi", aggregate=True, overlap=False),
        Choice("mpi", aggregate=False, overlap=False),
    ]


@pytest.mark.parametrize("hosts", [1, 2])
def test_exchanges_of_any_arrays_are_not_direct(hosts: int) -> None:
    """`direct` stores in certain arrays; with it, each new array would need a new plan."""

    class Ranks(SerialCommunicator):
        size = hosts

        def _allgather(self, kind: str, value: Any) -> list[Any]:
            return [value] * hosts

    backend: Any = SimpleNamespace(name="cuda")
    every = halo_candidates(backend, Ranks())
    tied, others = ({c.transport for c in found} for found in (every, for_any_arrays(every)))
    direct = {"direct"} if hosts == 1 else {"direct+nccl", "direct+mpi", "direct+mpi-gpu"}
    assert tied - others == direct and "peer" in " ".join(others)


def test_between_hosts_peer_memory_needs_another_transport() -> None:
    class Hosts(SerialCommunicator):
        size = 2

        def _allgather(self, kind: str, value: Any) -> list[Any]:
            return [value, value]

    found = {c.transport for c in halo_candidates(open_backend("cpu"), Hosts())}
    assert found == {"peer+mpi", "peer+mpi-thread", "mpi", "mpi-thread"}
