"""What every transport offers, and what it is given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from groundswell.backends import Backend, Launch
from groundswell.backends.base import Event
from groundswell.errors import InputError
from groundswell.exchange.messages import GhostField, Message
from groundswell.exchange.world import World

PACKING = ("kernel", "copies")


@dataclass(frozen=True)
class Job:
    """The messages of one exchange.

    Args:
        fields: whose ghosts are exchanged.
        messages: this rank's, by peer and key.
        packing: how buffers are filled and emptied, by transports that have any: with one "kernel"
            for all boxes, or by "copies", a strided one for each.

    Raises:
        InputError: another kind of packing.
    """

    backend: Backend
    world: World
    fields: Sequence[GhostField]
    messages: Sequence[Message]
    packing: str = "kernel"

    def __post_init__(self) -> None:
        if self.packing not in PACKING:
            raise InputError(f"packing {self.packing!r} is unknown; allowed: {', '.join(PACKING)}")


class Transfer(Protocol):
    """The messages of one exchange on one transport.

    Attributes:
        path: the way that bytes really take, in words.
        in_graph: whether the device does it alone, so that it can be recorded in a graph.
        send: launches that take values out of the fields and send them off.
        receive: launches that wait for the others' and put them into the ghost layers.
        whole: launches that do both, where nothing is to be done in between.
    """

    path: str
    in_graph: bool
    send: list[Launch]
    receive: list[Launch]
    whole: list[Launch]

    def check(self, after: Event | None = None) -> None:
        """See that no wait of the device was in vain, by `after` (default: at all).

        Raises:
            RunFailed: one was; names the rank.
        """
        ...

    def close(self) -> None:
        """Give back memory and handles; every rank must call it."""
        ...


def total(sizes: Sequence[int]) -> tuple[list[int], int]:
    """Offsets of consecutive parts, and the size of all of them."""
    offsets, end = [], 0
    for size in sizes:
        offsets.append(end)
        end += size
    return offsets, end


Maker = Callable[[Job], Transfer]
