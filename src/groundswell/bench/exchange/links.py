"""Exchanges with neighbours in a ring or on three axes, and the plain copies that limit them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from math import prod

from groundswell.backends.base import in_order
from groundswell.bench.rig import Rig
from groundswell.bench.tables import Row
from groundswell.exchange.decomposition import Decomposition, Index, process_grids
from groundswell.exchange.ghost_field import GhostField
from groundswell.exchange.ghosts import Ghosts, uniform
from groundswell.exchange.halo import HaloExchange
from groundswell.exchange.messages import offsets_of
from groundswell.exchange.pattern import GhostBox, receives

VALUE = 4  # bytes
OWN_PLANES = 2  # planes of own points; more are not needed to send faces


def measure_links(rig: Rig, sizes: Sequence[int], shifts: Sequence[int]) -> Iterator[Row]:
    """Measure the exchange of one face with both neighbours, or with the next one only.

    Args:
        sizes: bytes of a face, for exchanges with both neighbours.
        shifts: the same, for exchanges with the next one.

    Yields:
        Rows: `faces` sent by each rank, `bytes` of one, `transport` ("copy": plain copies into
        attached memory, the limit), `seconds`, `rate` of the bytes sent (bytes/s), and `share` of
        the limit's rate.
    """
    for size, faces in [(s, 2) for s in sizes] + [(s, 1) for s in shifts]:
        limit = rig.attempt("copy", partial(_limit, rig, _ring(rig, size, faces)))
        if limit:
            yield _rated(limit, size, faces, limit)
        for transport in rig.transports:
            make = partial(face_exchange, rig, transport, size, faces)
            if row := rig.exchange(transport, make):
                yield _rated(row, size, faces, limit)


def _rated(row: Row, size: int, faces: int, limit: Row | None) -> Row:
    return {
        "faces": faces,
        "bytes": size,
        **row,
        "rate": faces * size / row["seconds"],
        "share": _share(limit, row),
    }


def _share(limit: Row | None, row: Row) -> float | None:
    return limit["seconds"] / row["seconds"] if limit else None


def face_exchange(rig: Rig, transport: str, size: int, faces: int) -> HaloExchange:
    """An exchange along the slow axis of a periodic ring of all ranks: one float32 field, width 1.

    Args:
        size: bytes of a face: 4 times a power of two.
        faces: 2, or 1: only the low ghost layer is filled.
    """
    power = (size // VALUE).bit_length() - 1
    face = (1 << power // 2, 1 << (power - power // 2))
    ranks = rig.comm.size
    decomposition = Decomposition((OWN_PLANES * ranks, *face), (ranks, 1, 1), (True, False, False))
    ghosts = Ghosts((1, 0, 0), (faces - 1, 0, 0))
    array = rig.filled((OWN_PLANES + 2, *face), "float32")
    return one_field(rig, transport, decomposition, GhostField(array, (1, 0, 0), ghosts))


def one_field(
    rig: Rig,
    transport: str,
    decomposition: Decomposition,
    field: GhostField,
    *,
    sweeps: bool = False,
) -> HaloExchange:
    """An exchange of a single field."""
    return HaloExchange(
        rig.backend, rig.comm, decomposition, [field], transport=transport, sweeps=sweeps
    )


def _ring(rig: Rig, size: int, faces: int) -> list[tuple[int, int]]:
    """The next and the previous rank, with the bytes that each gets."""
    comm = rig.comm
    return [((comm.rank + step) % comm.size, size) for step in (1, -1)[:faces]]


def _limit(rig: Rig, messages: Sequence[tuple[int, int]]) -> Row:
    """Time of plain copies of these numbers of bytes, which are the same on all ranks."""
    backend, comm = rig.backend, rig.comm
    offsets, size = offsets_of([size for _, size in messages])
    mine, source = backend.allocate_shared(size), rig.filled((size,), "uint8")
    handles = comm.allgather(mine.handle)
    peers = {peer for peer, _ in messages} - {comm.rank}  # one, if there are two ranks
    theirs = {peer: backend.attach_handle(handles[peer]) for peer in peers}
    bases = {peer: memory.address for peer, memory in theirs.items()} | {comm.rank: mine.address}
    copies = [
        backend.copy_bytes(bases[peer] + offset, backend.address(source) + offset, size)
        for offset, (peer, size) in zip(offsets, messages, strict=True)
    ]
    seconds = rig.seconds(in_order(copies), in_graph=True)
    for memory in theirs.values():
        memory.close()
    comm.allgather(None)  # a barrier: no rank uses the memory any more
    mine.close()
    return {"transport": "copy", "path": "plain copies", "in_graph": True, "seconds": seconds}


# --- neighbours on three axes ---------------------------------------------------------------------

# Whether corners are exchanged, and whether by sweeps.
FIGURES = {
    "6 faces": (False, False),
    "26 neighbours": (True, False),
    "26, in sweeps": (True, True),
}


def measure_neighbours(rig: Rig, blocks: Sequence[tuple[int, int]]) -> Iterator[Row]:
    """Measure the exchange of a float32 cube per rank, periodic along all axes.

    Cubes exchange with the 6 neighbours at faces, or with all 26, in one round or in sweeps.

    Args:
        blocks: points along an edge of a cube, and ghost layers.

    Yields:
        Rows: `neighbours`, `bytes` of a face, `transport` ("copy": plain copies of as many bytes to
        each rank), `seconds`, `share` of the copies' rate, `ranks`: how many other ranks a rank's
        neighbours are, and `own`: how many of its neighbours are the rank itself.
    """
    for edge, width in blocks:
        array = rig.filled((edge + 2 * width,) * 3, "float32")
        for name, (corners, sweeps) in FIGURES.items():
            decomposition, ghosts = torus(rig.comm.size, edge), uniform(width, corners=corners)
            field = GhostField(array, (width,) * 3, ghosts)
            boxes = receives(decomposition, rig.comm.rank, ghosts)
            who = [box.owner for box in boxes]
            about = {
                "neighbours": name,
                "bytes": edge * edge * width * VALUE,
                "processes": decomposition.processes,
                "own": who.count(rig.comm.rank),
                "ranks": len(set(who) - {rig.comm.rank}),
            }
            limit = rig.attempt("copy", partial(_limit, rig, _by_peer(rig, decomposition, boxes)))
            if limit:
                yield about | limit | {"sent": 0, "share": 1.0}
            for transport in rig.transports:
                make = partial(one_field, rig, transport, decomposition, field, sweeps=sweeps)
                if row := rig.exchange(transport, make):
                    yield about | row | {"share": _share(limit, row)}


def _by_peer(
    rig: Rig, decomposition: Decomposition, boxes: Sequence[GhostBox]
) -> list[tuple[int, int]]:
    """The bytes for each rank, including this one, in one buffer."""
    peers = {box.owner for box in boxes}
    return [
        (peer, sum(VALUE * prod(p.shape) for p in boxes if p.owner == peer))
        for peer in sorted(peers, key=lambda peer: decomposition.shift(rig.comm.rank, peer))
    ]


def most_even(grids: Iterable[Index]) -> Index:
    """The process grid with the shortest longest axis; among equals, it divides slow axes."""
    return min(grids, key=lambda grid: (max(grid), tuple(-n for n in grid)))


def torus(ranks: int, edge: int) -> Decomposition:
    """A cube for each rank, periodic along three axes, in the most cubic process grid."""
    processes = most_even(process_grids(ranks, 3))
    return Decomposition(tuple(edge * p for p in processes), processes, (True,) * 3)


def grids(ranks: int) -> list[Index]:
    """Process grids along each axis alone, and the most even ones along two and three axes."""
    every = list(process_grids(ranks, 3))
    alone = [grid for grid in every if _divided_axes(grid) == 1]
    even = [
        most_even(grid for grid in every if _divided_axes(grid) == n)
        for n in (2, 3)
        if any(_divided_axes(grid) == n for grid in every)
    ]
    return sorted(alone, reverse=True) + even


def _divided_axes(grid: Index) -> int:
    return sum(n > 1 for n in grid)
