"""Chebyshev smoothing: damps the components of an error that an operator makes large.

With S a symmetric positive definite preconditioner, such as the inverse of A's diagonal, a step
sets d = a d + b S r, adds c d to x and subtracts A d from r. The error is multiplied by a
Chebyshev polynomial of the fourth kind of S A, which needs no lower bound of the upper part of the
spectrum. The weights c minimise the bound of a V-cycle's convergence (Lottes 2023, Numer. Linear
Algebra Appl. 30, arXiv:2202.08830; Phillips & Fischer 2022, Optimal Chebyshev smoothers and
one-sided V-cycles).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg

from groundswell.arrays import DeviceArray, Floats
from groundswell.backends import Items, Launch, Source
from groundswell.backends.launch import KernelArgument, KernelArguments
from groundswell.backends.source import precision
from groundswell.linear.cg import ConjugateGradients
from groundswell.linear.operators import (
    HERE,
    Composite,
    LinearOperator,
    OperatorFactory,
    VectorLayout,
    by_component,
    convert,
)

LANCZOS_STEPS = 20  # to estimate the largest eigenvalue
SAFETY = 1.05  # factor on that estimate, which is a lower bound
EXHAUSTED = 1e-5  # reduction of the residual at which the estimate is final
FROM_ZERO, FROM_X, CONTINUE = 0, 1, 2  # see chebyshev.h


class Chebyshev:
    """Smooths A x = b before and after a coarse-grid correction.

    Both directions use the same polynomial, so each is the transpose of the other. All ranks must
    make and use it together. Ranks advance their copies of other ranks' values, too, which saves an
    exchange with each operator.

    Args:
        vectors: layout of the vectors.
        apply: makes A, which needs the copies of its source, and computes those of its target.
        precondition: makes S, which does the same; called after `apply`.
        start: this rank's part, (own,), of a vector to start the eigenvalue estimate from. It
            should not depend on the number of ranks.
        order: number of steps, 1 to 16. Each applies S, and all but the last one A.
        transport: how ranks add up sums, a name in connect.TRANSPORTS, or "auto".

    Attributes:
        vectors: the layout.
        b: the right-hand side, of which `before` reads this rank's own values.
        x: the solution, with copies.
        r: the residual, with copies, after the launches of `residual`.
        before: launches that smooth from x = 0; they fill in the copies of b.
        residual: launches that compute r from b and x.
        after: launches that smooth from the given x.
        parts: A and S, and the exchange of b.
        largest: upper bound of the eigenvalues of S A.
    """

    def __init__(
        self,
        vectors: VectorLayout,
        apply: OperatorFactory,
        precondition: OperatorFactory,
        start: ArrayLike,
        *,
        order: int = 3,
        transport: str = "auto",
    ) -> None:
        self._order = order
        self._connect(vectors, apply, precondition)
        self.largest = SAFETY * self._estimate_largest(np.asarray(start, float), transport)
        self._make_launches()

    def for_components(
        self, count: int, apply: OperatorFactory, precondition: OperatorFactory
    ) -> Chebyshev:
        """The same smoother for vectors of several components, without another estimate."""
        several = copy(self)
        several._connect(replace(self.vectors, components=count), apply, precondition)
        several._make_launches()
        return several

    def _connect(
        self, vectors: VectorLayout, apply: OperatorFactory, precondition: OperatorFactory
    ) -> None:
        self.vectors = vectors
        arrays = [vectors.zeros() for _ in range(6)]
        self.b, self.x, self.r, self._w, self._z, self._total = arrays
        self._apply, self._precondition = apply(self.x, self._w), precondition(self.r, self._z)
        self._halo = _halos(vectors, self.b)
        self.parts: list[LinearOperator] = [self._apply, self._precondition, *self._halo]

    def _make_launches(self) -> None:
        vectors = self.vectors
        backend, table = vectors.backend, coefficients(self._order, self.largest)
        self._table = backend.to_device(table.ravel().astype(vectors.dtype))
        self._module = backend.compile(chebyshev_source(vectors.dtype))
        copied = convert(backend, self.b, self.r, vectors.size)
        self.residual = [*self._apply.launches, *self._subtract_product(self.b)]
        self.before = [*_launches(self._halo), *copied, *self._steps(FROM_ZERO)]
        self.after = [*self.residual, *self._steps(FROM_X)]

    def _steps(self, first: int) -> list[Launch]:
        launches: list[Launch] = []
        for n in range(self._order):
            last = n == self._order - 1
            launches += self._precondition.launches
            launches += self._advance(n, CONTINUE if n else first, last)
            if not last:
                launches += [*self._apply.launches, *self._subtract_product(self.r)]
        return launches

    def _advance(self, n: int, begin: int, last: bool) -> list[Launch]:
        arrays = {"z": self._z, "x": self.x, "total": self._total}
        chosen: KernelArguments = {"coefficients": self._table, "n": n, "begin": begin}
        return self._launch("advance_smoothing", arrays, **chosen, last=int(last))

    def _subtract_product(self, minuend: DeviceArray) -> list[Launch]:
        """r = minuend - A x."""
        arrays = {"minuend": minuend, "subtrahend": self._w, "difference": self.r}
        return self._launch("subtract_values", arrays)

    def _launch(
        self, name: str, arrays: Mapping[str, DeviceArray], **others: KernelArgument
    ) -> list[Launch]:
        """Launches for each component of the arrays."""
        size = self.vectors.size
        return [
            self._module.launch(name, Items(size), **of_one, **others, count=size)
            for of_one in (by_component(arrays) if size else ())
        ]

    def _estimate_largest(self, start: Floats, transport: str) -> float:
        """Estimate the largest eigenvalue of S A from below, to a few per cent; 1 if S is 0."""
        vectors = self.vectors
        iteration = ConjugateGradients(
            vectors,
            lambda x, y: Borrowed(vectors, self._apply, (x, self.x), (self._w, y)),
            precondition=lambda r, z: Borrowed(
                vectors, self._precondition, (r, self.r), (self._z, z)
            ),
            max_iterations=LANCZOS_STEPS,
            transport=transport,
        )
        vectors.backend.assign(iteration.b[: vectors.own], start.astype(vectors.dtype))
        steps = iteration.find_steps(LANCZOS_STEPS, EXHAUSTED)
        iteration.close()
        return largest_of_steps(steps)


class Borrowed(Composite):
    """An operator that belongs to another object, applied to other arrays.

    Args:
        before, after: source and target of copies before and after the operator, of which this
            rank's own values are read.
    """

    def __init__(
        self,
        vectors: VectorLayout,
        operator: LinearOperator,
        before: tuple[DeviceArray, DeviceArray],
        after: tuple[DeviceArray, DeviceArray],
    ) -> None:
        self._halo = _halos(vectors, before[1])
        self.parts = (operator, *self._halo)
        first, last = (convert(vectors.backend, *pair, vectors.own) for pair in (before, after))
        self.launches = [*first, *_launches(self._halo), *operator.launches, *last]

    def close(self) -> None:
        """Close the exchange only: the owner closes the operator."""
        for part in self._halo:
            part.close()


def _halos(vectors: VectorLayout, vector: DeviceArray) -> list[LinearOperator]:
    """What copies other ranks' values into a vector, if anything."""
    return [vectors.halo(vector)] if vectors.halo else []


def _launches(operators: Iterable[LinearOperator]) -> list[Launch]:
    return [launch for operator in operators for launch in operator.launches]


def largest_of_steps(steps: Floats) -> float:
    """The largest eigenvalue of the Lanczos matrix of conjugate gradients; 1 without steps.

    The matrix is tridiagonal, and its eigenvalues approximate those of S A (Saad 2003, Iterative
    methods for sparse linear systems, section 6.7.3).

    Args:
        steps: alpha and beta of each iteration, (iterations, 2).
    """
    if not len(steps):
        return 1.0
    alpha, beta = steps.T
    diagonal = 1 / alpha
    diagonal[1:] += beta[1:] / alpha[:-1]
    off_diagonal = np.sqrt(beta[1:]) / alpha[:-1]
    return float(linalg.eigvalsh_tridiagonal(diagonal, off_diagonal).max())


def coefficients(order: int, largest: float) -> Floats:
    """a, b and c of each step, (order, 3), for eigenvalues up to `largest`."""
    n = np.arange(1, order + 1)
    a, b = (2 * n - 3) / (2 * n + 1), (8 * n - 4) / (2 * n + 1) / largest
    return np.stack([a * (n > 1), b, optimal_weights(order)], axis=1)


@cache
def optimal_weights(order: int) -> Floats:
    """The weights c, (order,).

    They minimise the maximum over (0, 1] of t p(t)^2 / (1 - p(t)^2), where p is the polynomial that
    multiplies the error (Lottes 2023). At the minimum all local maxima equal the value at 0.
    """
    from scipy import optimize  # takes long to import

    angle = np.linspace(0, np.pi, 4001)[1:]
    t, n = np.sin(angle / 2) ** 2, np.arange(order + 1)[:, None]
    plain = np.sin((n + 0.5) * angle) / np.sin(angle / 2) / (2 * n + 1)  # p for weights of 1
    terms = plain[:-1] - plain[1:]
    slopes = 4 / 3 * np.arange(1, order + 1)  # of the terms at t = 0

    def imbalance(weights: Floats) -> Floats:
        p = 1 - weights @ terms
        size = t * p**2 / (1 - p**2)
        inside = (size[1:-1] >= size[:-2]) & (size[1:-1] > size[2:])
        peaks = size[[*np.flatnonzero(inside) + 1, -1]][-order:]
        return np.asarray(np.log(2 * peaks * (weights @ slopes)))

    guess = 1 + 0.4 * (np.arange(1, order + 1) / (order + 0.5)) ** 2
    return np.asarray(optimize.root(imbalance, guess, tol=1e-9).x)


def chebyshev_source(dtype: str) -> Source:
    """The kernels for vectors of a type."""
    constants = precision(dtype)
    return Source(HERE / "chebyshev.h", constants)
