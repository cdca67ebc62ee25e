"""A program for several ranks: exchanges of random arrays, checked against the whole array.

    mpiexec -n 4 python halo_program.py BACKEND TRANSPORT SEED CASES

Every value tells its own global index, so a ghost that holds another one shows where it came from.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from typing import Any

import numpy as np

from groundswell.backends import open_backend
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.decomposition import Decomposition, decompose
from groundswell.exchange.ghost_field import GhostField
from groundswell.exchange.ghosts import Ghosts
from groundswell.exchange.halo import HaloExchange
from groundswell.exchange.mpi_communicator import get_communicator

EMPTY = -7.0


def random_ghosts(rng: np.random.Generator, axes: int) -> Ghosts:
    """Widths from 0 to 3 on each side, with corners as often as without."""
    low, high = (tuple(int(n) for n in rng.integers(0, 4, axes)) for _ in range(2))
    return Ghosts(low, high, bool(rng.integers(2)))


def whole(shape: tuple[int, ...], dtype: str, number: int) -> np.ndarray[Any, Any]:
    """A whole array, every value of which is different."""
    count = int(np.prod(shape))
    return (np.arange(count, dtype=np.int64) * 3 + 1 + number).astype(dtype).reshape(shape)


def wanted(
    values: np.ndarray[Any, Any], cut: Decomposition, rank: int, ghosts: Ghosts, margin: int
) -> np.ndarray[Any, Any]:
    """What a rank's array must hold after the exchange, point by point."""
    block = cut.block(rank)
    shape = tuple(n + 2 * margin for n in block.shape)
    result = np.full(shape, EMPTY).astype(values.dtype)
    for index in np.ndindex(shape):
        local = tuple(i - margin for i in index)
        outside = sum(not 0 <= i < n for i, n in zip(local, block.shape, strict=True))
        near = all(
            -low <= i < n + high
            for i, n, low, high in zip(local, block.shape, ghosts.low, ghosts.high, strict=True)
        )
        if not near or (outside > 1 and not ghosts.corners):
            continue
        point = []
        for i, start, n, wraps in zip(local, block.start, cut.shape, cut.periodic, strict=True):
            place = start + i
            if not wraps and not 0 <= place < n:
                break
            point.append(place % n)
        else:
            result[index] = values[tuple(point)]
    return result


def check_case(backend: Any, job: Communicator, transport: str, rng: np.random.Generator) -> None:
    """One random decomposition with several fields, exchanged three times, in several arrays."""
    axes = int(rng.integers(1, 4))
    while True:
        shape = tuple(int(n) for n in rng.integers(1, 10, axes))
        periodic = tuple(bool(b) for b in rng.integers(0, 2, axes))
        try:
            cut = decompose(shape, job.size, periodic)
            break
        except Exception:
            continue
    margin, fields, arrays, oracles = 3, [], [], []
    dtypes = ["float32", "float64", "complex128", "int16", "uint8", "complex64"]
    for number in range(int(rng.integers(1, 5))):
        dtype = dtypes[int(rng.integers(len(dtypes)))]
        ghosts = random_ghosts(rng, axes)
        values = whole(shape, dtype, number)
        block = cut.block(job.rank)
        host = np.full(tuple(n + 2 * margin for n in block.shape), EMPTY).astype(dtype)
        inner = (slice(margin, -margin),) * axes
        host[inner] = values[block.slices]
        array = backend.to_device(host)
        fields.append(GhostField(array, (margin,) * axes, ghosts))
        arrays.append((array, inner))
        oracles.append((values, ghosts))
    how = {"aggregate": bool(rng.integers(2)), "sweeps": bool(rng.integers(2))}
    halo = HaloExchange(backend, job, cut, fields, transport=transport, **how)
    for turn in range(3):
        for launch in halo.launches if turn % 2 else [*halo.start, *halo.finish]:
            launch()
        backend.synchronize()
        halo.check()
        for (array, inner), (values, ghosts) in zip(arrays, oracles, strict=True):
            found = backend.to_host(array)
            expected = wanted((values + turn).astype(values.dtype), cut, job.rank, ghosts, margin)
            assert np.array_equal(found, expected), (job.rank, cut, ghosts, turn, found, expected)
            fresh = np.full(found.shape, EMPTY).astype(found.dtype)
            fresh[inner] = (found[inner] + np.ones(1)).astype(found.dtype)
            backend.assign(array, fresh)
        backend.synchronize()
        job.allgather(None)
        if halo.rebindable and rng.integers(2):
            fields = [replace(f, array=other_array(backend, f.array, rng)) for f in fields]
            arrays = [(f.array, inner) for f, (_, inner) in zip(fields, arrays, strict=True)]
            halo.bind(fields)
    halo.close()
    job.allgather(None)


def other_array(backend: Any, array: Any, rng: np.random.Generator) -> Any:
    """The same values elsewhere: laid out alike, at other offsets, or in the order of Fortran."""
    host, kind = backend.to_host(array), int(rng.integers(3))
    if kind == 0:
        return backend.to_device(host)
    if kind == 1:
        room = backend.zeros((host.size + 5,), host.dtype)
        found = room[int(rng.integers(6)) :][: host.size].reshape(host.shape)
    else:
        found = backend.zeros(host.shape[::-1], host.dtype).T
    backend.assign(found, host)
    return found


def device_of(rank: int) -> int:
    """Ranks share the devices that there are."""
    import cupy

    return rank % int(cupy.cuda.runtime.getDeviceCount())


def main() -> None:
    """Run the cases that the command line asks for."""
    name, transport, seed, cases = sys.argv[1:5]
    if "+" in transport:  # two hosts, as far as the ranks can tell
        os.environ["GROUNDSWELL_HOST"] = f"host{int(os.environ['OMPI_COMM_WORLD_RANK']) % 2}"
    job = get_communicator()
    backend = open_backend(name, device_of(job.rank) if name == "cuda" else None)
    rng = np.random.default_rng(int(seed))
    for _ in range(int(cases)):
        check_case(backend, job, transport, rng)
    if job.first:
        print("all cases hold")


if __name__ == "__main__":
    main()
