"""What every transport offers, and what it is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

from groundswell.backends import Backend, Launch
from groundswell.backends.base import Event
from groundswell.errors import InputError
from groundswell.exchange.messages import GhostField, Message, Parcel
from groundswell.exchange.puts import Put
from groundswell.exchange.world import World

PACKING = ("kernel", "copies")
SLOWEST, LATEST = 1e4, 1.0  # bytes a second, s: kernels wait for as long


@dataclass(frozen=True)
class Link:
    """A link between ranks, which carries one message of a rank and exchange at a time.

    Args:
        bandwidth: bytes a second.
        latency: seconds that the first byte needs.
        gap: seconds that each message takes of the link, however short it is.

    Raises:
        InputError: values that no link has.
    """

    bandwidth: float
    latency: float = 0.0
    gap: float = 0.0

    def __post_init__(self) -> None:
        times = (self.latency, self.gap)
        if not (SLOWEST <= self.bandwidth < float("inf") and all(0 <= t <= LATEST for t in times)):
            raise InputError(
                f"a link of {self.bandwidth} bytes a second, latency {self.latency} s and gap "
                f"{self.gap} s: give a bandwidth of at least {SLOWEST:g}, and times from 0 to "
                f"{LATEST:g} s"
            )

    @classmethod
    def of(cls, section: Any) -> Link | None:
        """What a case says of it, if anything."""
        return None if section is None else cls(section.bandwidth, section.latency, section.gap)

    def __str__(self) -> str:
        gap = f", {self.gap * 1e6:g} us a message" if self.gap else ""
        return f"{self.bandwidth / 1e9:g} GB/s and {self.latency * 1e6:g} us{gap}"


@dataclass(frozen=True)
class Job:
    """The messages of one exchange.

    Args:
        fields: whose ghosts are exchanged.
        messages: this rank's, by peer and key.
        own: ghost points that are this rank's own; they are copied with what is sent.
        stored: fields, by number, whose values the caller's kernels can store in several places,
            and the numbers that those kernels know them by.
        link: a slower link to be imposed, for experiments, by transports that can.
        packing: how buffers are filled and emptied, by transports that have any: with one "kernel"
            for all boxes, or by "copies", a strided one for each.

    Raises:
        InputError: another kind of packing.
    """

    backend: Backend
    world: World
    fields: Sequence[GhostField]
    messages: Sequence[Message]
    _: KW_ONLY
    own: Sequence[Parcel] = ()
    stored: Mapping[int, int] = field(default_factory=dict)
    link: Link | None = None
    packing: str = "kernel"

    def __post_init__(self) -> None:
        if self.packing not in PACKING:
            raise InputError(f"packing {self.packing!r} is unknown; allowed: {', '.join(PACKING)}")


class Transfer:
    """The messages of one exchange on one transport.

    Attributes:
        path: the way that bytes really take, in words.
        in_graph: whether the device does it alone, so that it can be recorded in a graph.
        puts: points whose values the caller's kernels store where they are wanted; `send` then
            leaves them out.
        open: launches that come before those kernels.
        send: launches that take values out of the fields and send them off.
        receive: launches that wait for the others' and put them into the ghost layers.
        whole: launches that do both, where nothing is to be done in between.
    """

    path: str
    in_graph = False
    puts: Sequence[Put] = ()
    open: Sequence[Launch] = ()
    send: list[Launch]
    receive: list[Launch]
    whole: list[Launch]

    def check(self, after: Event | None = None) -> None:
        """See that no wait of the device was in vain, by `after` (default: at all).

        Raises:
            RunFailed: one was; names the rank.
        """

    def close(self) -> None:
        """Give back memory and handles; every rank must call it."""
        raise NotImplementedError


def total(sizes: Sequence[int]) -> tuple[list[int], int]:
    """Offsets of consecutive parts, and the size of all of them."""
    offsets, end = [], 0
    for size in sizes:
        offsets.append(end)
        end += size
    return offsets, end


Maker = Callable[[Job], Transfer]
