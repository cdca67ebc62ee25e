"""The equation of an implicit step in time: inertia adds to the screening.

capacity du/dt - div(k grad u) + c u = f becomes -div(k grad u) + (c + rate capacity) u = f + what
follows from earlier values, where `rate` is one over a time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from groundswell.arrays import Floats
from groundswell.solvers.poisson.coefficients import Coefficients
from groundswell.solvers.poisson.equation import Equation
from groundswell.spectral_elements.given_fields import GivenField, require, sample
from groundswell.spectral_elements.space import FunctionSpace


@dataclass(frozen=True, eq=False)
class StepEquation(Equation):
    """An equation whose u has inertia.

    Args:
        capacity: above 0, such as heat capacity by volume.
        rate: factor of capacity times u, 1/s.
        initial: u at time 0, by position.
    """

    capacity: GivenField = 1.0
    rate: float = 1.0
    initial: GivenField = 0.0

    @property
    def reactions(self) -> tuple[GivenField, ...]:
        """The screening and the capacity."""
        return (self.screening, self.capacity)

    def _evaluate(self, space: FunctionSpace) -> Coefficients:
        found = super()._evaluate(space)
        inertia = self.rate * self.sample_capacity(space)
        return replace(found, screening=found.screening + inertia)

    def sample_capacity(self, space: FunctionSpace) -> Floats:
        """The capacity on this rank's elements, (elements or 1, nodes or 1).

        Raises:
            InputError: it is not positive or not finite.
        """
        some = np.arange(len(space.elements))
        capacity = sample(self.capacity, space, some, "the capacity")
        require(capacity > 0, capacity, (space, some), "the capacity is {}", "values above 0")
        return capacity

    def sample_initial(self, space: FunctionSpace) -> Floats:
        """The initial u at this rank's nodes, (elements, (N + 1)^3).

        Raises:
            InputError: it is not finite.
        """
        some, shape = np.arange(len(space.elements)), space.nodes.shape[:-1]
        return np.broadcast_to(sample(self.initial, space, some, "the initial value"), shape)
