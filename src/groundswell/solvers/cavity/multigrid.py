"""The full approximation scheme: coarser grids find what a finer one changes but slowly.

Brandt 1977, Math. Comput. 31:333. A cycle smooths on the finest grid, asks the next coarser one for
a correction, which does the same, and smooths again. A coarse grid solves for the whole flow, with
a forcing that makes the fine grid's steady flow its own: its rates of change there, less those that
the coarse grid sees.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from groundswell.backends import Cells, Launch, Module, Source
from groundswell.backends.source import precision
from groundswell.grids.cartesian import Field
from groundswell.solvers.cavity.case import FIELDS
from groundswell.solvers.cavity.grid_transfer import Band, interpolation, restriction
from groundswell.solvers.cavity.level import KERNELS, TRANSFER_GHOSTS, Level, State
from groundswell.solvers.cavity.setup import Setup

REPLACE, ADD, SUBTRACT = 0, 1, -1  # what was there, see kernels/interpolate.h


class GridTransfer:
    """Between the parts that a rank has of a grid and of the next coarser one."""

    def __init__(self, fine: Level, coarse: Level) -> None:
        self.fine, self.coarse = fine, coarse
        real = precision(fine.setup.dtype)
        source = Source(KERNELS / "interpolate.h", real)
        self._module: Module = fine.backend.compile(source)
        self._flow, self._rates, self._restricted = self.exchanges = [
            fine.exchange(fine.copies[0], TRANSFER_GHOSTS),
            fine.exchange(fine.copies[1], TRANSFER_GHOSTS),
            coarse.exchange(coarse.restricted, TRANSFER_GHOSTS),
        ]

    def restrict_flow(self) -> list[Launch]:
        """Keep the fine flow as the coarse grid sees it."""
        kept = self._transfer(interpolation, self.fine, self.fine.copies[0], self.coarse.restricted)
        return [*self._flow.launches, *kept]

    def restrict(self) -> list[Launch]:
        """Give the coarse grid the fine flow, and the forcing of what is left to do."""
        fine, coarse = self.fine, self.coarse
        return [
            fine.compute_rates(fine.copies[1], forced=fine.coarse, drift=True),
            *self._rates.launches,
            *self.restrict_flow(),
            *self._transfer(interpolation, fine, fine.copies[0], coarse.copies[0]),
            *coarse.fill_ghosts(),
            coarse.compute_rates(coarse.forcing, forced=False, drift=False),
            *self._transfer(restriction, fine, fine.copies[1], coarse.forcing, SUBTRACT),
        ]

    def prolongate(self) -> list[Launch]:
        """Add to the fine flow what has changed on the coarse grid."""
        fine, coarse = self.fine, self.coarse
        return [
            *self._transfer(_same, coarse, coarse.copies[0], coarse.restricted, SUBTRACT),
            *self._restricted.launches,
            *self._transfer(interpolation, coarse, coarse.restricted, fine.copies[0], ADD),
            *fine.fill_ghosts(),
        ]

    def _transfer(
        self,
        weights: Callable[[Setup, Setup, int, str], Band],
        level: Level,
        source: State,
        target: State,
        keep: int = REPLACE,
    ) -> list[Launch]:
        """Fields of this level to the level that `target` belongs to."""
        other = self.fine if target is self.fine.copies[0] else self.coarse
        return [
            self._interpolate(weights, name, (level, source[name]), (other, target[name]), keep)
            for name in FIELDS
        ]

    def _interpolate(
        self,
        weights: Callable[[Setup, Setup, int, str], Band],
        name: str,
        source: tuple[Level, Field],
        target: tuple[Level, Field],
        keep: int,
    ) -> Launch:
        (level, old), (other, new) = source, target
        bands: list[object] = []
        for axis in range(3):
            first, count = other.part.start[axis], other.part.cells[axis]
            band = weights(level.setup, other.setup, axis, name)
            rows = slice(first, first + count)
            start = level.part.start[axis]
            here = band.part(rows, start, start + level.part.cells[axis])
            here = here.on(level.backend, level.setup.dtype)
            bands += [here.first, here.weights, here.weights.shape[1], count]
        layouts = [(lv.layout.row, lv.layout.plane) for lv in (level, other)]
        arguments = (old.interior, *layouts[0], new.interior, *layouts[1], keep, *bands)
        return self._module.launch("interpolate", Cells(*other.part.cells), *arguments)


def _same(source: Setup, target: Setup, axis: int, name: str) -> Band:
    return Band.same(source.grid.cells[axis])


def cycle(
    levels: Sequence[Level], transfers: Sequence[GridTransfer], steps: Sequence[int]
) -> list[Launch]:
    """A V-cycle, as the list of what happens in it.

    Args:
        levels: grids, the finest first.
        transfers: between each and the next.
        steps: on each grid, half of them before its correction and half after.
    """
    if not transfers:
        return levels[0].steps(steps[0])
    smooth = levels[0].steps(steps[0] // 2)
    return [
        *smooth,
        *transfers[0].restrict(),
        *cycle(levels[1:], transfers[1:], steps[1:]),
        *transfers[0].prolongate(),
        *smooth,
    ]
