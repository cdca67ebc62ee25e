"""A program for several ranks: ghosts stored straight into other ranks' arrays, without a GPU.

    mpiexec -n 4 python one_sided_program.py SEED CASES

Arrays lie in memory that processes share, as a GPU's do, and Python plays the kernel that stores
values where they are wanted.
"""

from __future__ import annotations

import ctypes
import sys
from itertools import product
from typing import Any

import numpy as np
from halo_program import EMPTY, random_ghosts, wanted, whole

from groundswell.backends import open_backend
from groundswell.backends.cpu import CpuBackend
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.connect import FUSED, TRANSPORTS
from groundswell.exchange.decomposition import decompose
from groundswell.exchange.exchange import Exchange
from groundswell.exchange.messages import GhostField
from groundswell.exchange.mpi_communicator import get_communicator
from groundswell.exchange.puts import Put
from groundswell.exchange.transports import peer

MARGIN = 3
NAMES = ("direct", "fused")
SHARED: list[Any] = []  # memory behind the arrays


def shared_array(backend: CpuBackend, host: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A copy of an array, in shared memory."""
    memory = backend.allocate_shared(host.nbytes)
    SHARED.append(memory)
    array = memory._array[: host.nbytes].view(host.dtype).reshape(host.shape)
    array[...] = host
    return array


def export(backend: CpuBackend, array: np.ndarray[Any, Any]) -> tuple[Any, int]:
    """The memory in which an array lies, and where it begins there."""
    begin = array.ctypes.data
    for memory in SHARED:
        if memory.address <= begin < memory.address + memory.handle[2]:
            return memory.handle, begin - memory.address
    raise AssertionError("this array is not shared")


def play_kernel(field: GhostField, puts: list[Put]) -> None:
    """Store every value of a field's puts a second time."""
    size = field.array.dtype.itemsize
    for put in puts:
        for offset in product(*map(range, put.shape)):
            index = [o + f + n for o, f, n in zip(field.origin, put.first, offset, strict=True)]
            steps = zip(index, field.array.strides, strict=True)
            address = field.array.ctypes.data + sum(i * stride for i, stride in steps)
            ctypes.memmove(address + put.shift, address, size)


def check_case(backend: Any, job: Communicator, transport: str, rng: np.random.Generator) -> int:
    """One random decomposition with two fields, exchanged four times; how much kernels stored."""
    axes = int(rng.integers(1, 4))
    shape = tuple(int(n) for n in rng.integers(job.size, job.size + 6, axes))
    cut = decompose(shape, job.size, tuple(bool(b) for b in rng.integers(0, 2, axes)))
    peer.SCATTERED_BYTES = int(rng.integers(2)) << 18  # mailboxes for all, or for none
    fields, values = [], []
    for number in range(2):
        values.append(whole(shape, "float32", number))
        block = cut.block(job.rank)
        host = np.full([n + 2 * MARGIN for n in block.shape], EMPTY, "float32")
        host[(slice(MARGIN, -MARGIN),) * axes] = values[number][block.slices]
        ghosts = random_ghosts(rng, axes)
        fields.append(GhostField(shared_array(backend, host), (MARGIN,) * axes, ghosts))
    stored = {0: 5} if rng.integers(2) else {0: 5, 1: 7}
    aggregate = bool(rng.integers(2))
    halo = Exchange(
        backend, job, cut, fields, transport=transport, aggregate=aggregate, stored=stored
    )
    puts = list(halo._transfer.puts)
    for turn in range(4):
        for launch in halo.open:
            launch()
        for number, known in stored.items():
            play_kernel(fields[number], [put for put in puts if put.field == known])
        for launch in (*halo.start, *halo.finish):
            launch()
        job.allgather(None)
        for field, known_values in zip(fields, values, strict=True):
            expected = wanted(known_values + turn, cut, job.rank, field.ghosts, MARGIN)
            assert np.array_equal(field.array, expected), (job.rank, cut, turn, puts)
            own = field.array[(slice(MARGIN, -MARGIN),) * axes] + 1
            field.array[...] = EMPTY
            field.array[(slice(MARGIN, -MARGIN),) * axes] = own
        job.allgather(None)
    halo.close()
    return len(puts)


def main() -> None:
    """Run the cases that the command line asks for."""
    seed, cases = map(int, sys.argv[1:3])
    CpuBackend.export_handle = export  # type: ignore[method-assign]
    TRANSPORTS["cpu"]["direct"] = lambda job: peer.PeerTransfer(job, direct=True)
    FUSED["cpu"]["fused"] = lambda job: peer.PeerTransfer(job, direct=True, fused=True)
    job, backend, rng = get_communicator(), open_backend("cpu"), np.random.default_rng(seed)
    stored = [check_case(backend, job, name, rng) for _ in range(cases) for name in NAMES]
    assert job.size == 1 or any(job.allgather(any(stored)))
    if job.first:
        print("all cases hold")


if __name__ == "__main__":
    main()
