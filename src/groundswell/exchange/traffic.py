"""How many bytes each rank sends each other one, known before there are any arrays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from math import prod

import numpy as np
from numpy.typing import NDArray

from groundswell.exchange.decomposition import Decomposition
from groundswell.exchange.pattern import Ghosts, receives


def traffic(cut: Decomposition, ghosts: Iterable[tuple[Ghosts, int]]) -> NDArray[np.int64]:
    """Bytes of one exchange from rank to rank, (ranks, ranks); the diagonal is zero.

    Args:
        cut: who holds which points.
        ghosts: of each field the layers that it needs, and bytes of a value on its way.
    """
    bytes_of: Counter[Ghosts] = Counter()
    for layers, size in ghosts:
        bytes_of[layers] += size
    sent = np.zeros((cut.ranks, cut.ranks), np.int64)
    for layers, size in bytes_of.items():
        for rank in range(cut.ranks):
            for piece in receives(cut, rank, layers):
                sent[piece.owner, rank] += prod(piece.shape) * size
    np.fill_diagonal(sent, 0)
    return sent
