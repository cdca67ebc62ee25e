"""Conjugate gradients on any number of ranks: A x = b for symmetric positive A.

With r = b - A x, u = M r (M the preconditioner) and w = A u, an iteration wants three sums over all
ranks at once, u.r, u.w and r.r; the step along the next direction p follows from them, and A p from
w and what it was before (Chronopoulos & Gear 1989). Sums are taken in a fixed order, of ranks in
theirs, so all ranks have the same numbers, and two runs the same results.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from groundswell.backends import Array, Backend, Blocks, Items, Launch, Source
from groundswell.backends.base import in_order
from groundswell.backends.source import precision
from groundswell.errors import InputError, RunFailed
from groundswell.exchange.connect import by_memory, resolved
from groundswell.exchange.total import GatheredTotal, Total
from groundswell.exchange.world import World

SOURCE = Path(__file__).with_name("cg.h")
OF_RANKS = Path(__file__).with_name("cg_ranks.h")
LANES = 256
SUMS = 3
STEPS = 10  # that are remembered, see cg.h
STATE = 3 + 2 * STEPS  # numbers
MOST_BLOCKS = 512  # for sums: the same on all machines, and so are their bits
LOOK_EVERY = 20  # iterations after which the host looks how far it is


class Held(Protocol):
    """Something of which launches are a part."""

    @property
    def in_graph(self) -> bool:
        """Whether a graph of launches may hold it."""

    def check(self) -> None:
        """See that no wait was in vain."""

    def close(self) -> None:
        """Give back what it holds of other ranks."""


class Applied(Held, Protocol):
    """An operator from one array to another."""

    @property
    def launches(self) -> list[Launch]:
        """All of it."""


Maker = Callable[[Array, Array], Applied]


@dataclass(frozen=True, eq=False)
class Outcome:
    """How an iteration went.

    Args:
        residuals: Euclidean norms of r before each iteration, and after the last.
        converged: whether the last is as small as was asked for.
        seconds: from the first iteration's begin to the last one's end.
    """

    residuals: NDArray[np.float64]
    converged: bool
    seconds: float = 0.0

    @property
    def iterations(self) -> int:
        """How many there were."""
        return len(self.residuals) - 1


class Iteration:
    """Launches that go on until a residual is small; what all conjugate gradients do.

    Args:
        most: iterations.
        at_once: iterations that are recorded together.

    Attributes:
        x: the solution, and where it starts from: 0.
        b: the right-hand side, which becomes the residual.
    """

    x: Array
    b: Array

    def __init__(self, backend: Backend, most: int, *, at_once: int = 1) -> None:
        self._backend, self.most, self._at_once = backend, most, at_once
        self._state = backend.zeros((STATE,), np.float64)
        self._history = backend.zeros((most + at_once,), np.float64)
        self._progress = (self._state, self._history, most)

    def _record(
        self,
        parts: Sequence[Held],
        step: Sequence[Launch],
        measure: Sequence[Launch],
        reset: Sequence[Array],
        start: Sequence[Launch] = (),
    ) -> None:
        """Keep the launches.

        Args:
            parts: what they belong to.
            step: of as many iterations as are done at once.
            measure: the first ones of an iteration, which leave r.r in the history.
            reset: arrays that are zero before the first iteration.
            start: what comes before it.
        """
        self._parts, self._start, self._measure = parts, in_order(start), in_order(measure)
        self._reset = (*reset, self._state, self._history)
        self._in_graph = all(part.in_graph for part in parts)
        self._graph = self._backend.capture(in_order(step), in_graph=self._in_graph)

    def _steps(
        self, world: World, dtype: str, partial: Array, transport: str = "auto"
    ) -> tuple[list[Held], list[Launch]]:
        """What the next step rests on, and what finds it from blocks' sums, (blocks * SUMS,)."""
        backend, module = self._backend, self._backend.compile(cg_source(dtype))
        sums, block = backend.zeros((SUMS,), "f8"), Blocks(1, LANES)
        parts, state = (partial, partial.size // SUMS, sums), self._progress
        if world.size == 1:
            return [], [module.launch("find_step", block, *parts, *state)]
        if by_memory(backend, world, transport):
            return self._common_steps(Total(backend, world, SUMS), dtype, parts)
        total = GatheredTotal(backend, world, sums, resolved(backend, world, transport))
        add_up = module.launch("add_up_parts", block, *parts)
        find = module.launch("find_step", block, sums, 1, sums, *state)
        return [total], [add_up, *total.launches, find]

    def _common_steps(
        self, total: Total, dtype: str, parts: tuple[Array, int, Array]
    ) -> tuple[list[Held], list[Launch]]:
        """The same, of ranks that see each other's memory."""
        module, block = self._backend.compile(of_ranks_source(dtype)), Blocks(1, LANES)
        tell = module.launch("tell_others", block, *parts, *total.arguments)
        told = bool(total.waits)
        arguments = (*parts, int(told), *self._progress, *total.arguments)
        find = module.launch("find_common_step", block, *arguments)
        return [total], [*[tell] * told, *total.waits, find]

    def solve(self, tolerance: float = 0.0) -> Outcome:
        """Iterate until the residual is `tolerance` times the first one, or `most` times.

        Raises:
            InputError: a tolerance below 0, or 1 and more.
            RunFailed: numbers are not finite any more, or A is not positive; a rank is lost.
        """
        require_tolerance(tolerance)
        for array in self._reset:
            self._backend.assign(array, np.zeros((), array.dtype))
        enough = tolerance * tolerance  # of r.r; the device moves nothing more once it is there
        self._backend.assign(self._state[:1], np.array([enough]))
        self._start()
        done, begin = 0, self._backend.mark()
        for upto in self._looks(tolerance):
            self._graph.replay(-(-(upto - done) // self._at_once))
            done, end = upto, self._backend.mark()
            squares = self._squares(done)
            seconds = end.seconds_since(begin)
            small = np.flatnonzero(squares <= enough * squares[0])
            if len(small):
                return Outcome(np.sqrt(squares[: small[0] + 1]), True, seconds)
        self._measure()
        squares = self._squares(self.most + 1)
        return Outcome(np.sqrt(squares), bool(squares[-1] <= enough * squares[0]), seconds)

    def _looks(self, tolerance: float) -> list[int]:
        """Iterations after which the host looks how small the residual is."""
        # Where the host makes every launch, it has time to look.
        every = LOOK_EVERY if self._in_graph else self._at_once
        between = range(every, self.most, every) if tolerance else ()
        return [*between, self.most]

    def _squares(self, count: int) -> NDArray[np.float64]:
        """r.r before each iteration; raises RunFailed."""
        found = np.asarray(self._backend.to_host(self._history[:count]), float)
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


def require_tolerance(tolerance: float) -> None:
    """See that a tolerance is one; raises InputError."""
    if not 0 <= tolerance < 1:
        raise InputError(f"tolerance = {tolerance}; allowed: 0 up to, but not, 1")


class ConjugateGradients(Iteration):
    """Vectors and launches for systems of one size. All ranks must make and use it together.

    Args:
        count: values of this rank's vectors.
        own: how many of these, the first ones, belong to this rank and count in sums.
        dtype: of vectors, "float32" or "float64"; sums are float64.
        apply: makes A.
        precondition: makes M, symmetric and positive, when A is there; none by default.
        most: iterations.
        transport: that sums over ranks take, a name in connect.TRANSPORTS, or "auto".
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
        transport: str = "auto",
    ) -> None:
        super().__init__(backend, most)
        self.x, self.b, w, p, s = (backend.zeros((count,), dtype) for _ in range(5))
        u = self.b if precondition is None else backend.zeros((count,), dtype)
        applied = apply(u, w)
        before = [] if precondition is None else [precondition(self.b, u)]
        made = [*before, applied]
        blocks = max(1, min(MOST_BLOCKS, -(-own // LANES)))
        partial = backend.zeros((blocks * SUMS,), "f8")
        total, find_step = self._steps(world, dtype, partial, transport)
        module = backend.compile(cg_source(dtype))
        measure: list[Launch] = [
            *(launch for part in made for launch in part.launches),
            module.launch(
                "sum_products", Blocks(blocks, LANES), self.b, u, w, own, partial, blocks
            ),
            *find_step,
        ]
        vectors = (u, w, p, s, self.x, self.b)
        advance = module.launch("advance_iterate", Items(own), self._state, *vectors, own)
        step = [*measure, *([advance] if own else [])]
        self._record([*made, *total], step, measure, reset=(self.x, p, s))


def cg_source(dtype: str) -> Source:
    """The kernels for vectors of a type."""
    return Source(SOURCE, precision(dtype))


def of_ranks_source(dtype: str) -> Source:
    """The same, and those for ranks that see each other's memory."""
    return Source(OF_RANKS, precision(dtype))
