"""What every transport offers, and what it is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field

from groundswell.backends import Backend, Launch
from groundswell.backends.base import Event
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.messages import GhostField, Message, Parcel
from groundswell.exchange.puts import Put


@dataclass(frozen=True)
class Job:
    """The messages of one exchange.

    Args:
        fields: whose ghosts are exchanged.
        messages: this rank's, by peer and key.
        own: ghost points that are this rank's own; they are copied with what is sent.
        stored: fields, by number, whose values the caller's kernels can store in several places,
            and the numbers that those kernels know them by.
    """

    backend: Backend
    comm: Communicator
    fields: Sequence[GhostField]
    messages: Sequence[Message]
    _: KW_ONLY
    own: Sequence[Parcel] = ()
    stored: Mapping[int, int] = field(default_factory=dict)


class Transfer:
    """The messages of one exchange on one transport.

    Attributes:
        path: the way that bytes really take, in words.
        in_graph: whether the device does it alone, so that it can be recorded in a graph.
        puts: points whose values the caller's kernels store where they are wanted; `start` then
            leaves them out.
        open: launches that come before those kernels.
        start: launches that read values from the fields and send them.
        finish: launches that wait for the values of other ranks and write them to ghost layers.
        launches: the same as `start` and `finish`, without other work in between.
    """

    path: str
    in_graph = False
    puts: Sequence[Put] = ()
    open: Sequence[Launch] = ()
    start: list[Launch]
    finish: list[Launch]
    launches: list[Launch]

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
