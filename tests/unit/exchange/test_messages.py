"""Messages as both of their ends plan them, and whole exchanges in one process without MPI."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from halo_oracle import after, before, numbered, random_cut, random_ghosts
from halo_oracle import rounded_to_bfloat16 as to_bfloat16
from halo_oracle import widened_from_bfloat16 as from_bfloat16
from numpy.typing import NDArray

from groundswell.backends import Backend, open_backend
from groundswell.errors import InputError
from groundswell.exchange.boxes import Copy, CopyLaunch
from groundswell.exchange.decomposition import Decomposition, decompose
from groundswell.exchange.ghost_field import GhostField, HaloMessages
from groundswell.exchange.messages import ALIGNMENT, Message, pack, unpack
from groundswell.exchange.pattern import Ghosts, receives, uniform

MARGIN = 3
WIRES = {"float64": ["float32"], "float32": ["float16", "bfloat16"]}
TYPES = ["float32", "float64", "complex64", "complex128", "int16", "uint8", "float16"]


@pytest.fixture(scope="module")
def backend() -> Backend:
    return open_backend("cpu")


@dataclass
class Whole:
    """A whole array, and the parts of it that ranks hold."""

    values: NDArray[Any]
    ghosts: Ghosts
    sent_as: str | None
    parts: list[NDArray[Any]]

    def field(self, rank: int) -> GhostField:
        array = self.parts[rank]
        return GhostField(array, (MARGIN,) * array.ndim, self.ghosts, self.sent_as)

    def address(self, rank: int, point: tuple[int, ...]) -> int:
        """Of a point of a rank, by its local index."""
        array = self.parts[rank]
        steps = zip(point, array.strides, strict=True)
        return int(array.ctypes.data) + sum((MARGIN + n) * stride for n, stride in steps)

    @property
    def sent(self) -> NDArray[Any]:
        """What the values are when they arrive at another rank."""
        if self.sent_as == "bfloat16":
            return from_bfloat16(to_bfloat16(self.values))
        return self.values.astype(self.sent_as or self.values.dtype).astype(self.values.dtype)


def random_wholes(rng: np.random.Generator, cut: Decomposition) -> list[Whole]:
    """Up to four fields of different types and ghosts; parts in the order of C or of Fortran."""
    result = []
    for number in range(int(rng.integers(1, 5))):
        dtype = str(rng.choice(TYPES))
        wire = str(rng.choice(WIRES[dtype])) if dtype in WIRES and rng.integers(2) else None
        values = numbered(cut.shape, dtype, number)
        if wire:
            values = (values + rng.normal(size=cut.shape)).astype(dtype)
        ordered = np.asfortranarray if rng.integers(2) else np.ascontiguousarray
        parts = [ordered(before(values, cut, rank, MARGIN)) for rank in range(cut.ranks)]
        result.append(Whole(values, random_ghosts(rng, len(cut.shape)), wire, parts))
    return result


def messages_of(
    backend: Backend, cut: Decomposition, rank: int, fields: list[GhostField], aggregate: bool
) -> list[Message]:
    return HaloMessages(backend, cut, rank, fields).messages(aggregate=aggregate)


def planned(
    backend: Backend, cut: Decomposition, wholes: list[Whole], aggregate: bool
) -> dict[tuple[int, int, int], Message]:
    """All messages of all ranks, by rank, peer and tag."""
    found = [
        (rank, message)
        for rank in range(cut.ranks)
        for message in messages_of(backend, cut, rank, [w.field(rank) for w in wholes], aggregate)
    ]
    result = {(rank, m.peer, m.tag): m for rank, m in found}
    assert len(result) == len(found)
    return result


# --- both ends ------------------------------------------------------------------------------------


@pytest.mark.parametrize("aggregate", [True, False])
@pytest.mark.parametrize("seed", range(20))
def test_what_one_rank_sends_the_other_one_receives(
    backend: Backend, seed: int, aggregate: bool
) -> None:
    rng = np.random.default_rng(seed)
    cut = random_cut(rng)
    wholes = random_wholes(rng, cut)
    messages = planned(backend, cut, wholes, aggregate)
    for (rank, peer, tag), message in messages.items():
        other = messages[peer, rank, tag]
        sent, received = (
            [(s.shape, s.dtype, s.wire_dtype, s.offset, s.box.array) for s in segments]
            for segments in (message.sends, other.receives)
        )
        assert sent == received and message.send_bytes == other.receive_bytes
        assert rank != peer and (message.sends or message.receives)
        if aggregate:
            assert tag == 0
        else:
            assert {s.box.array for s in (*message.sends, *message.receives)} == {tag}


@pytest.mark.parametrize("aggregate", [True, False])
@pytest.mark.parametrize("seed", range(10))
def test_every_ghost_of_others_is_in_one_segment(
    backend: Backend, seed: int, aggregate: bool
) -> None:
    rng = np.random.default_rng((1, seed))
    cut = random_cut(rng)
    wholes = random_wholes(rng, cut)
    messages = planned(backend, cut, wholes, aggregate)
    for rank in range(cut.ranks):
        received = [
            (peer, segment.box.array, segment.box.address, segment.shape)
            for (at, peer, _), message in messages.items()
            if at == rank
            for segment in message.receives
        ]
        needed = [
            (
                piece.owner,
                number,
                whole.address(rank, piece.here),
                piece.shape,
            )
            for number, whole in enumerate(wholes)
            for piece in receives(cut, rank, whole.ghosts)
            if piece.owner != rank
        ]
        assert sorted(received) == sorted(needed)


@pytest.mark.parametrize("seed", range(10))
def test_segments_lie_apart_and_aligned(backend: Backend, seed: int) -> None:
    rng = np.random.default_rng((2, seed))
    cut = random_cut(rng)
    wholes = random_wholes(rng, cut)
    size = {"float32": 4, "float16": 2, "bfloat16": 2}
    for message in planned(backend, cut, wholes, True).values():
        end = 0
        for segment in message.sends:
            whole = wholes[segment.box.array]
            itemsize = size[whole.sent_as] if whole.sent_as else whole.values.itemsize
            assert segment.offset % ALIGNMENT == 0 and end <= segment.offset < end + ALIGNMENT
            end = segment.offset + int(np.prod(segment.shape)) * itemsize
        assert end <= message.send_bytes < end + ALIGNMENT


def test_aggregation_makes_one_message_of_many(backend: Backend) -> None:
    cut = decompose((12, 12), 4, True)
    arrays = [np.zeros((8, 8), t) for t in ("float32", "float64", "int16")]
    fields = [GhostField(a, (1, 1), uniform(1, 2)) for a in arrays]
    one, many = (messages_of(backend, cut, 0, fields, a) for a in (True, False))
    assert [m.tag for m in one] == [0] * len(one) and len(many) == 3 * len(one)
    assert sum(m.send_bytes for m in one) == sum(m.send_bytes for m in many)


def test_a_narrower_type_makes_messages_shorter(backend: Backend) -> None:
    cut = decompose((4096, 3), 2, processes=(1, 2))
    field = GhostField(np.zeros((4096, 4)), (0, 1), Ghosts((0, 1), (0, 1)))
    (wide,) = messages_of(backend, cut, 0, [field], True)
    (half,) = messages_of(backend, cut, 0, [replace(field, sent_as="float32")], True)
    assert (wide.receive_bytes, half.receive_bytes) == (8 * 4096, 4 * 4096)


def test_fields_without_ghosts_send_nothing(backend: Backend) -> None:
    cut = decompose((4, 4), 4)
    nothing = GhostField(np.zeros((2, 2)), (0, 0), uniform(0, 2))
    something = GhostField(np.zeros((4, 4)), (1, 1), uniform(1, 2))
    assert messages_of(backend, cut, 0, [nothing], False) == []
    assert {m.tag for m in messages_of(backend, cut, 0, [nothing, something], False)} == {1}


def test_one_direction_may_be_empty(backend: Backend) -> None:
    """Upwind layers: each rank needs the points before its own only."""
    cut = decompose((9,), 3)
    field = GhostField(np.zeros(5), (2,), Ghosts((2,), (0,)))
    middle = messages_of(backend, cut, 1, [field], True)
    assert [(m.peer, bool(m.sends), bool(m.receives)) for m in middle] == [
        (2, True, False),
        (0, False, True),
    ]


@pytest.mark.parametrize("ranks", [3, 4, 6, 8])
def test_no_two_ranks_send_to_the_same_one_at_a_time(backend: Backend, ranks: int) -> None:
    cut = decompose((24, 24, 24), ranks, True)
    planned = [
        messages_of(
            backend,
            cut,
            rank,
            [GhostField(np.zeros((26,) * 3), (1,) * 3, uniform(1, corners=True))],
            True,
        )
        for rank in range(ranks)
    ]
    for at_once in zip(*planned, strict=True):
        assert len({message.peer for message in at_once}) == ranks


# --- whole exchanges ------------------------------------------------------------------------------


def run(backend: Backend, copies: list[Copy]) -> None:
    for launch in CopyLaunch(backend, copies).launches:
        launch()


def exchange(backend: Backend, cut: Decomposition, wholes: list[Whole], aggregate: bool) -> None:
    """Pack, deliver and unpack the messages of all ranks."""
    messages = planned(backend, cut, wholes, aggregate)
    buffers = {which: np.full(m.send_bytes, 0xEE, np.uint8) for which, m in messages.items()}
    sent = {which: buffer.ctypes.data for which, buffer in buffers.items()}
    run(backend, [copy for at, m in messages.items() for copy in pack(m, sent[at])])
    received = {(rank, peer, tag): sent[peer, rank, tag] for rank, peer, tag in messages}
    run(backend, [copy for at, m in messages.items() for copy in unpack(m, received[at])])
    for rank in range(cut.ranks):
        fields = [w.field(rank) for w in wholes]
        run(backend, HaloMessages(backend, cut, rank, fields).own_copies())


@pytest.mark.parametrize("aggregate", [True, False])
@pytest.mark.parametrize("seed", range(25))
def test_ghosts_hold_what_the_whole_array_has_there(
    backend: Backend, seed: int, aggregate: bool
) -> None:
    rng = np.random.default_rng((3, seed))
    cut = random_cut(rng)
    wholes = random_wholes(rng, cut)
    exchange(backend, cut, wholes, aggregate)
    for whole in wholes:
        for rank, part in enumerate(whole.parts):
            wanted = after(whole.values, cut, rank, whole.ghosts, MARGIN, whole.sent)
            assert np.array_equal(part, wanted), (cut, rank, whole.ghosts, whole.sent_as)


def test_the_oracle_tells_a_wrong_exchange(backend: Backend) -> None:
    """West and east swapped, as a library without tags would have it."""
    cut = decompose((8,), 2, True)
    values = numbered(cut.shape, "float32")
    parts = [before(values, cut, rank, MARGIN) for rank in range(2)]
    whole = Whole(values, uniform(2, 1), None, parts)
    exchange(backend, cut, [whole], True)
    wanted = after(values, cut, 0, whole.ghosts, MARGIN)
    assert np.array_equal(parts[0], wanted)
    assert wanted.tolist() == [99, 106, 107, 100, 101, 102, 103, 104, 105, 99]
    parts[0][[1, 2, 7, 8]] = parts[0][[7, 8, 1, 2]]
    assert not np.array_equal(parts[0], wanted)


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "dtype, wire, allowed",
    [
        ("float32", "float64", "float16, bfloat16"),
        ("float32", "float32", "float16, bfloat16"),
        ("float64", "float16", "float32"),
        ("float64", "", "float32"),
        ("complex128", "complex64", "nothing narrower"),
        ("int32", "int16", "nothing narrower"),
        ("float16", "bfloat16", "nothing narrower"),
    ],
)
def test_other_wire_types_are_refused(dtype: str, wire: str, allowed: str) -> None:
    with pytest.raises(InputError) as caught:
        GhostField(np.zeros(3, dtype), (1,), uniform(1, 1), wire)
    assert str(caught.value) == f"{dtype} cannot be sent as {wire!r}; allowed: {allowed}"


@pytest.mark.parametrize("dtype", ["u1,f8", "f4,f4", "S3"])
def test_values_that_are_no_numbers_are_refused(dtype: str) -> None:
    with pytest.raises(InputError, match="plain numbers of 1, 2, 4, 8, 16 bytes"):
        GhostField(np.zeros(3, dtype), (1,), uniform(1, 1))


@pytest.mark.parametrize(
    "shape, origin", [((5, 6), (1, 1)), ((6, 6), (0, 1)), ((6, 6), (2, 1)), ((6, 6), (1, 0))]
)
def test_arrays_without_room_are_refused(
    backend: Backend, shape: tuple[int, ...], origin: tuple[int, ...]
) -> None:
    cut = decompose((8, 8), 4, True, processes=(2, 2))
    roomy = GhostField(np.zeros((6, 6)), (1, 1), uniform(1, 2))
    narrow = GhostField(np.zeros(shape), origin, uniform(1, 2))
    HaloMessages(backend, cut, 0, [roomy]).require_room()
    with pytest.raises(InputError, match="no room for") as caught:
        HaloMessages(backend, cut, 0, [roomy, narrow]).require_room()
    assert str(shape) in str(caught.value) and str(origin) in str(caught.value)


def test_arrays_without_room_beyond_an_end_are_refused(backend: Backend) -> None:
    """Faces that reach two points beyond an end, of an array that begins there."""
    cut = decompose((8, 8), 2, processes=(1, 2))
    ghosts = Ghosts((0, 1), (0, 1), within=((-2, 8), None))
    with pytest.raises(InputError, match="no room for"):
        field = GhostField(np.zeros((8, 6)), (0, 1), ghosts)
        HaloMessages(backend, cut, 0, [field]).require_room()
