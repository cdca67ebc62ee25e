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
from numpy.typing import DTypeLike, NDArray

from groundswell.arrays import Floats, Integers, Mask
from groundswell.backends.host_threads import chunks, for_each, take
from groundswell.backends.sliced_ellpack import (
    Runs,
    Slices,
    SlicesOnDevice,
    SparseRows,
    index_type,
    padded_size,
)
from groundswell.exchange.gather_scatter.sharing import number_by_first_use
from groundswell.meshes.entities import ENTITIES, EntityNodes, Turns, entity_nodes
from groundswell.meshes.hexahedra import Hexahedra

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
    def on(cls, mesh: Hexahedra, degree: int) -> Self:
        """The nodes of a whole mesh, in the order in which entities occur first."""
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

    # --- in order of first use --------------------------------------------------------------------

    @cached_property
    def _new_before(self) -> Integers:
        """Number of nodes that occur in the elements before each one, and in all."""
        return np.append(0, np.cumsum((self.earlier_copies == 0) @ self.nodes.counts))

    def number_by_use(self) -> Integers:
        """The number of each element's nodes in order of first occurrence, (values,)."""
        numbers, before = np.empty(self.starts[-1], self.indices.dtype), self._new_before

        def store(some: slice) -> None:
            new = self.indices_of(some)[self.is_first(some)]
            numbers[new] = np.arange(before[some.start], before[some.stop])

        for_each(store, chunks(len(self.entities), self.per_element))
        return take(numbers, self.indices)

    def collect(self, compute: Callable[[slice], Floats]) -> Floats:
        """Values at all nodes in order of first occurrence, there, (nodes, components).

        Args:
            compute: returns values at nodes of some elements, (elements, (N + 1)^3, components).
        """
        before = self._new_before
        found = np.empty((before[-1], compute(slice(0, 0)).shape[-1]))

        def store(some: slice) -> None:
            found[before[some.start] : before[some.stop]] = compute(some)[self.is_first(some)]

        for_each(store, chunks(len(self.entities), self.per_element))
        return found

    # --- copies -----------------------------------------------------------------------------------

    def flagged(self, flags: Mask) -> Integers:
        """Ascending indices of the copies of flagged nodes among the nodes of all elements.

        Args:
            flags: of all nodes, (nodes,).
        """
        entities = np.zeros(len(self.starts) - 1, bool)
        nodes = np.flatnonzero(flags)
        entities[np.searchsorted(self.starts, nodes, side="right") - 1] = True
        elements = np.flatnonzero(entities[self.entities].any(axis=1))
        which, node = np.nonzero(flags[self.indices.reshape(-1, self.per_element)[elements]])
        return elements[which] * self.per_element + node

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

    @property
    def copies_of_entities(self) -> NDArray[np.int32]:
        """Number of copies of each entity, (entities,)."""
        return self._entity_copies[0]

    @property
    def earlier_copies(self) -> NDArray[np.int32]:
        """How many copies of its entity come before each of `entities`, (elements, 27)."""
        return self._entity_copies[1]

    @cached_property
    def _entity_copies(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        places = np.arange(self.entities.size, dtype=index_type(self.entities.size))
        rows = SparseRows.from_pairs(len(self.starts) - 1, self.entities.ravel(), places)
        assert rows.offsets is not None
        earlier = np.empty(self.entities.size, np.int32)
        earlier[rows.all_indices] = places - np.repeat(rows.offsets[:-1], rows.sizes)
        return rows.sizes.astype(np.int32), earlier.reshape(self.entities.shape)

    @property
    def _begins(self) -> Integers:
        """Where the copies of each entity's nodes begin, (entities,), and end."""
        return np.append(0, np.cumsum(np.diff(self.starts) * self.copies_of_entities))

    @property
    def _first_copies(self) -> tuple[Integers, Integers]:
        """Where the copies of nodes are in `copies`.

        Returns:
            For the first node on each element's entities, (elements, 27); and the distance to that
            of the next node, (entities,).
        """
        begins, strides = self._begins, self.copies_of_entities
        kind = index_type(self.values)
        return (begins[self.entities] + self.earlier_copies).astype(kind), strides.astype(kind)

    @property
    def _offsets(self) -> Integers:
        """Where the copies of each node begin, and the end, (nodes + 1,)."""
        begins, sizes, starts = self._begins, self.copies_of_entities, self.starts
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
        padded = padded_size(self.numbering.copies_of_entities[used])
        changes = np.flatnonzero(np.diff(padded, prepend=-1))
        return starts[used[changes]], padded[changes]

    def fill(self, table: Integers, slices: Slices) -> None:
        """Store the indices in their slices."""
        places, strides = self._places(slices, table.dtype)
        numbering, all_earlier = self.numbering, self.numbering.earlier_copies
        whole = len(numbering.starts) - 1 == self.entities

        def store(some: slice) -> None:
            nodes, index = numbering.indices_of(some), numbering.values_of(some)
            earlier = all_earlier[some][:, numbering.nodes.entity]
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
