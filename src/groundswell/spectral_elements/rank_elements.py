"""The elements of a rank, and the ranks that share their nodes.

All nodes on an entity belong to the same elements and ranks, so ranks look up the 27 entities of an
element, once, and not its (N + 1)^3 nodes of each degree.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groundswell.arrays import DeviceArray, Integers, Mask
from groundswell.backends import Backend
from groundswell.backends.host_threads import chunks, converted, for_each
from groundswell.backends.sliced_ellpack import WINDOW, IndexRows, SparseRows
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.gather_scatter.sharing import RankIds, Sharing, look_up
from groundswell.meshes.entities import AXES, ENTITIES, Turns, entity_nodes
from groundswell.meshes.hexahedra import Hexahedra, StoredShapes
from groundswell.spectral_elements.geometry import TrilinearMaps
from groundswell.spectral_elements.node_numbering import CopiesOfNodes, NodeNumbering


@dataclass(frozen=True, eq=False)
class NodeSharing(Sharing):
    """The sharing of the nodes of one degree: ids are those of the mesh.

    The order of ids follows from their entities: those on an entity are consecutive, and lists of
    shared ids ascend by the ids of entities.

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
