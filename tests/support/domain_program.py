"""A program for several ranks: arrays of other libraries, checked against the whole array.

    mpiexec -n 4 python domain_program.py WHAT DEVICE SEED

WHAT is a library (numpy, torch, jax, cupy), or "narrow", "plans", "streams",
"views", "disagreement", "lonely error", "communicators", "blocks", "cartesian",
"unfinished", "owners".
"""

from __future__ import annotations

import sys
from functools import partial

import numpy as np
from domain_arrays import (
    MARGIN,
    Described,
    array_of,
    assert_poisoned,
    before,
    narrow,
    random_domain,
    require_refusal,
    to_host,
    to_library,
    trimmed,
    wanted,
)
from halo_oracle import EMPTY, needed, numbered
from topology_checks import check_cartesian

from groundswell.backends.array_interop import as_array
from groundswell.exchange import Domain, Field
from groundswell.exchange.mpi_communicator import get_communicator


def check_library(library: str, device: str, rng: np.random.Generator) -> None:
    """Arrays of several types, one of them with components."""
    for _ in range(8):
        with random_domain(rng, device) as domain:
            types = ["float32", "int16", "complex64"]
            wholes = [numbered(domain.shape, t, n) for n, t in enumerate([*types, *types[:2]])]
            hosts = [before(whole, domain) for whole in wholes]
            ours = [to_library(library, device, host) for host in hosts[:3]]
            pair = np.stack([hosts[3], hosts[0].astype(hosts[3].dtype)])
            ours.append(to_library(library, device, pair))
            for _ in range(2):
                results = domain.exchange(*ours)
                if library != "jax":
                    assert all(r is o for r, o in zip(results, ours, strict=True))
                for result, whole in zip(results, wholes, strict=False):
                    found = to_host(result[0] if result.ndim > len(domain.own) else result)
                    assert np.array_equal(found, wanted(whole, domain)), (
                        domain.decomposition,
                        found,
                    )
                assert np.array_equal(to_host(results[3][1]), wanted(wholes[0], domain))
            gathered = domain.gather(results[3])
            if gathered is not None:
                assert np.array_equal(gathered, np.stack([wholes[3], wholes[0]]))
            domain.check()


def check_narrow(device: str, rng: np.random.Generator) -> None:
    """Values that are sent in fewer bits arrive rounded, by as much as is promised."""
    shape = (64, 6, 40)
    promised = {
        ("float64", "float32"): (2.0**-24, 1e-37, 1e38),
        ("float32", "float16"): (2.0**-11, 6.2e-5, 65504.0),
        ("float32", "bfloat16"): (2.0**-8, 1.2e-38, 3.3e38),
    }
    for (dtype, sent_as), (bound, least, most) in promised.items():
        with Domain(shape, 2, device=device, processes=(0, 1, 1)) as domain:
            low, high = np.log2(least), np.log2(most)
            whole = np.exp2(rng.uniform(low, high, shape)).astype(dtype)
            u = to_library("cupy" if device == "cuda" else "numpy", device, before(whole, domain))
            domain.exchange(Field(u, sent_as=sent_as))
            exact, found = wanted(whole, domain), to_host(u)
            places = trimmed(
                needed(domain.decomposition, domain.rank, domain.ghosts, MARGIN), domain.ghosts
            ).copy()
            places[domain.own] = False
            error = np.abs(found[places].astype(float) / exact[places].astype(float) - 1).max()
            assert bound / 2 < error <= bound, (dtype, sent_as, error, bound)
            assert np.array_equal(found[domain.own], exact[domain.own])
            narrowed = narrow(exact[places], sent_as)
            assert np.array_equal(found[places], narrowed)


def check_plans(device: str, rng: np.random.Generator) -> None:
    """Plans on every transport, whole and in halves, two of them under way together."""
    gpu = device == "cuda"
    ways = {"peer": "CUDA IPC" if gpu else "shared memory", "mpi": "MPI"}
    ways |= {"direct": "directly into ghost layers"} if gpu else {"mpi-thread": "thread"}
    with Domain((9, 8, 7), 2, periodic=True, device=device) as domain:
        wholes = [numbered(domain.shape, "float32", n) for n in (1, 2)]
        for name, way in ways.items():
            u, v = (domain.zeros("float32") for _ in wholes)
            plans = [domain.plan(f, transport=name, aggregate=False, poison=True) for f in (u, v)]
            assert all(way in plan.path for plan in plans), plans[0].path
            for turn in range(3):
                for array, whole in zip((u, v), wholes, strict=True):
                    array[...] = EMPTY
                    domain.interior(array)[...] = array_of(device, whole[domain.block.slices])
                if turn == 1:
                    for plan in plans:
                        plan()
                else:
                    for plan in plans:
                        plan.start()
                    if device == "cpu":
                        assert_poisoned(u, wanted(wholes[0], domain), domain)
                    for plan in plans:
                        plan.finish()
                for array, whole in zip((u, v), wholes, strict=True):
                    assert np.array_equal(to_host(array), wanted(whole, domain)), (name, turn)
            for plan in plans:
                plan.check()
                plan.close()


def check_streams(device: str, rng: np.random.Generator) -> None:
    """Values that a slow stream is still making are what is sent, and what it reads afterwards."""
    import cupy
    import torch

    domain = Domain((64, 64, 64), 2, periodic=True, device=device)
    whole = numbered(domain.shape, "float32")
    here = cupy.asarray(whole[domain.block.slices])
    exact = cupy.asarray(wanted(whole, domain))
    for kind in ("cupy", "torch", "handle", "current torch", "current cupy"):
        slow = torch.cuda.Stream()
        theirs = cupy.cuda.ExternalStream(slow.cuda_stream)
        u = torch.full(domain.local_shape, float(EMPTY), device="cuda")
        view = cupy.asarray(u)
        same = cupy.ones((), bool)
        torch.cuda.synchronize()
        given = {"cupy": theirs, "torch": slow, "handle": slow.cuda_stream}.get(kind)
        ours = view if "cupy" in kind else u
        for turn in range(20):
            with torch.cuda.stream(slow), theirs:
                torch.cuda._sleep(2_000_000)  # about a millisecond
                view[domain.own] = here + turn
                if kind.startswith("current"):
                    domain.exchange(ours)
            if given is not None:
                domain.exchange(ours, stream=given)
            with theirs:
                same &= cupy.array_equal(view, exact + turn)
                view[...] = EMPTY
        slow.synchronize()
        assert bool(same), kind
    domain.close()


def check_views(device: str, rng: np.random.Generator) -> None:
    """What is viewed on a GPU, what is refused, and a CUDA graph that holds an exchange."""
    import cupy
    import torch

    domain = Domain((6, 5), 1, periodic=True, device=device)
    whole = numbered(domain.shape, "int16")
    exact = wanted(whole, domain)
    big = cupy.zeros((2 * exact.shape[0], 3 * exact.shape[1]), "int16")
    halves = torch.zeros(exact.shape, dtype=torch.bfloat16, device="cuda")
    strided = big[::2, 1::3]
    for array in (strided, Described(strided), halves.view(torch.int16)):
        view = as_array(domain.backend, array)
        view[...] = EMPTY
        view[domain.own] = cupy.asarray(whole[domain.block.slices])
        domain.exchange(array)
        assert np.array_equal(to_host(view), exact)
    refused = {
        "host memory": np.zeros(3),
        "detach()": torch.zeros(3, device="cuda", requires_grad=True),
        "repeats values": torch.zeros(3, 1, device="cuda").expand(3, 4),
        "read-only": Described(big, read_only=True),
    }
    for words, array in refused.items():
        require_refusal(words, partial(as_array, domain.backend, array))
    check_graph(domain)


def check_graph(domain: Domain) -> None:
    """An exchange that PyTorch has captured, replayed with other values."""
    import cupy
    import torch

    whole = numbered(domain.shape, "float32")
    u = torch.zeros(domain.local_shape, device="cuda")
    plan = domain.plan(u)
    plan()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        domain.interior(u).add_(1)
        plan()
        u.mul_(2)
    domain.interior(u).copy_(torch.from_dlpack(cupy.asarray(whole[domain.block.slices])))
    for turn in range(3):
        graph.replay()
        whole = 2 * (whole + 1)
        assert np.array_equal(to_host(u), wanted(whole, domain)), turn
    domain.close()


def check_communicators(device: str, rng: np.random.Generator) -> None:
    """Domains of some ranks are apart from those of others, and MPI may end before them."""
    from mpi4py import MPI

    for colour in (MPI.COMM_WORLD.rank % 2, MPI.COMM_WORLD.rank):
        comm = MPI.COMM_WORLD.Split(colour)
        with Domain((6, 7), 1, periodic=True, comm=comm, device=device) as domain:
            assert domain.size == comm.size
            whole = numbered(domain.shape, "int32", colour)
            u = before(whole, domain)
            for _ in range(3):
                domain.exchange(u)
            assert np.array_equal(u, wanted(whole, domain))
            if domain.size > 1:
                assert domain.plan(u, transport="mpi").path == "MPI"
        comm.Free()
    left_open = Domain((6, 7), 1)
    left_open.exchange(left_open.zeros())
    require_refusal("that this rank is in", lambda: Domain((6, 7), 1, comm=MPI.COMM_NULL))
    colour = MPI.COMM_WORLD.rank % 2
    if MPI.COMM_WORLD.size > 1:
        part = MPI.COMM_WORLD.Split(colour)
        between = part.Create_intercomm(0, MPI.COMM_WORLD, 1 - colour)
        require_refusal("mpi4py intracommunicator", lambda: Domain((6, 7), 1, comm=between))


def check_blocks(device: str, rng: np.random.Generator) -> None:
    """Blocks of any lengths, thinner than their ghost layers, too; plans in halves."""
    for _ in range(12):
        with random_domain(rng, device, uneven=True) as domain:
            wholes = [numbered(domain.shape, t, n) for n, t in enumerate(("float64", "int8"))]
            u, v = (before(whole, domain) for whole in wholes)
            plan = domain.plan(u, v)
            for _ in range(2):
                plan.start()
                plan.finish()
            assert np.array_equal(u, wanted(wholes[0], domain)), domain
            assert np.array_equal(v, wanted(wholes[1], domain)), domain
            around = get_communicator().allgather(domain.neighbours)
            for direction, rank in domain.neighbours.items():
                back = tuple(-step for step in direction)
                assert around[rank][back] == domain.rank, domain


def check_lonely_error(device: str, rng: np.random.Generator) -> None:
    """An array or an option that one rank cannot have is an error on all, at once."""
    domain = Domain((8, 8), 1, device=device, processes=np.array([get_communicator().size, 0]))
    u = domain.zeros()
    require_refusal("not a supported array", lambda: domain.exchange([1, 2] if domain.rank else u))
    domain.exchange(u)
    layers = -1 if domain.rank else 1
    require_refusal("at least 0", lambda: Domain((8, 8), layers, device=device))
    require_refusal("shape must be the same", lambda: Domain((8 + domain.rank, 8), device=device))
    require_refusal("no such argument", lambda: Domain((8, 8), **{"way": 1} if domain.rank else {}))
    way = "pear" if domain.rank else "auto"
    require_refusal("transport = 'pear'", lambda: domain.plan(u, transport=way))
    require_refusal("True or False", lambda: domain.plan(u, aggregate=u if domain.rank else True))
    domain.plan(u)()


def check_unfinished(device: str, rng: np.random.Generator) -> None:
    """A domain with plans under way is not closed, and a script that ends finishes them."""
    domain = Domain((40, 50), 2, periodic=True, device=device)
    for way in ("peer", "mpi"):
        u = domain.zeros()
        domain.plan(u, transport=way).start()
        require_refusal("finish", domain.close)


def check_owners(device: str, rng: np.random.Generator) -> None:
    """Every point of the whole belongs to one rank, and to no other."""
    domain = Domain((9, 11), 1, periodic=True, device=device)
    whole = np.arange(99).reshape(9, 11)
    u = domain.zeros("int64")
    domain.interior(u)[...] = whole[domain.block.slices]
    for point in np.ndindex(9, 11):
        here = domain.local_index(point)
        assert [at is not None for at in get_communicator().allgather(here)].count(True) == 1
        assert here is None or u[here] == whole[point]


def check_disagreement(device: str, rng: np.random.Generator) -> None:
    """Arrays of other types on one rank are an error on all, not a wrong answer."""
    domain = Domain((8, 8), 1, device=device)
    u = domain.zeros("float32" if domain.rank else "float64")
    require_refusal("dtype of array 0 must be the same on all ranks", lambda: domain.exchange(u))
    way = "mpi" if domain.rank else "peer"
    words = r"transport must be the same on all ranks, but is 'peer' on rank 0, 'mpi' on rank 1"
    require_refusal(words, lambda: domain.plan(u, transport=way))
    require_refusal("dtype must be the same on all ranks", lambda: domain.gather(u))
    longer = domain.local_shape[0] + 1
    wrong = np.zeros((longer, 9)) if domain.rank == 1 else u
    require_refusal(f"have ({longer}, 9) points, but rank 1 has", lambda: domain.plan(wrong))
    along = tuple(2 + (n == domain.rank) for n in range(domain.size)), (8,)
    shape = sum(along[0]), 8
    require_refusal("blocks must be the same on all", lambda: Domain(shape, blocks=along))
    other = domain.zeros(components=2 + domain.rank)
    require_refusal("components must be the same on all ranks", lambda: domain.gather(other))


def main() -> None:
    """Do what the command line asks for."""
    what, device, seed = sys.argv[1:4]
    rng = np.random.default_rng(int(seed))
    checks = {
        "narrow": check_narrow,
        "plans": check_plans,
        "streams": check_streams,
        "views": check_views,
        "disagreement": check_disagreement,
        "lonely error": check_lonely_error,
        "communicators": check_communicators,
        "blocks": check_blocks,
        "cartesian": check_cartesian,
        "unfinished": check_unfinished,
        "owners": check_owners,
    }
    if what in checks:
        checks[what](device, rng)
    else:
        check_library(what, device, rng)
    if get_communicator().first:
        print("all holds")
    if what == "communicators":
        sys.modules["mpi4py.MPI"].Finalize()


if __name__ == "__main__":
    main()
