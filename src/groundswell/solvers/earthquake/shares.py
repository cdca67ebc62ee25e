"""Point sources spread over grid values, as flat tables that a kernel walks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groundswell.backends import Backend, Items, Launch, Module
from groundswell.backends.base import Array
from groundswell.grids.cartesian import Grid, Layout
from groundswell.solvers.earthquake import interpolation as lattice
from groundswell.solvers.earthquake.sources import PointSource

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Shares:
    """Which sources reach which values; see `kernels/sources.h` for the tables."""

    targets: Integers
    components: Integers
    starts: Integers
    share_source: Integers
    share_weight: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.targets)


def share_out(
    grid: Grid, layout: Layout, sources: Sequence[PointSource], *, forces: bool, free_surface: bool
) -> Shares:
    """Spread moments (or forces) over the values of each component, per unit volume.

    Rows are sorted by component and place, and the shares of one value by source, so that sums
    come out alike in every run.
    """
    rows = [
        (component, place, n, weight)
        for n, source in enumerate(sources)
        for component, place, weight in _reached(grid, layout, source, forces, free_surface)
    ]
    rows.sort()
    component, place, source, weight = (np.array(column) for column in zip(*rows, strict=True)) if (
        rows
    ) else (np.empty(0),) * 4
    keys = np.stack([component, place], axis=1).astype(np.int64)
    unique, first = np.unique(keys, axis=0, return_index=True)
    return Shares(
        targets=unique[:, 1].copy(),
        components=unique[:, 0].copy(),
        starts=np.append(first, len(rows)).astype(np.int64),
        share_source=source.astype(np.int64),
        share_weight=weight.astype(float) / float(np.prod(grid.spacing)),
    )


def _reached(
    grid: Grid, layout: Layout, source: PointSource, forces: bool, free_surface: bool
) -> list[tuple[int, int, float]]:
    """(component, place in memory, weight) of every value that one source reaches."""
    strengths = source.force if forces else source.moment
    if strengths is None:
        return []
    offsets = lattice.VELOCITY_OFFSETS if forces else lattice.STRESS_OFFSETS
    mirrors = lattice.VELOCITY_MIRRORS if forces else lattice.STRESS_MIRRORS
    return [
        (component, i + layout.row * j + layout.plane * k, strength * weight)
        for component, strength in enumerate(strengths)
        if strength
        for (i, j, k), weight in lattice.spread(
            grid,
            source.position,
            offsets[component],
            mirror=mirrors[component] if free_surface else None,
        )
    ]


class Histories:
    """The time functions of all sources, packed on the device."""

    def __init__(self, backend: Backend, sources: Sequence[PointSource], dtype: str) -> None:
        times = np.array([[s.start, s.step] for s in sources], float).reshape(-1, 2)
        samples = np.concatenate([s.samples for s in sources]) if sources else np.zeros(1)
        firsts = np.cumsum([0, *(len(s.samples) for s in sources)])
        self.times = backend.to_device(times)
        self.firsts = backend.to_device(firsts.astype(np.int64))
        self.samples = backend.to_device(samples.astype(dtype))


def injection(
    backend: Backend,
    module: Module,
    name: str,
    fields: Sequence[Array],
    shares: Shares,
    histories: Histories,
    clock: Array,
) -> list[Launch]:
    """The launch that adds the shares to `fields`; none if no source has any."""
    if not len(shares):
        return []
    dtype = fields[0].dtype
    tables = [shares.targets, shares.components, shares.starts, shares.share_source]
    on_device = [backend.to_device(table) for table in tables]
    weights = backend.to_device(shares.share_weight.astype(dtype))
    return [
        module.launch(
            name,
            Items(len(shares)),
            *fields,
            *on_device,
            weights,
            histories.times,
            histories.firsts,
            histories.samples,
            clock,
            len(shares),
        )
    ]
