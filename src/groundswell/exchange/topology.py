"""A machine as a graph of devices and hubs, and the ways of messages through it.

Hubs are PCIe switches, host bridges, sockets, NVSwitch, the nodes of a cluster: whatever forwards.
Links are full duplex and messages take shortest paths.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from math import inf
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from groundswell.backends.links import BANDWIDTH, SWITCH, Pair
from groundswell.errors import InputError

Branch: TypeAlias = "Mapping[str, Branch] | Sequence[str]"
T = TypeVar("T")


@dataclass(frozen=True)
class Link:
    """A connection of two nodes that carries `bandwidth` bytes/s in each direction at once."""

    ends: tuple[str, str]
    bandwidth: float


@dataclass(frozen=True)
class Machine:
    """Devices, and the links that join them and the hubs.

    Raises:
        InputError: no device, a device or a link given twice, a bandwidth that is not positive, or
            a device that the others cannot reach.
    """

    devices: tuple[str, ...]
    links: tuple[Link, ...]

    def __post_init__(self) -> None:
        ends = {frozenset(link.ends) for link in self.links}
        if not self.devices or len(set(self.devices)) < len(self.devices):
            raise InputError(f"devices are {self.devices}; give at least one, and each once")
        if len(ends) < len(self.links) or any(len(pair) < 2 for pair in ends):
            raise InputError("each link must join two different nodes that no other link joins")
        for link in self.links:
            if not 0 < link.bandwidth < inf:
                raise InputError(f"link {link.ends}: {link.bandwidth} bytes/s must be positive")
        _ = self.routes  # refuses a device that is out of reach

    @classmethod
    def tree(cls, tops: Mapping[str, Branch], bandwidths: Sequence[float]) -> Machine:
        """A machine that is a tree: mappings from hubs to what they hold, at last lists of devices.

        Args:
            tops: the one node at the top, or two that a link joins directly, as sockets are.
            bandwidths: of the links at each depth in bytes/s, from the top down.
        """
        names = tuple(tops)
        if len(names) not in (1, 2):
            raise InputError(f"the top of a tree is {names}; give one node, or two to be joined")
        edges = [(names[0], other, 0) for other in names[1:]]
        depth = len(edges)
        edges += [edge for top in names for edge in _edges(top, tops[top], depth)]
        if len(bandwidths) != 1 + max((level for _, _, level in edges), default=-1):
            raise InputError(f"{len(bandwidths)} bandwidths do not suit the tree; give one a depth")
        hubs = {*names, *(parent for parent, _, _ in edges)}
        devices = tuple(child for _, child, _ in edges if child not in hubs)
        return cls(devices, tuple(Link((a, b), bandwidths[level]) for a, b, level in edges))

    @classmethod
    def equal(cls, devices: Sequence[str], bandwidth: float = 1.0) -> Machine:
        """A machine of which nothing is known: one switch joins all devices alike."""
        return cls.tree({"switch": devices}, (bandwidth,))

    @classmethod
    def from_pairs(cls, devices: Sequence[str], pairs: Iterable[Pair]) -> Machine:
        """The machine that shows these paths between each two of its devices.

        A PCIe tree has a hub for every group of devices at one level; NVLink comes on top of it,
        from device to device or to an NVSwitch, and is preferred where it is faster.
        """
        known = tuple(pairs)
        links = (*_pcie(devices, known), *_nvlink(devices, known))
        return cls(tuple(devices), links)

    @cached_property
    def routes(self) -> NDArray[np.intp]:
        """Way of each message, (from, to, hops): link n as 2 n from its first end, else 2 n + 1.

        Shortest is the path of least total 1 / bandwidth, then of fewest links. Devices forward
        nothing for others. Unused hops have the number 2 * len(links).
        """
        ways = [self._ways(device) for device in self.devices]
        hops = max(len(way) for row in ways for way in row)
        rest = (2 * len(self.links),) * hops
        padded = [[(way + rest)[:hops] for way in row] for row in ways]
        return np.array(padded, np.intp).reshape(len(ways), len(ways), hops)

    def _ways(self, start: str) -> list[tuple[int, ...]]:
        """To every device (Dijkstra)."""
        found: dict[str, tuple[int, ...]] = {}
        front: list[tuple[float, int, tuple[int, ...], str]] = [(0.0, 0, (), start)]
        while front:
            length, hops, way, node = heapq.heappop(front)
            if node in found:
                continue
            found[node] = way
            if node == start or node not in self.devices:
                for step, other in self._steps[node]:
                    longer = length + 1 / self.links[step // 2].bandwidth
                    heapq.heappush(front, (longer, hops + 1, (*way, step), other))
        lost = [device for device in self.devices if device not in found]
        if lost:
            raise InputError(f"no links lead from {start} to {lost}; add what joins them")
        return [found[device] for device in self.devices]

    @cached_property
    def _steps(self) -> dict[str, list[tuple[int, str]]]:
        """From each node: the directed links that leave it, and where they lead."""
        steps: dict[str, list[tuple[int, str]]] = {device: [] for device in self.devices}
        for n, (first, second) in enumerate(link.ends for link in self.links):
            steps.setdefault(first, []).append((2 * n, second))
            steps.setdefault(second, []).append((2 * n + 1, first))
        return steps

    @cached_property
    def bandwidths(self) -> NDArray[np.float64]:
        """Of directed links in bytes/s: (2 * links,), numbered as in `routes`."""
        return np.repeat([link.bandwidth for link in self.links], 2)

    @cached_property
    def places(self) -> list[tuple[object, ...]]:
        """A key for each device: those with the same one can change places without any effect."""
        used = set((self.routes // 2).ravel().tolist())
        return [self._place(device, used) for device in self.devices]

    def _place(self, device: str, used: set[int]) -> tuple[object, ...]:
        """The hubs that links in use lead to; the device itself where it has a link to another."""
        steps = [(n // 2, other) for n, other in self._steps[device] if n // 2 in used]
        if any(other in self.devices for _, other in steps):
            return (device,)
        return tuple((other, self.links[n].bandwidth) for n, other in steps)


def _edges(parent: str, branch: Branch, depth: int) -> Iterator[tuple[str, str, int]]:
    for child in branch:
        yield parent, child, depth
        if isinstance(branch, Mapping):
            yield from _edges(child, branch[child], depth + 1)


def _pcie(devices: Sequence[str], pairs: Sequence[Pair]) -> Iterator[Link]:
    """Levels from the nearest on: each joins the tops of what nearer ones have joined."""
    tops = list(devices)
    for level, bandwidth in BANDWIDTH.items():
        near = [pair.devices for pair in pairs if pair.level == level]
        for n, group in enumerate(_groups((tops[a], tops[b]) for a, b in near)):
            yield from (Link((f"{level} {n}", top), bandwidth) for top in group)
            tops = [f"{level} {n}" if top in group else top for top in tops]


def _nvlink(devices: Sequence[str], pairs: Sequence[Pair]) -> Iterator[Link]:
    for pair in pairs:
        if pair.nvlinks and not pair.switched:
            yield Link((devices[pair.devices[0]], devices[pair.devices[1]]), pair.bandwidth)
    switched = [pair for pair in pairs if pair.nvlinks and pair.switched]
    widest = dict.fromkeys(range(len(devices)), 0.0)
    for pair in switched:
        widest.update({d: max(widest[d], pair.bandwidth) for d in pair.devices})
    for n, group in enumerate(_groups(pair.devices for pair in switched)):
        yield from (Link((f"{SWITCH} {n}", devices[d]), widest[d]) for d in group)


def _groups(edges: Iterable[tuple[T, T]]) -> list[tuple[T, ...]]:
    """What edges connect, in the order of first mention."""
    groups: list[tuple[T, ...]] = []
    for edge in edges:
        merged = [group for group in groups if not set(group).isdisjoint(edge)]
        rest = [group for group in groups if group not in merged]
        groups = [*rest, tuple(dict.fromkeys(chain(*merged, edge)))]
    return [group for group in groups if len(group) > 1]
