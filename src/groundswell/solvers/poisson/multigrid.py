"""p-multigrid: a V-cycle over falling degrees on the same elements, a preconditioner for CG.

On each degree but the lowest, a Chebyshev iteration smooths before and after the coarse correction,
with additive Schwarz as its preconditioner (Lottes & Fischer 2005, J. Sci. Comput. 24;
Phillips, Kerkemeier & Fischer 2022, Tuning spectral element preconditioners for parallel
scalability on GPUs). A library on the host solves degree 1, and for values along lines through flat
elements (see `lines`). The same polynomial before and after,
and transfers that are transposes of each other, make the cycle symmetric positive definite. Each
level takes one smoothing step more than the level above, where steps cost more (a variable V-cycle;
Bramble & Pasciak 1987, Math. Comp. 49).
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from itertools import groupby, pairwise
from operator import itemgetter

import numpy as np

from groundswell.arrays import DeviceArray, Floats, Integers, Mask
from groundswell.backends import Backend, Launch
from groundswell.backends.base import in_order, in_section
from groundswell.backends.host_threads import mapped
from groundswell.backends.launch import Replay
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.gather_scatter.sharing import hash_ids
from groundswell.linear.chebyshev import Chebyshev
from groundswell.linear.coarse import CoarseCycle, CoarseSolver, make_coarse_solver
from groundswell.linear.operators import (
    Composite,
    LinearOperator,
    VectorLayout,
    convert,
)
from groundswell.solvers.poisson.equation import DiscreteEquation, Equation
from groundswell.solvers.poisson.grid_transfer import GridTransfer
from groundswell.solvers.poisson.kernel_groups import COARSEST, LINES, level_section
from groundswell.solvers.poisson.level_geometry import LevelGeometry
from groundswell.solvers.poisson.lines import LineCorrection, correct_lines, shortest_axes
from groundswell.solvers.poisson.operator import OperatorOnCopies
from groundswell.solvers.poisson.schwarz import Schwarz
from groundswell.spectral_elements.space import FunctionSpace

DTYPES = ("float32", "float64")
Piece = tuple[list[Launch], bool]  # and whether it runs on the device


@dataclass(frozen=True)
class Cycle:
    """Options of a cycle.

    Args:
        dtype: of all its vectors. Residuals are converted, and must be in the range of the type. By
            default float32, but float64 with flat elements, in which rounding errors of the strong
            coupling hide the weak one.
        degrees: of the levels, falling from the equation's to 1; by default see `level_degrees`.
        order: steps of the smoothing on the highest level; each lower level takes one more.
        coarse: how degree 1 is solved, see `make_coarse_solver`.
    """

    dtype: str | None = None
    degrees: tuple[int, ...] | None = None
    order: int = 4
    coarse: str = "auto"

    def levels(self, degree: int) -> tuple[int, ...]:
        """Degrees of the levels for an equation of this degree."""
        return self.degrees or level_degrees(degree)


class Multigrid(Composite):
    """One cycle, from x to y. All ranks must make it and run it together.

    If the host solves a part, graphs of the other parts are replayed, and no graph can record it.

    Args:
        space: of the highest degree.
        equation: its coefficients, and the tags of fixed sides.
        x: assembled values, of which this rank's own are read; 0 where they are prescribed.
        y: assembled values, of which this rank's own are computed.
        cycle: options.

    Attributes:
        levels: of all degrees but the lowest.
        launches: the cycle.

    Raises:
        InputError: the options do not fit, elements are inverted as polynomials of a lower degree,
            or the coarsest matrix is singular.
    """

    def __init__(
        self,
        backend: Backend,
        space: FunctionSpace,
        equation: Equation | DiscreteEquation,
        x: DeviceArray,
        y: DeviceArray,
        *,
        cycle: Cycle | None = None,
    ) -> None:
        cycle, equation = cycle or Cycle(), equation.on(space)
        degrees = cycle.levels(space.degree)
        spaces = [space, *(space.coarsen(degree) for degree in degrees[1:])]
        geometries = [
            LevelGeometry.of(each, equation, has_coarsest=each is space)
            for each in spaces[: max(1, len(spaces) - 1)]
        ]
        shortest = shortest_axes(geometries[0].stretches)
        has_flat = any(space.comm.allgather(bool((shortest >= 0).any())))
        dtype = cycle.dtype or ("float64" if has_flat else "float32")
        self.levels = [
            Level(backend, *of_level, equation, dtype, cycle.order + n)
            for n, of_level in enumerate(zip(spaces[:-1], geometries, strict=False))
        ]
        lowest = spaces[-1].vectors(backend, dtype)
        matrices = geometries[0].coarsest
        self._coarse = _make_coarse_solver(lowest, spaces[-1], matrices, equation, cycle.coarse)
        self._transfers = self._connect(backend, spaces)
        self._lines = [
            part
            for level in self.levels[: int(has_flat)]
            for part in correct_lines(*(space, shortest, equation, level.operator, level.smoother))
        ]
        self._backend, self._own = backend, space.own
        self._assemble(x, y)

    def for_components(self, x: DeviceArray, y: DeviceArray) -> Multigrid:
        """The cycle of all components of x and y, (components, values), at once.

        They share geometry, factors and messages, so all ranks must call it and run it together.
        The caller closes it.
        """
        several, count = copy(self), len(x)
        several.levels = [level.for_components(self._backend, count) for level in self.levels]
        several._coarse = self._coarse.for_components(count)
        ends = several._ends
        several._transfers = [
            transfer.between((level.smoother.r, b), (e, level.smoother.x))
            for transfer, level, (b, e) in zip(
                self._transfers, several.levels, ends[1:], strict=True
            )
        ]
        several._lines = [
            line.for_components(several.levels[0].smoother.r, several.levels[0].smoother.x)
            for line in self._lines
        ]
        several._assemble(x, y)
        return several

    def _assemble(self, x: DeviceArray, y: DeviceArray) -> None:
        """Combine the parts into a cycle from x to y."""
        smoothing, lines = [p for level in self.levels for p in level.smoother.parts], self._lines
        self.parts = [*smoothing, *self._transfers, self._coarse, *lines]
        corrections = in_section(LINES, [launch for part in lines for launch in part.launches])
        self._pieces: list[Piece] = [
            (self._down(), True),
            (corrections, not corrections),
            (in_section(COARSEST, self._coarse.launches), self._coarse.in_graph),
            (self._up(), True),
        ]
        pieces, self.launches = self._converted(x, y), list[Launch]()
        if self.in_graph:  # of the whole iteration
            self.launches = [launch for piece, _ in pieces for launch in piece]
            return
        for on_device, group in groupby(pieces, key=itemgetter(1)):
            together = [launch for piece, _ in group for launch in piece]
            self.launches += self._record(self._backend, together) if on_device else together

    def _converted(self, x: DeviceArray, y: DeviceArray) -> list[Piece]:
        """The cycle with x and y in the cycle's type."""
        b, e = self._ends[0]
        first, last = (convert(self._backend, *pair, self._own) for pair in ((x, b), (e, y)))
        return [(first, True), *self._pieces, (last, True)]

    @property
    def _ends(self) -> list[tuple[DeviceArray, DeviceArray]]:
        """Right-hand side and solution of each degree."""
        levels = [(level.smoother.b, level.smoother.x) for level in self.levels]
        return [*levels, (self._coarse.b, self._coarse.x)]

    def _connect(self, backend: Backend, spaces: Sequence[FunctionSpace]) -> list[GridTransfer]:
        """The transfers between each degree and the next lower one."""
        return [
            GridTransfer(
                *(backend, fine, coarse, level.operator.mask),
                restricted=(level.smoother.r, b),
                prolonged=(e, level.smoother.x),
            )
            for level, (fine, coarse), (b, e) in zip(
                self.levels, pairwise(spaces), self._ends[1:], strict=True
            )
        ]

    def _down(self) -> list[Launch]:
        """From the right-hand side to that of the lowest degree."""
        pairs = zip(self.levels, self._transfers, strict=True)
        return [launch for pair in pairs for launch in _descend(*pair)]

    def _up(self) -> list[Launch]:
        """From the solution of the lowest degree to the solution."""
        pairs = list(zip(self.levels, self._transfers, strict=True))
        return [launch for pair in reversed(pairs) for launch in _ascend(*pair)]

    def _record(self, backend: Backend, launches: Sequence[Launch]) -> list[Launch]:
        """The same as a single launch, of a graph if possible."""
        if not launches:
            return []
        on_device = [
            part for part in self.parts if not isinstance(part, CoarseSolver | LineCorrection)
        ]
        in_graph = all(part.in_graph for part in on_device)
        graph = backend.capture(in_order(launches), in_graph=in_graph)
        return [Replay(graph, launches)]


class Level:
    """The operator of one degree and its smoother.

    Attributes:
        operator: A.
        smoother: with the vectors of the level.
        section: its name as a part of an iteration.
    """

    def __init__(
        self,
        backend: Backend,
        space: FunctionSpace,
        geometry: LevelGeometry,
        equation: Equation | DiscreteEquation,
        dtype: str,
        order: int,
    ) -> None:
        def apply(x: DeviceArray, y: DeviceArray) -> LinearOperator:
            self.operator = OperatorOnCopies(backend, space, self._equation, x, y)
            return self.operator

        def precondition(r: DeviceArray, z: DeviceArray) -> LinearOperator:
            diagonal = self.operator.assemble(geometry.diagonals)
            copies = self.operator.assemble(np.ones(1))
            scaled = mapped(
                lambda mask, d, n: np.where(mask > 0, d * n, 0.0),
                *(self.operator.mask, diagonal, copies),
                dtype=float,
            )
            self._schwarz = Schwarz(backend, space, geometry.stretches, scaled, r, z)
            return self._schwarz

        self._space, self._equation = space, equation.on(space)
        self.section = level_section(space.degree)
        self.smoother = Chebyshev(
            space.vectors(backend, dtype),
            apply,
            precondition,
            mapped(_noise, space.sharing.ids[: space.own], dtype=float),
            order=order,
            transport=space.exchange.transport,
        )

    def for_components(self, backend: Backend, count: int) -> Level:
        """The same level for vectors of several components, on the same geometry."""
        several, elements = copy(self), self.operator.elements.for_components(count)

        def apply(x: DeviceArray, y: DeviceArray) -> LinearOperator:
            on = backend, self._space, self._equation
            several.operator = OperatorOnCopies(*on, x, y, elements=elements)
            return several.operator

        several.smoother = self.smoother.for_components(count, apply, self._schwarz.between)
        return several


def _descend(level: Level, transfer: GridTransfer) -> list[Launch]:
    """Smooth from zero, and restrict the residual to the next lower degree."""
    smoother = level.smoother
    launches = [*smoother.before, *smoother.residual, *transfer.down]
    return in_section(level.section, launches)


def _ascend(level: Level, transfer: GridTransfer) -> list[Launch]:
    """Add the correction from the next lower degree, and smooth."""
    return in_section(level.section, [*transfer.up, *level.smoother.after])


def _noise(ids: Integers) -> Floats:
    """Numbers between -0.5 and 0.5 that look random, but follow from ids."""
    return np.asarray(hash_ids(ids) / 2.0**64 - 0.5)


def level_degrees(degree: int) -> tuple[int, ...]:
    """Default degrees of levels, each about two thirds of the last, such as 7, 5, 3, 1."""
    degrees = [degree]
    while degrees[-1] > 1:
        degrees.append((2 * degrees[-1] + 1) // 3 if degrees[-1] > 3 else 1)
    return tuple(degrees)


def _make_coarse_solver(
    vectors: VectorLayout,
    lowest: FunctionSpace,
    matrices: Floats,
    equation: DiscreteEquation,
    method: str,
) -> CoarseSolver | CoarseCycle:
    fixed = lowest.on_boundary(equation.fixed)
    comm, ids = lowest.comm, lowest.sharing.ids
    determined = fixed.any() or len(equation.coefficients.determined(len(lowest.elements)))
    if not any(comm.allgather(bool(determined))):
        fixed |= _is_smallest(comm, ids)  # any constant may be added
    how = {"method": method, "transport": lowest.exchange.transport}
    return make_coarse_solver(vectors, lowest.sharing, matrices, fixed, **how)


def _is_smallest(comm: Communicator, ids: Integers) -> Mask:
    """Which of these ids is the smallest of all ranks."""
    return np.asarray(ids == min(comm.allgather(int(ids.min(initial=2**63 - 1)))))
