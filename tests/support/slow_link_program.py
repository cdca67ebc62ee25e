"""A program for several ranks on a ring: a described link delivers no sooner than it would.

mpiexec -n 3 python slow_link_program.py BACKEND TRANSPORT
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
from halo_program import device_of

from groundswell.backends import open_backend
from groundswell.exchange.decomposition import decompose
from groundswell.exchange.ghost_field import GhostField
from groundswell.exchange.ghosts import Ghosts
from groundswell.exchange.halo import HaloExchange
from groundswell.exchange.mpi_communicator import get_communicator
from groundswell_rivals.exchange.slow_link import Link, LinkedBackend

EACH = 1000  # points of a rank
LINKS = {  # and seconds that two messages of one value of 8 bytes to each of two neighbours take
    Link(1e9, latency=0.2): 0.2,
    Link(1e9, latency=0.1, gap=0.05): 0.1 + 4 * 0.05,
    Link(1e4, latency=0.2): 0.2 + 4 * 8 / 1e4,
}
SLACK = 0.25  # s that this may take besides: less than a latency for each message would add


def main() -> None:
    """Exchange over each link, and look at the clock."""
    name, transport = sys.argv[1:3]
    job = get_communicator()
    backend = open_backend(name, device_of(job.rank) if name == "cuda" else None)
    cut = decompose((EACH * job.size,), job.size, (True,), (job.size,))
    arrays = [backend.zeros((EACH + 2,), "float64") for _ in range(2)]
    fields = [GhostField(array, (1,), Ghosts((1,), (1,))) for array in arrays]
    for link, least in LINKS.items():
        slow: Any = LinkedBackend(backend, link)
        halo = HaloExchange(slow, job, cut, fields, transport=transport, aggregate=False)
        halo()
        backend.synchronize()
        for n, array in enumerate(arrays):
            backend.assign(array, np.full(EACH + 2, job.rank + 10.0 * n))
        job.allgather(None)
        begun = time.monotonic()
        halo()
        backend.synchronize()
        spent = time.monotonic() - begun
        halo.check()
        # The last to begin waits for nobody else, so it has waited for the link alone.
        assert least <= max(job.allgather(spent)) <= least + SLACK, (link, spent)
        for n, array in enumerate(arrays):
            around = [(job.rank + step) % job.size + 10.0 * n for step in (-1, 1)]
            assert backend.to_host(array)[[0, -1]].tolist() == around
        halo.close()
    if job.first:
        print("all cases hold")


if __name__ == "__main__":
    main()
