"""Heat spreads through a cube, in JAX: nobody can write its arrays, so `exchange` returns new ones.

mpiexec -n 4 python heat_jax.py
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from groundswell.exchange import Domain

n, steps = 40, 50
share = 1 / 8  # diffusivity * time step / spacing^2, below 1/6

device = "cuda" if jax.default_backend() == "gpu" else "cpu"
domain = Domain((n, n, n), ghosts=1, corners=False, device=device)
z, y, x = (jnp.from_dlpack(c) for c in domain.coordinates(1 / n, 0.5 / n))
ball = jnp.exp(-50 * ((z - 0.3) ** 2 + (y - 0.5) ** 2 + (x - 0.6) ** 2)).astype("float32")
u = jnp.zeros(domain.local_shape, "float32").at[domain.own].set(ball)


@jax.jit
def step(u: jax.Array) -> jax.Array:
    """What happens between two exchanges."""
    around = u[:-2, 1:-1, 1:-1] + u[2:, 1:-1, 1:-1]
    around += u[1:-1, :-2, 1:-1] + u[1:-1, 2:, 1:-1]
    around += u[1:-1, 1:-1, :-2] + u[1:-1, 1:-1, 2:]
    return u.at[domain.own].add(share * (around - 6 * u[domain.own]))


for _ in range(steps):
    u = step(domain.exchange(u))

whole = domain.gather(u)
if whole is not None:  # on rank 0
    heat = whole.sum(dtype="float64")
    print(f"{domain.size} ranks as {domain.cut.processes}, heat {heat:.4f}")
