"""Chebyshev smoothing: damps the components of an error that an operator makes large.

With S a symmetric positive definite preconditioner, such as the inverse of A's diagonal, a step
sets d = a d + b S r, adds c d to x and subtracts A d from r. The error is multiplied by a
Chebyshev polynomial of the fourth kind of S A, which needs no lower bound of the upper part of the
spectrum. The weights c minimise the bound of a V-cycle's convergence (Lottes 2023, Numer. Linear
Algebra Appl. 30, arXiv:2202.08830; Phillips & Fischer 2022, Optimal Chebyshev smoothers and
one-sided V-cycles).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg, optimize

from groundswell.arrays import DeviceArray, Floats
from groundswell.backends import Items, KernelArgument, Launch, Source
from groundswell.backends.base import in_order
from groundswell.backends.source import precision
from groundswell.exchange.communicator import Communicator
from groundswell.linear.operators import (
    HERE,
    LinearOperator,
    OperatorFactory,
    VectorLayout,
    convert,
)

Product = Callable[[Floats], Floats]

LANCZOS_STEPS = 20  # to estimate the largest eigenvalue
SAFETY = 1.05  # factor on that estimate, which is a lower bound
EXHAUSTED = 1e-10  # squared reduction of the residual at which the estimate is final
FROM_ZERO, FROM_X, CONTINUE = 0, 1, 2  # see chebyshev.h


class Chebyshev:
    """Smooths A x = b before and after a coarse-grid correction.

    Both directions use the same polynomial, so each is the transpose of the other. All ranks must
    make and use it together.

    Args:
        vectors: layout of the vectors.
        apply: makes A.
        precondition: makes S; called after `apply`.
        start: this rank's part, (own,), of a vector to start the eigenvalue estimate from. It
            should not depend on the number of ranks.
        order: number of steps, 1 to 16. Each applies S, and all but the last one A.

    Attributes:
        vectors: the layout.
        b: the right-hand side.
        x: the solution.
        r: the residual, after the launches of `residual`.
        before: launches that smooth from x = 0.
        residual: launches that compute r from b and x.
        after: launches that smooth from the given x.
        parts: A and S.
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
    ) -> None:
        backend = vectors.backend
        self.vectors, self._order = vectors, order
        arrays = [vectors.zeros() for _ in range(6)]
        self.b, self.x, self.r, self._w, self._z, self._total = arrays
        self._apply, self._precondition = apply(self.x, self._w), precondition(self.r, self._z)
        self.parts: list[LinearOperator] = [self._apply, self._precondition]
        self.largest = SAFETY * largest_eigenvalue(
            vectors.comm,
            self._product(self._apply, self.x, self._w),
            self._product(self._precondition, self.r, self._z),
            np.asarray(start, float),
        )
        table = coefficients(order, self.largest)
        self._table = backend.to_device(table.ravel().astype(vectors.dtype))
        self._module = backend.compile(chebyshev_source(vectors.dtype))
        copy = convert(backend, self.b, self.r, vectors.own)
        self.residual = [*self._apply.launches, *self._subtract_product(self.b)]
        self.before = [*copy, *self._steps(FROM_ZERO)]
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
        arrays = {"z": self._z, "x": self.x, "total": self._total, "coefficients": self._table}
        return self._launch("advance_smoothing", n=n, begin=begin, last=int(last), **arrays)

    def _subtract_product(self, minuend: DeviceArray) -> list[Launch]:
        """r = minuend - A x."""
        arrays = {"minuend": minuend, "subtrahend": self._w, "difference": self.r}
        return self._launch("subtract_values", **arrays)

    def _launch(self, name: str, **arguments: KernelArgument) -> list[Launch]:
        own = self.vectors.own
        return [self._module.launch(name, Items(own), **arguments, count=own)] if own else []

    def _product(
        self, operator: LinearOperator, source: DeviceArray, target: DeviceArray
    ) -> Product:
        """The operator as a function of this rank's own values on the host."""
        own, backend = self.vectors.own, self.vectors.backend

        def product(values: Floats) -> Floats:
            backend.assign(source[:own], values.astype(source.dtype))
            in_order(operator.launches)()
            return np.asarray(backend.to_host(target[:own]), float)

        return product


def largest_eigenvalue(
    comm: Communicator, apply: Product, precondition: Product, start: Floats
) -> float:
    """Estimate the largest eigenvalue of S A from below, to a few per cent; 1 if S is 0.

    The steps of conjugate gradients on A x = start, preconditioned by S, define the tridiagonal
    Lanczos matrix of S A (Saad 2003, Iterative methods for sparse linear systems, section 6.7.3).
    """

    def product(a: Floats, b: Floats) -> float:
        return float(sum(comm.allgather(float(a @ b))))

    r, z = start, precondition(start)
    p, size = z, product(start, z)
    diagonal: list[float] = []
    off_diagonal: list[float] = []
    exhausted = EXHAUSTED * size
    alpha, beta = 1.0, 0.0
    while len(diagonal) < LANCZOS_STEPS and size > exhausted:
        w = apply(p)
        previous, alpha = alpha, size / product(p, w)
        diagonal.append(1 / alpha + beta / previous)
        r = r - alpha * w
        z = precondition(r)
        size, last = product(r, z), size
        beta = size / last
        off_diagonal.append(np.sqrt(beta) / alpha)
        p = z + beta * p
    if not diagonal:
        return 1.0
    return float(linalg.eigvalsh_tridiagonal(diagonal, off_diagonal[: len(diagonal) - 1]).max())


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
