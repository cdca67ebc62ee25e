"""Which GPU of a host each rank computes on, so that heavy traffic crosses few slow links.

An exchange lasts as long as its busiest link. The authors of k-Wave report what that means on two
sockets with four GPUs each: the binding decides whether 4 overlaps cross the link between the
sockets, or all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from math import factorial, perm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundswell.backends.links import Pair
from groundswell.exchange.topology import Floats, link_times

MOST_BINDINGS = factorial(8)  # tried; 8 GPUs take 0.1 s
ROUNDING = 1e-9  # relative, of times that are the same


def bind(gpus: int, pairs: Sequence[Pair], traffic: NDArray[Any]) -> list[int]:
    """The number of each rank's GPU, such that the busiest link is busy for the shortest time.

    Among equals, the sum over all links decides, then the order of the ranks. That order is kept
    without a search if all pairs of GPUs are joined alike, nothing is known of them, or there are
    too many bindings to try (more than 8 GPUs with as many ranks).

    Args:
        pairs: all pairs of the GPUs; none if nothing is known.
        traffic: bytes from rank to rank, (ranks, ranks).
    """
    groups = contiguous(len(traffic), gpus)
    count = int(groups[-1]) + 1
    alike = len({(pair.kind, pair.bandwidth) for pair in pairs}) < 2
    if not alike and perm(gpus, count) <= MOST_BINDINGS:
        sent = np.zeros((count, count))
        np.add.at(sent, (groups[:, None], groups), traffic)
        groups = _best(link_times(gpus, pairs), sent)[groups]
    return [int(gpu) for gpu in groups]


def contiguous(ranks: int, gpus: int) -> NDArray[np.intp]:
    """Rank n on GPU n; on fewer GPUs, equal groups of ranks that follow each other share one."""
    return np.arange(ranks) * min(ranks, gpus) // ranks


def _best(times: Floats, sent: Floats) -> NDArray[np.intp]:
    """The best of all bindings, the first among equals.

    Args:
        times: see `link_times`.
        sent: bytes between as many ranks as GPUs, or fewer.
    """
    gpus = times.shape[-1]
    bindings = np.array(list(permutations(range(gpus), len(sent))))
    traffic = np.zeros((len(bindings), gpus, gpus))  # from GPU to GPU
    traffic[np.arange(len(bindings))[:, None, None], bindings[:, :, None], bindings[:, None]] = sent
    busy = np.tensordot(traffic, times, ((1, 2), (1, 2)))  # seconds: (bindings, links)
    left = np.arange(len(bindings))
    for cost in (busy.max(axis=1), busy.sum(axis=1)):
        left = left[cost[left] <= cost[left].min() * (1 + ROUNDING)]
    best: NDArray[np.intp] = bindings[left[0]]
    return best
