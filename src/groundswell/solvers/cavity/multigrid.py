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
from groundswell.solvers.cavity.level import ALL, KERNELS, Level, State
from groundswell.solvers.cavity.setup import Setup

FORGET, ADD, TAKE_AWAY = 0, 1, -1  # what was there, see kernels/interpolate.h


class Bridge:
    """Between the parts that a rank has of a grid and of the next coarser one."""

    def __init__(self, fine: Level, coarse: Level) -> None:
        self.fine, self.coarse = fine, coarse
        real = precision(fine.setup.dtype)
        source = Source(KERNELS / "interpolate.h", real)
        self._module: Module = fine.backend.compile(source)
        self._flow, self._rates, self._kept = self.exchanges = [
            fine.exchange(fine.copies[0], ALL),
            fine.exchange(fine.copies[1], ALL),
            coarse.exchange(coarse.kept, ALL),
        ]

    def remember(self) -> list[Launch]:
        """Keep the fine flow as the coarse grid sees it."""
        kept = self._carry(interpolation, self.fine, self.fine.copies[0], self.coarse.kept)
        return [*self._flow.launches, *kept]

    def down(self) -> list[Launch]:
        """Give the coarse grid the fine flow, and the forcing of what is left to do."""
        fine, coarse = self.fine, self.coarse
        return [
            fine.find_rates(fine.copies[1], forced=fine.coarse, drift=True),
            *self._rates.launches,
            *self.remember(),
            *self._carry(interpolation, fine, fine.copies[0], coarse.copies[0]),
            *coarse.fill_ghosts(),
            coarse.find_rates(coarse.forcing, forced=False, drift=False),
            *self._carry(restriction, fine, fine.copies[1], coarse.forcing, TAKE_AWAY),
        ]

    def up(self) -> list[Launch]:
        """Add to the fine flow what has changed on the coarse grid."""
        fine, coarse = self.fine, self.coarse
        return [
            *self._carry(_same, coarse, coarse.copies[0], coarse.kept, TAKE_AWAY),
            *self._kept.launches,
            *self._carry(interpolation, coarse, coarse.kept, fine.copies[0], ADD),
            *fine.fill_ghosts(),
        ]

    def _carry(
        self,
        weights: Callable[[Setup, Setup, int, str], Band],
        level: Level,
        source: State,
        target: State,
        keep: int = FORGET,
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


def cycle(levels: Sequence[Level], bridges: Sequence[Bridge], steps: Sequence[int]) -> list[Launch]:
    """A V-cycle, as the list of what happens in it.

    Args:
        levels: grids, the finest first.
        bridges: between each and the next.
        steps: on each grid, half of them before its correction and half after.
    """
    if not bridges:
        return levels[0].steps(steps[0])
    smooth = levels[0].steps(steps[0] // 2)
    return [
        *smooth,
        *bridges[0].down(),
        *cycle(levels[1:], bridges[1:], steps[1:]),
        *bridges[0].up(),
        *smooth,
    ]
