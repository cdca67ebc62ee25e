"""Which GPU each rank takes: by topology and traffic, in rank order, or as the launcher says."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from fake_nvml import BUSES, SHORT, SWITCH, FakeNvml, pretend, wire

from groundswell.backends import links
from groundswell.backends.links import DeviceTopology, read_links
from groundswell.errors import BackendError, GroundswellError
from groundswell.exchange import Domain, devices
from groundswell.exchange.communicator import SerialCommunicator
from groundswell.exchange.decomposition import decompose
from groundswell.exchange.devices import open_device
from groundswell.exchange.ghosts import Ghosts
from groundswell.exchange.mpi_communicator import MpiCommunicator
from groundswell.exchange.pattern import traffic

BusIds = Sequence[str]


class Rank(MpiCommunicator):
    """A rank that is a thread.

    Args:
        hosts: of all ranks.
        said: what they say, by rank; shared by all.
    """

    def __init__(
        self, rank: int, hosts: Sequence[str], said: list[Any], meet: threading.Barrier
    ) -> None:
        self.rank, self.size = rank, len(hosts)
        self._hosts, self._said, self._meet = hosts, said, meet

    @property
    def same_host(self) -> list[int]:
        return [n for n, host in enumerate(self._hosts) if host == self._hosts[self.rank]]

    @property
    def same_machine(self) -> list[int]:
        """Containers of a machine differ in case only."""
        here = self._hosts[self.rank].lower()
        return [n for n, host in enumerate(self._hosts) if host.lower() == here]

    def _allgather(self, kind: str, value: Any) -> list[Any]:
        self._said[self.rank] = value
        self._meet.wait(10)
        heard = list(self._said)
        self._meet.wait(10)
        return heard


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Any]]:
    """Let ranks open devices, given the GPUs that each one sees; their numbers, or errors."""

    def by_all(
        seen: Sequence[BusIds | BackendError], hosts: str = "", matrix: Any = None
    ) -> list[Any]:
        meet, found = threading.Barrier(len(seen)), [None] * len(seen)
        sent = None if matrix is None else lambda ranks: np.asarray(matrix)[np.ix_(ranks, ranks)]
        said: list[Any] = [None] * len(seen)

        def buses() -> list[str]:
            mine = seen[int(threading.current_thread().name)]
            if isinstance(mine, BackendError):
                raise mine
            return list(mine)

        def work(rank: int) -> None:
            try:
                comm = Rank(rank, hosts or "a" * len(seen), said, meet)
                found[rank] = open_device("cuda", comm, sent)  # type: ignore[call-overload]
            except GroundswellError as error:
                found[rank] = error  # type: ignore[call-overload]

        monkeypatch.setattr(devices, "gpu_buses", buses)
        monkeypatch.setattr(devices, "open_backend", lambda name, number: number)
        threads = [
            threading.Thread(target=work, args=(rank,), name=str(rank)) for rank in range(len(seen))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return found

    return by_all


Taken = Callable[..., list[Any]]


@pytest.fixture
def nvml(monkeypatch: pytest.MonkeyPatch) -> FakeNvml:
    return pretend(monkeypatch)


# --- by topology ----------------------------------------------------------------------------------


def test_heavy_traffic_takes_nvlink(nvml: FakeNvml, taken: Taken) -> None:
    """GPUs 0 and 3 of the rank order talk most, and NVLink joins 1 and 2."""
    wire(nvml, n1=[BUSES[2]] * 4, n2=[BUSES[1]] * 4)
    heavy = [[0, 1, 0, 9000], [1, 0, 1, 0], [0, 1, 0, 1], [9000, 0, 1, 0]]
    found = taken([SHORT] * 4, matrix=heavy)
    assert sorted(found) == [0, 1, 2, 3] and {found[0], found[3]} == {1, 2}


def test_numbers_are_those_of_cuda(nvml: FakeNvml, taken: Taken) -> None:
    """CUDA may count in another order than the bus."""
    wire(nvml, n1=[BUSES[2]] * 4, n2=[BUSES[1]] * 4)
    heavy = [[0, 1, 0, 9000], [1, 0, 1, 0], [0, 1, 0, 1], [9000, 0, 1, 0]]
    order = [SHORT[n] for n in (2, 3, 0, 1)]
    found = taken([order] * 4, matrix=heavy)
    assert {order[found[0]], order[found[3]]} == {SHORT[1], SHORT[2]}


def test_without_traffic_neighbours_are_near(nvml: FakeNvml, taken: Taken) -> None:
    """NVLink joins 0 with 2 and 1 with 3: ranks that follow each other take such pairs."""
    wire(nvml, n0=[BUSES[2]] * 4, n2=[BUSES[0]] * 4, n1=[BUSES[3]] * 4, n3=[BUSES[1]] * 4)
    found = taken([SHORT] * 4)
    assert {frozenset(found[:2]), frozenset(found[2:])} == {frozenset({0, 2}), frozenset({1, 3})}


def test_each_host_has_its_own_gpus_and_traffic(nvml: FakeNvml, taken: Taken) -> None:
    """Hosts may have GPUs at the same places; ranks of the hosts are mixed."""
    wire(nvml, n1=[BUSES[2]] * 4, n2=[BUSES[1]] * 4)
    hosts = "abababab"
    heavy = np.zeros((8, 8), int)
    heavy[0, 2] = heavy[2, 0] = heavy[1, 7] = heavy[7, 1] = 9000
    heavy[0, 1] = 10**6  # between hosts
    found = taken([SHORT] * 8, hosts, heavy)
    assert {found[0], found[2]} == {1, 2} == {found[1], found[7]}
    assert sorted(found[0::2]) == sorted(found[1::2]) == [0, 1, 2, 3]


def test_what_nvml_tells_the_first_rank_holds_for_all(
    nvml: FakeNvml, taken: Taken, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others may know nothing, as in containers."""
    wire(nvml, n1=[BUSES[2]] * 4, n2=[BUSES[1]] * 4)
    told = read_links()

    def by_rank() -> DeviceTopology:
        if threading.current_thread().name == "0":
            return told
        raise BackendError("no NVML here")

    monkeypatch.setattr(links, "read_links", by_rank)
    heavy = [[0, 1, 0, 9000], [1, 0, 1, 0], [0, 1, 0, 1], [9000, 0, 1, 0]]
    found = taken([SHORT] * 4, matrix=heavy)
    assert sorted(found) == [0, 1, 2, 3] and {found[0], found[3]} == {1, 2}


# --- in the order of ranks ------------------------------------------------------------------------


def test_without_nvml(monkeypatch: pytest.MonkeyPatch, taken: Taken) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)
    assert taken([SHORT] * 4) == [0, 1, 2, 3]
    assert taken([SHORT] * 8) == [0, 0, 1, 1, 2, 2, 3, 3]


def test_nvml_that_speaks_of_other_gpus(nvml: FakeNvml, taken: Taken) -> None:
    wire(nvml, n1=[BUSES[2]] * 4, n2=[BUSES[1]] * 4)
    heavy = [[0, 0, 0, 9], [0, 0, 0, 0], [0, 0, 0, 0], [9, 0, 0, 0]]
    assert taken([[*SHORT[:3], "0000:ff:00.0"]] * 4, matrix=heavy) == [0, 1, 2, 3]


def test_gpus_that_are_joined_alike(nvml: FakeNvml, taken: Taken) -> None:
    for gpu in nvml.gpus:
        gpu.wires = [SWITCH] * 18
    rng = np.random.default_rng(5)
    assert taken([SHORT] * 4) == [0, 1, 2, 3]
    assert taken([SHORT] * 4, matrix=rng.integers(0, 999, (4, 4))) == [0, 1, 2, 3]


# --- as the launcher says -------------------------------------------------------------------------


def test_one_gpu_for_each_rank(nvml: FakeNvml, taken: Taken) -> None:
    assert taken([[bus] for bus in SHORT]) == [0, 0, 0, 0]


def test_one_gpu_for_all_ranks(nvml: FakeNvml, taken: Taken) -> None:
    assert taken([SHORT[:1]] * 3) == [0, 0, 0]


def test_two_gpus_for_each_two_ranks(nvml: FakeNvml, taken: Taken) -> None:
    assert taken([SHORT[:2], SHORT[2:], SHORT[:2], SHORT[2:]]) == [0, 0, 1, 1]


def test_containers_of_a_machine_share_its_gpus(nvml: FakeNvml, taken: Taken) -> None:
    assert sorted(taken([SHORT] * 4, "aAaA")) == [0, 1, 2, 3]
    assert taken([SHORT[:2], SHORT[2:]], "aA") == [0, 0]


# --- cores ----------------------------------------------------------------------------------------


def threads_of_ranks(monkeypatch: pytest.MonkeyPatch, hosts: str) -> list[int | None]:
    """How many threads ranks run on a machine of 8 cores."""
    monkeypatch.setattr(devices.os, "sched_getaffinity", lambda _: set(range(8)))
    monkeypatch.setattr(devices, "open_backend", lambda name, threads: threads)
    said, meet = [None] * len(hosts), threading.Barrier(len(hosts))
    ranks = [Rank(rank, hosts, said, meet) for rank in range(len(hosts))]
    with ThreadPoolExecutor(len(hosts)) as pool:
        return list(pool.map(lambda rank: open_device("cpu", rank), ranks))  # type: ignore[arg-type]


def test_ranks_share_the_cores_of_their_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment stays the user's: other libraries and processes read it too."""
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    before = dict(os.environ)
    assert threads_of_ranks(monkeypatch, "aAab") == [2, 2, 2, 8]
    assert dict(os.environ) == before


def test_the_user_decides_about_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    assert threads_of_ranks(monkeypatch, "aa") == [None, None]


# --- who shares a device --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hosts", "buses", "expected"),
    [
        ("aabb", None, [[0, 1], [0, 1], [2, 3], [2, 3]]),  # CPUs have no bus
        ("aAab", None, [[0, 1, 2], [0, 1, 2], [0, 1, 2], [3]]),
        ("aabb", "xxxy", [[0, 1], [0, 1], [2], [3]]),
        ("aaaa", "xyxy", [[0, 2], [1, 3], [0, 2], [1, 3]]),
    ],
)
def test_ranks_that_share_a_device(hosts: str, buses: str | None, expected: list[Any]) -> None:
    said, meet = [None] * len(hosts), threading.Barrier(len(hosts))

    def one(rank: int) -> list[int]:
        backend = SimpleNamespace(bus=buses[rank]) if buses else SimpleNamespace()
        return devices.sharers(backend, Rank(rank, hosts, said, meet))  # type: ignore[arg-type]

    with ThreadPoolExecutor(len(hosts)) as pool:
        assert list(pool.map(one, range(len(hosts)))) == expected


# --- refusals -------------------------------------------------------------------------------------


def test_a_rank_without_gpu_ends_all(nvml: FakeNvml, taken: Taken) -> None:
    found = taken([SHORT, BackendError("no GPU here"), SHORT])
    assert [str(error) for error in found] == ["no GPU here"] * 3


def test_one_process_takes_the_current_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "open_backend", lambda *arguments: arguments)
    assert open_device("cuda", SerialCommunicator()) == ("cuda",)


# --- traffic --------------------------------------------------------------------------------------


def ghost_points(cut: Any, rank: int, ghosts: Ghosts) -> list[int]:
    """The owner of each ghost point of a rank, point by point."""
    owner = np.empty(cut.shape, int)
    for other in range(cut.ranks):
        owner[cut.block(other).slices] = other
    block, found = cut.block(rank), []
    sides = zip(block.shape, ghosts.low, ghosts.high, strict=True)
    for index in np.ndindex(*(n + low + high for n, low, high in sides)):
        local = [i - low for i, low in zip(index, ghosts.low, strict=True)]
        outside = sum(not 0 <= i < n for i, n in zip(local, block.shape, strict=True))
        place = [s + i for s, i in zip(block.start, local, strict=True)]
        axes = zip(place, cut.shape, cut.periodic, strict=True)
        there = all(wraps or 0 <= p < n for p, n, wraps in axes)
        if there and (outside == 1 or (outside and ghosts.corners)):
            found.append(int(owner[tuple(p % n for p, n in zip(place, cut.shape, strict=True))]))
    return found


@pytest.mark.parametrize("seed", range(12))
def test_traffic_counts_every_ghost_point(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shape = tuple(int(n) for n in rng.integers(3, 9, 3))
    cut = decompose(shape, int(rng.choice([1, 2, 3, 4, 6])), tuple(rng.random(3) < 0.5))
    fields = [
        (Ghosts(*(tuple(map(int, w)) for w in rng.integers(0, 3, (2, 3))), bool(n % 2)), size)
        for n, size in enumerate(rng.choice([2, 4, 8], 4).tolist())
    ]
    expected = np.zeros((cut.ranks, cut.ranks), int)
    for ghosts, size in [*fields, fields[0]]:
        for rank in range(cut.ranks):
            np.add.at(expected[:, rank], ghost_points(cut, rank, ghosts), size)
    np.fill_diagonal(expected, 0)
    found = traffic(cut, [*fields, fields[0]])
    assert np.array_equal(found, expected)
    some = sorted(rng.permutation(cut.ranks)[: 1 + cut.ranks // 2].tolist())
    assert np.array_equal(traffic(cut, [*fields, fields[0]], some), expected[np.ix_(some, some)])


def test_only_gpus_need_the_traffic(monkeypatch: pytest.MonkeyPatch) -> None:
    """The traffic between all ranks of a large job takes long, and much memory."""
    asked: list[Any] = []
    monkeypatch.setattr("groundswell.exchange.domain.traffic", lambda *_: asked.append(1))
    Domain((8, 8), device="cpu").close()
    assert not asked
