"""Function spaces on a rank's elements, and the values that elements and ranks share."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from groundswell.arrays import DeviceArray, Floats, Integers, Mask
from groundswell.backends import Backend
from groundswell.errors import InputError
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.gather_scatter import GatherScatter
from groundswell.exchange.gather_scatter.sharing import Sharing
from groundswell.exchange.gather_scatter.transfers import Connection
from groundswell.exchange.tuning import Choice, Tuning, fastest, gather_scatter_candidates
from groundswell.linear.operators import VectorLayout
from groundswell.meshes.hexahedra import AXES, Hexahedra, StoredShapes, face_nodes, positions
from groundswell.spectral_elements.geometry import tabulate
from groundswell.spectral_elements.rank_elements import NodeSharing, RankElements

AUTOMATIC = Choice("auto")
MAX_VALUES = 2**31  # per rank: kernels use 32-bit indices


@dataclass(frozen=True, eq=False)
class FunctionSpace:
    """Continuous piecewise polynomials of one degree, by their values at GLL nodes.

    Each rank has some of the elements. Its assembled values are those at the distinct nodes of its
    elements, in the order of `sharing.ids`; it owns the first `sharing.own` of them.

    Args:
        elements: numbers of this rank's elements in the mesh.
        sharing: which ranks share the values at this rank's nodes.
        rank_elements: the elements with what spaces of all degrees share.
        exchange: how ranks exchange values.
        tuning: how that was chosen; None if there was nothing to choose.
    """

    comm: Communicator
    mesh: Hexahedra
    degree: int
    elements: Integers
    sharing: NodeSharing
    rank_elements: RankElements
    exchange: Choice = AUTOMATIC
    tuning: Tuning | None = None

    @classmethod
    def on(
        cls, comm: Communicator, mesh: Hexahedra, degree: int, elements: ArrayLike
    ) -> FunctionSpace:
        """The space on disjoint sets of elements; all ranks must call it.

        Raises:
            InputError: a rank has more values than 32-bit indices can address.
        """
        return cls._of(comm, RankElements.on(comm, mesh, elements), degree)

    @classmethod
    def _of(cls, comm: Communicator, of_rank: RankElements, degree: int) -> FunctionSpace:
        sharing = of_rank.share_nodes(degree)
        comm.collective_try(lambda: require_addressable(len(sharing.ids)))
        return cls(comm, of_rank.mesh, degree, of_rank.numbers, sharing, of_rank)

    def with_exchange(self, exchange: Choice) -> FunctionSpace:
        """The same space with another exchange."""
        return replace(self, exchange=exchange)

    def autotune(
        self, backend: Backend, dtype: DTypeLike, *, transport: str = "auto", route: str = "auto"
    ) -> FunctionSpace:
        """The same space with the exchange of the fastest halo and gather; all ranks must call it.

        Args:
            dtype: of the values.
            transport: a name in connect.TRANSPORTS, or "auto" for all that work here.
            route: one of routes.ROUTES, or "auto" for all.

        Raises:
            GroundswellError: no allowed choice works here.
        """
        if self.comm.size == 1:
            return self
        kind, sharing, shared = np.dtype(dtype), self.sharing, self.sharing.shared_part
        counts = len(sharing.ids), len(shared.indices), len(shared.ids)
        assembled, local, gathered = (backend.zeros((n,), kind) for n in counts)

        def make(choice: Choice) -> list[GatherScatter]:
            space = self.with_exchange(choice)
            halo = space.operation(backend, "halo", assembled, assembled)
            return [halo, space.operation(backend, "gather", local, gathered, shared)]

        asked = ("fastest" if name == "auto" else name for name in (transport, route))
        choices = gather_scatter_candidates(backend, self.comm, Connection(*asked))
        sizes = self.comm.allgather([len(ids) for ids in sharing.shared_with.values()])
        problem = ["shared values", kind.name, transport, route, sizes]
        tuning = fastest(backend, self.comm, problem, choices, make, in_graph=True)
        return replace(self, exchange=tuning.best, tuning=tuning)

    def coarsen(self, degree: int) -> FunctionSpace:
        """The space of a lower degree on the same elements; all ranks must call it."""
        coarse = FunctionSpace._of(self.comm, self.rank_elements, degree)
        return coarse.with_exchange(self.exchange)

    def operation(
        self,
        backend: Backend,
        kind: str,
        source: DeviceArray,
        target: DeviceArray,
        sharing: Sharing | None = None,
    ) -> GatherScatter:
        """A `GatherScatter` by this space's exchange.

        Args:
            sharing: of some of the values; by default of all.
        """
        of = backend, sharing or self.sharing, kind, (source, target)
        return GatherScatter(*of, connection=self.exchange)

    @property
    def size(self) -> int:
        """Number of this rank's assembled values."""
        return len(self.sharing.ids)

    @property
    def own(self) -> int:
        """Number of values that this rank owns, the first of its assembled values."""
        return self.sharing.own

    def vectors(self, backend: Backend, dtype: str, components: int = 1) -> VectorLayout:
        """The layout of assembled vectors."""

        def halo(vector: DeviceArray) -> GatherScatter:
            return self.operation(backend, "halo", vector, vector)

        return VectorLayout(backend, self.comm, self.size, self.own, dtype, components, halo)

    @property
    def dofs(self) -> Integers:
        """Index of each element's nodes among the assembled values, (elements, (N + 1)^3)."""
        return self.sharing.indices.reshape(len(self.elements), (self.degree + 1) ** AXES)

    def dofs_on(self, backend: Backend) -> DeviceArray:
        """The same on a device, (elements (N + 1)^3,), in 32 bits; operators share the array."""
        return self.sharing.indices_on(backend)

    @property
    def nodes(self) -> Floats:
        """Positions of the elements' nodes, (elements, (N + 1)^3, 3), m."""
        shapes, degree = self.shapes, self.degree

        def compute(some: Integers) -> tuple[Floats]:
            return (positions(shapes, degree, some),)

        return tabulate(compute, len(self.elements), (degree + 1) ** AXES)[0]

    @property
    def shapes(self) -> StoredShapes:
        """The shapes of this rank's elements, numbered from 0 on."""
        return self.rank_elements.shapes

    def nodes_of(self, flags: Mask) -> Integers:
        """Ascending indices of flagged nodes among those of all elements, (flagged,).

        Args:
            flags: which assembled values are flagged, (values,).
        """
        return self.sharing.numbering.flagged(flags)

    def on_boundary(self, tags: Collection[int]) -> Mask:
        """Whether assembled values, (values,), lie on tagged faces of any rank; collective."""
        flags = np.zeros(self.size, bool)
        tagged = np.isin(self.mesh.tags(self.elements), list(tags))
        for face in range(2 * AXES):
            flags[self.dofs[np.ix_(tagged[:, face], face_nodes(self.degree, face))]] = True
        return self.sharing.any_rank(flags)


def require_addressable(values: int) -> None:
    """Refuse more values on a rank than 32-bit indices can address."""
    if values > MAX_VALUES:
        raise InputError(
            f"a rank has {values:,} unknowns; allowed: up to {MAX_VALUES:,}; use more ranks"
        )
