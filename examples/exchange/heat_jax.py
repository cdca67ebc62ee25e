"""Heat spreads through a cube whose sides stay cold, in JAX, on GPUs where there are some.

Run it with `mpiexec -n 4 python heat_jax.py`; any number of ranks prints the same checksum,
the same as heat.py. JAX arrays are immutable, so `exchange` returns new ones, and computations do
not overlap with it.
"""

import zlib

import jax
import jax.numpy as jnp

from groundswell.exchange import Domain

jax.config.update("jax_enable_x64", True)
n, steps = 40, 50
device = "cuda" if jax.default_backend() == "gpu" else "cpu"
domain = Domain((n, n, n), ghosts=1, corners=False, device=device)
k, j, i = (jnp.from_dlpack(along) for along in domain.indices())
hot = (k - 12) ** 2 + (j - 20) ** 2 + (i - 24) ** 2 < 64
u = jnp.from_dlpack(domain.zeros("float64")).at[domain.own].set(jnp.where(hot, 1.0, 0.0))


@jax.jit
def step(u):
    """One time step; diffusivity * time step / spacing^2 is 1/8."""
    around = u[:-2, 1:-1, 1:-1] + u[2:, 1:-1, 1:-1]
    around += u[1:-1, :-2, 1:-1] + u[1:-1, 2:, 1:-1]
    around += u[1:-1, 1:-1, :-2] + u[1:-1, 1:-1, 2:]
    return u.at[domain.own].set((around + 2 * u[domain.own]) / 8)


for _ in range(steps):
    u = step(domain.exchange(u))

whole = domain.gather(u)
if whole is not None:  # on rank 0
    print(f"{domain.size} ranks as {domain.dims}, checksum {zlib.crc32(whole):08x}")
