"""Which launches wait for which, in the streams of a GPU."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from groundswell.backends.streams import Lanes


class Stream:
    """Knows what is done before its next launch."""

    def __init__(self, **_: Any) -> None:
        self.done: set[str] = set()
        self.waits = 0

    def wait_event(self, event: Event) -> None:
        """What is done before an event, is before what follows."""
        self.done |= event.done
        self.waits += 1


class Event:
    """Knows what is done before it."""

    def __init__(self, **_: Any) -> None:
        self.done: set[str] = set()

    def record(self, stream: Stream) -> None:
        """Stand behind all that a stream holds."""
        self.done = set(stream.done)


class Program:
    """Launches by name, and what is done before each."""

    def __init__(self) -> None:
        self.main = Stream()
        cupy = SimpleNamespace(cuda=SimpleNamespace(Stream=Stream, Event=Event))
        self.lanes = Lanes(cupy, self.main)
        self.before: dict[str, str] = {}

    def launch(self, name: str) -> None:
        """Where launches go now."""
        done = self.lanes.current.done
        self.before[name] = "".join(sorted(done))
        done.add(name)

    def several(self, names: str) -> list[Any]:
        """Launches, a letter each."""
        return [lambda name=name: self.launch(name) for name in names]


@pytest.fixture
def program() -> Program:
    return Program()


def test_work_aside_overlaps_what_comes_after(program: Program) -> None:
    lanes = program.lanes
    program.launch("a")
    lanes.aside(program.several("bc"))
    program.launch("d")
    lanes.further_aside(program.several("e"))
    program.launch("f")
    lanes.rejoin(program.several("g"))
    program.launch("h")
    assert program.before == {
        **{"a": "", "b": "a", "c": "ab", "d": "a"},
        **{"e": "abc", "f": "ad", "g": "abce", "h": "abcdefg"},
    }


def test_aside_waits_again_where_it_is_asked_to(program: Program) -> None:
    program.lanes.aside(program.several("a"))
    program.launch("b")
    program.lanes.aside(program.several("c"))
    assert program.before["c"] == "ab"


def test_nothing_aside_holds_a_place_for_what_goes_further(program: Program) -> None:
    lanes = program.lanes
    program.launch("a")
    lanes.aside([])
    program.launch("b")
    lanes.further_aside(program.several("c"))
    assert program.before["c"] == "a"


def test_what_rejoins_later_still_waits(program: Program) -> None:
    lanes = program.lanes
    program.launch("a")
    lanes.aside([])
    lanes.rejoin([])
    lanes.rejoin(program.several("b"))
    program.launch("c")
    assert program.before == {"a": "", "b": "a", "c": "ab"}


def test_what_failed_is_not_waited_for_afresh(program: Program) -> None:
    lanes = program.lanes
    with pytest.raises(ZeroDivisionError), lanes.afresh():
        lanes.aside([*program.several("a"), lambda: 1 / 0])
    lanes.rejoin([])
    assert program.main.waits == 0


def test_what_is_apart_stays_so_whatever_is_done_afresh(program: Program) -> None:
    lanes = program.lanes
    lanes.aside(program.several("a"))
    with lanes.afresh():
        lanes.rejoin([])
        assert program.main.waits == 0
    lanes.rejoin([])
    assert program.main.done == {"a"}


def test_nobody_waits_for_nothing(program: Program) -> None:
    lanes = program.lanes
    for _ in range(2):
        program.launch("a")
        lanes.aside([])
        lanes.further_aside([])
        lanes.rejoin([])
    assert program.main.waits == 0
    lanes.aside(program.several("b"))
    lanes.rejoin([])
    lanes.rejoin([])
    assert program.main.waits == 1


def test_branches_see_what_came_before_and_not_each_other(program: Program) -> None:
    program.launch("a")
    program.lanes.run([program.several("b"), program.several("cd"), program.several("e")])
    program.launch("f")
    assert program.before == {"a": "", "b": "a", "c": "a", "d": "ac", "e": "a", "f": "abcde"}


def test_branches_cannot_branch(program: Program) -> None:
    again = [lambda: program.lanes.run([program.several("a"), program.several("b")])]
    with pytest.raises(RuntimeError, match="branch again"):
        program.lanes.run([[], again])
