"""An implicit step in time on the device; the host chooses numbers, but moves no values.

In each step a0 capacity (u - base) = dt F(u), where the base combines earlier values. The
mass matrix is diagonal, so assembled inertia is a product of each value, without an exchange.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from groundswell.arrays import DeviceArray, Floats, Integers
from groundswell.backends import Launch
from groundswell.backends.base import in_order
from groundswell.backends.host_threads import chunks, for_each
from groundswell.linear.cg import ConvergenceHistory
from groundswell.solvers.poisson.forcing import Forcing
from groundswell.solvers.poisson.linear_system import LinearSystem, exponent
from groundswell.solvers.poisson.step_kernels import Choice, Combination, StepKernels
from groundswell.solvers.poisson.time_scheme import KEPT, Stage
from groundswell.spectral_elements.space import FunctionSpace

NORMS, EXTREMES = 2, 3  # see kernels/implicit_steps.h
# Powers of two by which residuals are divided before they are squared: the first one suits all but
# extreme units, for which squares would not be in the range of double precision.
SQUARED, SMALL_SQUARE = (0, 512, -512), 2.0**-800
MAX_POWER = 1000


class Extremes(NamedTuple):
    """u on all ranks: the smallest and largest value, and the sum with the inertia's weights."""

    smallest: float
    largest: float
    inertia: float


class ImplicitStep:
    """Solutions of one step. All ranks must make and use it together.

    Args:
        inertia: integrals of rate times capacity and each node's basis function, assembled.
        kept: u and its values one and more steps earlier, (KEPT, elements, (N + 1)^3).

    Attributes:
        pair: u and the base, assembled, (2, values).
        extremes: of the last solution.
        size: a bound of the magnitudes of kept values.
    """

    def __init__(
        self,
        system: LinearSystem,
        kernels: StepKernels,
        forcing: Forcing,
        inertia: Floats,
        kept: DeviceArray,
    ) -> None:
        self._system, self.kernels, self._forcing = system, kernels, forcing
        self.backend, self._space, self._kept = system.backend, system.space, kept
        self.extremes, self.size = Extremes(0.0, 0.0, 0.0), 0.0
        size, zeros = self._space.size, self.backend.zeros
        self.pair = zeros((2, size), "f8")
        self._product, self._residual = zeros((size,), "f8"), zeros((size,), "f8")
        self._inertia = self.backend.to_device(inertia)
        self._free = self.backend.to_device((system.operator.mask > 0).astype(np.uint8))
        self._chosen = Choice()
        self._choice = self.backend.to_device(self._chosen.numbers)
        self._combine, self._store = self._make_combine(), self._make_store()
        self._find, self._squares = self._make_residual()
        self._convert, self._correct, self._found = self._make_correction()

    # --- launches ---------------------------------------------------------------------------------

    def _make_combine(self) -> list[list[Launch]]:
        """Launches that combine one kept value, or more of them."""
        first, (u, base) = self.backend.to_device(first_copies(self._space)), self.pair
        given = {"choice": self._choice, "kept": self._kept, "first": first, "base": base}
        size, pitch = self._space.size, self._space.dofs.size
        return [
            self.kernels.on_items("combine_kept", size, **given, guess=u, terms=terms, pitch=pitch)
            for terms in range(1, KEPT + 1)
        ]

    def _make_store(self) -> list[Launch]:
        """Launches that keep u as the newest value."""
        space = self._space
        given = {"u": self.pair[0], "dofs": space.dofs_on(self.backend), "kept": self._kept}
        return self.kernels.on_items("store_values", space.dofs.size, **given)

    def _prescribe(self, u: DeviceArray) -> list[Launch]:
        """Launches that set prescribed values, and apply the operator."""
        operator = self._system.operator
        given = {"choice": self._choice, "free": self._free, "x": operator.x}
        given |= {"prescribed": self._forcing.prescribed, "u": u}
        set_u = self.kernels.on_items("prescribe_values", self._space.size, **given)
        return [*set_u, *operator.unmasked]

    def _make_residual(self) -> tuple[list[Launch], DeviceArray]:
        """Launches that find the residual and squares of each block."""
        given = {"choice": self._choice, "free": self._free, "load": self._forcing.load}
        given |= {"inertia": self._inertia, "base": self.pair[1], "product": self._product}
        given |= {"image": self._system.operator.y, "residual": self._residual}
        sums = ("find_residual", self._space.own, NORMS, "squares")
        return self.kernels.on_blocks(*sums, **given)

    def _make_correction(self) -> tuple[list[Launch], list[Launch], DeviceArray]:
        """Launches before and after conjugate gradients."""
        operator, iteration = self._system.operator, self._system.iteration_of(1)
        residual = {"choice": self._choice, "residual": self._residual, "b": iteration.b}
        convert = self.kernels.on_items("convert_residual", self._space.own, **residual)
        x = operator.x if operator.halo else iteration.x
        given = {"choice": self._choice, "x": x, "weights": self._inertia, "u": self.pair[0]}
        sums = ("correct_values", self._space.size, EXTREMES, "extremes")
        correct, found = self.kernels.on_blocks(*sums, **given, own=self._space.own)
        return convert, correct, found

    # --- a step -----------------------------------------------------------------------------------

    def begin(self, base: Sequence[float], guess: Sequence[float]) -> None:
        """Combine kept values, newest first, to the base and the guess."""
        self._choose(base=base, guess=guess)
        in_order(self._combine[len(guess) - 1])()

    def solve(self, time: float, tolerance: float) -> ConvergenceHistory:
        """Solve for u at a time, s, beginning with the guess.

        Args:
            tolerance: of the residual, relative to that of u = 0 inside.

        Raises:
            InputError: a function is not finite.
            RunFailed: values are not finite, or a rank is lost.
        """
        has_changed = self._forcing.update(time)
        self._scale_u()
        if has_changed:
            self._find_product()
        norm, left = self._find_norms()
        if norm == 0:  # no guess is nearer than 0 if that is the solution
            self.backend.assign(self.pair[0], np.zeros(()))
            _, left = self._find_norms()
        history = self._iterate(left, tolerance * norm / (left or 1.0))
        self._correct_u()
        return history

    def store(self) -> None:
        """Keep u as the newest value."""
        in_order(self._store)()

    def _scale_u(self) -> None:
        """Choose a factor of u that keeps the operator's values in the range of their type."""
        power = exponent(max(self.size, self._forcing.largest))
        self._choose(to_system=power_of_two(-power), from_system=power_of_two(power))

    def _find_product(self) -> None:
        """Apply the operator to the prescribed values."""
        self.backend.assign(self._product, np.zeros(()))
        in_order(self._prescribe(self._product))()
        image, product = self._system.operator.y, self._product
        given = {"choice": self._choice, "image": image, "product": product}
        in_order(self.kernels.on_items("convert_image", self._space.own, **given))()

    def _find_norms(self) -> tuple[float, float]:
        """Norms of the residuals of u = 0 inside and of u."""
        in_order(self._prescribe(self.pair[0]))()
        for power in SQUARED:
            self._choose(to_square=power_of_two(-power))
            in_order(self._find)()
            mine = np.asarray(self.backend.to_host(self._squares)).sum(axis=0)
            squares = np.sum(self._space.comm.allgather(mine), axis=0)
            if SMALL_SQUARE < squares[0] < np.inf:
                break
        norm, left = np.ldexp(np.sqrt(squares), power)
        return float(norm), float(left)

    def _iterate(self, left: float, tolerance: float) -> ConvergenceHistory:
        """Solve for what the guess lacks, which is 0 if the residual is small enough already."""
        iteration, power = self._system.iteration_of(1), exponent(left)
        self._choose(to_residual=power_of_two(-power), from_residual=power_of_two(power))
        if left == 0 or tolerance >= 1:
            self.backend.assign(iteration.x, np.zeros(()))
            return ConvergenceHistory(np.array([left]), True)
        in_order(self._convert)()
        history = iteration.solve(tolerance)
        return replace(history, residuals=np.ldexp(history.residuals, power))

    def _correct_u(self) -> None:
        """Add the solution to the guess, and find extremes."""
        operator, own = self._system.operator, self._space.own
        if operator.halo:
            self.backend.assign(operator.x[:own], self._system.iteration_of(1).x[:own])
            in_order(operator.halo)()
        in_order(self._correct)()
        lows, highs, sums = np.asarray(self.backend.to_host(self._found)).T
        mine = (float(lows.min()), float(highs.max()), float(sums.sum()))
        low, high, total = zip(*self._space.comm.allgather(mine), strict=True)
        self.extremes = Extremes(min(low), max(high), sum(total))
        self.size = max(-self.extremes.smallest, self.extremes.largest)

    def _choose(self, **chosen: float | Sequence[float]) -> None:
        """Change numbers that kernels read."""
        changed = replace(self._chosen, **chosen)  # type: ignore[arg-type]
        if changed != self._chosen:
            self._chosen = changed
            self.backend.assign(self._choice, changed.numbers)


class Stages:
    """The bases of the stages of a Runge-Kutta step, from slopes at earlier stages; see `Stage`.

    Args:
        leading: a0.
    """

    def __init__(self, step: ImplicitStep, leading: float, count: int) -> None:
        u, base = step.pair
        stack = step.backend.zeros((count, len(u)), "f8")  # u before the step, and slopes
        step.backend.assign(stack[0], u)
        on = step.kernels, step.backend
        self._base, self._leading = Combination(*on, stack, base), leading
        self._slopes = [Combination(*on, step.pair, slope) for slope in stack[1:]]

    def begin(self, stage: Stage) -> None:
        """Find the base of a stage."""
        self._base.run((1.0, *stage.factors))

    def end(self, number: int) -> None:
        """Keep dt F of a stage, numbered from 0, unless it is the last one."""
        if number < len(self._slopes):
            self._slopes[number].run((self._leading, -self._leading))


def first_copies(space: FunctionSpace) -> Integers:
    """Index of the first node of each assembled value among the nodes of elements, (values,)."""
    numbering, found = space.sharing.numbering, np.empty(space.size, np.int64)

    def store(some: slice) -> None:
        is_first = numbering.is_first(some)
        found[numbering.indices_of(some)[is_first]] = numbering.values_of(some)[is_first]

    for_each(store, chunks(len(space.elements), numbering.per_element))
    return found


def power_of_two(power: int) -> float:
    """2 to a power, within the range of double precision."""
    return float(np.ldexp(1.0, max(-MAX_POWER, min(MAX_POWER, power))))
