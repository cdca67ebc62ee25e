"""The ways from rank to rank of an exchange whose messages may go through other ranks.

- "pairwise": each message straight to its receiver.
- "alltoall": all of them in one call of MPI's; its library knows the network.
- "crystal": the crystal router (Fox et al. 1988, Solving problems on concurrent processors, ch.
  22). Ranks are halved again and again; each time all that is meant for the other half goes to one
  partner there. So a rank sends at most log2(ranks) messages, but values travel several times.

Values lie in an arena: an array (components, places). What leaves a rank has its places there, and
what arrives gets some.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from groundswell.backends import Backend, Launch
from groundswell.backends.base import Array, Event
from groundswell.errors import BackendError, known_to_all
from groundswell.exchange.boxes import Place
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.connect import connect
from groundswell.exchange.packing import PackedMessage, Segment, TransferRequest
from groundswell.exchange.transfer import BufferedTransfer, Transfer
from groundswell.exchange.transports.alltoall import AllToAllTransport

ROUTES = ("pairwise", "alltoall", "crystal")


@dataclass(frozen=True)
class Run:
    """Places in an arena that follow each other."""

    first: int
    count: int


@dataclass
class Hop:
    """What a rank and another one send each other at once."""

    sends: list[Run] = field(default_factory=list)
    receives: list[Run] = field(default_factory=list)


Stage = dict[int, Hop]  # by rank


@dataclass
class Itinerary:
    """How values get where they are wanted.

    Args:
        size: places of the arena.
        stages: hops that follow each other.
        arrivals: for each rank that something comes from the places where it ends up.
    """

    size: int
    stages: list[Stage]
    arrivals: dict[int, Run]

    @property
    def sent(self) -> int:
        """Values that this rank sends."""
        hops = (hop for stage in self.stages for hop in stage.values())
        return sum(run.count for hop in hops for run in hop.sends)


def plan_pairwise(size: int, outgoing: Mapping[int, Run], incoming: Mapping[int, int]) -> Itinerary:
    """Everything straight to its receiver.

    Args:
        size: places of the arena that are taken already.
        outgoing: places of what each other rank is to get.
        incoming: number of values that come from each.
    """
    stage: Stage = {}
    for peer, run in outgoing.items():
        stage.setdefault(peer, Hop()).sends.append(run)
    arrivals = {}
    for peer, count in incoming.items():
        arrivals[peer] = Run(size, count)
        stage.setdefault(peer, Hop()).receives.append(arrivals[peer])
        size += count
    return Itinerary(size, [stage], arrivals)


def plan_crystal(comm: Communicator, size: int, outgoing: Mapping[int, Run]) -> Itinerary:
    """The crystal router's hops; all ranks must call it. Arguments as of `plan_pairwise`."""
    held = {(comm.rank, peer): run for peer, run in outgoing.items()}  # by sender and receiver
    first, end, stages = 0, comm.size, []
    for _ in range((comm.size - 1).bit_length()):
        low, high = _halves(first, end)
        mine, other = (low, high) if comm.rank in low else (high, low)
        stage: Stage = {}
        leaving = {pair: run for pair, run in held.items() if pair[1] in other}
        if leaving:
            stage[_partner(comm.rank, mine, other)] = Hop(sends=list(leaving.values()))
        told = {peer: _listed(leaving) for peer in stage}
        held = {pair: run for pair, run in held.items() if pair not in leaving}
        for peer, table in sorted(comm.alltoallv(told).items()):
            for sender, receiver, count in table.reshape(-1, 3).tolist():
                held[sender, receiver] = Run(size, count)
                stage.setdefault(peer, Hop()).receives.append(held[sender, receiver])
                size += count
        stages.append(stage)
        first, end = mine.start, mine.stop
    return Itinerary(size, stages, {sender: run for (sender, _), run in held.items()})


def _halves(first: int, end: int) -> tuple[range, range]:
    """The lower half is the larger one."""
    middle = first + (end - first + 1) // 2
    return range(first, middle), range(middle, end)


def _partner(rank: int, mine: range, other: range) -> int:
    """The rank of the other half that this one sends to; the last of a smaller half has two."""
    return other[min(mine.index(rank), len(other) - 1)]


def _listed(blocks: Mapping[tuple[int, int], Run]) -> NDArray[np.int64]:
    rows = [(sender, receiver, run.count) for (sender, receiver), run in blocks.items()]
    return np.array(rows, np.int64).reshape(-1)


# --- on a transport -------------------------------------------------------------------------------


def plan_route(
    comm: Communicator,
    route: str,
    size: int,
    outgoing: Mapping[int, Run],
    incoming: Mapping[int, int],
) -> Itinerary:
    """The hops of a route; all ranks must call it. Arguments as of `plan_pairwise`."""
    if route == "crystal" and comm.size > 1:
        return plan_crystal(comm, size, outgoing)
    return plan_pairwise(size, outgoing, incoming)


def travel(
    backend: Backend,
    comm: Communicator,
    arena: Array,
    stages: Sequence[Stage],
    transport: str,
    route: str,
    *,
    codec: str = "none",
) -> Transfer:
    """The hops of a route on a transport.

    Args:
        arena: (components, places).
        codec: see `connect`.

    Raises:
        InputError: no such codec, or not for such values.
        BackendError: no such route, or transport, or not the one on the other.
    """
    if route not in ROUTES:
        raise BackendError(f"route {route!r} does not exist; allowed: {', '.join(ROUTES)}")
    requests = [_request(backend, comm, arena, stage) for stage in stages]
    if route == "alltoall" and comm.size > 1:
        return _all_to_all(requests[0], transport, codec)
    transfers: list[Transfer] = []
    try:
        for request in requests:
            transfers.append(connect(request, transport, codec))
    except Exception as error:
        if known_to_all(error):
            for transfer in transfers:
                transfer.close()
        raise
    return transfers[0] if route == "pairwise" or comm.size == 1 else StagedRoute(transfers)


def _all_to_all(request: TransferRequest, transport: str, codec: str) -> Transfer:
    if transport not in ("auto", "mpi"):
        raise BackendError(
            f"route 'alltoall' is one call of MPI, which transport {transport!r} does not have; "
            "allowed: mpi"
        )
    if codec != "none":
        raise BackendError(f"codec {codec!r} is for messages; route 'alltoall' has none")
    return BufferedTransfer(request, AllToAllTransport, on_host=not request.backend.on_host)


class StagedRoute(Transfer):
    """Transfers that follow each other."""

    def __init__(self, stages: Sequence[Transfer]) -> None:
        self._stages = stages
        self.path = f"crystal router in {len(stages)} stages: {stages[0].path}"
        self.in_graph = all(stage.in_graph for stage in stages)
        first, *others = stages
        self.start = first.start
        self.finish = [*first.finish, *(launch for stage in others for launch in stage.launches)]

    @property
    def launches(self) -> list[Launch]:
        return [launch for stage in self._stages for launch in stage.launches]

    def check(self, after: Event | None = None) -> None:
        for stage in self._stages:
            stage.check(after)

    def close(self) -> None:
        for stage in self._stages:
            stage.close()


def _request(backend: Backend, comm: Communicator, arena: Array, stage: Stage) -> TransferRequest:
    """The messages of a stage: places of the arena, nearest ranks above this one first."""

    def segments(runs: Sequence[Run]) -> list[Segment]:
        return [_segment(backend, arena, run) for run in runs]

    near_first = sorted(stage, key=lambda peer: (peer - comm.rank) % comm.size)
    hops = [(peer, stage[peer]) for peer in near_first]
    messages = [
        PackedMessage.of(peer, 0, segments(hop.sends), segments(hop.receives)) for peer, hop in hops
    ]
    return TransferRequest(backend, comm, messages)


def _segment(backend: Backend, arena: Array, run: Run) -> Segment:
    """All components of a run."""
    place = Place.in_array(backend, arena, (0, 0), (0, run.first))
    return Segment(arena, place, (int(arena.shape[0]), run.count))
