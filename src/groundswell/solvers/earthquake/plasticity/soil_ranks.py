"""Blocks of ranks and soft soil: the layer lies in the uppermost blocks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from groundswell.errors import InputError
from groundswell.exchange.decomposition import Decomposition
from groundswell.exchange.ghosts import Ghosts
from groundswell.grids.cartesian import GHOSTS
from groundswell.solvers.earthquake.plasticity.soil_layer import SoilLayer

INSIDE = 2  # outermost cells of the soil that the same ranks have as the layer beside them
BELOW = 2  # depth rows below the layer that the same ranks have, for differences there


@contextmanager
def soil_named(layer: SoilLayer | None) -> Iterator[None]:
    """Name the soil in errors of a decomposition whose blocks must contain it."""
    try:
        yield
    except InputError as error:
        if layer is None:
            raise
        why = f"a block must contain the soft soil of [plasticity] and {BELOW} more depth rows"
        raise InputError(f"{error}; {why}") from error


def beside_layers(decomposition: Decomposition, layer: SoilLayer | None) -> Decomposition:
    """The decomposition with ends of blocks moved out of the absorbing layers beside soft soil.

    A rank then has the outermost cells of the soil with its part of a layer.

    Raises:
        InputError: blocks are too thin to move their ends.
    """
    if layer is None:
        return decomposition
    edges = [np.array(along) for along in decomposition.edges]
    for axis, (low, high) in zip((2, 1), layer.yielding, strict=True):
        edges[axis][1:-1] = np.clip(edges[axis][1:-1], low + INSIDE, high + 1 - INSIDE)
    lengths = tuple(tuple(np.diff(along).tolist()) for along in edges)
    if min(min(along) for along in lengths[1:]) < GHOSTS:
        x, y, z = decomposition.processes[::-1]
        raise InputError(
            f"processes = [{x}, {y}, {z}]: each block beside an absorbing layer must reach into "
            "the soft soil of [plasticity], and blocks are too thin; use fewer along x or y "
            "(run.processes), or fewer ranks"
        )
    return replace(decomposition, lengths=lengths)


def rows_of_soil(decomposition: Decomposition, layer: SoilLayer) -> Decomposition:
    """The decomposition of the depth rows down to the first below the layer.

    Ranks below have one row, which they do not exchange.
    """
    lengths = [tuple(np.diff(along).tolist()) for along in decomposition.edges]
    rows = (layer.end + 1, *(1 for _ in lengths[0][1:]))
    shape = (sum(rows), *decomposition.shape[1:])
    return replace(decomposition, shape=shape, lengths=(rows, lengths[1], lengths[2]))


def part_ghosts(layer: SoilLayer) -> Ghosts:
    """The ghosts of what cells lose that the edges of a block's cells read."""
    beside = (0, 1, 1)
    return Ghosts(beside, beside, corners=True, within=((0, layer.end), None, None))


def velocity_ghosts(layer: SoilLayer) -> Ghosts:
    """The ghosts of velocities that differences at all edges of a block's cells read."""
    within = ((0, layer.end + BELOW), None, None)
    return Ghosts((0, 2, 2), (0, 2, 2), corners=True, within=within)
