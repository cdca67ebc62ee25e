"""Solutions for sources that are arrays on the problem's device, where u remains, too."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from groundswell.arrays import DeviceArray, Floats
from groundswell.errors import InputError
from groundswell.linear.cg import ConvergenceHistory
from groundswell.solvers.poisson.linear_system import LinearSystem
from groundswell.solvers.poisson.nodal_sums import NodalGatherScatter
from groundswell.solvers.poisson.vector_operators import ArrayAccess, SystemOperator


class DeviceSolver:
    """Solves a system without copies of fields to the host. All ranks must use it together.

    Args:
        operator, sums: of the same system.
    """

    def __init__(
        self, system: LinearSystem, operator: SystemOperator, sums: NodalGatherScatter
    ) -> None:
        self._system, self._operator, self._sums = system, operator, sums
        self._computing = ArrayAccess(system).interop.computing

    def solve(
        self, source: DeviceArray, rest: Floats, tolerance: float, start: DeviceArray | None
    ) -> tuple[DeviceArray, ConvergenceHistory]:
        """u at the nodes of this rank's elements, (components, nodes), and how it converged.

        Args:
            source: f at these nodes, (components, nodes).
            rest: what sides add to the right-hand side, (components, values).
            tolerance: of each component's residual, relative to that of u = 0.
            start: initial guess at the nodes, (components, nodes).

        Raises:
            InputError: the source is not finite.
            RunFailed: values are not finite, or a rank is lost.
        """
        b = self.right_hand_side(source, rest)
        free = self._operator.free
        with self._computing():
            residual = b * free
        norms = self._norms(residual)
        if not np.isfinite(norms).all():
            raise InputError("the source, or an array derived from it, is not finite")
        with self._computing():
            known = b - residual
        if start is not None:
            known, residual = self._guess(start, b)
        units = np.where(norms > 0, norms, 1.0)
        correction, history = self._iterate(residual, units, tolerance)
        with self._computing():
            u = correction + known
        return self._sums.to_nodes(u), history

    def right_hand_side(self, source: DeviceArray, rest: Floats) -> DeviceArray:
        """b, (components, values), with prescribed values as they are."""
        on_device = self._system.backend.to_device(rest.astype(self._system.dtype))
        with self._computing():
            integrals = source * self._mass
        sums = self._sums.sums(integrals)
        with self._computing():
            return sums * self._operator.free + on_device

    def _guess(self, start: DeviceArray, b: DeviceArray) -> tuple[DeviceArray, DeviceArray]:
        """A guess that has the prescribed values, and its residual."""
        sums, free = self._sums.sums(start), self._operator.free
        with self._computing():
            known = b + free * (sums / self._copies - b)
        product = self._operator.apply(known)
        with self._computing():
            return known, (b - product) * free

    def _iterate(
        self, residual: DeviceArray, units: Floats, tolerance: float
    ) -> tuple[DeviceArray, ConvergenceHistory]:
        """The solution for a residual, (components, values); components count in their units."""
        backend, count = self._system.backend, len(units)
        scale = backend.to_device(units[:, None].astype(self._system.dtype))
        with self._computing():
            scaled = residual / scale
        total = float(np.sqrt(sum(self._norms(scaled) ** 2)))
        if total <= tolerance:
            with self._computing():
                return residual * 0, ConvergenceHistory(np.array([total]), True)
        iteration = self._system.iteration_of(count)
        own = residual.shape[-1]
        backend.assign(iteration.b.reshape(count, -1)[:, :own], scaled)
        history = iteration.solve(tolerance / total)
        with self._computing():
            return iteration.x.reshape(count, -1)[:, :own] * scale, history

    def _norms(self, vectors: DeviceArray) -> Floats:
        """The Euclidean norm of each component over all ranks, (components,)."""
        with self._computing():
            squares = (vectors.astype("f8") ** 2).sum(axis=1)
        mine = np.asarray(self._system.backend.to_host(squares), float)
        return np.sqrt(np.sum(self._system.space.comm.allgather(mine), axis=0))

    @cached_property
    def _mass(self) -> DeviceArray:
        mass = self._system.mass.ravel().astype(self._system.dtype)
        return self._system.backend.to_device(mass)

    @cached_property
    def _copies(self) -> DeviceArray:
        """Number of elements at each node."""
        ones = np.ones((1, self._system.space.dofs.size), self._system.dtype)
        return self._sums.sums(self._system.backend.to_device(ones))


def in_units(history: ConvergenceHistory, unit: float) -> ConvergenceHistory:
    """A history whose residuals are in the unit of the right-hand side."""
    return replace(history, residuals=history.residuals * unit)
