"""Routes of messages between ranks: direct, by one collective call of MPI, or by a crystal router.

- "pairwise": each message goes straight to its receiver.
- "alltoall": all messages go in one call of MPI, whose library knows the network.
- "crystal": the crystal router (Fox et al. 1988, Solving problems on concurrent processors, ch.
  22). It halves the set of ranks again and again; each time a rank sends everything for the other
  half to one partner there. So a rank sends at most log2(ranks) messages, which are longer.

Values lie in a buffer, an array (components, positions). Ranges of positions are Python's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from groundswell.backends import Backend, Launch
from groundswell.backends.base import Array, Event
from groundswell.errors import BackendError, known_to_all
from groundswell.exchange.boxes import Place
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.connect import connect
from groundswell.exchange.messages import Message, Segment, TransferRequest
from groundswell.exchange.transfer import BufferedTransfer, Transfer
from groundswell.exchange.transports.mpi import AllToAllTransport

ROUTES = ("pairwise", "alltoall", "crystal")


@dataclass(frozen=True)
class Connection:
    """How values get from rank to rank.

    Args:
        transport: a name in connect.TRANSPORTS, or "auto".
        route: one of ROUTES.
        codec: the compression of messages, see connect.connect. A lossy one makes copies differ.
    """

    transport: str = "auto"
    route: str = "pairwise"
    codec: str = "none"


@dataclass
class PeerRanges:
    """Positions in the buffer that a rank sends to another one and receives from it in a stage."""

    sends: list[range] = field(default_factory=list)
    receives: list[range] = field(default_factory=list)


Stage = dict[int, PeerRanges]  # by rank


@dataclass
class Route:
    """The messages of one rank, in stages that follow each other.

    Args:
        size: number of positions of the buffer.
        received: by rank the positions where its values end up.
    """

    size: int
    stages: list[Stage]
    received: dict[int, range]

    @property
    def sent(self) -> int:
        """Number of values that this rank sends."""
        return sum(len(r) for stage in self.stages for peer in stage.values() for r in peer.sends)


def plan_route(
    comm: Communicator, name: str, size: int, sends: Mapping[int, range], counts: Mapping[int, int]
) -> Route:
    """Plan a route; all ranks must call it.

    Args:
        name: one of ROUTES.
        size: number of positions of the buffer before any are added for received values.
        sends: by rank the positions of the values for it.
        counts: by rank the number of values that come from it.
    """
    if name == "crystal" and comm.size > 1:
        return _plan_crystal(comm, size, sends)
    stage = {peer: PeerRanges(sends=[positions]) for peer, positions in sends.items()}
    received = {}
    for peer, count in counts.items():
        received[peer] = range(size, size + count)
        stage.setdefault(peer, PeerRanges()).receives.append(received[peer])
        size += count
    return Route(size, [stage], received)


def _plan_crystal(comm: Communicator, size: int, sends: Mapping[int, range]) -> Route:
    held = {(comm.rank, peer): positions for peer, positions in sends.items()}  # sender, receiver
    group, stages = range(comm.size), []
    for _ in range((comm.size - 1).bit_length()):
        middle = (len(group) + 1) // 2  # the lower half is the larger one
        mine, other = group[:middle], group[middle:]
        if comm.rank in other:
            mine, other = other, mine
        leaving = {pair: positions for pair, positions in held.items() if pair[1] in other}
        stage: Stage = {}
        if leaving:  # the last rank of a smaller half has two partners
            partner = other[min(mine.index(comm.rank), len(other) - 1)]
            stage[partner] = PeerRanges(sends=[*leaving.values()])
        rows = np.array([(*pair, len(held.pop(pair))) for pair in leaving], np.int64)
        for peer, table in sorted(comm.alltoallv({p: rows.reshape(-1) for p in stage}).items()):
            for sender, receiver, count in table.reshape(-1, 3).tolist():
                held[sender, receiver] = range(size, size + count)
                stage.setdefault(peer, PeerRanges()).receives.append(held[sender, receiver])
                size += count
        stages.append(stage)
        group = mine
    return Route(size, stages, {sender: positions for (sender, _), positions in held.items()})


def nearest_first(comm: Communicator, peers: Iterable[int]) -> list[int]:
    """Ranks in the order of their distance above this one, so that not all send to one at once."""
    return sorted(peers, key=lambda peer: (peer - comm.rank) % comm.size)


# --- on a transport -------------------------------------------------------------------------------


def connect_route(
    backend: Backend,
    comm: Communicator,
    buffer: Array,
    stages: Sequence[Stage],
    connection: Connection,
) -> Transfer:
    """Connect the messages of a route; all ranks must call it.

    Args:
        buffer: (components, positions).

    Raises:
        InputError: no such codec, or not for such values.
        BackendError: no such route or transport, or they do not work together or here.
    """
    transport, route, codec = connection.transport, connection.route, connection.codec
    if route not in ROUTES:
        raise BackendError(f"route {route!r} does not exist; allowed: {', '.join(ROUTES)}")
    requests = [_request(backend, comm, buffer, stage) for stage in stages]
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
    return transfers[0] if route == "pairwise" or comm.size == 1 else StagedTransfer(transfers)


def _all_to_all(request: TransferRequest, transport: str, codec: str) -> Transfer:
    if transport not in ("auto", "mpi"):
        raise BackendError(
            f"route 'alltoall' is one call of MPI, which transport {transport!r} does not have; "
            "allowed: mpi"
        )
    if codec != "none":
        raise BackendError(f"codec {codec!r} is for messages; route 'alltoall' has none")
    on_host = not request.backend.on_host  # pinned memory of a GPU's host
    make = partial(BufferedTransfer, transport=AllToAllTransport, on_host=on_host)
    return connect(request, make)


class StagedTransfer(Transfer):
    """Transfers that follow each other: the stages of a crystal router."""

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


def _request(backend: Backend, comm: Communicator, buffer: Array, stage: Stage) -> TransferRequest:
    """The messages of a stage."""

    def segments(ranges: Sequence[range]) -> list[Segment]:
        places = [Place.in_array(backend, buffer, (0, 0), (0, r.start)) for r in ranges]
        sizes = [(int(buffer.shape[0]), len(r)) for r in ranges]
        dtype = str(buffer.dtype)
        return [Segment(*box, dtype, dtype) for box in zip(places, sizes, strict=True)]

    messages = [
        Message.of_segments(peer, 0, segments(stage[peer].sends), segments(stage[peer].receives))
        for peer in nearest_first(comm, stage)
    ]
    return TransferRequest(backend, comm, messages)
