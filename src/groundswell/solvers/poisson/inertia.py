"""Capacity on elements: the inertia of u, its initial values, and its mean."""

from __future__ import annotations

import numpy as np

from groundswell.arrays import Floats
from groundswell.solvers.poisson.linear_system import LinearSystem
from groundswell.solvers.poisson.step_equation import StepEquation
from groundswell.spectral_elements.geometry import compute_mass


class Inertia:
    """The capacity of a rank's elements. All ranks must make and use it together.

    Attributes:
        rate: factor of capacity times u in the operator, 1/s.
        capacity: (elements or 1, nodes or 1).
        total: integral of the capacity over the whole mesh.
    """

    def __init__(self, system: LinearSystem, equation: StepEquation) -> None:
        self._system, self._equation, space = system, equation, system.space
        self.rate = equation.rate
        self.capacity = space.comm.collective_try(lambda: equation.sample_capacity(space))
        mass = compute_mass(space.mesh, space.degree, space.elements)
        self._weights = mass * self.capacity
        self.total = sum(space.comm.allgather(float(self._weights.sum())))

    def assemble(self) -> Floats:
        """Integrals of capacity times each node's basis function, assembled."""
        return self._system.load(np.broadcast_to(self.capacity, self._weights.shape), None)

    def stored(self, values: Floats) -> float:
        """The integral of capacity times u over the whole mesh.

        Args:
            values: u at this rank's nodes, (elements, (N + 1)^3).
        """
        return sum(self._system.space.comm.allgather(float((self._weights * values).sum())))

    def initial(self, prescribed: Floats) -> Floats:
        """Initial values at the nodes, (elements, (N + 1)^3), the same in all elements of a node.

        Where elements have different limits, they are averaged so that the heat remains.

        Args:
            prescribed: u on fixed sides.

        Raises:
            InputError: they are not finite.
        """
        space, operator = self._system.space, self._system.operator
        given = space.comm.collective_try(lambda: self._equation.sample_initial(space))
        scale = max(space.comm.allgather(float(self._weights.max())))
        weights = self._weights / scale
        above, below = (self._system.assemble(each) for each in (weights * given, weights))
        u = (above / below)[space.dofs]
        fixed = np.unravel_index(space.nodes_of(operator.mask == 0), u.shape)
        u[fixed] = prescribed[fixed]
        return u
