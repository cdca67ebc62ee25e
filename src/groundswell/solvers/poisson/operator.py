"""A u: the operator on assembled values; the exchange overlaps with elements.

A = Z' (D' k G D + c W + h S) Z, with the mass S of sides that exchange heat: values are copied to
elements (Z), each element applies its part, and the results at shared nodes are summed (Z'). Ranks
exchange values first and sums afterwards; where they have copies of values, only the contributions
to all sums. See `NodalExchange.overlap`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from groundswell.arrays import DeviceArray, Integers
from groundswell.backends import Backend, Launch
from groundswell.backends.base import in_order
from groundswell.backends.host_threads import converted, mapped
from groundswell.exchange.gather_scatter import GatherScatter
from groundswell.linear.operators import components_of
from groundswell.meshes.hexahedra import Floats
from groundswell.solvers.poisson.element_operator import ElementOperator
from groundswell.solvers.poisson.equation import DiscreteEquation, Equation
from groundswell.solvers.poisson.geometric_factors import element_diagonals
from groundswell.spectral_elements.element_kernels import multiply
from groundswell.spectral_elements.overlap import NodalExchange
from groundswell.spectral_elements.space import FunctionSpace


class Operator(NodalExchange):
    """Applies A from one array to another. All ranks must make it and run it together.

    Args:
        equation: its coefficients, and the tags of fixed sides: y is 0 there, and x has to be.
        x: assembled values, (values,) or (components, values), which share the geometry; copies of
            other ranks' values are filled in.
        y: assembled values, of which this rank's own become A x.
        elements: the operator on elements, with the equation's coefficients; made by default.

    Attributes:
        elements: the operator on elements.
        local: the elements' results, (elements * (N + 1)^3,), of each component.
        launches: the whole operator.
        unmasked: the same without fixed sides.
        x, y: the arrays.
        mask: 1 for free values, 0 for prescribed ones, assembled, on the host.
    """

    def __init__(
        self,
        backend: Backend,
        space: FunctionSpace,
        equation: Equation | DiscreteEquation,
        x: DeviceArray,
        y: DeviceArray,
        *,
        elements: ElementOperator | None = None,
    ) -> None:
        self._backend, self._space, self.x, self.y = backend, space, x, y
        discrete = equation.on(space)
        self._coefficients = discrete.coefficients
        self.elements = elements or space.comm.collective_try(
            lambda: ElementOperator(backend, space, self._coefficients, x.dtype)
        )
        self.local = backend.zeros((*x.shape[:-1], space.dofs.size), x.dtype)
        super().__init__(*self._connect(backend, space))
        self.unmasked = self.overlap(backend, space, self._apply)
        self.mask = mapped(np.logical_not, space.on_boundary(discrete.fixed), dtype=float)
        self.launches = [*self.unmasked, *self._apply_mask()]

    @property
    def halo(self) -> list[Launch]:
        """The launches that fill in the copies in x of other ranks' values."""
        return self._halo.launches if self._halo else []

    def assemble(self, local: Floats) -> Floats:
        """Sum the elements' values, (elements, (N + 1)^3) or one number, at shared nodes."""
        self._backend.assign(self.local, converted(np.ravel(local), self.local.dtype))
        in_order(self._gather.launches)()
        return self.spread(converted(self._backend.to_host(self.y), float))

    def spread(self, values: Floats) -> Floats:
        """Assembled values, with copies from the ranks that own them."""
        if not self.halo:
            return values
        self._backend.assign(self.x, values)
        in_order(self.halo)()
        return converted(self._backend.to_host(self.x), float)

    def apply_unmasked(self, values: Floats) -> Floats:
        """A times assembled values, without fixed sides."""
        self._backend.assign(self.x, values)
        in_order(self.unmasked)()
        return converted(self._backend.to_host(self.y), float)

    def diagonal(self) -> Floats:
        """The diagonal of A, assembled; 1 where values are prescribed."""
        diagonals = element_diagonals(self._space, self._coefficients)
        return np.where(self.mask > 0, self.assemble(diagonals), 1.0)

    def _connect(self, backend: Backend, space: FunctionSpace) -> Sequence[GatherScatter]:
        """The exchanges, see `NodalExchange`."""
        return (
            space.operation(backend, "gather", self.local, self.y),
            space.operation(backend, "halo", self.x, self.x),
        )

    @property
    def _computed(self) -> int:
        """Number of values of y that this rank computes."""
        return self._space.own

    def _apply(self, chosen: Integers) -> list[Launch]:
        energies = self._backend.zeros((self.elements.blocks(chosen),), "f8")
        return self.elements.launches(chosen, self.x, self.local, energies)

    def _apply_mask(self) -> list[Launch]:
        count = self._computed
        if not count or self.mask.all():
            return []
        mask = self._backend.to_device(converted(self.mask, self.x.dtype))
        return [
            launch
            for y in components_of(self.y)
            for launch in multiply(self._backend, y, mask, y, count)
        ]


class OperatorOnCopies(Operator):
    """The same with one exchange less: x has copies of other ranks' values, and y gets them."""

    @property
    def _computed(self) -> int:
        return self._space.size

    def _connect(self, backend: Backend, space: FunctionSpace) -> Sequence[GatherScatter]:
        return (space.operation(backend, "gather-all", self.local, self.y),)
