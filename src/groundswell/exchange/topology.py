"""Binds ranks to the GPUs of a host so that heavy traffic crosses few slow links.

NVML reports the nearest common ancestor of each two GPUs in the PCIe tree (a switch, a host bridge,
a NUMA node, the link between sockets), from which the tree follows, and their NVLink connections.
An exchange lasts as long as its busiest link. The authors of k-Wave report the effect on two
sockets with four GPUs each: with the best binding 4 overlaps cross the link between the sockets,
with the worst all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import permutations
from math import factorial, perm
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from groundswell.backends.links import BANDWIDTH, Pair

Floats: TypeAlias = NDArray[np.float64]

MOST_BINDINGS = factorial(8)  # tried; 8 GPUs take 0.1 s
ROUNDING = 1e-9  # relative, of times that are the same


# --- bindings -------------------------------------------------------------------------------------


def bind(gpus: int, pairs: Sequence[Pair], traffic: NDArray[Any]) -> list[int]:
    """The GPU of each rank, such that the busiest link is busy for the shortest time.

    Among equal bindings the sum over all links decides, then the order of the ranks. Ranks keep
    their order without a search if all pairs of GPUs have equal links, nothing is known of them,
    or there are too many bindings to try (more than 8 GPUs with as many ranks).

    Args:
        pairs: all pairs of the GPUs; none if nothing is known.
        traffic: bytes from rank to rank, (ranks, ranks).
    """
    groups = contiguous(len(traffic), gpus)
    count = int(groups[-1]) + 1
    equal = len({(pair.kind, pair.bandwidth) for pair in pairs}) < 2
    if not equal and perm(gpus, count) <= MOST_BINDINGS:
        sent = np.zeros((count, count))
        np.add.at(sent, (groups[:, None], groups), traffic)
        groups = _best(link_times(gpus, pairs), sent)[groups]
    return [int(gpu) for gpu in groups]


def contiguous(ranks: int, gpus: int) -> NDArray[np.intp]:
    """Rank n on GPU n; on fewer GPUs, equal groups of consecutive ranks share one."""
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


# --- links ----------------------------------------------------------------------------------------


def link_times(gpus: int, pairs: Sequence[Pair]) -> Floats:
    """Seconds that a byte from one GPU to another occupies each link: (links, from, to).

    A message uses NVLink if that connects the two GPUs, else PCIe; it never passes a third GPU.
    Links are full duplex, so each direction is a link of its own.

    Args:
        pairs: all pairs of the GPUs.
    """
    one_way = [*_nvlink(gpus, pairs), *_nvswitch(gpus, pairs), *_pcie(gpus, pairs)]
    return np.array([times for link in one_way for times in (link, link.T)])


def _nvlink(gpus: int, pairs: Iterable[Pair]) -> Iterator[Floats]:
    """Direct connections of two GPUs."""
    direct = (pair for pair in pairs if pair.nvlinks and not pair.switched)
    return (np.triu(_seconds(gpus, [pair])) for pair in direct)


def _nvswitch(gpus: int, pairs: Iterable[Pair]) -> Iterator[Floats]:
    """From each GPU to the NVSwitch."""
    seconds = _seconds(gpus, (pair for pair in pairs if pair.nvlinks and pair.switched))
    return (seconds * (np.arange(gpus) == gpu)[:, None] for gpu in range(gpus))


def _pcie(gpus: int, pairs: Sequence[Pair]) -> Iterator[Floats]:
    """From each subtree, at first a single GPU, to the ancestor that it shares with others."""
    used = _seconds(gpus, (pair for pair in pairs if not pair.nvlinks)) > 0
    subtree = np.arange(gpus)
    for level, bandwidth in BANDWIDTH.items():
        joined = _join(subtree, (pair.devices for pair in pairs if pair.level == level))
        for number in np.unique(subtree):
            inside = subtree == number
            if np.any(joined[~inside] == joined[inside][0]):
                yield np.outer(inside, ~inside) * used / bandwidth
        subtree = joined


def _join(subtree: NDArray[np.intp], pairs: Iterable[tuple[int, int]]) -> NDArray[np.intp]:
    """The number of each GPU's subtree after the subtrees of these pairs are joined."""
    joined = subtree.copy()
    for a, b in pairs:
        joined[joined == joined[a]] = joined[b]
    return joined


def _seconds(gpus: int, pairs: Iterable[Pair]) -> Floats:
    """Per byte between the GPUs of these pairs; 0 between others."""
    table = np.zeros((gpus, gpus))
    for pair in pairs:
        table[pair.devices] = table[pair.devices[::-1]] = 1 / pair.bandwidth
    return table
