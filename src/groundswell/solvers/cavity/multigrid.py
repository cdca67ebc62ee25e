"""Multigrid by the full approximation scheme (Brandt 1977, Math. Comput. 31:333).

A V-cycle smooths on the finest grid, adds a correction from the next coarser one, which does the
same, and smooths again. A coarse grid solves for the whole flow. Its forcing is the restricted fine
rates of change less the coarse rates of the restricted flow. A steady fine flow is therefore steady
on the coarse grid, too, and its correction vanishes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from groundswell.arrays import DeviceArray
from groundswell.backends import Cells, Graph, Launch, Module, Source
from groundswell.backends.base import in_order, in_section
from groundswell.backends.launch import Replay
from groundswell.backends.source import precision
from groundswell.exchange.decomposition import Decomposition
from groundswell.grids.cartesian import Part
from groundswell.solvers.cavity.case import FIELDS
from groundswell.solvers.cavity.grid_transfer import Band, interpolation, restriction
from groundswell.solvers.cavity.kernel_groups import TRANSFERS, steps_on
from groundswell.solvers.cavity.level import TRANSFER_GHOSTS, FlowState, Level
from groundswell.solvers.cavity.level_grid import LevelGrid
from groundswell.solvers.cavity.level_kernels import KERNELS

REPLACE, ADD, SUBTRACT = 0, 1, -1  # the previous values, see kernels/interpolate.h


class _Flow(NamedTuple):
    """A state of a level, and the points of it that a transfer computes."""

    level: Level
    state: FlowState
    part: Part


class GridTransfer:
    """Restriction and prolongation between a rank's parts of a grid and of the next coarser one.

    Cycles that begin on different grids share the launches.

    Args:
        blocks: the part of the coarse grid that each rank computes when the flow is restricted.
            If ranks share the fine grid but not the coarse one, they then gather all parts.

    Attributes:
        exchanges: of the ghosts that the interpolation reads, and of the parts.
    """

    def __init__(self, fine: Level, coarse: Level, blocks: Decomposition) -> None:
        self.fine, self.coarse = fine, coarse
        source = Source(KERNELS / "interpolate.h", precision(fine.grid.dtype))
        self._module: Module = fine.backend.compile(source)
        block = blocks.block(fine.comm.rank)
        self._part = Part.from_block(coarse.grid.grid, block.start, block.shape)
        self._fine = fine.exchange(*fine.copies[:2], ghosts=TRANSFER_GHOSTS)
        self._correction = coarse.exchange(coarse.restricted, ghosts=TRANSFER_GHOSTS)
        self._gathers = (
            [coarse.gather_blocks(blocks, coarse.restricted, coarse.copies[1])]
            if fine.is_shared and not coarse.is_shared
            else []
        )
        self.exchanges = [self._fine, self._correction, *self._gathers]

    @cached_property
    def flow_to_coarse(self) -> list[Launch]:
        """Restrict the fine flow to `coarse.restricted`."""
        settle = self.coarse.set_at_rest(self.coarse.restricted)
        return [*self._fine.launches, *self._restrict_flow(), *self._gather(), *settle]

    @cached_property
    def to_coarse(self) -> list[Launch]:
        """Restrict the fine flow to the coarse grid, and compute the coarse grid's forcing."""
        fine, coarse = self.fine, self.coarse
        flow, rates = coarse.copies[:2]
        return [
            fine.compute_rates(fine.copies[1], forced=fine.grid.is_forced),
            *self._fine.launches,
            *self._restrict_flow(),
            *self._transfer(restriction, self._of(fine, 1), self._restricted(rates)),
            *self._gather(),
            *coarse.set_at_rest(coarse.restricted),
            *self._combine(coarse.restricted, flow),
            *coarse.fill_ghosts(),
            coarse.compute_rates(coarse.forcing, forced=False),
            *self._combine(rates, coarse.forcing, SUBTRACT),
        ]

    @cached_property
    def to_fine(self) -> list[Launch]:
        """Interpolate the change of the coarse flow, and add it to the fine flow."""
        fine, coarse = self.fine, self.coarse
        change = _Flow(coarse, coarse.restricted, coarse.part)
        return [
            *self._combine(coarse.copies[0], coarse.restricted, SUBTRACT),
            *self._correction.launches,
            *self._transfer(interpolation, change, self._of(fine, 0), ADD),
            *fine.set_at_rest(fine.copies[0]),
            *fine.fill_ghosts(),
        ]

    def _restrict_flow(self) -> list[Launch]:
        to = self._restricted(self.coarse.restricted)
        return self._transfer(interpolation, self._of(self.fine, 0), to)

    def _gather(self) -> list[Launch]:
        return [launch for gather in self._gathers for launch in gather.launches]

    def _combine(self, source: FlowState, target: FlowState, mode: int = REPLACE) -> list[Launch]:
        """Set a state of the coarse grid to another one, or to the difference."""
        coarse = self.coarse
        old, new = (_Flow(coarse, state, coarse.part) for state in (source, target))
        return self._transfer(_identity, old, new, mode)

    def _of(self, level: Level, copy: int) -> _Flow:
        return _Flow(level, level.copies[copy], level.part)

    def _restricted(self, state: FlowState) -> _Flow:
        return _Flow(self.coarse, state, self._part)

    def _transfer(
        self,
        weights: Callable[[LevelGrid, LevelGrid, int, str], Band],
        source: _Flow,
        target: _Flow,
        mode: int = REPLACE,
    ) -> list[Launch]:
        """Interpolate all fields."""
        return [self._interpolate(weights, name, source, target, mode) for name in FIELDS]

    def _interpolate(
        self,
        weights: Callable[[LevelGrid, LevelGrid, int, str], Band],
        name: str,
        source: _Flow,
        target: _Flow,
        mode: int,
    ) -> Launch:
        level, other = source.level, target.level
        arguments: dict[str, DeviceArray | int] = {
            "in": source.state[name].interior,
            "in_row": level.layout.row,
            "in_plane": level.layout.plane,
            "out": target.state[name].interior[_slices(target)],
            "out_row": other.layout.row,
            "out_plane": other.layout.plane,
            "keep": mode,
        }
        for axis, at in enumerate("xyz"):
            first, count = target.part.start[axis], target.part.cells[axis]
            band = weights(level.grid, other.grid, axis, name)
            rows = slice(first, first + count)
            start = level.part.start[axis]
            band = band.part(rows, start, start + level.part.cells[axis])
            band = band.on(level.backend, level.grid.dtype)
            arguments |= {f"first_{at}": band.first, f"weight_{at}": band.weights}
            arguments |= {f"width_{at}": band.weights.shape[1], f"n{at}": count}
        return self._module.launch("interpolate", Cells(*target.part.cells), **arguments)


def _slices(flow: _Flow) -> tuple[slice, ...]:
    """The points of the part in the level's fields."""
    ends = zip(flow.part.start, flow.level.part.start, flow.part.cells, strict=True)
    x, y, z = (slice(a - b, a - b + n) for a, b, n in ends)
    return z, y, x


def _identity(source: LevelGrid, target: LevelGrid, axis: int, name: str) -> Band:
    return Band.identity(source.grid.cells[axis])


class Cycles:
    """V-cycles. Their parts are graphs, which cycles that begin on different grids share.

    Args:
        levels: the grids, finest first.
        transfers: one between each grid and the next.
        in_graph: whether graphs can contain the exchanges.
    """

    def __init__(
        self, levels: Sequence[Level], transfers: Sequence[GridTransfer], *, in_graph: bool
    ) -> None:
        self._levels, self._transfers, self._in_graph = levels, transfers, in_graph
        self._graphs: dict[tuple[int, str], Graph] = {}

    def launches(self, steps: Mapping[int, int]) -> list[Launch]:
        """The launches of a cycle.

        Args:
            steps: number on each grid in use, by index, finest first; all but the coarsest make
                half of them before the correction and half after it.
        """
        (grid, count), *others = steps.items()
        if not others:
            return in_section(steps_on(grid), self._steps(grid, count))
        smooth = in_section(steps_on(grid), self._steps(grid, count // 2))
        transfer = self._transfers[grid]
        return [
            *smooth,
            *in_section(TRANSFERS, [self._replay(grid, "to coarse", transfer.to_coarse)]),
            *self.launches(dict(others)),
            *in_section(TRANSFERS, [self._replay(grid, "to fine", transfer.to_fine)]),
            *smooth,
        ]

    def _steps(self, grid: int, count: int) -> list[Launch]:
        level = self._levels[grid]
        times = -(-count // level.grid.scheme.steps_per_cycle)
        return [self._replay(grid, "steps", level.steps(1), times)]

    def _replay(self, grid: int, part: str, launches: Sequence[Launch], times: int = 1) -> Launch:
        key = grid, part
        if key not in self._graphs:
            sequence, backend = in_order(launches), self._levels[grid].backend
            self._graphs[key] = backend.capture(sequence, in_graph=self._in_graph)
        return Replay(self._graphs[key], launches, times)
