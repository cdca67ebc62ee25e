"""Conjugate gradients on any number of ranks: A x = b for symmetric positive A.

With r = b - A x, u = M r (M the preconditioner) and w = A u, an iteration wants three sums over all
ranks at once, u.r, u.w and r.r; the step along the next direction p follows from them, and A p from
w and what it was before (Chronopoulos & Gear 1989). Sums are taken in a fixed order, of ranks in
theirs, so all ranks have the same numbers, and two runs the same results.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from groundswell.backends import Array, Backend, Blocks, Items, Launch, Source
from groundswell.backends.base import in_order
from groundswell.errors import InputError, RunFailed
from groundswell.exchange.assembly.operation import Operation
from groundswell.exchange.assembly.sharing import find_sharing
from groundswell.exchange.world import World

SOURCE = Path(__file__).with_name("cg.h")
LANES = 256
SUMS = 3
BLOCKS_EACH = 4  # of a processor, for sums
LOOK_EVERY = 10  # iterations after which the host looks how far it is


class Applied(Protocol):
    """An operator from one array to another."""

    @property
    def launches(self) -> list[Launch]:
        """All of it."""

    @property
    def in_graph(self) -> bool:
        """Whether a graph of launches may hold it."""

    def check(self) -> None:
        """See that no wait was in vain."""

    def close(self) -> None:
        """Give back what it holds of other ranks."""


Maker = Callable[[Array, Array], Applied]


@dataclass(frozen=True, eq=False)
class Outcome:
    """How an iteration went.

    Args:
        residuals: Euclidean norms of r before each iteration, and after the last that counts: x may
            have been through some more, since the host looks now and then only.
        converged: whether the last is as small as was asked for.
    """

    residuals: NDArray[np.float64]
    converged: bool

    @property
    def iterations(self) -> int:
        """How many there were."""
        return len(self.residuals) - 1


class ConjugateGradients:
    """Vectors and launches for systems of one size. All ranks must make and use it together.

    Args:
        count: values of this rank's vectors.
        own: how many of these, the first ones, belong to this rank and count in sums.
        dtype: of vectors, "float32" or "float64"; sums are float64.
        apply: makes A.
        precondition: makes M, symmetric and positive, when A is there; none by default.
        most: iterations.

    Attributes:
        x: the solution, and where it starts from: 0.
        b: the right-hand side, which becomes the residual.
    """

    def __init__(
        self,
        backend: Backend,
        world: World,
        count: int,
        own: int,
        dtype: str,
        apply: Maker,
        *,
        precondition: Maker | None = None,
        most: int = 1000,
    ) -> None:
        self._backend, self.most = backend, most
        self.x, self.b, w, p, s = (backend.zeros((count,), dtype) for _ in range(5))
        u = self.b if precondition is None else backend.zeros((count,), dtype)
        self._directions = (p, s)
        self._state = backend.zeros((4,), np.float64)
        self._history = backend.zeros((most + 1,), np.float64)
        applied = apply(u, w)
        before = [] if precondition is None else [precondition(self.b, u)]
        self._parts: list[Applied] = [*before, applied]
        blocks = max(1, min(BLOCKS_EACH * backend.processors, -(-own // LANES)))
        partial, sums = backend.zeros((blocks * SUMS,), "f8"), backend.zeros((SUMS,), "f8")
        # Everybody's sums are shared values with the same three ids.
        shared = find_sharing(world, np.arange(SUMS))
        self._total = Operation(backend, world, shared, "gather-scatter", sums, sums)
        module = backend.compile(cg_source(dtype))
        vectors = (u, w, p, s, self.x, self.b)
        self._measure: list[Launch] = [
            *(launch for part in self._parts for launch in part.launches),
            module.launch(
                "sum_products", Blocks(blocks, LANES), self.b, u, w, own, partial, blocks
            ),
            module.launch("sum_blocks", Blocks(1, LANES), partial, blocks, sums),
            *self._total.launches,
            module.launch("find_step", Items(1), sums, self._state, self._history),
        ]
        advance = module.launch("advance_iterate", Items(own), self._state, *vectors, own)
        step = [*self._measure, *([advance] if own else [])]
        self._parts.append(self._total)
        in_graph = all(part.in_graph for part in self._parts)
        self._graph = backend.capture(in_order(step), in_graph=in_graph)

    def solve(self, tolerance: float = 0.0) -> Outcome:
        """Iterate until the residual is `tolerance` times the first one, or `most` times.

        Raises:
            InputError: a tolerance below 0, or 1 and more.
            RunFailed: numbers are not finite any more, or A is not positive; a rank is lost.
        """
        if not 0 <= tolerance < 1:
            raise InputError(f"tolerance = {tolerance}; allowed: 0 up to, but not, 1")
        self._done = 0
        for array in (self.x, *self._directions, self._state, self._history):
            self._backend.assign(array, np.zeros((), array.dtype))
        for done in [*range(LOOK_EVERY, self.most, LOOK_EVERY), self.most]:
            self._graph.replay(done - self._done)
            self._done = done
            found = self._residuals(done)
            small = np.flatnonzero(found <= tolerance * found[0])
            if len(small):
                return Outcome(found[: small[0] + 1], converged=True)
        in_order(self._measure)()
        found = self._residuals(self.most + 1)
        return Outcome(found, converged=bool(found[-1] <= tolerance * found[0]))

    def _residuals(self, count: int) -> NDArray[np.float64]:
        found = np.sqrt(self._backend.to_host(self._history[:count]))
        for part in self._parts:
            part.check()
        if len(bad := np.flatnonzero(~np.isfinite(found))):
            raise RunFailed(
                f"conjugate gradients: the residual before iteration {bad[0] + 1} is not finite: "
                "what the operator makes of a vector is not, or it is not positive"
            )
        return found

    def close(self) -> None:
        """Give back what it holds of other ranks; every rank must, before MPI ends."""
        for part in self._parts:
            part.close()


def cg_source(dtype: str) -> Source:
    """The kernels for vectors of a type."""
    return Source(SOURCE, {"DOUBLE_PRECISION": 1} if np.dtype(dtype) == np.float64 else {})
