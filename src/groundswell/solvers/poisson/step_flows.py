"""What flows in through sides in a solution in time: sums on the device, without moving u.

The flow through fixed sides is the sum of A u - b over their nodes (consistent flux). A is
symmetric, so that of A u is the product of u with A applied once to a vector that is 1 on these
nodes: a vector with values in the elements at the sides only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from groundswell.arrays import DeviceArray, Floats, Integers
from groundswell.backends import Backend
from groundswell.backends.base import in_order
from groundswell.solvers.poisson.boundary_value_problem import BoundaryValueProblem
from groundswell.solvers.poisson.forcing import Forcing
from groundswell.solvers.poisson.implicit_step import ImplicitStep
from groundswell.solvers.poisson.side_flows import Sides
from groundswell.solvers.poisson.step_equation import StepEquation
from groundswell.solvers.poisson.step_kernels import StepKernels
from groundswell.spectral_elements.given_fields import is_number, sample

PIECE = 4096  # products that a block adds up; the same on all machines, so that the bits are

Products = tuple[Integers, Floats]  # indices of values, and their factors


class ProductSums:
    """Sums of products of some values of a device array with factors.

    Args:
        rows: the products of each sum.
        values: any shape.
    """

    def __init__(
        self, kernels: StepKernels, backend: Backend, rows: Sequence[Products], values: DeviceArray
    ) -> None:
        counts = [-(-len(indices) // PIECE) for indices, _ in rows]
        self._row, self._rows = np.repeat(np.arange(len(rows)), counts), len(rows)
        ends = np.cumsum([0, *(len(indices) for indices, _ in rows)])
        pieces = zip(ends, counts, strict=False)
        firsts = [first + PIECE * n for first, count in pieces for n in range(count)]
        indices, factors = (np.concatenate([[], *each]) for each in zip(*rows, strict=True))
        self._backend, self._sums = backend, backend.zeros((len(firsts),), "f8")
        given = {"values": values, "indices": backend.to_device(indices.astype(np.int64))}
        given |= {"factors": backend.to_device(factors)}
        given |= {"firsts": backend.to_device(np.array([*firsts, ends[-1]], np.int64))}
        self._launches = kernels.on_pieces("sum_products", len(firsts), **given, sums=self._sums)

    def find(self) -> Floats:
        """The sums, (rows,)."""
        in_order(self._launches)()
        sums = np.asarray(self._backend.to_host(self._sums))
        return np.bincount(self._row, sums, self._rows).astype(float)


class StepFlows:
    """What flows in at the time of a solution. All ranks must make and use it together.

    Args:
        problem, equation: of the steps.
        inertia: see `ImplicitStep`.

    Attributes:
        sides: with a condition: those with a flux or heat transfer, then fixed ones.
    """

    def __init__(
        self,
        problem: BoundaryValueProblem,
        equation: StepEquation,
        forcing: Forcing,
        step: ImplicitStep,
        inertia: Floats,
    ) -> None:
        self._problem, self._forcing, self._inertia = problem, forcing, inertia
        system, fixed = problem.system, problem.sides.fixed
        inflows: list[Sides] = [(tag,) for tag in equation.inflows]
        self.sides = [*inflows, *fixed]
        rows = [*self._transfer(inflows), *self._reactions(), self._screened(equation)]
        on = step.kernels, system.backend
        self._of_u = ProductSums(*on, rows, step.pair)
        loads = [(own, -np.ones(len(own))) for own in fixed.values()]
        self._of_load = ProductSums(*on, loads, forcing.load) if loads else None

    def _transfer(self, sides: Sequence[Sides]) -> Iterator[Products]:
        """What u takes through sides with heat transfer; nothing through those with a flux."""
        dofs, transfer = self._problem.system.space.dofs.ravel(), self._problem.sides.transfer
        for each in sides:
            nodes, weights = transfer.get(each, (np.empty(0, np.int64), np.empty(0)))
            yield dofs[nodes], -weights

    def _reactions(self) -> Iterator[Products]:
        """A u less inertia at fixed nodes, by u and the base, which follow each other."""
        operator, space = self._problem.system.operator, self._problem.system.space
        for own in self._problem.sides.fixed.values():
            on_side = np.zeros(space.size)
            on_side[own] = 1.0
            image = operator.apply_unmasked(on_side)[: space.own]
            there = np.flatnonzero(image)
            indices = np.concatenate([there, space.size + own])
            yield indices, np.concatenate([image[there], -self._inertia[own]])

    def _screened(self, equation: StepEquation) -> Products:
        """What the screening takes."""
        system, c = self._problem.system, equation.screening
        if is_number(c) and c == 0:
            return np.empty(0, np.int64), np.empty(0)
        own, some = np.arange(system.space.own), np.arange(len(system.space.elements))
        sampled = np.broadcast_to(
            sample(c, system.space, some, "the screening"), system.space.dofs.shape
        )
        return own, -system.load(sampled, None)[own]

    def measure(self) -> Floats:
        """Flows through the sides, and what the source yields less what the screening takes."""
        mine = self._of_u.find()
        inflows = len(self._forcing.amounts) - 1
        mine[:inflows] += self._forcing.amounts[:-1]
        mine[-1] += self._forcing.amounts[-1]
        if self._of_load:
            mine[inflows:-1] += self._of_load.find()
        return np.sum(self._problem.system.space.comm.allgather(mine), axis=0)
