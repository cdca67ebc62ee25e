"""Conjugate gradients on any number of ranks: A x = b for symmetric positive definite A.

With r = b - A x, u = M r (M the preconditioner) and w = A u, an iteration needs the three global
sums u.r, u.w and r.r at once. They determine the step along the next direction p, and A p follows
from w and the previous A p (Chronopoulos & Gear 1989). Sums are taken in a fixed order, so all
ranks have the same numbers and all runs the same result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from groundswell.arrays import DeviceArray, Floats
from groundswell.backends import (
    Backend,
    Blocks,
    Graph,
    Items,
    Launch,
    LaunchTime,
    Listing,
    Source,
    TimedGraph,
    list_launches,
)
from groundswell.backends.base import in_order
from groundswell.backends.launch import KernelArguments
from groundswell.backends.source import precision
from groundswell.errors import RunFailed, counted
from groundswell.exchange.allreduce import GatheredAllReduce, PeerAllReduce
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.connect import by_memory, resolved
from groundswell.linear.operators import (
    Composite,
    GraphPart,
    OperatorFactory,
    VectorLayout,
    by_component,
    components_of,
)

SOURCE = Path(__file__).with_name("cg.h")
SHARED_MEMORY_SOURCE = Path(__file__).with_name("cg_ranks.h")
LANES = 256
SUMS = 3
STEPS = 10  # kept on the device, see cg.h
STATE_SIZE = 3 + 2 * STEPS
MAX_BLOCKS = 512  # of sums; the same on all machines, so that their bits are
# Iterations between checks of convergence by the host. Kernels of the iteration return at once when
# it has ended, but those of a preconditioner do not.
CHECK_EVERY, CHECK_EXPENSIVE = 20, 1
MAX_ITERATIONS = 1000


@dataclass(frozen=True, eq=False)
class ConvergenceHistory:
    """How an iteration converged.

    Args:
        residuals: Euclidean norms of r before each iteration and after the last.
        converged: whether the last residual met the tolerance.
        seconds: from the start of the first iteration to the end of the last.
    """

    residuals: Floats
    converged: bool
    seconds: float = 0.0

    @property
    def iterations(self) -> int:
        """Number of iterations."""
        return len(self.residuals) - 1

    @property
    def reduction(self) -> float:
        """The last residual over the first one."""
        return float(self.residuals[-1] / (self.residuals[0] or 1.0))


class RecordedIteration(Composite):
    """Base class of conjugate gradients: runs recorded launches until the residual is small.

    Args:
        max_iterations: limit on the number of iterations.
        batch: iterations that are recorded together.
        check_every: iterations between checks of convergence by the host.

    Attributes:
        x: the solution; the initial guess is 0.
        b: the right-hand side, which becomes the residual.
    """

    x: DeviceArray
    b: DeviceArray

    def __init__(
        self,
        backend: Backend,
        max_iterations: int,
        *,
        batch: int = 1,
        check_every: int = CHECK_EVERY,
    ) -> None:
        self._backend, self.max_iterations, self._batch = backend, max_iterations, batch
        self._check_every = check_every
        self._state = backend.zeros((STATE_SIZE,), np.float64)
        self._history = backend.zeros((max_iterations + batch,), np.float64)
        arrays = {"state": self._state, "history": self._history}
        self._progress: KernelArguments = {**arrays, "max_iterations": max_iterations}
        self._timed: TimedGraph | None = None

    def _record(
        self,
        parts: Sequence[GraphPart],
        step: Sequence[Launch],
        measure: Sequence[Launch],
        reset: Sequence[DeviceArray],
        start: Sequence[Launch] = (),
    ) -> None:
        """Record the launches.

        Args:
            parts: what the launches belong to.
            step: a batch of iterations.
            measure: the first launches of an iteration, up to r.r in the history.
            reset: arrays that are 0 before the first iteration.
            start: launches before the first iteration.
        """
        self.parts, self._start, self._measure = parts, in_order(start), in_order(measure)
        self._reset = (*reset, self._state, self._history)
        self._step = in_order(step)
        self._graph: Graph = self._backend.capture(self._step, in_graph=self.in_graph)

    def list_iterations(self) -> Listing:
        """The launches of a batch of iterations."""
        of = counted(self._batch, "iteration")
        return list_launches(self._step, {"x": self.x, "b": self.b}, of)

    def time_launches(self) -> None:
        """Time the launches of the second batch of iterations; see `TimedGraph`."""
        self._graph = self._timed = TimedGraph(self._backend, self._graph, self._step, first=2)

    def launch_times(self, iterations: int) -> tuple[str, list[LaunchTime]]:
        """What was timed, such as "iteration 2", and the times; none if nothing was.

        Args:
            iterations: made in the solution. After the last one, kernels return at once, so their
                times say nothing.
        """
        first, last = self._batch + 1, 2 * self._batch
        of = f"iterations {first} to {last}" if last > first else f"iteration {last}"
        return of, self._timed.times if self._timed and iterations >= last else []

    def _find_step(
        self, comm: Communicator, dtype: str, partial: DeviceArray, transport: str = "auto"
    ) -> tuple[list[GraphPart], list[Launch]]:
        """Launches that find the next step from blocks' sums, (blocks * SUMS,), and their parts."""
        backend, module = self._backend, self._backend.compile(cg_source(dtype))
        sums, block = backend.zeros((SUMS,), "f8"), Blocks(1, LANES)
        parts: KernelArguments = {"partial": partial, "parts": partial.size // SUMS, "sums": sums}
        if comm.size == 1:
            return [], [module.launch("find_step", block, **parts, **self._progress)]
        if by_memory(backend, comm, transport):
            return self._find_step_by_memory(PeerAllReduce(backend, comm, SUMS), dtype, parts)
        reduce = GatheredAllReduce(backend, comm, sums, resolved(backend, comm, transport))
        add_up = module.launch("add_up_parts", block, **parts)
        total: KernelArguments = {"partial": sums, "parts": 1, "sums": sums}
        find = module.launch("find_step", block, **total, **self._progress)
        return [reduce], [add_up, *reduce.launches, find]

    def _find_step_by_memory(
        self, reduce: PeerAllReduce, dtype: str, parts: KernelArguments
    ) -> tuple[list[GraphPart], list[Launch]]:
        """The same for ranks with access to each other's memory."""
        module, block = self._backend.compile(cg_ranks_source(dtype)), Blocks(1, LANES)
        send = module.launch("send_partial_sums", block, **parts, **reduce.arguments)
        is_separate = bool(reduce.waits)
        arguments = {**parts, **self._progress, **reduce.arguments}
        find = module.launch("find_global_step", block, sent=int(is_separate), **arguments)
        return [reduce], [*[send] * is_separate, *reduce.waits, find]

    def solve(self, tolerance: float = 0.0) -> ConvergenceHistory:
        """Iterate until the residual is `tolerance` times the first one, or to the limit.

        Raises:
            RunFailed: values are not finite, A is not positive definite, or a rank is lost.
        """
        square = self._begin(tolerance)
        done, begin = 0, self._backend.record_event()
        for upto in self._checkpoints(tolerance):
            self._graph.replay(-(-(upto - done) // self._batch))
            done, end = upto, self._backend.record_event()
            squares = self._squares(done)
            seconds = end.seconds_since(begin)
            small = np.flatnonzero(squares <= square * squares[0])
            if len(small) or done % CHECK_EVERY == 0:
                self.check()
            if len(small):
                return ConvergenceHistory(np.sqrt(squares[: small[0] + 1]), True, seconds)
        self._measure()
        squares = self._squares(self.max_iterations + 1)
        self.check()
        converged = bool(squares[-1] <= square * squares[0])
        return ConvergenceHistory(np.sqrt(squares), converged, seconds)

    def find_steps(self, count: int, tolerance: float) -> Floats:
        """Iterate, and return alpha and beta of each iteration, (iterations, 2).

        alpha is the length of a step, and beta the factor of the previous direction.

        Args:
            count: limit on the number of iterations, a multiple of STEPS.
            tolerance: reduction of the residual at which the iteration ends.

        Raises:
            RunFailed: see `solve`.
        """
        self._begin(tolerance)
        found: list[Floats] = []
        for _ in range(0, count, STEPS):
            self._graph.replay(STEPS // self._batch)
            state = np.asarray(self._backend.to_host(self._state))
            found.extend(state[-2 * STEPS :].reshape(STEPS, 2)[::-1])
        self._squares(count)
        self.check()
        steps = np.array(found)
        return steps[: np.append(steps[:, 0], 0.0).tolist().index(0.0)]

    def _begin(self, tolerance: float) -> float:
        """Prepare the first iteration; return the square of the tolerance, which limits r.r."""
        for array in self._reset:
            self._backend.assign(array, np.zeros((), array.dtype))
        square = tolerance * tolerance  # the device stops by itself once it is reached
        self._backend.assign(self._state[:1], np.array([square]))
        self._start()
        return square

    def _checkpoints(self, tolerance: float) -> list[int]:
        """Iterations after which the host checks the residual."""
        # Without a graph the host makes every launch, so it can check after each batch.
        every = self._check_every if self.in_graph else self._batch
        between = range(every, self.max_iterations, every) if tolerance else ()
        return [*between, self.max_iterations]

    def _squares(self, count: int) -> Floats:
        """r.r before each of the first iterations; raises RunFailed if it is not finite."""
        squares = np.asarray(self._backend.to_host(self._history[:count]), float)
        if len(bad := np.flatnonzero(~np.isfinite(squares))):
            self.check()
            raise RunFailed(
                f"conjugate gradients: the residual before iteration {bad[0] + 1} is not finite: "
                "the operator returned values that are not finite, or it is not positive definite"
            )
        return squares


class ConjugateGradients(RecordedIteration):
    """Conjugate gradients for any operator. All ranks must make and use it together.

    Args:
        vectors: layout of x and b; sums are in double precision, over all components.
        apply: makes A.
        precondition: makes M, symmetric positive definite; called after `apply`.
        max_iterations: limit on the number of iterations.
        transport: of sums over ranks, a name in connect.TRANSPORTS, or "auto".
    """

    def __init__(
        self,
        vectors: VectorLayout,
        apply: OperatorFactory,
        *,
        precondition: OperatorFactory | None = None,
        max_iterations: int = MAX_ITERATIONS,
        transport: str = "auto",
    ) -> None:
        backend, check_every = vectors.backend, CHECK_EXPENSIVE if precondition else CHECK_EVERY
        super().__init__(backend, max_iterations, check_every=check_every)
        self.x, self.b, w, p, s = (vectors.zeros() for _ in range(5))
        u = self.b if precondition is None else vectors.zeros()
        applied = apply(u, w)
        operators = [*([] if precondition is None else [precondition(self.b, u)]), applied]
        blocks = max(1, min(MAX_BLOCKS, -(-vectors.own // LANES)))
        partial = backend.zeros((vectors.components, blocks * SUMS), "f8")
        total, find_step = self._find_step(vectors.comm, vectors.dtype, partial, transport)
        arrays = {"u": u, "w": w, "r": self.b}
        measure: list[Launch] = [
            *(launch for operator in operators for launch in operator.launches),
            *_sum_products(vectors, arrays, partial),
            *find_step,
        ]
        advance = _advance(vectors, self._state, {**arrays, "p": p, "s": s, "x": self.x})
        self._record([*operators, *total], [*measure, *advance], measure, reset=(self.x, p, s))


def _sum_products(
    vectors: VectorLayout, arrays: Mapping[str, DeviceArray], partial: DeviceArray
) -> list[Launch]:
    """Launches that find the sums of each block, (components, blocks * SUMS)."""
    module = vectors.backend.compile(cg_source(vectors.dtype))
    blocks = partial.shape[-1] // SUMS
    extent, counts = Blocks(blocks, LANES), {"count": vectors.own, "blocks": blocks}
    each = zip(by_component(arrays), components_of(partial), strict=True)
    return [
        module.launch("sum_products", extent, partial=sums, **of_one, **counts)
        for of_one, sums in each
    ]


def _advance(
    vectors: VectorLayout, state: DeviceArray, arrays: Mapping[str, DeviceArray]
) -> list[Launch]:
    """Launches that take a step."""
    module, own = vectors.backend.compile(cg_source(vectors.dtype)), vectors.own
    return [
        module.launch("advance_iterate", Items(own), state=state, count=own, **of_one)
        for of_one in (by_component(arrays) if own else ())
    ]


def cg_source(dtype: str) -> Source:
    """The kernels for vectors of a type."""
    return Source(SOURCE, precision(dtype))


def cg_ranks_source(dtype: str) -> Source:
    """The same, with those for ranks that have access to each other's memory."""
    return Source(SHARED_MEMORY_SOURCE, precision(dtype))
