"""Graphs of which some replays are timed launch by launch."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from groundswell.backends import HostCall, Launch, TimedGraph
from groundswell.backends.base import in_order, in_section
from groundswell.backends.cpu import CpuBackend
from groundswell.backends.launch import Concurrent, Forked, Replay
from groundswell.backends.launch_times import MOST_LAUNCHES


def call(launch: Launch, owner: object) -> None:
    launch()


def compose(backend: CpuBackend, done: list[str]) -> list[Launch]:
    """All kinds of groups, as a GPU has them; launches note their names."""

    def several(names: str) -> list[Launch]:
        return [HostCall(name, done.append, name) for name in names]

    def refuse(launches: object) -> None:
        raise AssertionError("a timed replay uses one stream")

    captured = several("ef")
    return [
        *several("a"),
        Forked(refuse, several("b")),
        Concurrent(refuse, [several("c"), several("d")]),
        *in_section("level", [Replay(backend.capture(in_order(captured)), captured)]),
        Forked(refuse, [partial(call, several("g")[0], None)], joins=True),
    ]


@pytest.fixture
def cpu() -> CpuBackend:
    return CpuBackend(threads=1)


class Counted:
    """A graph that notes its replays."""

    def __init__(self, done: list[str], names: str) -> None:
        self.done, self.names = done, names

    def replay(self, times: int) -> None:
        self.done += [*self.names, "."] * times


def test_a_timed_replay_makes_each_launch_once_in_order(cpu: CpuBackend) -> None:
    done: list[str] = []
    timed = TimedGraph(cpu, Counted(done, "abcdefg"), in_order(compose(cpu, done)), first=3)
    timed.replay(5)
    assert "".join(done) == "abcdefg.abcdefg.abcdefgabcdefg.abcdefg."
    assert [each.name for each in timed.times] == list("abcdefg")
    assert [each.section for each in timed.times] == [*[""] * 4, "level", "level", ""]
    assert all(each.seconds >= 0 for each in timed.times)


@pytest.mark.parametrize("seed", range(20))
def test_replays_are_timed_however_they_are_divided(cpu: CpuBackend, seed: int) -> None:
    random = np.random.default_rng(seed)
    first, most, sizes = random.integers(1, 12), random.integers(1, 6), random.integers(0, 7, 6)
    done: list[str] = []
    launches = [HostCall("t", done.append, "t")]
    timed = TimedGraph(cpu, Counted(done, ""), in_order(launches), int(first), int(most))
    for size in sizes:
        timed.replay(int(size))
    total = int(sizes.sum())
    expected = ["t" if first <= n < first + most else "." for n in range(1, total + 1)]
    assert done == expected
    assert timed.timed == expected.count("t")
    assert len(timed.times) == (timed.timed > 0)


def test_long_sequences_are_timed_once(cpu: CpuBackend) -> None:
    for launches, count in ((10, 8), (MOST_LAUNCHES // 2, 2), (MOST_LAUNCHES, 1), (2000, 1)):
        calls: list[Launch] = [HostCall("x", int)] * launches
        assert TimedGraph(cpu, Counted([], ""), in_order(calls), 1, most=8).count == count


def test_times_are_those_between_events(cpu: CpuBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(100))

    class Event:
        def __init__(self) -> None:
            self.at = next(clock) ** 2

        def seconds_since(self, earlier: Event) -> float:
            return float(self.at - earlier.at)

    monkeypatch.setattr(cpu, "record_event", Event)
    launches: list[Launch] = [HostCall(name, int) for name in "ab"]
    timed = TimedGraph(cpu, Counted([], ""), in_order(launches), 1, most=2)
    timed.replay(2)
    # The events are at 0, 1, 4 s in the first replay, and at 9, 16, 25 s in the second one.
    assert [each.seconds for each in timed.times] == [1 + 7, 3 + 9]
