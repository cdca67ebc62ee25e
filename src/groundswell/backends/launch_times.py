"""Times of single launches: a few replays of a graph are made launch by launch instead.

graph = TimedGraph(backend, backend.capture(step), step, first=64, most=8)
graph.replay(100)                                       # replays 64 to 71 launch by launch
graph.times                                             # a list of name, section and seconds
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, pairwise
from typing import NamedTuple

from groundswell.backends.base import Backend, Event
from groundswell.backends.launch import Concurrent, Forked, Graph, Launch, Replay
from groundswell.backends.listing import InOrder, name_of

MOST_LAUNCHES = 512  # to time in a run: they cost the host about 5 ms on a GPU


@dataclass(frozen=True)
class LaunchTime:
    """The time of one launch in all timed replays together.

    Args:
        name: of the kernel, or of the call of the host.
        section: of the step, see `in_section`; "" if it belongs to none.
        seconds: from the ends of the previous launch to its own ends.
    """

    name: str
    section: str
    seconds: float


@dataclass
class TimedGraph:
    """A graph of which some replays are made and timed launch by launch, in a single stream.

    Results do not change: these replays consist of the same launches in the same order. They take
    longer than others, because launches do not overlap and because of the events between them.

    Args:
        graph: the graph.
        launch: what it has captured.
        first: the first replay to time, from 1. The host should be ahead of the device by then,
            which earlier replays achieve; otherwise the times include the host's.
        most: largest number of replays to time; one alone if a replay has many launches.
    """

    backend: Backend
    graph: Graph
    launch: Launch
    first: int
    most: int = 1
    _replayed: int = field(default=0, init=False)
    _events: list[list[Event]] = field(default_factory=list, init=False)

    def replay(self, times: int) -> None:
        """Enqueue the sequence `times` times; see `Graph`."""
        start, self._replayed = self._replayed, self._replayed + times
        begin, end = self.first - 1, self.first - 1 + self.count
        before, until = (min(max(at - start, 0), times) for at in (begin, end))
        self.graph.replay(before)
        for _ in range(before, until):
            self._events.append(self._time_launches())
        self.graph.replay(times - until)

    def _time_launches(self) -> list[Event]:
        events = [self.backend.record_event()]
        for each in self._singles:
            each.launch()
            events.append(self.backend.record_event())
        return events

    @cached_property
    def _singles(self) -> list[_Single]:
        return [*_single_launches(self.launch)]

    @cached_property
    def count(self) -> int:
        """Number of replays to time."""
        return max(1, min(self.most, MOST_LAUNCHES // max(len(self._singles), 1)))

    @property
    def timed(self) -> int:
        """Number of replays that have been timed."""
        return len(self._events)

    @property
    def times(self) -> list[LaunchTime]:
        """The times, once the device has been synchronized; none if no replay was timed."""
        replays = [[b.seconds_since(a) for a, b in pairwise(events)] for events in self._events]
        sums = map(sum, zip(*replays, strict=True))
        timed = zip(self._singles, sums, strict=False)  # no sums if no replay was timed
        return [LaunchTime(single.name, single.section, seconds) for single, seconds in timed]


class _Single(NamedTuple):
    """A launch that is no group, and the section that it belongs to."""

    name: str
    section: str
    launch: Launch


def _single_launches(launch: Launch, section: str = "") -> Iterator[_Single]:
    """The parts of a launch, in an order that any stream allows.

    A launch that waits for another rank comes after those that this rank sends before it.
    """
    match launch:
        case InOrder():
            inner, section = launch.launches, section or launch.section
        case Replay() | Forked():
            inner = launch.launches
        case Concurrent():
            inner = [*chain(*launch.branches)]
        case _:
            yield _Single(name_of(launch), section, launch)
            return
    for each in inner:
        yield from _single_launches(each, section)
