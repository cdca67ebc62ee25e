"""The topology of a host's GPUs: which links a message takes, and how long it occupies them.

NVML tells the nearest common ancestor of each two GPUs in the PCIe tree (a switch, a host bridge, a
NUMA node, the link between sockets), from which the tree follows, and their NVLink connections.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from groundswell.backends.links import BANDWIDTH, Pair

Floats: TypeAlias = NDArray[np.float64]


def link_times(gpus: int, pairs: Sequence[Pair]) -> Floats:
    """Seconds that a byte from one GPU to another occupies each link: (links, from, to).

    A message takes NVLink if that joins the two GPUs, else PCIe; it never passes a third GPU. Links
    are full duplex, so each direction is a link of its own.

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
    """The number of each GPU's subtree, after the subtrees of these pairs have been joined."""
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
