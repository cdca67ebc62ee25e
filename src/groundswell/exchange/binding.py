"""Which rank computes on which device, so that heavy traffic crosses few slow links.

An exchange lasts as long as its busiest link. The authors of k-Wave report what that means on two
sockets with four GPUs each: the binding decides whether 4 overlaps cross the link between the
sockets, or all of them.

Loads are exact and every choice is deterministic, so that all ranks find the same binding.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import combinations, cycle, islice
from math import fsum, perm
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groundswell.errors import InputError
from groundswell.exchange.topology import Machine

Binding: TypeAlias = tuple[int, ...]
Cost: TypeAlias = tuple[float, float]
Floats: TypeAlias = NDArray[np.float64]

MOST_BINDINGS = 50_000  # that are tried one and all: 8 ranks on 8 devices have 40320
MOST_SWAPS = 30_000  # tried by the local search: a second for 16 devices, ten for 512
ALL = slice(None)


def loads(machine: Machine, traffic: ArrayLike, binding: Sequence[int]) -> Floats:
    """Bytes over each link, (links, 2): from its first end to its second, and back.

    Args:
        traffic: bytes from rank to rank, (ranks, ranks), whole; the diagonal does not count.
        binding: the number of each rank's device; ranks on one device use no link.

    Raises:
        InputError: traffic of another kind, or a binding that does not suit it and the machine.
    """
    sent = _checked(traffic)
    if len(binding) != len(sent) or not all(0 <= d < len(machine.devices) for d in binding):
        raise InputError(
            f"binding {tuple(binding)} must give each of {len(sent)} ranks one of "
            f"{len(machine.devices)} devices, counted from 0"
        )
    return _Traffic(machine, sent).loads(np.array(binding, np.intp)).reshape(-1, 2)


def cost(machine: Machine, traffic: ArrayLike, binding: Sequence[int]) -> Cost:
    """Seconds of the busiest link (in one of its directions), and the sum over all links.

    Costs compare as tuples, so the sum breaks ties. For arguments and errors see `loads`.
    """
    return _cost(machine, loads(machine, traffic, binding).ravel())


def crossings(
    machine: Machine, traffic: ArrayLike, binding: Sequence[int], link: tuple[str, str]
) -> int:
    """How many messages cross the link between two nodes, in both directions together.

    A message is all that one rank sends to another: it counts once, not at either end.

    Raises:
        InputError: there is no such link; see also `loads`.
    """
    numbers = [n for n, known in enumerate(machine.links) if set(known.ends) == set(link)]
    if not numbers:
        names = [known.ends for known in machine.links]
        raise InputError(f"no link joins {link}; the links are {names}")
    messages = loads(machine, _checked(traffic) > 0, binding)
    return int(messages[numbers].sum())


# --- the best binding -----------------------------------------------------------------------------


def bind(machine: Machine, traffic: ArrayLike) -> Binding:
    """The number of each rank's device that makes `cost` least; `contiguous` where that is as good.

    Few bindings (up to 8 devices) are all tried, by branch and bound. For more, ranks change places
    two by two while that helps, from several starts of which one is `contiguous`: a good binding,
    and never a worse one than that, but not always the best. Ranks that give the same machine and
    traffic find the same binding.

    Devices may be more than ranks. If they are fewer, ranks that follow each other share a device
    (see `contiguous`), and what is bound is those groups.

    Raises:
        InputError: traffic that is not square, whole and non-negative.
    """
    sent = _checked(traffic)
    count = len(machine.devices)
    group = np.array(contiguous(machine, len(sent)), np.intp)
    if len(sent) > count:
        member = (group[:, None] == np.arange(count)).astype(np.int64)
        return tuple(int(d) for d in np.array(bind(machine, member.T @ sent @ member))[group])
    search = _Search(machine, sent)
    if perm(count, len(sent)) <= MOST_BINDINGS:
        search.try_all()
    else:
        search.try_swaps()
    return search.best


def contiguous(machine: Machine, ranks: int) -> Binding:
    """Rank n on device n; if devices are fewer, as equal groups of ranks as possible, in order."""
    count = len(machine.devices)
    return tuple(n if ranks <= count else n * count // ranks for n in range(ranks))


def _checked(traffic: ArrayLike) -> NDArray[np.int64]:
    """A copy as integers, without what ranks send to themselves."""
    given = np.asarray(traffic)
    square = given.ndim == 2 and given.shape[0] == given.shape[1]
    if not square or given.dtype.kind not in "biuf":
        raise InputError(f"traffic is {given.dtype} {given.shape}; give numbers (ranks, ranks)")
    if not (np.all((given >= 0) & (given == np.floor(given))) and given.sum(dtype=float) < 2**53):
        raise InputError("traffic must be whole numbers of bytes, 0 or more, below 2**53 in all")
    sent = given.astype(np.int64)
    np.fill_diagonal(sent, 0)
    return sent


class _Traffic:
    """Messages, and the loads they are for directed links.

    Loads are sums of whole numbers below 2**53, hence exact in any order.
    """

    def __init__(self, machine: Machine, sent: NDArray[np.int64]) -> None:
        self.sender, self.receiver = np.nonzero(sent)
        self._bytes = sent[self.sender, self.receiver]
        self._machine = machine

    def loads(self, binding: NDArray[np.intp], which: NDArray[np.intp] | slice = ALL) -> Floats:
        """Of all messages or some, in bytes: (2 * links,), numbered as in `Machine.routes`."""
        routes = self._machine.routes[binding[self.sender[which]], binding[self.receiver[which]]]
        weights = np.repeat(self._bytes[which], routes.shape[-1])
        unused = 2 * len(self._machine.links)
        counted = np.bincount(routes.ravel(), weights, unused + 1)
        return counted[:unused].astype(np.float64, copy=False)

    def of_either(self, a: int, b: int) -> NDArray[np.intp]:
        """The messages to and from these two ranks."""
        ends = (self.sender, self.receiver)
        return np.flatnonzero(sum(end == rank for end in ends for rank in (a, b)))


class _Search:
    """The best binding found so far, at first the contiguous one."""

    def __init__(self, machine: Machine, sent: NDArray[np.int64]) -> None:
        self._machine = machine
        self._traffic = _Traffic(machine, sent)
        self._ranks = len(sent)
        self.best = contiguous(machine, self._ranks)
        self._least = _cost(machine, self._traffic.loads(np.array(self.best, np.intp)))

    def try_all(self) -> None:
        """Branch and bound over ranks in order: loads only grow as ranks are placed."""
        last = np.maximum(self._traffic.sender, self._traffic.receiver)
        known = [np.flatnonzero(last == rank) for rank in range(self._ranks)]
        self._place([], known, np.zeros(2 * len(self._machine.links)))

    def _place(self, placed: list[int], known: list[NDArray[np.intp]], so_far: Floats) -> None:
        if len(placed) == self._ranks:
            self.best, self._least = tuple(placed), _cost(self._machine, so_far)
            return
        for device in self._choices(placed):
            binding = [*placed, device]
            more = so_far + self._traffic.loads(np.array(binding), known[len(placed)])
            if _cost(self._machine, more) < self._least:
                self._place(binding, known, more)

    def _choices(self, placed: list[int]) -> list[int]:
        """Free devices, but one alone of those that can change places."""
        free = [d for d in range(len(self._machine.devices)) if d not in placed]
        return list({self._machine.places[d]: d for d in reversed(free)}.values())[::-1]

    def try_swaps(self) -> None:
        """Descend from the contiguous binding, then from shuffled ones while trials are left."""
        order = list(range(len(self._machine.devices)))
        shuffler = random.Random(0)
        left = MOST_SWAPS
        while left > 0:
            left = self._descend(np.array(order), left)
            shuffler.shuffle(order)

    def _descend(self, order: NDArray[np.intp], left: int) -> int:
        """Swap the devices of two ranks, or of a rank and none, until no swap helps.

        Returns what is then left of so many trials.
        """
        pairs = [(a, b) for a, b in combinations(range(len(order)), 2) if a < self._ranks]
        loads, in_vain = self._traffic.loads(order), 0
        least = _cost(self._machine, loads)
        for a, b in islice(cycle(pairs), left):
            left, in_vain = left - 1, in_vain + 1
            moved = self._traffic.of_either(a, b)
            before = self._traffic.loads(order, moved)
            order[[a, b]] = order[[b, a]]
            trial = loads - before + self._traffic.loads(order, moved)
            if (found := _cost(self._machine, trial)) < least:
                loads, least, in_vain = trial, found, 0
            else:
                order[[a, b]] = order[[b, a]]
            if in_vain == len(pairs):
                break
        if least < self._least:
            self.best, self._least = tuple(order[: self._ranks].tolist()), least
        return left


def _cost(machine: Machine, flow: Floats) -> Cost:
    """fsum, because the rounding of NumPy's sum may differ between the processors of a cluster."""
    seconds = (flow / machine.bandwidths).tolist()
    return max(seconds, default=0.0), fsum(seconds)
