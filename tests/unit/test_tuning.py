"""The fastest way to exchange, found by trying, and remembered."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from groundswell.backends import open_backend
from groundswell.errors import BackendError
from groundswell.exchange import tuning as module
from groundswell.exchange.communicator import SerialCommunicator
from groundswell.exchange.tuning import Choice, Memory, Rehearsal, candidates, tune

SLOW, FAST, FAR = Choice("mpi"), Choice("peer"), Choice("direct")
SECONDS = {SLOW: 3e-2, FAST: 2e-2, FAR: 9e-2}


def rehearse(seconds: dict[Choice, float], runs: list[Any]) -> Callable[[Choice], Rehearsal]:
    """Rehearsals that take the times given, each several times as long when cold."""

    def make(choice: Choice) -> Rehearsal:
        cold = iter([10.0])

        def run(times: int) -> float:
            runs.append((choice, times))
            return next(cold, 1.0) * seconds[choice] * times

        return run

    return make


def test_the_fastest_comes_first_and_cold_runs_do_not_count() -> None:
    runs: list[Any] = []
    found = tune(SerialCommunicator(), list(SECONDS), rehearse(SECONDS, runs))
    assert found.best == FAST and not found.remembered
    assert [t.choice for t in found.trials] == [FAST, SLOW, FAR]
    assert [t.seconds for t in found.trials] == pytest.approx([2e-2, 3e-2, 9e-2])
    assert found.explain().startswith("peer, one message a neighbour, overlap: 20 ms (then mpi")


def test_what_is_hopeless_is_not_repeated() -> None:
    runs: list[Any] = []
    tune(SerialCommunicator(), [FAST, FAR], rehearse(SECONDS, runs))
    assert [choice for choice, _ in runs].count(FAR) == 2
    assert [choice for choice, _ in runs].count(FAST) == 2 + module.REPEATS


def test_it_takes_as_long_as_the_slowest_rank_in_the_median() -> None:
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

    found = tune(Pair(), [FAST], rehearse(SECONDS, []))
    assert found.trials[0].seconds == pytest.approx(4e-2)


def test_what_cannot_be_made_is_left_out_with_its_reason() -> None:
    def make(choice: Choice) -> Rehearsal:
        if choice == FAST:
            raise BackendError("no such link")
        return rehearse(SECONDS, [])(choice)

    found = tune(SerialCommunicator(), list(SECONDS), make)
    assert found.best == SLOW
    assert found.trials[-1].seconds is None and found.trials[-1].reason == "no such link"
    with pytest.raises(BackendError, match="no such link"):
        tune(SerialCommunicator(), [FAST], make)


def test_it_is_remembered_for_the_same_choices(tmp_path: Path) -> None:
    memory, runs = Memory("key", tmp_path), list[Any]()
    first = tune(SerialCommunicator(), list(SECONDS), rehearse(SECONDS, []), memory)
    again = tune(SerialCommunicator(), list(SECONDS), rehearse(SECONDS, runs), memory)
    assert again.remembered and again.best == first.best and not runs
    assert not tune(SerialCommunicator(), [SLOW], rehearse(SECONDS, runs), memory).remembered


@pytest.mark.parametrize("text", ["", "{", "[]", json.dumps({"trials": []}), '{"trials": [{}]}'])
def test_what_cannot_be_read_is_found_out_anew(tmp_path: Path, text: str) -> None:
    (tmp_path / "tuning-key.json").write_text(text)
    memory = Memory("key", tmp_path)
    assert not tune(SerialCommunicator(), [FAST], rehearse(SECONDS, []), memory).remembered
    assert tune(SerialCommunicator(), [FAST], rehearse(SECONDS, []), memory).remembered


def test_keys_tell_problems_machines_and_libraries_apart(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GROUNDSWELL_CACHE", str(tmp_path))

    class Two(SerialCommunicator):
        size = 2

    def key(device: str = "A", library: str = "MPI 1", problem: Any = 1) -> str:
        monkeypatch.setattr(module.mpi_library, "version", lambda: library)
        backend: Any = SimpleNamespace(device=device)
        return Memory.of(Two(), backend, [problem])._name

    keys = [key(), key(device="B"), key(library="MPI 2"), key(problem=2)]
    assert len(set(keys)) == 4 and key() == keys[0]


def test_candidates_on_a_cpu() -> None:
    found = candidates(open_backend("cpu"), SerialCommunicator())
    assert {c.transport for c in found} == {"peer", "mpi", "mpi-thread"}
    assert len(found) == len(set(found)) == 3 * 2 * 2
    assert candidates(
        open_backend("cpu"), SerialCommunicator(), transport="mpi", overlap=False
    ) == [
        Choice("mpi", True, False),
        Choice("mpi", False, False),
    ]


def test_between_hosts_peer_memory_needs_another_way() -> None:
    class Hosts(SerialCommunicator):
        size = 2

        def _allgather(self, kind: str, value: Any) -> list[Any]:
            return [value, value]

    found = {c.transport for c in candidates(open_backend("cpu"), Hosts())}
    assert found == {"peer+mpi", "peer+mpi-thread", "mpi", "mpi-thread"}
