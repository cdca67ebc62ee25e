"""The parts of a problem as operators on arrays of the user, on the problem's device.

Vectors hold the assembled values that a rank owns, (values,), or several columns of them, (values,
columns). At prescribed values, operators are the identity, so they are symmetric positive definite
on all vectors, and the solution of A u = b has the prescribed values of b. Inner products of
vectors on several ranks are sums over the ranks. Scipy's solvers accept the operators as they are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from groundswell.arrays import DeviceArray
from groundswell.backends import Launch
from groundswell.backends.array_interop import array_interop
from groundswell.backends.base import in_order
from groundswell.backends.viewable import on_gpu
from groundswell.errors import InputError
from groundswell.solvers.poisson.linear_system import LinearSystem
from groundswell.solvers.poisson.multigrid import Multigrid
from groundswell.solvers.poisson.operator import Operator

Applied = Callable[[DeviceArray], DeviceArray]
COLUMNS = 2  # axes of an array of several vectors


class ArrayAccess:
    """Reads arrays of the user in place, and gives results in the same library.

    Args:
        system: whose device and type the arrays must have.

    Attributes:
        interop: access to the arrays.
        dtype: of the arrays.
    """

    def __init__(self, system: LinearSystem) -> None:
        self._on_host = system.backend.on_host
        self.interop, self.dtype = array_interop(system.backend), np.dtype(system.dtype)

    def apply(self, function: Applied, array: Any, name: str) -> Any:
        """The result of a function for a view of the array.

        Raises:
            InputError: the array is on another device or of another type.
        """
        view = self.view(array, name)
        streams = self.interop.user_streams(None, [array])
        self.interop.wait_for_user(streams)
        result = function(view)
        self.interop.make_user_wait(streams)
        return self.interop.give(result, array)

    def view(self, array: Any, name: str) -> DeviceArray:
        """A NumPy or CuPy view of an array; raises InputError."""
        if self._on_host and on_gpu(array):
            raise InputError(
                f"{name} is on a GPU, but the problem is on the CPU; create it with "
                'backend="cuda", or copy the array to the host'
            )
        if not self._on_host and not on_gpu(array):
            raise InputError(
                f"{name} is in host memory, but the problem is on a GPU; move the array there, or "
                'create the problem with backend="cpu"'
            )
        view = self.interop.view(array, writable=False)
        if view.dtype != self.dtype:
            kind = "single" if view.dtype == np.float32 else "double"
            cure = f', or create it with precision="{kind}"' if view.dtype.kind == "f" else ""
            raise InputError(
                f"{name} is of type {view.dtype}, but the problem of {self.dtype}; convert the "
                f"array{cure}"
            )
        return view


class VectorOperator(ABC):
    """A symmetric positive definite operator on vectors, such as `problem.operator`.

    `operator @ u`, `operator(u)` and `operator.matvec(u)` are the same. u is an array of NumPy,
    CuPy, PyTorch or JAX on the problem's device and of its type, (values,) or (values, columns);
    the result is a new array of the same library. All ranks must apply it together.

    Attributes:
        shape: twice the number of values that this rank owns.
        dtype: of the vectors.
        free: 1 for free values, 0 for prescribed ones, on the device.

    Raises:
        InputError: u has another shape or type, or is on another device.
    """

    def __init__(self, system: LinearSystem) -> None:
        self._system, self._access = system, ArrayAccess(system)
        self.shape, self.dtype = (system.space.own, system.space.own), self._access.dtype
        mask = system.operator.mask[: system.space.own]
        self.free = system.backend.to_device(mask.astype(self.dtype))
        self._fixed = system.backend.to_device((1 - mask).astype(self.dtype))

    def __matmul__(self, u: Any) -> Any:
        return self._access.apply(self._apply_to_columns, u, "u")

    __call__ = matvec = rmatvec = matmat = rmatmat = __matmul__

    def apply(self, u: DeviceArray) -> DeviceArray:
        """The same for vectors of the backend, (columns, values)."""
        with self._access.interop.computing():
            free, fixed = u * self.free, u * self._fixed
        result = self._apply_to_free(free)
        with self._access.interop.computing():
            return result + fixed

    def _apply_to_columns(self, u: DeviceArray) -> DeviceArray:
        count = self.shape[0]
        if u.ndim not in (1, COLUMNS) or u.shape[0] != count:
            raise InputError(
                f"u has shape {tuple(u.shape)}; give {count} values, ({count},), or columns of "
                f"them, ({count}, columns)"
            )
        return self.apply(u.reshape(count, -1).T).T.reshape(u.shape)

    def close(self) -> None:
        """Release memory that is shared with other ranks; all ranks must call it."""
        return

    @abstractmethod
    def _apply_to_free(self, u: DeviceArray) -> DeviceArray:
        """The result for (columns, values) that are 0 where they are prescribed, also 0 there."""


class BoundOperator(VectorOperator):
    """Launches between two arrays, which are made once for each number of columns."""

    def __init__(self, system: LinearSystem) -> None:
        super().__init__(system)
        self._bound: dict[int, tuple[DeviceArray, DeviceArray, list[Launch]]] = {}

    def _apply_to_free(self, u: DeviceArray) -> DeviceArray:
        if len(u) not in self._bound:
            zeros = self._system.space.vectors(self._system.backend, str(self.dtype), len(u)).zeros
            x, y = (zeros().reshape(len(u), -1) for _ in range(2))
            self._bound[len(u)] = x, y, self._launches(x, y)
        x, y, launches = self._bound[len(u)]
        with self._access.interop.computing():
            x[:, : self.shape[0]] = u
        in_order(launches)()
        with self._access.interop.computing():
            return y[:, : self.shape[0]] * self.free

    @abstractmethod
    def _launches(self, x: DeviceArray, y: DeviceArray) -> list[Launch]:
        """The launches from x to y."""


class SystemOperator(BoundOperator):
    """A: the integrals of k grad u . grad v + c u v, and of h u v over robin sides, for all v.

    All columns share one pass over the geometry.
    """

    def __init__(self, system: LinearSystem) -> None:
        super().__init__(system)
        self._operators: list[Operator] = []

    def _launches(self, x: DeviceArray, y: DeviceArray) -> list[Launch]:
        made: Operator = self._system.space.comm.collective_try(
            lambda: self._system.operator_between(x, y)
        )
        self._operators.append(made)
        return made.launches

    def close(self) -> None:
        """Release memory that is shared with other ranks; all ranks must call it."""
        for operator in self._operators:
            operator.close()


class DiagonalPreconditioner(VectorOperator):
    """The inverse diagonal of A, or the identity."""

    def __init__(self, system: LinearSystem) -> None:
        super().__init__(system)
        scale = system.scale
        if scale is None:
            self._scale = self.free
        else:
            self._scale = system.backend.to_device(scale[: self.shape[0]].astype(self.dtype))

    def _apply_to_free(self, u: DeviceArray) -> DeviceArray:
        with self._access.interop.computing():
            return u * self._scale


class MultigridPreconditioner(BoundOperator):
    """A cycle of multigrid, of all columns at once."""

    def __init__(self, system: LinearSystem) -> None:
        super().__init__(system)
        self._cycles: list[Multigrid] = []

    def _launches(self, x: DeviceArray, y: DeviceArray) -> list[Launch]:
        assert self._system.multigrid is not None
        self._cycles.append(self._system.multigrid.for_components(x, y))
        return self._cycles[-1].launches

    def close(self) -> None:
        """Release memory that is shared with other ranks; all ranks must call it."""
        for cycle in self._cycles:
            cycle.close()


def preconditioner_of(system: LinearSystem) -> VectorOperator:
    """The preconditioner that the system itself uses."""
    return (DiagonalPreconditioner if system.multigrid is None else MultigridPreconditioner)(system)
