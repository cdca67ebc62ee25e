"""Gather, scatter, gather-scatter and halo between ranks, against a serial assembly."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from gpu import gpu_count
from variants import long_variants

from groundswell.backends import open_backend
from groundswell.backends.base import in_order
from groundswell.bench.exchange.assembly import box_ids
from groundswell.exchange.communicator import SerialCommunicator
from groundswell.exchange.gather_scatter import GatherScatter, tiles
from groundswell.exchange.gather_scatter.rows import TYPES
from groundswell.exchange.gather_scatter.sharing import find_sharing

PROGRAM = Path(__file__).parents[1] / "support" / "assembly_program.py"


OnRanks = Callable[..., str]


def check(on_ranks: OnRanks, ranks: int, *arguments: str) -> None:
    assert "all cases hold" in on_ranks(ranks, PROGRAM, *arguments)


@pytest.fixture(scope="module")
def cases(full: bool) -> str:
    """How many random ones a program checks on a CPU."""
    return "28" if full else "4"  # full: more than 500 random numberings


CONNECTIONS = ("peer pairwise", "mpi alltoall", "peer crystal")
SHORT = [
    (1, "peer pairwise"),
    *((3, connection) for connection in CONNECTIONS),
]
LONG = [
    (r, connection)
    for r in (1, 2, 4, 7, 8)
    for connection in CONNECTIONS
    if (r, connection) not in SHORT
]


@pytest.mark.parametrize(("ranks", "connection"), [*SHORT, *long_variants(LONG)])
def test_on_cpus(on_ranks: OnRanks, cases: str, ranks: int, connection: str) -> None:
    check(on_ranks, ranks, "cpu", *connection.split(), str(ranks), cases)


@pytest.mark.most(1)
@pytest.mark.parametrize(
    "connection",
    ["mpi-thread pairwise", "peer+mpi pairwise", *long_variants(["mpi pairwise", "mpi crystal"])],
)
def test_other_transports(on_ranks: OnRanks, cases: str, connection: str) -> None:
    check(on_ranks, 4, "cpu", *connection.split(), "1", cases)


@pytest.mark.parametrize("connection", ["peer pairwise", *long_variants(["mpi crystal"])])
def test_messages_are_coded(on_ranks: OnRanks, cases: str, connection: str) -> None:
    check(on_ranks, 4, "cpu", *connection.split(), "1", cases, "mpc")


def assemble(on_ranks: OnRanks, ranks: int, *arguments: str) -> str:
    return on_ranks(ranks, PROGRAM.with_name("numbering_program.py"), *arguments)


@pytest.mark.full
def test_the_fastest_connection(on_ranks: OnRanks) -> None:
    assert "all holds:" in assemble(on_ranks, 4, "cpu", "fastest", "fastest")


@pytest.mark.parametrize("ranks", [2, *long_variants([3])])
def test_as_users_do_it(on_ranks: OnRanks, ranks: int) -> None:
    assert "all holds: peer memory" in assemble(on_ranks, ranks, "cpu", "auto", "pairwise")


@pytest.mark.gpu
@pytest.mark.skipif(gpu_count() < 2, reason="needs 2 GPUs")
@pytest.mark.parametrize("how", ["auto", "fastest"])
def test_as_users_do_it_on_gpus(on_ranks: OnRanks, how: str) -> None:
    assert "all holds:" in assemble(
        on_ranks, 2, "cuda", how, how if how == "fastest" else "pairwise"
    )


@pytest.mark.gpu
@pytest.mark.skipif(not gpu_count(), reason="needs a GPU")
@pytest.mark.parametrize("route", ["pairwise", "crystal"])
@pytest.mark.parametrize("transport", ["direct", "peer", "nccl", "mpi"])
def test_on_gpus(on_ranks: OnRanks, route: str, transport: str) -> None:
    if gpu_count() < 2 and transport == "nccl":
        pytest.skip("NCCL needs a GPU for each rank")
    check(on_ranks, max(2, gpu_count()), "cuda", transport, route, "1", "12")


@pytest.mark.gpu
@pytest.mark.skipif(not gpu_count(), reason="needs a GPU")
def test_messages_are_coded_on_gpus(on_ranks: OnRanks) -> None:
    check(on_ranks, max(2, gpu_count()), "cuda", "direct", "crystal", "1", "12", "mpc")


@pytest.mark.gpu
@pytest.mark.skipif(not gpu_count(), reason="needs a GPU")
@pytest.mark.parametrize("connection", ["mpi alltoall", "direct crystal", "peer pairwise"])
def test_more_ranks_than_gpus(on_ranks: OnRanks, connection: str) -> None:
    check(on_ranks, 5, "cuda", *connection.split(), "2", "8")


@pytest.mark.gpu
@pytest.mark.skipif(not gpu_count(), reason="needs a GPU")
@pytest.mark.parametrize("dtype", list(TYPES))
@pytest.mark.parametrize("offset", [0, 1])
def test_large_arrays_are_the_same_on_a_gpu(
    monkeypatch: pytest.MonkeyPatch, dtype: str, offset: int
) -> None:
    """Too large for caches, they go through tiles there, if they begin where sectors do."""
    ids = box_ids(20, 7, 0)
    sharing = find_sharing(SerialCommunicator(), ids)
    given = np.random.default_rng(1).integers(-9, 9, (2, len(ids) + 8)).astype(dtype)
    results, tiled, make = [], [], tiles.make_tiles
    monkeypatch.setattr(tiles, "make_tiles", lambda *a: tiled.append(a) or make(*a))
    for name in ("cpu", "cuda"):
        backend = open_backend(name)
        array = backend.to_device(given)
        values = array[:, offset : offset + len(ids)]
        work = GatherScatter(backend, sharing, "gather-scatter", (values, values))
        in_order(work.launches)()
        results.append(backend.to_host(array).tobytes())
        work.close()
    assert results[0] == results[1]
    assert len(tiled) == (offset == 0)
