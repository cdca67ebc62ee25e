"""Multigrid in the degree: a V-cycle over falling degrees on the same elements, made for CG.

On each degree but the lowest, Chebyshev's iteration smooths before and after the correction that
lower degrees find, with additive Schwarz or Jacobi's method inside (Lottes & Fischer 2005, J. Sci.
Comput. 24; Phillips, Kerkemeier & Fischer 2022, Tuning spectral element preconditioners for
parallel scalability on GPUs). What is left in functions of degree 1 a library solves, on the host.
The same polynomial before and after, and transfers that are each other's transposes, make the cycle
symmetric and positive. Each level takes one step of smoothing more than the one above it, where
steps cost more (a variable V-cycle; Bramble & Pasciak 1987, Math. Comp. 49).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from groundswell.backends import Array, Backend, Launch, Source
from groundswell.backends.base import in_order
from groundswell.errors import InputError
from groundswell.exchange.assembly.sharing import scattered
from groundswell.exchange.world import World
from groundswell.linear.cg import Applied
from groundswell.linear.chebyshev import Chebyshev, chebyshev_source, convert
from groundswell.linear.coarse import CoarseSolver
from groundswell.meshes.gll import gll
from groundswell.meshes.hexahedra import AXES, Floats
from groundswell.solvers.poisson.grid_transfer import Transfer, transfer_source
from groundswell.solvers.poisson.operator import Jacobi, Operator
from groundswell.solvers.poisson.schwarz import Schwarz, schwarz_source, stretches_of
from groundswell.spectral_elements.geometry import Geometry
from groundswell.spectral_elements.space import Space

DTYPES = ("float32", "float64")
INNER = ("schwarz", "jacobi")


@dataclass(frozen=True)
class Cycle:
    """How a cycle is made.

    Args:
        dtype: of all its vectors; those that it is given are converted, so single precision must
            have room for residuals, 1e-37 to 1e38.
        degrees: of its levels, falling from the equation's to 1; by default see `degrees_of`.
        order, kind: of the smoothing on the highest level, see `Chebyshev`; each lower level takes
            one step more.
        inner: what smoothing accelerates, "schwarz" or "jacobi".
        coarse: how degree 1 is solved, see `CoarseSolver`.

    Raises:
        InputError: another type or inner method.
    """

    dtype: str = "float32"
    degrees: tuple[int, ...] | None = None
    order: int = 4
    kind: str = "fourth"
    inner: str = "schwarz"
    coarse: str = "auto"

    def __post_init__(self) -> None:
        for what, value, allowed in (("dtype", self.dtype, DTYPES), ("inner", self.inner, INNER)):
            if value not in allowed:
                raise InputError(f"{what} = {value!r}; allowed: {', '.join(allowed)}")

    def levels(self, degree: int) -> tuple[int, ...]:
        """Degrees, for an equation of this one.

        Raises:
            InputError: others than they must be.
        """
        found = degrees_of(degree) if self.degrees is None else tuple(self.degrees)
        falling = all(a > b for a, b in pairwise(found))
        if not found or found[0] != degree or found[-1] != 1 or not falling:
            raise InputError(f"degrees = {found}; allowed: falling ones from {degree} to 1")
        return found


class Multigrid:
    """One cycle, from x to y. All ranks must make it and run it together.

    Args:
        space: functions on this rank's elements.
        screening: lambda, 0 or more, 1/m^2.
        x: assembled values, of which this rank's own are read; 0 where they are prescribed.
        y: of which this rank's own become what the cycle makes of x.
        fixed: sides of the domain, by their tags, where values are prescribed.
        cycle: how it is made.

    Attributes:
        levels: all degrees but the lowest.

    Raises:
        InputError: a cycle that cannot be made, elements that are inside out as polynomials of a
            lower degree, or a coarsest matrix without an inverse.
    """

    in_graph = False  # the coarsest level is the host's

    def __init__(
        self,
        backend: Backend,
        world: World,
        space: Space,
        screening: float,
        x: Array,
        y: Array,
        *,
        fixed: Collection[int] = (),
        cycle: Cycle | None = None,
    ) -> None:
        how = cycle or Cycle()
        degrees = how.levels(space.degree)
        backend.build_all(multigrid_sources(how.dtype, degrees))
        spaces = [space, *(space.coarser(world, degree) for degree in degrees[1:])]
        shapes = [_shape(world, each) for each in spaces[: max(1, len(spaces) - 1)]]
        self.levels = [
            Level(backend, world, *of_level, screening, fixed, how, how.order + n)
            for n, of_level in enumerate(zip(spaces[:-1], shapes, strict=False))
        ]
        self._coarse = _coarsest(backend, world, spaces, shapes[0], screening, fixed, how)
        self._transfers = self._connected(backend, world, spaces)
        smoothing = [part for level in self.levels for part in level.smoother.parts]
        self._parts: list[Applied] = [*smoothing, *self._transfers, self._coarse]
        b, e = self._ends[0]
        take, give = (convert(backend, *pair, space.sharing.own) for pair in ((x, b), (e, y)))
        self.launches = [
            *self._recorded(backend, [*take, *self._down()]),
            *self._coarse.launches,
            *self._recorded(backend, [*self._up(), *give]),
        ]

    @property
    def _ends(self) -> list[tuple[Array, Array]]:
        """Right-hand side and solution of each degree."""
        return [*((level.smoother.b, level.smoother.x) for level in self.levels), self._coarse.ends]

    def _connected(self, backend: Backend, world: World, spaces: Sequence[Space]) -> list[Transfer]:
        """What leads from each degree to the next lower one."""
        return [
            Transfer(
                *(backend, world, *pair, level.operator.mask),
                *(level.smoother.r, *below, level.smoother.x),
            )
            for level, pair, below in zip(
                self.levels, pairwise(spaces), self._ends[1:], strict=True
            )
        ]

    def _down(self) -> list[Launch]:
        """To the lowest degree's right-hand side."""
        return [
            launch
            for level, transfer in zip(self.levels, self._transfers, strict=True)
            for launch in (*level.smoother.before, *level.smoother.residual, *transfer.down)
        ]

    def _up(self) -> list[Launch]:
        """From the lowest degree's solution."""
        pairs = list(zip(self.levels, self._transfers, strict=True))
        return [
            launch
            for level, transfer in reversed(pairs)
            for launch in (*transfer.up, *level.smoother.after)
        ]

    def _recorded(self, backend: Backend, launches: Sequence[Launch]) -> list[Launch]:
        """The same as one launch, which is a graph's if it can be."""
        if not launches:
            return []
        in_graph = all(part.in_graph for part in self._parts if part is not self._coarse)
        graph = backend.capture(in_order(launches), in_graph=in_graph)
        return [lambda: graph.replay(1)]

    def check(self) -> None:
        """See that no wait was in vain; raises RunFailed."""
        for part in self._parts:
            part.check()

    def close(self) -> None:
        """Give back what it holds of other ranks; every rank must, before MPI ends."""
        for part in self._parts:
            part.close()


class Level:
    """The operator of one degree, and what smooths by it.

    Attributes:
        smoother: with the level's vectors.
    """

    def __init__(
        self,
        backend: Backend,
        world: World,
        space: Space,
        geometry: Geometry,
        screening: float,
        fixed: Collection[int],
        how: Cycle,
        order: int,
    ) -> None:
        sharing, degree = space.sharing, space.degree

        def operator(x: Array, y: Array) -> Operator:
            self.operator = Operator(backend, world, space, screening, x, y, fixed=fixed)
            return self.operator

        def inner(r: Array, z: Array) -> Applied:
            diagonal = self.operator.assemble(geometry.diagonal(degree, screening))
            diagonal = np.where(self.operator.mask > 0, diagonal, 0.0)
            if how.inner == "jacobi":
                return Jacobi(backend, space, np.where(diagonal > 0, diagonal, np.inf), r, z)
            copies = self.operator.assemble(np.ones(space.places.shape))
            stretches = stretches_of(geometry, degree, screening)
            return Schwarz(backend, world, space, stretches, diagonal * copies, r, z)

        self.smoother = Chebyshev(
            *(backend, world, len(sharing.ids), sharing.own, how.dtype, operator, inner),
            scattered(sharing.ids[: sharing.own]) / 2.0**64 - 0.5,
            order=order,
            kind=how.kind,
        )


def degrees_of(degree: int) -> tuple[int, ...]:
    """Two thirds of a degree follow it, down to 3, and then 1: 7, 5, 3, 1."""
    found = [degree]
    while found[-1] > 1:
        found.append((2 * found[-1] + 1) // 3 if found[-1] > 3 else 1)
    return tuple(found)


def galerkin(geometry: Geometry, degree: int, screening: float) -> Floats:
    """The operator among functions of degree 1 on each element, (elements, 8, 8).

    By the rule of the nodes of the given degree: P' A P, with P as in transfer.py.
    """
    up, d = gll(1).interpolation(gll(degree).points), gll(degree).derivative
    along = [
        np.einsum("tc,sb,ra->tsrcba", *factors).reshape(-1, 8)
        for factors in ((up, up, d @ up), (up, d @ up, up), (d @ up, up, up), (up, up, up))
    ]
    pairs = [(a, b) for a in range(AXES) for b in range(a, AXES)]
    found = np.zeros((len(geometry.mass), 64))
    for factor, (a, b) in zip(np.moveaxis(geometry.factors, 1, 0), pairs, strict=True):
        table = along[a][:, :, None] * along[b][:, None]
        both = table if a == b else table + table.swapaxes(1, 2)
        found += factor @ both.reshape(-1, 64)
    masses = along[3][:, :, None] * along[3][:, None]
    return (found + screening * geometry.mass @ masses.reshape(-1, 64)).reshape(-1, 8, 8)


def on_sides(space: Space, tags: Collection[int]) -> NDArray[np.bool_]:
    """Which assembled values lie on these sides of this rank's elements, (values,)."""
    found = np.zeros(len(space.sharing.ids), bool)
    found[space.places[space.on_sides(tags)]] = True
    return found


def multigrid_sources(dtype: str, degrees: Sequence[int]) -> list[Source]:
    """Kernels of a cycle but for those of its operators, to be built at the same time."""
    return [
        chebyshev_source(dtype),
        *(schwarz_source(dtype, degree) for degree in degrees[:-1]),
        *(transfer_source(dtype, *pair) for pair in pairwise(degrees)),
    ]


def _coarsest(
    backend: Backend,
    world: World,
    spaces: Sequence[Space],
    finest: Geometry,
    screening: float,
    fixed: Collection[int],
    how: Cycle,
) -> CoarseSolver:
    lowest = spaces[-1]
    ends = [backend.zeros((len(lowest.sharing.ids),), how.dtype) for _ in range(2)]
    matrices = galerkin(finest, spaces[0].degree, screening)
    held = on_sides(lowest, fixed)
    if not screening and not any(world.share(bool(held.any()))):
        held |= _first_of_all(world, lowest.sharing.ids)  # any constant may be added
    given = (lowest.sharing, matrices, held, *ends)
    return CoarseSolver(backend, world, *given, way=how.coarse)


def _first_of_all(world: World, ids: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which of these ids is the smallest one of all ranks."""
    return np.asarray(ids == min(world.share(int(ids.min(initial=2**63 - 1)))))


def _shape(world: World, space: Space) -> Geometry:
    """Of this rank's elements, as polynomials of the space's degree."""

    def work_out() -> Geometry:
        try:
            return Geometry.of(space.mesh, space.degree, space.elements)
        except InputError as error:
            raise InputError(
                f"as polynomials of degree {space.degree}, a level of multigrid, {error}; or "
                "choose another preconditioner"
            ) from error

    return world.agree(work_out)  # type: ignore[no-any-return]
