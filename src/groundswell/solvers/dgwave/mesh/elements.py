"""The elements of a rank: their order, and the neighbours beyond their faces, on any rank."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from groundswell.arrays import Floats, Integers, Mask
from groundswell.meshes import hexahedra
from groundswell.meshes.hexahedra import AXES
from groundswell.meshes.mesh import Mesh
from groundswell.meshes.mesh_faces import find_mesh_faces
from groundswell.meshes.octree import Forest
from groundswell.meshes.octree_faces import QUARTERS, FaceKind, find_faces

FACES = 2 * AXES
OUTSIDE = -1
WHOLE = -1  # instead of a quarter: the trace of the whole face


def face_nodes(degree: int) -> Integers:
    """The nodes of each face, (6, nodes of a face); the lower axis of a face varies fastest."""
    return np.stack([hexahedra.face_nodes(degree, face) for face in range(FACES)])


@dataclass(frozen=True, eq=False)
class FaceLinks:
    """Links between faces: pairs of a face of this rank and the face of a neighbour.

    A face with four finer neighbours has a link for each quarter.

    Args:
        element, face: element of this rank and its face, (links,).
        quarter: the quarter of this face that the link covers, or WHOLE, (links,). This rank sends
            its trace on that quarter, or on the whole face.
        beyond: the neighbouring leaf, (links,).
        face_beyond: the face of that leaf, (links,).
        quarter_beyond: the quarter of the neighbour's face that this face covers, or WHOLE,
            (links,). The other side sends its trace on that quarter.
    """

    element: Integers
    face: Integers
    quarter: Integers
    beyond: Integers
    face_beyond: Integers
    quarter_beyond: Integers

    @property
    def count(self) -> int:
        """Number of links."""
        return len(self.element)

    def take(self, chosen: NDArray[np.generic] | slice) -> FaceLinks:
        """The chosen links."""
        return FaceLinks(*(values[chosen] for values in vars(self).values()))


@dataclass(frozen=True, eq=False)
class SharedFaces:
    """The links to another rank.

    Args:
        sends: in the order of the message of traces that this rank sends.
        receives: the same links in the order of the message that it receives.
    """

    sends: FaceLinks
    receives: FaceLinks


@dataclass(frozen=True, eq=False)
class FacesBeyond:
    """The neighbours beyond the faces of elements.

    Args:
        kinds, neighbours, quarters: see `LeafFaces`; `neighbours` is (elements, 6, 4).
        faces, turns: see `MeshFaces`.
    """

    kinds: NDArray[np.int8]
    neighbours: Integers
    quarters: NDArray[np.int8]
    faces: Integers
    turns: Integers

    @classmethod
    def of_leaves(cls, forest: Forest, leaves: Integers) -> FacesBeyond:
        """The neighbours of leaves of a forest; all leaves have parallel axes."""
        found = find_faces(forest, leaves)
        opposite = np.broadcast_to(np.arange(FACES) ^ 1, found.kinds.shape)
        return cls(**vars(found), faces=opposite, turns=np.zeros_like(opposite))

    @classmethod
    def of_mesh(cls, mesh: Mesh, elements: Integers) -> FacesBeyond:
        """The neighbours of elements of an unstructured mesh."""
        found = find_mesh_faces(mesh)
        beyond = found.neighbours[elements]
        neighbours = np.full((*beyond.shape, QUARTERS), OUTSIDE, np.int64)
        neighbours[..., 0] = beyond
        kinds = np.where(beyond == OUTSIDE, FaceKind.BOUNDARY, FaceKind.SAME).astype(np.int8)
        nothing = np.full(beyond.shape, WHOLE, np.int8)
        return cls(kinds, neighbours, nothing, found.faces[elements], found.turns[elements])


@dataclass(frozen=True, eq=False)
class RankElements:
    """The elements of one rank: a range of the leaves of a forest, or of the elements of a mesh.

    Args:
        mesh: a forest that is balanced across faces, or an unstructured mesh.
        starts: the first leaf of each rank, and the number of leaves, (ranks + 1,).
        absorbing: leaves that absorb waves, ascending. Those of a rank lie next to one another,
            because kernels of their own advance them.
    """

    mesh: Forest | Mesh
    starts: Integers
    rank: int
    absorbing: Integers = field(default_factory=lambda: np.empty(0, np.int64))

    @property
    def forest(self) -> Forest:
        """The mesh, which must be a forest."""
        assert isinstance(self.mesh, Forest)
        return self.mesh

    @property
    def count(self) -> int:
        """Number of elements."""
        return int(self.starts[self.rank + 1] - self.starts[self.rank])

    @cached_property
    def numbers(self) -> Integers:
        """The leaf of each element.

        Elements that share faces with other ranks come first, the absorbing ones among them last.
        Of the others, the absorbing ones come first.
        """
        leaves = np.arange(self._first, self._first + self.count)
        absorbs = np.isin(leaves, self.absorbing, assume_unique=True)
        return leaves[np.argsort(np.where(self._is_outer, absorbs, 3 - absorbs), kind="stable")]

    @cached_property
    def outer(self) -> int:
        """Number of elements that share faces with other ranks; they are the first ones."""
        return int(self._is_outer.sum())

    @cached_property
    def kinds(self) -> NDArray[np.int8]:
        """`FaceKind` of each face, (elements, 6)."""
        return self._faces.kinds[self.numbers - self._first]

    @cached_property
    def neighbours(self) -> Integers:
        """The leaf beyond each face (the first of four finer ones), or OUTSIDE, (elements, 6)."""
        return self._faces.neighbours[self.numbers - self._first, :, 0]

    @cached_property
    def turns(self) -> Integers:
        """Orientation of each face in the neighbouring element, see `MeshFaces`, (elements, 6)."""
        return self._faces.turns[self.numbers - self._first]

    @property
    def has_levels(self) -> bool:
        """Whether any rank may have faces with finer neighbours."""
        return isinstance(self.mesh, Forest) and bool(np.ptp(self.mesh.levels))

    @cached_property
    def mortars(self) -> Integers:
        """Element and face of faces with finer neighbours, (mortars, 2); outer elements first."""
        return np.argwhere(self.kinds == FaceKind.FINER)

    @cached_property
    def links(self) -> FaceLinks:
        """All links of this rank's faces."""
        order = self.numbers - self._first
        kinds, beyond = self._faces.kinds[order], self._faces.neighbours[order]
        element, face, quarter = np.nonzero(beyond != OUTSIDE)
        finer = kinds[element, face] == FaceKind.FINER
        return FaceLinks(
            element,
            face,
            np.where(finer, quarter, WHOLE),
            beyond[element, face, quarter],
            self._faces.faces[order][element, face],
            self._faces.quarters[order][element, face].astype(np.int64),
        )

    @cached_property
    def inside(self) -> FaceLinks:
        """The links between elements of this rank."""
        return self.links.take(self._owners(self.links.beyond) == self.rank)

    @cached_property
    def shared(self) -> Mapping[int, SharedFaces]:
        """The links to each other rank, by rank."""
        if len(self.starts) == 2:  # a single rank shares no faces
            return {}
        owners = self._owners(self.links.beyond)
        peers = np.setdiff1d(owners, [self.rank])
        return {int(peer): self._shared(self.links.take(owners == peer)) for peer in peers}

    def place(self, leaves: Integers) -> Integers:
        """The element numbers of leaves of this rank."""
        places = np.empty(self.count, np.int64)
        places[self.numbers - self._first] = np.arange(self.count)
        return places[leaves - self._first]

    @property
    def edges(self) -> Floats:
        """Edge lengths of the leaves of a forest along x, y, z, (elements, 3), m."""
        lower, upper = self.forest.boxes(self.numbers)
        return upper - lower

    def _shared(self, links: FaceLinks) -> SharedFaces:
        """The links to one rank; both sides order a message by sending leaf, face and quarter."""
        sends = np.lexsort((links.quarter, links.face, self.numbers[links.element]))
        receives = np.lexsort((links.quarter_beyond, links.face_beyond, links.beyond))
        return SharedFaces(links.take(sends), links.take(receives))

    @property
    def _first(self) -> int:
        return int(self.starts[self.rank])

    @cached_property
    def _faces(self) -> FacesBeyond:
        """The neighbours beyond the faces of this rank's leaves, in the order of leaves."""
        own = np.arange(self._first, self._first + self.count)
        if isinstance(self.mesh, Forest):
            return FacesBeyond.of_leaves(self.mesh, own)
        return FacesBeyond.of_mesh(self.mesh, own)

    @cached_property
    def _is_outer(self) -> Mask:
        """Which leaves share faces with other ranks, in the order of leaves."""
        beyond = self._faces.neighbours
        remote = (beyond != OUTSIDE) & (self._owners(beyond) != self.rank)
        return np.asarray(remote.any(axis=(1, 2)))

    def _owners(self, leaves: Integers) -> Integers:
        """The rank that owns each leaf."""
        return np.searchsorted(self.starts, leaves, side="right") - 1
