"""Heat spreads through a cube whose sides stay cold.

    mpiexec -n 4 python heat.py

Any number of ranks prints the same checksum: the same bits.
"""

from __future__ import annotations

import zlib

import numpy as np

from groundswell.exchange import Domain

n, steps = 40, 50
share = 1 / 8  # diffusivity * time step / spacing^2, below 1/6

domain = Domain((n, n, n), ghosts=1, corners=False)
u = domain.zeros("float64")
own = domain.interior(u)
z, y, x = domain.coordinates(1 / n, 0.5 / n)  # of the cells' centres in a cube of side 1
own[...] = np.exp(-50 * ((z - 0.3) ** 2 + (y - 0.5) ** 2 + (x - 0.6) ** 2))

for _ in range(steps):
    domain.exchange(u)
    around = u[:-2, 1:-1, 1:-1] + u[2:, 1:-1, 1:-1]
    around += u[1:-1, :-2, 1:-1] + u[1:-1, 2:, 1:-1]
    around += u[1:-1, 1:-1, :-2] + u[1:-1, 1:-1, 2:]
    own += share * (around - 6 * own)

whole = domain.gather(u)
if whole is not None:  # on rank 0
    print(f"{domain.size} ranks as {domain.cut.processes}, checksum {zlib.crc32(whole):08x}")
