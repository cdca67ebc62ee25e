"""Smoothing by Chebyshev's iteration: what an operator makes large of an error is made small.

With S symmetric and positive, such as the inverse of A's diagonal, a step finds d = a d + b S r,
adds c d to x and takes A d from r. The error becomes a polynomial of S A times what it was:

- "first": Chebyshev's of the first kind, the least on the upper part of the spectrum (Adams,
  Brezina, Hu & Tuminaro 2003, J. Comput. Phys. 188).
- "fourth": of the fourth kind, which need not know where the upper part begins, with weights c that
  make the bound of a V-cycle's convergence the best (Lottes 2023, Numer. Linear Algebra Appl. 30,
  arXiv:2202.08830; Phillips & Fischer 2022, Optimal Chebyshev smoothers and one-sided V-cycles).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg, optimize

from groundswell.backends import Array, Backend, Items, Launch, Source
from groundswell.backends.base import in_order
from groundswell.backends.source import precision
from groundswell.errors import InputError
from groundswell.exchange.world import World
from groundswell.linear.cg import Applied, Maker

Floats = NDArray[np.float64]
Product = Callable[[Floats], Floats]

HERE = Path(__file__).parent
KINDS = ("fourth", "first")
MOST_STEPS = 16
UPPER_PART = 10  # of the spectrum, that of the first kind: its ends are so far apart
STEPS = 20  # that the largest eigenvalue is looked for in
MARGIN = 1.05  # for what it is larger than was found
SMALLEST = 1e-10  # square of the residual over the first, at which nothing is left to look for
FROM_ZERO, FROM_GIVEN, ON = 0, 1, 2  # see chebyshev.h
C_TYPES = {"float32": "float", "float64": "double"}


class Chebyshev:
    """Vectors and launches that bring x nearer to the solution of A x = b, before and after others.

    Both ways are the same polynomial, and so each the transpose of the other. All ranks must make
    and use it together.

    Args:
        count: values of this rank's vectors.
        own: how many of these, the first ones, belong to this rank.
        dtype: of vectors, "float32" or "float64".
        apply: makes A.
        inner: makes S, when A is there.
        start: values that the largest eigenvalue is looked for from, (own,), the same for a
            value's owner however the ranks share them.
        order: steps, 1 to 16; each takes one S, and all but the last one A.
        kind: one of KINDS.

    Attributes:
        b: the right-hand side.
        x: the solution.
        r: the residual, once `residual` has run.
        before: launches that begin at x = 0.
        residual: launches that make r of b and x.
        after: launches that go on from x.
        largest: bound of the eigenvalues of S A.

    Raises:
        InputError: another order or kind.
    """

    def __init__(
        self,
        backend: Backend,
        world: World,
        count: int,
        own: int,
        dtype: str,
        apply: Maker,
        inner: Maker,
        start: ArrayLike,
        *,
        order: int = 3,
        kind: str = "fourth",
    ) -> None:
        _require(order, kind)
        self._backend, self._own, self._order = backend, own, order
        vectors = [backend.zeros((count,), dtype) for _ in range(6)]
        self.b, self.x, self.r, self._w, self._z, self._total = vectors
        self._apply, self._inner = apply(self.x, self._w), inner(self.r, self._z)
        self.parts: list[Applied] = [self._apply, self._inner]
        self.largest = MARGIN * largest_eigenvalue(
            world,
            self._product(self._apply, self.x, self._w),
            self._product(self._inner, self.r, self._z),
            np.asarray(start, float),
        )
        table = coefficients(kind, order, self.largest)
        self._table = backend.to_device(table.ravel().astype(dtype))
        self._module = backend.compile(chebyshev_source(dtype))
        copy = convert(backend, self.b, self.r, own)
        self.residual = [*self._apply.launches, *self._subtract(self.b)]
        self.before = [*copy, *self._steps(FROM_ZERO)]
        self.after = [*self.residual, *self._steps(FROM_GIVEN)]

    def _steps(self, begin: int) -> list[Launch]:
        found: list[Launch] = []
        for n in range(self._order):
            last = n == self._order - 1
            found += self._inner.launches
            found += self._advance(n, ON if n else begin, last)
            if not last:
                found += [*self._apply.launches, *self._subtract(self.r)]
        return found

    def _advance(self, n: int, begin: int, last: bool) -> list[Launch]:
        vectors = (self._z, self.x, self._total, self._table)
        return self._launch("advance_smoothing", *vectors, n, begin, int(last))

    def _subtract(self, minuend: Array) -> list[Launch]:
        return self._launch("subtract_values", minuend, self._w, self.r)

    def _launch(self, name: str, *arguments: Array | int) -> list[Launch]:
        own = self._own
        return [self._module.launch(name, Items(own), *arguments, own)] if own else []

    def _product(self, part: Applied, source: Array, target: Array) -> Product:
        """What a part does, with values on the host, of which this rank's count."""
        own, backend = self._own, self._backend

        def product(values: Floats) -> Floats:
            backend.assign(source[:own], values.astype(source.dtype))
            in_order(part.launches)()
            return np.asarray(backend.to_host(target[:own]), float)

        return product


def largest_eigenvalue(
    world: World, apply: Product, inner: Product, start: Floats, most: int = STEPS
) -> float:
    """Of S A, to a few per cent from below; 1 if there is nothing to look for.

    Conjugate gradients on A x = start, preconditioned by S, know the matrix that Lanczos's method
    makes of S A (Saad 2003, Iterative methods for sparse linear systems, section 6.7.3).
    """

    def product(a: Floats, b: Floats) -> float:
        return float(sum(world.share(float(a @ b))))

    r, z = start, inner(start)
    p, size = z, product(start, z)
    diagonal: list[float] = []
    beside: list[float] = []
    smallest = SMALLEST * size
    alpha, beta = 1.0, 0.0
    while len(diagonal) < most and size > smallest:
        w = apply(p)
        before, alpha = alpha, size / product(p, w)
        diagonal.append(1 / alpha + beta / before)
        r = r - alpha * w
        z = inner(r)
        size, last = product(r, z), size
        beta = size / last
        beside.append(np.sqrt(beta) / alpha)
        p = z + beta * p
    if not diagonal:
        return 1.0
    return float(linalg.eigvalsh_tridiagonal(diagonal, beside[: len(diagonal) - 1]).max())


def coefficients(kind: str, order: int, largest: float) -> Floats:
    """a, b and c of each step, (order, 3), for eigenvalues up to `largest`.

    Of the first kind: Saad 2003, Iterative methods for sparse linear systems, algorithm 12.1.
    """
    if kind == "fourth":
        n = np.arange(1, order + 1)
        a, b = (2 * n - 3) / (2 * n + 1), (8 * n - 4) / (2 * n + 1) / largest
        return np.stack([a * (n > 1), b, optimal_weights(order)], axis=1)
    least = largest / UPPER_PART
    middle, half = (largest + least) / 2, (largest - least) / 2
    ratio, rows = half / middle, [(0.0, 1 / middle, 1.0)]
    for _ in range(1, order):
        ratio, last = 1 / (2 * middle / half - ratio), ratio
        rows.append((ratio * last, 2 * ratio / half, 1.0))
    return np.array(rows)


@cache
def optimal_weights(order: int) -> Floats:
    """c of each step of the fourth kind, (order,).

    With them the largest value of t p(t)^2 / (1 - p(t)^2) on (0, 1], p being what the error is
    multiplied by, is the least possible (Lottes 2023): its value at 0 and all its maxima are then
    the same.
    """
    angle = np.linspace(0, np.pi, 4001)[1:]
    t, n = np.sin(angle / 2) ** 2, np.arange(order + 1)[:, None]
    plain = np.sin((n + 0.5) * angle) / np.sin(angle / 2) / (2 * n + 1)  # p, were all weights 1
    shares = plain[:-1] - plain[1:]
    slopes = 4 / 3 * np.arange(1, order + 1)  # of shares at t = 0

    def uneven(weights: Floats) -> Floats:
        p = 1 - weights @ shares
        size = t * p**2 / (1 - p**2)
        inside = (size[1:-1] >= size[:-2]) & (size[1:-1] > size[2:])
        peaks = size[[*np.flatnonzero(inside) + 1, -1]][-order:]
        return np.asarray(np.log(2 * peaks * (weights @ slopes)))

    guess = 1 + 0.4 * (np.arange(1, order + 1) / (order + 0.5)) ** 2
    return np.asarray(optimize.root(uneven, guess, tol=1e-9).x)


def convert(backend: Backend, source: Array, target: Array, count: int) -> list[Launch]:
    """Copies the first values of one array to another, which may be of another type."""
    if not count:
        return []
    module = backend.compile(convert_source(str(source.dtype), str(target.dtype)))
    return [module.launch("convert_values", Items(count), source, target, count)]


def chebyshev_source(dtype: str) -> Source:
    """The kernels for vectors of a type."""
    double = precision(dtype)
    return Source(HERE / "chebyshev.h", double)


def convert_source(source: str, target: str) -> Source:
    """The kernel for values of one type to another."""
    return Source(HERE / "convert.h", {"FROM": C_TYPES[source], "TO": C_TYPES[target]})


def _require(order: int, kind: str) -> None:
    if not 1 <= order <= MOST_STEPS:
        raise InputError(f"order = {order}; allowed: 1 to {MOST_STEPS}")
    if kind not in KINDS:
        raise InputError(f"kind = {kind!r}; allowed: {', '.join(KINDS)}")
