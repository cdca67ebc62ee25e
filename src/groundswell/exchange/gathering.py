"""Gathering the blocks of an array on every rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from groundswell.arrays import DeviceArray
from groundswell.backends import Backend
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.decomposition import Decomposition, Index
from groundswell.exchange.ghost_field import GhostField
from groundswell.exchange.ghosts import Ghosts
from groundswell.exchange.halo import HaloExchange


def gather_blocks(
    backend: Backend,
    comm: Communicator,
    blocks: Decomposition,
    arrays: Sequence[DeviceArray],
    origin: Index,
    **options: Any,
) -> HaloExchange:
    """An exchange by which every rank gets all points of arrays of which each has one block.

    The ghosts of a block are all points of other blocks.

    Args:
        blocks: the block of each rank.
        arrays: whole arrays.
        origin: index of the first point of the whole in each array.
        options: see `HaloExchange`.
    """
    first = tuple(np.add(origin, blocks.block(comm.rank).start).tolist())
    others = Ghosts(blocks.shape, blocks.shape, corners=True)
    whole = replace(blocks, periodic=(False,) * len(blocks.shape))
    fields = [GhostField(array, first, others) for array in arrays]
    return HaloExchange(backend, comm, whole, fields, **options)
