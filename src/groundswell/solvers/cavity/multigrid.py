"""Multigrid by the full approximation scheme (Brandt 1977, Math. Comput. 31:333).

A V-cycle smooths on the finest grid, adds a correction from the next coarser one, which does the
same, and smooths again. A coarse grid solves for the whole flow. Its forcing is the restricted fine
rates of change less the coarse rates of the restricted flow. A steady fine flow is therefore steady
on the coarse grid, too, and its correction vanishes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from groundswell.arrays import DeviceArray
from groundswell.backends import Cells, Launch, Module, Source
from groundswell.backends.base import in_section
from groundswell.backends.source import precision
from groundswell.grids.cartesian import Field
from groundswell.solvers.cavity.case import FIELDS
from groundswell.solvers.cavity.grid_transfer import Band, interpolation, restriction
from groundswell.solvers.cavity.kernel_groups import STEPS, TRANSFERS
from groundswell.solvers.cavity.level import KERNELS, TRANSFER_GHOSTS, FlowState, Level
from groundswell.solvers.cavity.level_grid import LevelGrid

REPLACE, ADD, SUBTRACT = 0, 1, -1  # the previous values, see kernels/interpolate.h


class GridTransfer:
    """Restriction and prolongation between a rank's parts of a grid and of the next coarser one.

    Attributes:
        exchanges: of the ghosts that the interpolation reads.
    """

    def __init__(self, fine: Level, coarse: Level) -> None:
        self.fine, self.coarse = fine, coarse
        real = precision(fine.grid.dtype)
        source = Source(KERNELS / "interpolate.h", real)
        self._module: Module = fine.backend.compile(source)
        self._flow, self._rates, self._restricted = self.exchanges = [
            fine.exchange(fine.copies[0], TRANSFER_GHOSTS),
            fine.exchange(fine.copies[1], TRANSFER_GHOSTS),
            coarse.exchange(coarse.restricted, TRANSFER_GHOSTS),
        ]

    def restrict_flow(self) -> list[Launch]:
        """Restrict the fine flow to `coarse.restricted`."""
        fine, coarse = self.fine, self.coarse
        restricted = self._transfer(interpolation, fine, fine.copies[0], coarse.restricted)
        return [*self._flow.launches, *restricted]

    def restrict(self) -> list[Launch]:
        """Restrict the fine flow to the coarse grid, and compute the coarse grid's forcing."""
        fine, coarse = self.fine, self.coarse
        return [
            fine.compute_rates(fine.copies[1], forced=fine.grid.is_forced),
            *self._rates.launches,
            *self.restrict_flow(),
            *self._transfer(interpolation, fine, fine.copies[0], coarse.copies[0]),
            *coarse.fill_ghosts(),
            coarse.compute_rates(coarse.forcing, forced=False),
            *self._transfer(restriction, fine, fine.copies[1], coarse.forcing, SUBTRACT),
        ]

    def prolongate(self) -> list[Launch]:
        """Interpolate the change of the coarse flow, and add it to the fine flow."""
        fine, coarse = self.fine, self.coarse
        return [
            *self._transfer(_identity, coarse, coarse.copies[0], coarse.restricted, SUBTRACT),
            *self._restricted.launches,
            *self._transfer(interpolation, coarse, coarse.restricted, fine.copies[0], ADD),
            *fine.fill_ghosts(),
        ]

    def _transfer(
        self,
        weights: Callable[[LevelGrid, LevelGrid, int, str], Band],
        level: Level,
        source: FlowState,
        target: FlowState,
        mode: int = REPLACE,
    ) -> list[Launch]:
        """Interpolate all fields from this level to the level of `target`."""
        other = self.fine if target is self.fine.copies[0] else self.coarse
        return [
            self._interpolate(weights, name, (level, source[name]), (other, target[name]), mode)
            for name in FIELDS
        ]

    def _interpolate(
        self,
        weights: Callable[[LevelGrid, LevelGrid, int, str], Band],
        name: str,
        source: tuple[Level, Field],
        target: tuple[Level, Field],
        mode: int,
    ) -> Launch:
        (level, old), (other, new) = source, target
        arguments: dict[str, DeviceArray | int] = {
            "in": old.interior,
            "in_row": level.layout.row,
            "in_plane": level.layout.plane,
            "out": new.interior,
            "out_row": other.layout.row,
            "out_plane": other.layout.plane,
            "keep": mode,
        }
        for axis, at in enumerate("xyz"):
            first, count = other.part.start[axis], other.part.cells[axis]
            band = weights(level.grid, other.grid, axis, name)
            rows = slice(first, first + count)
            start = level.part.start[axis]
            band = band.part(rows, start, start + level.part.cells[axis])
            band = band.on(level.backend, level.grid.dtype)
            arguments |= {f"first_{at}": band.first, f"weight_{at}": band.weights}
            arguments |= {f"width_{at}": band.weights.shape[1], f"n{at}": count}
        return self._module.launch("interpolate", Cells(*other.part.cells), **arguments)


def _identity(source: LevelGrid, target: LevelGrid, axis: int, name: str) -> Band:
    return Band.identity(source.grid.cells[axis])


def cycle(
    levels: Sequence[Level], transfers: Sequence[GridTransfer], steps: Sequence[int]
) -> list[Launch]:
    """The launches of a V-cycle.

    Args:
        levels: the grids, finest first.
        transfers: one between each grid and the next.
        steps: number on each grid; all but the coarsest make half of them before the correction
            and half after it.
    """
    name = f"{STEPS} on grid {levels[0].grid.depth}"
    if not transfers:
        return in_section(name, levels[0].steps(steps[0]))
    smooth = in_section(name, levels[0].steps(steps[0] // 2))
    return [
        *smooth,
        *in_section(TRANSFERS, transfers[0].restrict()),
        *cycle(levels[1:], transfers[1:], steps[1:]),
        *in_section(TRANSFERS, transfers[0].prolongate()),
        *smooth,
    ]
