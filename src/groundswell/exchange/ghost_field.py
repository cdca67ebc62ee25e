"""Fields, which are arrays with ghosts to exchange, and the messages of their exchange.

`HaloMessages` turns the boxes of a pattern into segments with addresses, one message per neighbour.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from groundswell.arguments import whole_numbers
from groundswell.arrays import DeviceArray
from groundswell.backends.base import Backend
from groundswell.backends.viewable import is_supported_dtype
from groundswell.errors import InputError, counted
from groundswell.exchange.boxes import CONVERSIONS, ITEMSIZE, RAW, WORDS, Copy, StridedBox, steps
from groundswell.exchange.decomposition import AXES, Decomposition, Index
from groundswell.exchange.ghosts import Ghosts, GhostWidths
from groundswell.exchange.messages import Message, Segment
from groundswell.exchange.pattern import GhostBox, GhostedBlock, partners, receives

TERMS = ("dtype", "origin", "ghosts", "sent_as")


@dataclass(frozen=True, eq=False)
class Field:
    """An array with options that differ from those of the domain.

    >>> import numpy as np
    >>> from groundswell.exchange import Domain, Field
    >>> with Domain((6, 4), ghosts=2, periodic=True) as domain:
    ...     u = domain.zeros("float64")
    ...     domain.interior(u)[...] = 1.0
    ...     u = domain.exchange(Field(u, ghosts=1, sent_as="float32"))
    >>> float(u.sum())  # 6 x 4 points and one layer of ghosts
    48.0

    Args:
        array: the last axes are those of the domain; leading axes are components. Any strides are
            allowed; values are integers, real or complex numbers of 1 to 16 bytes.
        ghosts: the layers to fill, as for `Domain`; None for those of the domain.
        origin: index of the first own point along the domain's axes; None if the array has as many
            layers on each side as the domain, or as `ghosts`.
        sent_as: a narrower type for values in messages, rounded to nearest: "float32", "float16" or
            "bfloat16". Magnitudes above its range become infinity.
    """

    array: Any
    ghosts: GhostWidths | None = None
    origin: Sequence[int] | None = None
    sent_as: str | None = None


@dataclass(frozen=True, eq=False)
class GhostField:
    """A checked array, with the location of own points and the ghosts that it needs.

    Args:
        array: an array of a backend, with up to three axes.
        origin: index of the first own point.
        ghosts: the layers that are needed.
        sent_as: a narrower type for messages ("float32", "float16", "bfloat16"), or None.

    Raises:
        InputError: values have an unsupported size or cannot be sent in this type, or numbers of
            axes differ.
    """

    array: DeviceArray
    origin: Index
    ghosts: Ghosts
    sent_as: str | None = None

    def __post_init__(self) -> None:
        axes = len(self.ghosts.low)
        if not is_supported_dtype(self.array.dtype):
            raise InputError(
                f"values of type {self.dtype} take {self.array.dtype.itemsize} bytes; allowed "
                f"are plain numbers of {', '.join(map(str, RAW))} bytes: split them into fields"
            )
        if not axes == len(self.origin) == self.array.ndim <= AXES:
            raise InputError(
                f"an array of {counted(self.array.ndim, 'axis', 'axes')}, its origin {self.origin} "
                f"and its ghosts {self.ghosts.low} must have the same number of axes, {AXES} at "
                "most; views of single components do"
            )
        if self.sent_as is not None:
            self._require_narrower(self.sent_as)

    def _require_narrower(self, sent_as: object) -> None:
        pairs = [to for wide, to in CONVERSIONS if wide == self.dtype]
        allowed = [to for to in pairs if ITEMSIZE[to] < ITEMSIZE[self.dtype]]
        if not (isinstance(sent_as, str) and sent_as in allowed):
            raise InputError(
                f"{self.dtype} cannot be sent as {sent_as!r}; allowed: "
                f"{', '.join(allowed) or 'nothing narrower'}"
            )

    @property
    def dtype(self) -> str:
        """The NumPy name of the array's type."""
        return str(self.array.dtype)

    @property
    def terms(self) -> tuple[Hashable, ...]:
        """The properties that must agree on all ranks, with names in TERMS."""
        return self.array.dtype.str, self.origin, self.ghosts, self.sent_as

    def key(self, backend: Backend) -> tuple[Hashable, ...]:
        """Identifies the memory and its layout; strides along axes of length 1 do not matter."""
        return backend.address(self.array), self.array.shape, steps(self.array), *self.terms


def as_fields(arrays: Sequence[object]) -> list[Field]:
    """The arguments of an exchange, arrays or `Field`s, as `Field`s."""
    if not arrays:
        raise InputError("an exchange has no arrays; give at least one")
    return [a if isinstance(a, Field) else Field(a) for a in arrays]


_FieldBox = tuple[int, GhostField, GhostBox]


class HaloMessages:
    """The messages of a halo exchange: the ghosts of fields, by the ranks that own them.

    Args:
        rank: the rank that sends and receives the messages.

    Attributes:
        addresses: address of each field's array.

    Methods with `sweep` return the messages or copies of a sweep along this axis, see
    `pattern.receives`, or of all ghosts.
    """

    def __init__(
        self,
        backend: Backend,
        decomposition: Decomposition,
        rank: int,
        fields: Sequence[GhostField],
    ) -> None:
        self.backend, self.decomposition, self.rank = backend, decomposition, rank
        self.fields = fields
        self.addresses = [backend.address(field.array) for field in fields]

    def layout(self) -> Hashable:
        """The properties on which tables of addresses depend, besides the addresses."""
        return tuple(
            (tuple(f.array.shape), steps(f.array), f.origin, address % WORDS[0])
            for f, address in zip(self.fields, self.addresses, strict=True)
        )

    def messages(self, *, aggregate: bool, sweep: int | None = None) -> list[Message]:
        """The messages by tag and then by peer.

        Peers are ordered by their distance in the process grid. All ranks therefore send in the
        same direction at the same time, and no two of them send to the same rank.

        Args:
            aggregate: whether to send one message per peer, instead of one per peer and field.
        """
        where, rank = self.decomposition, self.rank
        peers = {p for f in self.fields for p in partners(where, rank, f.ghosts, sweep)} - {rank}
        every = range(len(self.fields))
        groups = [every] if aggregate else [range(n, n + 1) for n in every]
        planned = [
            Message.of_segments(
                peer,
                tag,
                self._segments(self._boxes(group, rank, peer, sweep), sent=True),
                self._segments(self._boxes(group, peer, rank, sweep), sent=False),
            )
            for tag, group in enumerate(groups)
            for peer in sorted(peers, key=lambda peer: where.shift(rank, peer))
        ]
        return [message for message in planned if message.sends or message.receives]

    def _segments(self, boxes: Iterable[_FieldBox], *, sent: bool) -> list[Segment]:
        """The boxes at their addresses on this rank, which sends or receives them."""
        return [
            Segment(
                self._strided(n, box.there if sent else box.here),
                box.shape,
                field.dtype,
                field.sent_as or field.dtype,
            )
            for n, field, box in boxes
        ]

    def _boxes(
        self, group: Sequence[int], owner: int, receiver: int, sweep: int | None
    ) -> Iterator[_FieldBox]:
        """The ghosts of one rank that another rank owns, with the indices of their fields."""
        for n in group:
            for box in receives(self.decomposition, receiver, self.fields[n].ghosts, sweep):
                if box.owner == owner:
                    yield n, self.fields[n], box

    def _strided(self, number: int, first: Index) -> StridedBox:
        """The box of a field that begins at local index `first`."""
        field = self.fields[number]
        return StridedBox.in_array(self.backend, field.array, field.origin, first, number)

    def own_copies(self, sweep: int | None = None) -> list[Copy]:
        """Copies of own points to ghosts of the same rank, on periodic axes."""
        every = range(len(self.fields))
        return [
            Copy(p.shape, self._strided(n, p.there), self._strided(n, p.here), f.dtype, f.dtype)
            for n, f, p in self._boxes(every, self.rank, self.rank, sweep)
        ]

    def require_room(self) -> None:
        """Raise InputError if an array has no room for its ghosts, or a wrong number of axes."""
        block = self.decomposition.block(self.rank).shape
        for field in self.fields:
            if len(field.origin) != len(block):
                raise InputError(
                    f"an array of {counted(len(field.origin), 'axis', 'axes')} in a decomposition "
                    f"of {len(block)}; the numbers must agree"
                )
            boxes = receives(self.decomposition, self.rank, field.ghosts)
            require_room(field.array.shape, field.origin, block, boxes)

    def require_whole_sides(self) -> None:
        """Raise InputError if ghosts of parts of a side are needed, which sweeps do not support."""
        if parts := [f.ghosts.within for f in self.fields if f.ghosts.within]:
            raise InputError(
                f"sweeps fill the ghosts of whole sides, not of within = {parts[0]}; exchange "
                "without sweeps, or request ghosts without within"
            )

    def surroundings(self) -> Iterator[tuple[GhostField, StridedBox, Index]]:
        """All boxes of ghosts in the arrays that belong to some block."""
        block = self.decomposition.block(self.rank).shape
        for n, field in enumerate(self.fields):
            ends = zip(field.array.shape, field.origin, block, strict=True)
            high = tuple(size - first - points for size, first, points in ends)
            around = Ghosts(field.origin, high, corners=True)
            for box in receives(self.decomposition, self.rank, around):
                yield field, self._strided(n, box.here), box.shape


def require_room(
    shape: Sequence[int], origin: Sequence[int], block: Index, boxes: Sequence[GhostBox]
) -> None:
    """Check that an array has room for a block and its ghosts.

    Args:
        shape: shape of the array.
        origin: index of the block's first point in the array.

    Raises:
        InputError: the array is too small.
    """
    firsts = np.array([(0,) * len(block), *(box.here for box in boxes)]) + origin
    ends = firsts + np.array([block, *(box.shape for box in boxes)])
    for axis, (first, end) in enumerate(zip(firsts.min(axis=0), ends.max(axis=0), strict=True)):
        if first < 0 or end > shape[axis]:
            raise InputError(
                f"an array of shape {tuple(shape)} with own points from index {tuple(origin)} has "
                f"no room for {block} points and their ghosts: along axis {axis} they take indices "
                f"{first} to {end - 1}; allocate a larger array, or request fewer layers"
            )


def origin_of(
    block: GhostedBlock, shape: Index, ghosts: Ghosts, given: Sequence[int] | None
) -> Index:
    """The index of the first own point in an array: as given, or from layers that fit."""
    axes = len(block.own)
    if given is not None and len(shape) == axes:
        return whole_numbers("origin", given, axes)
    if given is None and shape == block.local_shape:
        return block.ghosts.low
    if given is None and shape == ghosts.padded(block.block.shape):
        return ghosts.low
    raise InputError(
        f"the last axes of an array have {shape} points, but rank {block.rank} has "
        f"{block.local_shape} points with ghost layers; if the array has other layers, give the "
        "index of its first own point, Field(array, origin=...), one number for each of "
        f"{counted(axes, 'axis', 'axes')}"
    )
