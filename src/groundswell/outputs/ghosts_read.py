"""Ghosts that recorders read on Cartesian grids, where they interpolate across blocks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from groundswell.arrays import Integers
from groundswell.case.recording import RecordSection
from groundswell.exchange.decomposition import Decomposition
from groundswell.exchange.pattern import Ghosts
from groundswell.outputs.cartesian import CartesianDomain
from groundswell.outputs.recording import PointSelection, Recording


def ghosts_read(
    recording: Recording, sections: Sequence[RecordSection], cut: Decomposition
) -> dict[str, Ghosts]:
    """Ghosts by field, corners included, that recorders read to interpolate across blocks.

    Args:
        recording: the recording of the whole grid.
    """
    domain = recording.domain
    assert isinstance(domain, CartesianDomain)
    found: dict[str, Ghosts] = {}
    for section in sections:
        chosen = recording.select(section)
        if isinstance(chosen, PointSelection) and chosen.weights is not None:
            for name, cells in zip(section.fields, chosen.cells, strict=True):
                first = cells + domain.part.grid.before[::-1]
                ghosts = _across(first, np.array(chosen.taps), cut)
                found |= {} if ghosts is None else {name: _united(found.get(name), ghosts)}
    return found


def _across(first: Integers, taps: Integers, cut: Decomposition) -> Ghosts | None:
    """Ghosts for stencils (points, 3); None if no stencil spans several blocks or a seam."""
    last = first + taps
    crosses = np.zeros(len(first), bool)
    for axis, edges in enumerate(cut.edges):
        for edge in edges if cut.periodic[axis] else edges[1:-1]:
            crosses |= (first[:, axis] < edge) & (edge < last[:, axis])
    if not crosses.any():
        return None
    low, high = first[crosses].min(axis=0), last[crosses].max(axis=0)
    width = (int(taps.max()) // 2,) * len(taps)
    axes = zip(low, high, cut.shape, strict=True)
    within = tuple(None if a < 0 or b > n else (int(a), int(b)) for a, b, n in axes)
    return Ghosts(width, width, corners=True, within=within)


def _united(one: Ghosts | None, other: Ghosts) -> Ghosts:
    """Ghosts that include both."""
    if one is None:
        return other
    width = max(one.low, other.low)
    runs = zip(one.within, other.within, strict=True)
    within = tuple((min(a[0], b[0]), max(a[1], b[1])) if a and b else None for a, b in runs)
    return Ghosts(width, width, corners=True, within=within)
