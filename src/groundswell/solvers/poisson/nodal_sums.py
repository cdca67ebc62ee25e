"""Between elements' values at their nodes and assembled values, for arrays of the user."""

from __future__ import annotations

from typing import Any

from groundswell.arrays import DeviceArray
from groundswell.backends.base import in_order
from groundswell.errors import InputError
from groundswell.exchange.gather_scatter import GatherScatter
from groundswell.solvers.poisson.linear_system import LinearSystem
from groundswell.solvers.poisson.vector_operators import ArrayAccess

LOCAL = 2  # axes of the elements' values of one component


class NodalGatherScatter:
    """Sums of elements' values at the nodes that they share: `problem.gather_scatter`.

    Arrays are those of NumPy, CuPy, PyTorch or JAX on the problem's device and of its type; results
    are new arrays of the same library. Elements' values are (elements, (N + 1)^3), or (components,
    elements, (N + 1)^3); assembled values, those that this rank owns, (values,) or (values,
    components). All ranks must call it together.

    Attributes:
        shape: of the elements' values.
        values: number of assembled values that this rank owns.

    Raises:
        InputError: an array has another shape or type, or is on another device.
    """

    def __init__(self, system: LinearSystem) -> None:
        self._system, self._access = system, ArrayAccess(system)
        self.shape, self.values = system.space.dofs.shape, system.space.own
        self._made: dict[int, tuple[DeviceArray, DeviceArray, GatherScatter, GatherScatter]] = {}

    def __call__(self, local: Any) -> Any:
        """Replace each element's value at a node by the sum of all elements' values there."""
        return self._access.apply(
            lambda view: self._local(self.to_nodes(self.sums(self.flat(view, "local"))), view),
            local,
            "local",
        )

    def gather(self, local: Any) -> Any:
        """The assembled sums of elements' values."""
        return self._access.apply(
            lambda view: self._columns(self.sums(self.flat(view, "local")), view), local, "local"
        )

    def scatter(self, assembled: Any) -> Any:
        """The elements' values at their nodes from assembled values."""
        return self._access.apply(self._scatter, assembled, "assembled")

    # --- arrays of the backend --------------------------------------------------------------------

    def sums(self, local: DeviceArray) -> DeviceArray:
        """Assembled sums, (components, values), of (components, nodes of all elements)."""
        source, target, gather, _ = self._operations(len(local))
        with self._access.interop.computing():
            source[...] = local
        in_order(gather.launches)()
        with self._access.interop.computing():
            return target[:, : self.values].copy()

    def to_nodes(self, assembled: DeviceArray) -> DeviceArray:
        """Values at nodes, (components, nodes of all elements), of (components, values)."""
        target, source, _, scatter = self._operations(len(assembled))
        with self._access.interop.computing():
            source[:, : self.values] = assembled
        in_order(scatter.launches)()
        with self._access.interop.computing():
            return target.copy()

    def _operations(
        self, components: int
    ) -> tuple[DeviceArray, DeviceArray, GatherScatter, GatherScatter]:
        """Elements' and assembled values, and the operations between them."""
        if components not in self._made:
            system = self._system
            sizes = system.space.dofs.size, system.space.size
            zeros = system.backend.zeros
            local, assembled = (zeros((components, size), system.dtype) for size in sizes)
            operation = system.space.operation
            gather = operation(system.backend, "gather", local, assembled)
            scatter = operation(system.backend, "scatter", assembled, local)
            self._made[components] = local, assembled, gather, scatter
        return self._made[components]

    def flat(self, local: DeviceArray, name: str) -> DeviceArray:
        """Elements' values as (components, nodes of all elements); raises InputError."""
        if tuple(local.shape[-LOCAL:]) != self.shape or local.ndim not in (LOCAL, LOCAL + 1):
            raise InputError(
                f"{name} has shape {tuple(local.shape)}; give {self.shape}, or "
                f"(components, {self.shape[0]}, {self.shape[1]})"
            )
        with self._access.interop.computing():
            return local.reshape(-1, self.shape[0] * self.shape[1])

    def _local(self, flat: DeviceArray, like: DeviceArray) -> DeviceArray:
        return flat.reshape(like.shape)

    def _columns(self, assembled: DeviceArray, local: DeviceArray) -> DeviceArray:
        return assembled[0] if local.ndim == LOCAL else assembled.T

    def _scatter(self, assembled: DeviceArray) -> DeviceArray:
        if assembled.ndim not in (1, LOCAL) or assembled.shape[0] != self.values:
            raise InputError(
                f"assembled has shape {tuple(assembled.shape)}; give ({self.values},), or "
                f"({self.values}, components)"
            )
        found = self.to_nodes(assembled.reshape(self.values, -1).T)
        return found.reshape(*((len(found),) if assembled.ndim > 1 else ()), *self.shape)

    def close(self) -> None:
        """Release memory that is shared with other ranks; all ranks must call it."""
        for _, _, gather, scatter in self._made.values():
            gather.close()
            scatter.close()
