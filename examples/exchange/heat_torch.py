"""Heat spreads through a cube, in PyTorch, on GPUs where there are some.

mpiexec -n 4 python heat_torch.py
"""

from __future__ import annotations

import zlib

import torch

from groundswell.exchange import Domain

n, steps = 40, 50
share = 1 / 8  # diffusivity * time step / spacing^2, below 1/6

device = "cuda" if torch.cuda.is_available() else "cpu"
domain = Domain((n, n, n), ghosts=1, corners=False, device=device)
u = torch.from_dlpack(domain.zeros("float64"))  # the domain knows the GPU; PyTorch shares it
own = domain.interior(u)
z, y, x = (torch.from_dlpack(c) for c in domain.coordinates(1 / n, 0.5 / n))
own[...] = torch.exp(-50 * ((z - 0.3) ** 2 + (y - 0.5) ** 2 + (x - 0.6) ** 2))

for _ in range(steps):
    domain.exchange(u)  # in PyTorch's current stream
    around = u[:-2, 1:-1, 1:-1] + u[2:, 1:-1, 1:-1]
    around += u[1:-1, :-2, 1:-1] + u[1:-1, 2:, 1:-1]
    around += u[1:-1, 1:-1, :-2] + u[1:-1, 1:-1, 2:]
    own += share * (around - 6 * own)

whole = domain.gather(u)
if whole is not None:  # on rank 0
    print(f"{domain.size} ranks as {domain.cut.processes}, checksum {zlib.crc32(whole):08x}")
