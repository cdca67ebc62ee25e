"""Checks of domains on Cartesian communicators, which have blocks, periods and coordinates."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from domain_arrays import before, require_refusal, wanted
from halo_oracle import numbered

from groundswell.exchange import Domain


def check_cartesian(device: str, rng: np.random.Generator) -> None:
    """A Cartesian communicator's blocks, periods, numbers and coordinates are the domain's."""
    from mpi4py import MPI

    size, world = MPI.COMM_WORLD.size, MPI.COMM_WORLD
    for dims, periods in [((size, 1), (False, True)), ((1, size), (True, False))]:
        for old in (world, world.Split(0, -world.rank)):  # in either order
            for reorder in (False, True):
                comm = old.Create_cart(dims, periods, reorder)
                check_topology(comm, device)
                comm.Free()
    comm = world.Create_cart(MPI.Compute_dims(size, 2), (True, False))
    check_topology(comm, device)
    rows = comm.Sub((False, True))
    with Domain((11,), 2, comm=rows, device=device) as domain:
        assert (domain.size, domain.coords) == (rows.size, tuple(rows.coords))
        check_exchange(domain)


def check_topology(comm: Any, device: str) -> None:
    """Whoever has laid out the ranks finds them so, unless the domain is told other periods."""
    dims, periods, coords = (tuple(part) for part in comm.Get_topo())
    lengths = [[9 - 2 * (n - 1), *[2] * (n - 1)] for n in dims]
    for options in ({}, {"periodic": True}, {"processes": (dims[0], 0)}, {"blocks": lengths}):
        with Domain((9, 9), 2, comm=comm, device=device, **options) as domain:
            assert (domain.rank, domain.dims, domain.coords) == (comm.rank, dims, coords)
            assert domain.periodic == ((True, True) if "periodic" in options else periods)
            for rank in range(comm.size):
                assert domain.decomposition.coordinates(rank) == tuple(comm.Get_coords(rank))
            check_exchange(domain)
            if "periodic" not in options:
                check_shifts(comm, domain)
    refused = partial(Domain, (9, 9), comm=comm, device=device)
    if dims != dims[::-1]:
        require_refusal("contradict comm", partial(refused, processes=dims[::-1]))
        require_refusal("contradict comm", partial(refused, blocks=lengths[::-1]))
    require_refusal("of 2 axes", lambda: Domain((8, 8, 8), comm=comm))
    with Domain((8, 8, 8), comm=comm, periodic=False, processes=(dims[0], 1, dims[1])) as domain:
        assert domain.coords == (coords[0], 0, coords[1])


def check_shifts(comm: Any, domain: Domain) -> None:
    """Neighbours are those that MPI finds; where it finds none there is none."""
    from mpi4py import MPI

    for axis in range(2):
        for step in (-1, 1):
            direction = tuple(step if n == axis else 0 for n in range(2))
            _, rank = comm.Shift(axis, step)
            found = domain.neighbours.get(direction)
            assert found == (None if rank == MPI.PROC_NULL else rank), (direction, rank)


def check_exchange(domain: Domain) -> None:
    """See that an exchange fills the ghost layers."""
    whole = numbered(domain.shape, "int32")
    u = before(whole, domain)
    domain.exchange(u)
    assert np.array_equal(u, wanted(whole, domain)), domain
