"""Numbering of nodes by mesh entities: entities are numbered once, nodes follow by arithmetic.

All nodes on an entity belong to the same elements and ranks, so only entities are looked up and
sorted, of which an element has 27, and never nodes, of which it has (N + 1)^3.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from groundswell.arrays import DeviceArray, Integers, Mask
from groundswell.backends import Backend
from groundswell.backends.host_threads import chunks, converted, for_each
from groundswell.backends.sliced_ellpack import (
    WINDOW,
    IndexRows,
    Runs,
    Slices,
    SlicesOnDevice,
    SparseRows,
    index_type,
    padded_size,
)
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.gather_scatter.sharing import (
    RankIds,
    Sharing,
    look_up,
    number_by_first_use,
)
from groundswell.meshes.entities import AXES, ENTITIES, EntityNodes, Turns, entity_nodes
from groundswell.meshes.hexahedra import Hexahedra, StoredShapes
from groundswell.spectral_elements.geometry import TrilinearMaps

Scalar = TypeVar("Scalar", bound=np.generic)

ROWS_OF_SLICE = 1024  # rows of a slice, roughly


@dataclass(frozen=True, eq=False)
class NodeNumbering:
    """Numbers of the nodes of elements: those on an entity are consecutive.

    Args:
        entities: number of each element's entities, (elements, 27).
        turns: see `Entities`.
        nodes: of the degree, on the entities of an element.
    """

    entities: Integers
    turns: Turns | None
    nodes: EntityNodes

    @classmethod
    def by_first_use(cls, mesh: Hexahedra, degree: int) -> Self:
        """Of a whole mesh, in the order in which entities occur first."""
        ids, turns = mesh.entities(np.arange(mesh.count))
        numbers, _ = number_by_first_use(ids.ravel())
        return cls(numbers.reshape(-1, ENTITIES), turns, entity_nodes(degree))

    @property
    def per_element(self) -> int:
        """Number of nodes of an element."""
        return len(self.nodes.entity)

    @property
    def values(self) -> int:
        """Number of nodes of all elements, with every copy."""
        return len(self.entities) * self.per_element

    @cached_property
    def starts(self) -> Integers:
        """Number of the first node on each entity, and of all nodes, (entities + 1,)."""
        counts = np.zeros(self.entities.max(initial=-1) + 1, np.int64)
        counts[self.entities] = self.nodes.counts
        return np.append(0, np.cumsum(counts))

    @cached_property
    def indices(self) -> Integers:
        """The number of each element's nodes, (elements (N + 1)^3,)."""
        starts = self.starts.astype(index_type(int(self.starts[-1])))
        return self.tabulate(lambda some: self._number(some, starts[self.entities[some]]))

    @cached_property
    def copies(self) -> SparseRows:
        """For each node, the indices of its copies among the nodes of all elements."""
        first, strides = self._first_copies
        places = np.empty(self.values, index_type(self.values))

        def store(some: slice) -> None:
            where = self._number(some, first[some], strides[self.entities[some]])
            places[where] = self.values_of(some)

        for_each(store, chunks(len(self.entities), self.per_element))
        return SparseRows(int(self.starts[-1]), self._offsets, places)

    @cached_property
    def firsts(self) -> Integers:
        """The index of the first copy of each node among the nodes of all elements."""
        found = np.empty(self.starts[-1], index_type(self.values))

        def store(some: slice) -> None:
            new = np.flatnonzero(self.is_first(some))
            found[self.indices_of(some).ravel()[new]] = some.start * self.per_element + new

        for_each(store, chunks(len(self.entities), self.per_element))
        return found

    def is_first(self, some: slice) -> Mask:
        """Which nodes of some elements are the first copies of theirs, (elements, (N + 1)^3)."""
        return np.asarray((self.earlier_copies[some] == 0)[:, self.nodes.entity])

    def indices_of(self, some: slice) -> Integers:
        """The number of the nodes of some elements, (elements, (N + 1)^3)."""
        return self.indices.reshape(-1, self.per_element)[some]

    def values_of(self, some: slice) -> Integers:
        """Indices of the nodes of some elements among those of all, (elements, (N + 1)^3)."""
        index = np.arange(some.start * self.per_element, some.stop * self.per_element)
        return index.reshape(-1, self.per_element)

    def tabulate(self, compute: Callable[[slice], NDArray[Scalar]]) -> NDArray[Scalar]:
        """Compute values at the nodes of all elements, (values,), in threads."""
        found = np.empty((len(self.entities), self.per_element), compute(slice(0, 0)).dtype)

        def store(some: slice) -> None:
            found[some] = compute(some)

        for_each(store, chunks(*found.shape))
        return found.ravel()

    def _number(self, some: slice, first: Integers, strides: Integers | None = None) -> Integers:
        turns = None if self.turns is None else self.turns[some]
        return self.nodes.number(first, turns, strides)

    # --- copies -----------------------------------------------------------------------------------

    @cached_property
    def copies_of_entities(self) -> SparseRows:
        """For each entity, the indices of its copies among `entities`."""
        entities = self.entities.ravel()
        return SparseRows.from_pairs(len(self.starts) - 1, entities, np.arange(len(entities)))

    @cached_property
    def earlier_copies(self) -> NDArray[np.int32]:
        """How many copies of its entity come before each of `entities`, (elements, 27)."""
        copies, found = self.copies_of_entities, np.empty(self.entities.shape, np.int32)
        assert copies.offsets is not None
        found.reshape(-1)[copies.all_indices] = np.arange(found.size) - np.repeat(
            copies.offsets[:-1], copies.sizes
        )
        return found

    @property
    def _begins(self) -> Integers:
        """Where the copies of each entity's nodes begin, (entities,), and end."""
        return np.append(0, np.cumsum(np.diff(self.starts) * self.copies_of_entities.sizes))

    @property
    def _first_copies(self) -> tuple[Integers, Integers]:
        """Where the copies of nodes are in `copies`.

        Returns:
            For the first node on each element's entities, (elements, 27); and the distance to that
            of the next node, (entities,).
        """
        begins, strides = self._begins, self.copies_of_entities.sizes
        kind = index_type(self.values)
        return (begins[self.entities] + self.earlier_copies).astype(kind), strides.astype(kind)

    @property
    def _offsets(self) -> Integers:
        """Where the copies of each node begin, and the end, (nodes + 1,)."""
        begins, sizes, starts = self._begins, self.copies_of_entities.sizes, self.starts
        found = np.empty(starts[-1] + 1, np.int64)
        found[-1] = begins[-1]

        def store(some: slice) -> None:
            counts = np.diff(starts[some.start : some.stop + 1])
            first, last = starts[some.start], starts[some.stop]
            step = np.arange(first, last) - np.repeat(starts[some], counts)
            found[first:last] = np.repeat(begins[some], counts) + step * np.repeat(
                sizes[some], counts
            )

        for_each(store, chunks(len(sizes), int(self.nodes.counts.max())))
        return found


@dataclass(frozen=True, eq=False)
class CopiesOfNodes:
    """For each of the nodes on the first entities, its copies; see `IndexRows`.

    Args:
        entities: number of entities.
    """

    numbering: NodeNumbering
    entities: int
    on_devices: dict[tuple[object, ...], SlicesOnDevice] = field(default_factory=dict)
    first: ClassVar[int] = 0
    is_contiguous: ClassVar[bool] = False

    @property
    def count(self) -> int:
        """Number of nodes."""
        return int(self.numbering.starts[self.entities])

    @property
    def runs(self) -> Runs:
        """Where the padded number of copies changes."""
        starts = self.numbering.starts[: self.entities + 1]
        used = np.flatnonzero(np.diff(starts))
        padded = padded_size(self.numbering.copies_of_entities.sizes[used])
        changes = np.flatnonzero(np.diff(padded, prepend=-1))
        return starts[used[changes]], padded[changes]

    def fill(self, table: Integers, slices: Slices) -> None:
        """Store the indices in their slices."""
        places, strides = self._places(slices, table.dtype)
        numbering, whole = self.numbering, len(self.numbering.starts) - 1 == self.entities

        def store(some: slice) -> None:
            nodes, index = numbering.indices_of(some), numbering.values_of(some)
            earlier = numbering.earlier_copies[some][:, numbering.nodes.entity]
            if not whole:
                here = nodes < self.count
                nodes, index, earlier = nodes[here], index[here], earlier[here]
            table[places[nodes] + earlier * strides[nodes]] = index

        for_each(store, chunks(len(numbering.entities), numbering.per_element))

    def _places(self, slices: Slices, dtype: DTypeLike) -> tuple[Integers, Integers]:
        """Where the first copy of each node is stored, and the distance to the next copy."""
        places, strides = np.empty((2, self.count), dtype)

        def compute(some: slice) -> None:
            first, count, begins = (of_slice[some] for of_slice in slices)
            rows = slice(first[0], first[-1] + count[-1])
            strides[rows] = np.repeat(count, count)
            places[rows] = np.repeat(begins - first, count) + np.arange(rows.start, rows.stop)

        for_each(compute, chunks(len(slices[0]), ROWS_OF_SLICE))
        return places, strides


@dataclass(frozen=True, eq=False)
class NodeSharing(Sharing):
    """The sharing of the nodes of one degree: ids are those of the mesh.

    Args:
        numbering: of the nodes, in the order of `ids`.
        shared_elements: which elements share nodes with other ranks, (elements,).
        unshared_entities: number of entities that no other rank has, the first ones.
    """

    numbering: NodeNumbering
    shared_elements: Mask
    unshared_entities: int

    @cached_property
    def copies(self) -> SparseRows:
        """See `Sharing`."""
        return self.numbering.copies

    def indices_on(self, backend: Backend) -> DeviceArray:
        """The indices on a device, in 32 bits; all calls return the same array."""
        if backend not in self._on_devices:
            self._on_devices[backend] = backend.to_device(converted(self.indices, "i4"))
        return self._on_devices[backend]

    @cached_property
    def _on_devices(self) -> dict[Backend, DeviceArray]:
        return {}

    @cached_property
    def unshared_copies(self) -> IndexRows:
        """See `Sharing`."""
        return CopiesOfNodes(self.numbering, self.unshared_entities)


@dataclass(frozen=True, eq=False)
class RankElements:
    """A rank's elements, and the ranks that share their entities.

    Args:
        numbers: of the elements in the mesh.
        turns: see `Entities`.
        ranked: the ids of the entities.
    """

    mesh: Hexahedra
    numbers: Integers
    turns: Turns | None
    ranked: RankIds

    @classmethod
    def on(cls, comm: Communicator, mesh: Hexahedra, elements: ArrayLike) -> Self:
        """Look up the entities of disjoint sets of elements; collective."""
        chosen = np.asarray(elements, np.int64)
        ids, turns = comm.collective_try(lambda: mesh.entities(chosen))
        return cls(mesh, chosen, turns, look_up(comm, ids.ravel()))

    @cached_property
    def shapes(self) -> StoredShapes:
        """The shapes of the elements, numbered from 0 on."""
        return StoredShapes.of(self.mesh, self.numbers)

    @cached_property
    def maps(self) -> TrilinearMaps:
        """The maps of the elements, which must have straight edges."""
        return TrilinearMaps.of(self.shapes, np.arange(len(self.numbers)))

    def share_nodes(self, degree: int) -> NodeSharing:
        """The sharing of the nodes of a degree; collective."""
        # An element has 8 entities and N^3 nodes more than those that came before it.
        of_entities = self.ranked.arrange(max(1, 8 * WINDOW // degree**AXES))
        found: NodeSharing = self.ranked.comm.collective_try(
            lambda: self._expand(of_entities, degree)
        )
        return found

    def _expand(self, shared: Sharing, degree: int) -> NodeSharing:
        entities = shared.indices.reshape(-1, ENTITIES)
        numbering = NodeNumbering(entities, self.turns, entity_nodes(degree))
        starts = numbering.starts
        return NodeSharing(
            shared.comm,
            ids=self._ids(numbering, degree),
            own=int(starts[shared.own]),
            unshared=int(starts[shared.unshared]),
            indices=numbering.indices,
            shared_with={r: _expand_rows(starts, of) for r, of in shared.shared_with.items()},
            owner=_repeat_owners(shared, starts),
            numbering=numbering,
            shared_elements=np.any(entities >= shared.unshared, axis=1),
            unshared_entities=shared.unshared,
        )

    def _ids(self, numbering: NodeNumbering, degree: int) -> Integers:
        """The mesh's ids of the nodes, in their order."""
        ids = np.empty(numbering.starts[-1], np.int64)

        def store(some: slice) -> None:
            ids[numbering.indices_of(some)] = self.mesh.ids(degree, self.numbers[some])

        for_each(store, chunks(len(self.numbers), numbering.per_element))
        return ids


def _expand_rows(starts: Integers, entities: Integers) -> Integers:
    """The numbers of all nodes on entities, one entity after another."""
    first, counts = starts[entities], starts[entities + 1] - starts[entities]
    ends = np.cumsum(counts)
    return np.arange(ends[-1] if len(ends) else 0) + np.repeat(first - ends + counts, counts)


def _repeat_owners(shared: Sharing, starts: Integers) -> NDArray[np.int32]:
    """The owner of each node."""
    if not shared.shared_with:
        return np.broadcast_to(np.int32(shared.comm.rank), (starts[-1],))
    return np.repeat(shared.owner, np.diff(starts))
