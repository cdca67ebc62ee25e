"""Which launches wait for which others in the streams of a GPU."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from groundswell.backends.streams import Streams


class Stream:
    """A stream that knows which launches are done before its next one."""

    def __init__(self, **_: Any) -> None:
        self.done: set[str] = set()
        self.waits = 0

    def wait_event(self, event: Event) -> None:
        """Launches before the event are done before later launches."""
        self.done |= event.done
        self.waits += 1


class Event:
    """An event that knows which launches are done before it."""

    def __init__(self, **_: Any) -> None:
        self.done: set[str] = set()

    def record(self, stream: Stream) -> None:
        """Record the event after all launches in a stream."""
        self.done = set(stream.done)


class Program:
    """Named launches, and the launches that are done before each of them."""

    def __init__(self) -> None:
        self.main = Stream()
        cupy = SimpleNamespace(cuda=SimpleNamespace(Stream=Stream, Event=Event))
        self.streams = Streams(cupy, self.main)
        self.before: dict[str, str] = {}

    def launch(self, name: str) -> None:
        """Launch in the current stream."""
        done = self.streams.current.done
        self.before[name] = "".join(sorted(done))
        done.add(name)

    def several(self, names: str) -> list[Any]:
        """Launches named by the letters."""
        return [lambda name=name: self.launch(name) for name in names]


@pytest.fixture
def program() -> Program:
    return Program()


def test_forked_launches_overlap_with_later_launches(program: Program) -> None:
    streams = program.streams
    program.launch("a")
    streams.fork(program.several("bc"))
    program.launch("d")
    streams.continue_fork(program.several("e"))
    program.launch("f")
    streams.join(program.several("g"))
    program.launch("h")
    assert program.before == {
        **{"a": "", "b": "a", "c": "ab", "d": "a"},
        **{"e": "abc", "f": "ad", "g": "abce", "h": "abcdefg"},
    }


def test_each_fork_waits_for_the_main_stream(program: Program) -> None:
    program.streams.fork(program.several("a"))
    program.launch("b")
    program.streams.fork(program.several("c"))
    assert program.before["c"] == "ab"


def test_an_empty_fork_can_be_continued_from_where_it_was(program: Program) -> None:
    streams = program.streams
    program.launch("a")
    streams.fork([])
    program.launch("b")
    streams.continue_fork(program.several("c"))
    assert program.before["c"] == "a"


def test_a_later_join_waits_for_the_fork(program: Program) -> None:
    streams = program.streams
    program.launch("a")
    streams.fork([])
    streams.join([])
    streams.join(program.several("b"))
    program.launch("c")
    assert program.before == {"a": "", "b": "a", "c": "ab"}


def test_a_failed_capture_leaves_nothing_to_wait_for(program: Program) -> None:
    streams = program.streams
    with pytest.raises(ZeroDivisionError), streams.isolated():
        streams.fork([*program.several("a"), lambda: 1 / 0])
    streams.join([])
    assert program.main.waits == 0


def test_an_isolated_join_does_not_join_outer_work(program: Program) -> None:
    streams = program.streams
    streams.fork(program.several("a"))
    with streams.isolated():
        streams.join([])
        assert program.main.waits == 0
    streams.join([])
    assert program.main.done == {"a"}


def test_no_stream_waits_without_work(program: Program) -> None:
    streams = program.streams
    for _ in range(2):
        program.launch("a")
        streams.fork([])
        streams.continue_fork([])
        streams.join([])
    assert program.main.waits == 0
    streams.fork(program.several("b"))
    streams.join([])
    streams.join([])
    assert program.main.waits == 1


def test_branches_wait_for_earlier_launches_but_not_for_each_other(program: Program) -> None:
    program.launch("a")
    program.streams.run_concurrently(
        [program.several("b"), program.several("cd"), program.several("e")]
    )
    program.launch("f")
    assert program.before == {"a": "", "b": "a", "c": "a", "d": "ac", "e": "a", "f": "abcde"}


def test_branches_cannot_contain_branches(program: Program) -> None:
    again = [lambda: program.streams.run_concurrently([program.several("a"), program.several("b")])]
    with pytest.raises(RuntimeError, match="cannot contain"):
        program.streams.run_concurrently([[], again])
