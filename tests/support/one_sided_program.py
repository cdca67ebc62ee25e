"""A program for several ranks: ghosts stored straight into other ranks' arrays, without a GPU.

    mpiexec -n 4 python one_sided_program.py SEED CASES

Arrays lie in memory that processes share, as a GPU's do.
"""

from __future__ import annotations

import ctypes
import sys
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np
from halo_program import EMPTY, random_ghosts, wanted, whole

from groundswell.backends import open_backend
from groundswell.backends.cpu import CpuBackend
from groundswell.exchange import transfer
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.connect import TRANSPORTS
from groundswell.exchange.decomposition import decompose
from groundswell.exchange.ghost_field import GhostField
from groundswell.exchange.halo import HaloExchange
from groundswell.exchange.mpi_communicator import get_communicator

MARGIN = 3
SHARED: list[Any] = []  # memory behind the arrays


def shared_array(backend: CpuBackend, host: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A copy of an array, in shared memory."""
    memory = backend.allocate_shared(host.nbytes)
    SHARED.append(memory)
    own = (ctypes.c_byte * host.nbytes).from_address(memory.address)
    array = np.frombuffer(own, host.dtype).reshape(host.shape)
    array[...] = host
    return array


def export(backend: CpuBackend, address: int) -> tuple[Any, int]:
    """The memory in which an address lies, and how far from its beginning."""
    for memory in SHARED:
        if memory.address <= address < memory.address + memory.handle[2]:
            return memory.handle, address - memory.address
    raise AssertionError("this array is not shared")


def check_case(backend: Any, job: Communicator, rng: np.random.Generator) -> None:
    """One random decomposition with two fields, exchanged four times."""
    axes = int(rng.integers(1, 4))
    shape = tuple(int(n) for n in rng.integers(job.size, job.size + 6, axes))
    cut = decompose(shape, job.size, tuple(bool(b) for b in rng.integers(0, 2, axes)))
    transfer.SCATTERED_BYTES = int(rng.integers(2)) << 18  # mailboxes for all, or for none
    fields, values = [], []
    for number in range(2):
        values.append(whole(shape, "float32", number))
        block = cut.block(job.rank)
        host = np.full([n + 2 * MARGIN for n in block.shape], EMPTY, "float32")
        host[(slice(MARGIN, -MARGIN),) * axes] = values[number][block.slices]
        ghosts = random_ghosts(rng, axes)
        fields.append(GhostField(shared_array(backend, host), (MARGIN,) * axes, ghosts))
    aggregate = bool(rng.integers(2))
    halo = HaloExchange(backend, job, cut, fields, transport="direct", aggregate=aggregate)
    for turn in range(4):
        for launch in (*halo.start, *halo.finish):
            launch()
        job.allgather(None)
        for field, known_values in zip(fields, values, strict=True):
            expected = wanted(known_values + turn, cut, job.rank, field.ghosts, MARGIN)
            assert np.array_equal(field.array, expected), (job.rank, cut, turn)
            own = field.array[(slice(MARGIN, -MARGIN),) * axes] + 1
            field.array[...] = EMPTY
            field.array[(slice(MARGIN, -MARGIN),) * axes] = own
        job.allgather(None)
    halo.close()


def main() -> None:
    """Run the cases that the command line asks for."""
    seed, cases = map(int, sys.argv[1:3])
    job, backend, rng = get_communicator(), open_backend("cpu"), np.random.default_rng(seed)
    with (
        patch.object(CpuBackend, "export_handle", export),
        patch.dict(TRANSPORTS["cpu"], direct=partial(transfer.PeerTransfer, direct=True)),
    ):
        for _ in range(cases):
            check_case(backend, job, rng)
    if job.first:
        print("all cases hold")


if __name__ == "__main__":
    main()
