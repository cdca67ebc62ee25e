"""Yielding rock in boxes of elements, and its steps by the linear solver and the law in NumPy."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from groundswell.arrays import Floats
from groundswell.backends import Backend, open_backend
from groundswell.backends.base import in_order
from groundswell.exchange.communicator import SerialCommunicator
from groundswell.seismology.plasticity import DruckerPrager
from groundswell.seismology.plasticity.drucker_prager import second_invariant, split
from groundswell.solvers.dgwave.plasticity.rank import NEVER, RankRock
from groundswell.solvers.dgwave.propagation import Propagation
from groundswell.solvers.dgwave.verification.boxes import Box

ORDER = [0, 1, 2, 5, 4, 3]  # between the orders of fields and of stress tensors


@dataclass(frozen=True, eq=False)
class YieldingBox:
    """A box of rock that yields.

    Args:
        law: with arrays (elements, nodes), or numbers.
        initial: stress before the waves: xx, yy, zz, xy, xz, yz, (6, elements, nodes), Pa.
        fluid_pressure: Pa, (elements, nodes) or a number.
        dtype: of the solver.
    """

    box: Box
    law: DruckerPrager
    initial: Floats
    fluid_pressure: Any = 0.0
    dtype: str = "float64"

    @cached_property
    def rock(self) -> RankRock:
        """A row of the table for each element; fluids do not yield."""
        mean, deviator = split(self.initial)
        strength = self.law.cohesion_cos - (mean + self.fluid_pressure) * self.law.sine
        sine = np.broadcast_to(self.law.sine, mean.shape)
        table = np.stack([np.broadcast_to(strength, mean.shape), sine, *deviator[ORDER]], axis=1)
        rows = np.where(self.box.fluid, NEVER, np.arange(len(mean))).astype(np.int32)
        time = float(np.max(self.law.relaxation_time))
        return RankRock(rows, table.astype(self.dtype), time, is_sheared=True)

    def start(self, backend: Backend, u: Floats) -> Propagation:
        """The solver with these fields."""
        problem = replace(self.box.problem, dtype=self.dtype, rock=self.rock)
        found = Propagation(backend, SerialCommunicator(), problem)
        backend.assign(found.u, u.astype(self.dtype))
        in_order(found.prepare)()
        return found

    def advanced(self, backend: Backend, u: Floats, steps: int) -> tuple[Floats, Floats]:
        """The fields and the plastic strain after some steps."""
        found = self.start(backend, u)
        assert found.yielding is not None
        step = in_order(found.step)
        for _ in range(steps):
            step()
        backend.synchronize()
        return backend.to_host(found.u), backend.to_host(found.yielding.strain)

    def expected(self, u: Floats, steps: int) -> tuple[Floats, Floats]:
        """The same by steps of the linear solver, after each of which the stress relaxes."""
        strain, backend = np.zeros(self.initial.shape[1:]), open_backend("cpu")
        for _ in range(steps):
            u = self.box.advanced(backend, u, self.box.dt)
            lost = self.lost(u)
            u[:, ORDER] -= lost.swapaxes(0, 1)
            strain += np.sqrt(second_invariant(lost)) / (2 * np.where(self.mu > 0, self.mu, 1.0))
        return u, strain

    def lost(self, u: Floats) -> Floats:
        """The stress that relaxes after a step, (6, elements, nodes), Pa."""
        given = (u[:, ORDER].swapaxes(0, 1), self.initial, self.box.dt, self.fluid_pressure)
        lost = self.law.relax(*given)[1]
        return np.where(self.box.fluid[:, None], 0.0, lost)

    @property
    def mu(self) -> Floats:
        """Shear modulus at the nodes, (elements, nodes or 1), Pa."""
        m = self.box.material
        return (m.rho * m.vs**2).reshape(len(m.rho), -1)
