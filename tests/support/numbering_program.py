"""A program for several ranks: a line of elements that share their ends, as users assemble it.

mpiexec -n 3 python numbering_program.py DEVICE TRANSPORT ROUTE
"""

from __future__ import annotations

import sys

import numpy as np

from groundswell.errors import InputError
from groundswell.exchange import Numbering

EACH = 5  # elements of a rank, of three nodes


def main() -> None:
    """Assemble, halve, spread; then make mistakes."""
    device, transport, route = sys.argv[1:4]
    from mpi4py import MPI

    comm = MPI.COMM_WORLD
    first = 2 * EACH * comm.rank
    ids = first + 2 * np.arange(EACH)[:, None] + np.arange(3)
    with Numbering(ids.ravel(), device=device, transport=transport, route=route) as numbering:
        local = numbering.backend.to_device(np.ones(ids.size))
        mass = numbering.gather(local)
        plan = numbering.plan("halo", mass)
        plan.start()
        plan.finish()
        ends = (0, 2 * EACH * comm.size)
        expected = np.where((numbering.ids % 2 == 0) & ~np.isin(numbering.ids, ends), 2.0, 1.0)
        assert np.array_equal(numbering.backend.to_host(mass), expected)
        copies = numbering.backend.to_host(numbering.scatter(mass))
        assert np.array_equal(copies, by_id(numbering.ids, expected, ids.ravel()))
        numbering.gather_scatter(local)
        assert np.array_equal(numbering.backend.to_host(local), copies)
        total = comm.allreduce(numbering.backend.to_host(mass)[: numbering.own].sum())
        assert total == 3 * EACH * comm.size
        try:
            numbering.gather(local.astype("int64" if comm.rank else "int32"))
        except InputError as error:
            assert "dtype must be the same on all ranks" in str(error)
        else:
            raise AssertionError("ranks disagreed, and nobody noticed")
        try:
            numbering.plan("halo", mass, **({"rute": "crystal"} if comm.rank else {}))
        except (InputError, TypeError) as error:
            assert "rute: no such argument; allowed: target, op, transport, route" in str(error)
        longer = numbering.backend.to_device(np.ones(ids.size + (comm.rank == 1)))
        try:
            numbering.plan("gather-scatter", longer)
        except InputError as error:
            assert f"rank 1 has {ids.size} local" in str(error)
        else:
            raise AssertionError("one rank has too many values, and nobody noticed")
        path = plan.path
    if comm.rank == 0:
        print("all holds:", path)


def by_id(ids: np.ndarray, values: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """The values of these ids."""
    table = dict(zip(ids.tolist(), values.tolist(), strict=True))
    return np.array([table[i] for i in wanted.tolist()])


if __name__ == "__main__":
    main()
