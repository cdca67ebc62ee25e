"""Blocks with their own transforms, as those of ranks, that advance together in one process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from groundswell.arrays import DeviceArray, Floats
from groundswell.backends import Backend, Launch
from groundswell.exchange.decomposition import decompose
from groundswell.grids.cartesian import Triple
from groundswell.simulation.exchanging import part_of
from groundswell.solvers.ultrasound.medium import medium_of, take
from groundswell.solvers.ultrasound.propagation import Propagation
from groundswell.solvers.ultrasound.setup import Setup
from groundswell.solvers.ultrasound.solver import sources_of
from groundswell.solvers.ultrasound.window import Window


@dataclass(frozen=True)
class Exchange:
    """Marks, among the launches of a block, the exchange of the overlaps of these arrays."""

    arrays: Sequence[DeviceArray]

    def __call__(self) -> None:
        """Do nothing: the initial pressure includes the overlaps."""


class Blocks:
    """A periodic grid divided into blocks that have their own transforms and advance together.

    Args:
        parts: the window of each block, and the scheme on it.
    """

    def __init__(self, backend: Backend, parts: Sequence[tuple[Window, Propagation]]) -> None:
        self._backend = backend
        self.windows, self.parts = zip(*parts, strict=True)
        if len(self.parts) > 1:
            for part in self.parts:
                part.set_exchange(_then_exchange)

    @classmethod
    def of_ranks(cls, setup: Setup, ranks: Triple, backend: Backend) -> Blocks:
        """The blocks of ranks (x, y, z) that run a case, at its initial pressure."""
        cut = decompose(setup.grid.shape, prod(ranks), True, ranks[::-1])
        windows = [setup.window(part_of(setup.grid, cut, n), ranks) for n in range(cut.ranks)]
        blocks = cls(backend, [(window, _of_case(setup, window, backend)) for window in windows])
        if setup.initial is not None:
            blocks.start(setup.initial)
        return blocks

    def start(self, pressure: Floats) -> None:
        """Set the initial pressure of the grid, (nz, ny, nx), Pa."""
        for window, part in zip(self.windows, self.parts, strict=True):
            part.start(take(pressure, window))

    def step(self) -> None:
        """Advance all blocks by a step."""
        rest = [iter(part.launches) for part in self.parts]
        while exchanges := [found for launches in rest if (found := _until_exchange(launches))]:
            self._exchange(exchanges)

    def _exchange(self, exchanges: Sequence[Exchange]) -> None:
        for arrays in zip(*(exchange.arrays for exchange in exchanges), strict=True):
            whole = self.whole(arrays)
            for window, array in zip(self.windows, arrays, strict=True):
                self._backend.assign(array, take(whole, window))

    @property
    def pressure(self) -> Floats:
        """Pressure of the grid, (nz, ny, nx), Pa."""
        return self.whole([part.p for part in self.parts])

    def whole(self, arrays: Sequence[DeviceArray]) -> Floats:
        """The values of the grid, from an array of each block."""
        values = np.zeros(self.windows[0].whole[::-1])
        for window, array in zip(self.windows, arrays, strict=True):
            axes = zip(window.start[::-1], window.cells[::-1], strict=True)
            place = tuple(slice(first, first + n) for first, n in axes)
            values[place] = self._backend.to_host(array)[window.own]
        return values


def _of_case(setup: Setup, window: Window, backend: Backend) -> Propagation:
    medium, sources = medium_of(setup.medium, window), sources_of(setup.sources, window)
    return Propagation(backend, setup.operators(window), medium, setup.dtype, sources)


def _then_exchange(
    arrays: Sequence[DeviceArray], boundary: Sequence[Launch] = (), interior: Sequence[Launch] = ()
) -> list[Launch]:
    return [*boundary, *interior, Exchange(arrays)]


def _until_exchange(launches: Iterator[Any]) -> Exchange | None:
    """Run the launches before the next exchange, and return it; None after the last one."""
    for launch in launches:
        if isinstance(launch, Exchange):
            return launch
        launch()
    return None
