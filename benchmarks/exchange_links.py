"""Time of one exchange of faces between ranks, by size and transport, in a graph where possible.

mpirun -n 2 python benchmarks/exchange_links.py
"""

from __future__ import annotations

import sys

import cupy
import numpy as np

from groundswell.backends import open_backend
from groundswell.errors import GroundswellError
from groundswell.exchange.decomposition import Decomposition
from groundswell.exchange.messages import GhostField
from groundswell.exchange.pattern import Ghosts
from groundswell.exchange.plan import Exchange
from groundswell.exchange.world import world

job = world()
backend = open_backend("cuda", job.rank % cupy.cuda.runtime.getDeviceCount())
REPEATS = 64


def measure(halo, graph):
    graph.replay(3)
    backend.synchronize()
    job.share(None)
    best = []
    for _ in range(7):
        job.share(None)
        begin = backend.mark()
        graph.replay(REPEATS)
        end = backend.mark()
        end.wait()
        best.append(max(job.share(end.seconds_since(begin) / REPEATS)))
    halo.check()
    return float(np.median(best))


for transport in sys.argv[1:] or ["direct", "peer"]:
    for kib in (4, 64, 1024, 16384, 65536):
        side = {4: (32, 32), 64: (128, 128), 256: (256, 256), 1024: (512, 512)}.get(kib)
        side = side or (512, kib // 2)
        shape = (8 * job.size, side[0], side[1])
        cut = Decomposition(shape, (job.size, 1, 1), (True, False, False))
        array = backend.zeros((10, *side), np.float32)
        field = GhostField(array, (1, 0, 0), Ghosts((1, 0, 0), (1, 0, 0)))
        try:
            halo = Exchange(backend, job, cut, [field], transport=transport)
        except GroundswellError as error:
            print(transport, error)
            break
        if halo.in_graph:
            graph = backend.capture(halo)
        else:

            class Eager:
                def replay(self, n):
                    for _ in range(n):
                        halo()

            graph = Eager()
        seconds = measure(halo, graph)
        if job.first:
            print(
                f"{transport:8} {kib:6} KiB a face, two faces: {1e6 * seconds:9.1f} us "
                f"{2 * kib * 1024 / seconds / 1e9:7.1f} GB/s each way",
                flush=True,
            )
        halo.close()
