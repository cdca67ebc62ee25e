"""
Ghost layers for your own code: NumPy, CuPy, PyTorch, JAX
=========================================================

**Question.** You have a program on a grid, in NumPy or on a GPU. How do you run it on several
processes, without writing any messages yourself?

**Input.** The shape of the whole array, and how many ghost layers your stencil reads.

**Output.** Blocks of the array, one for each process, whose ghost layers are filled on request. The
result has the same bits on any number of processes.

The script takes a few seconds. To start several processes, it needs
``pip install 'groundswell[mpi]'``; without it, one process runs.
"""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

STEPS = 200
folder = Path("results_ghosts")
folder.mkdir(exist_ok=True)

# %%
# The program on one process
# --------------------------
# Heat spreads in a square plate whose edges stay cold. Each new value is a mean of its neighbours.


def one_step(u):
    """One step; diffusivity * time step / spacing^2 is 1/8."""
    around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
    u[1:-1, 1:-1] = (around + 4 * u[1:-1, 1:-1]) / 8


plate = np.zeros((66, 98))  # 64 by 96 points, and the edges
plate[11:31, 21:51] = 1.0
for _ in range(STEPS):
    one_step(plate)

# %%
# The program on several processes
# --------------------------------
# Four lines change. ``Domain`` divides the points among the processes, ``zeros`` allocates a block
# with its ghost layers, ``exchange`` fills these from the neighbours, and ``gather`` collects the
# whole array on rank 0. The stencil itself stays as it is.
#
# The exchange never writes beyond the edges of the plate, where the zeros remain: that is our
# boundary condition.

program = f"""
import numpy as np
from groundswell.exchange import Domain

domain = Domain((64, 96), ghosts=1, corners=False)      # the whole array; blocks are chosen
u = domain.zeros("float64")                             # this rank's block with its ghosts
j, i = domain.indices()                                 # global indices of its points
domain.interior(u)[...] = (j >= 10) & (j < 30) & (i >= 20) & (i < 50)

for _ in range({STEPS}):
    domain.exchange(u)                                  # fills the ghost layers
    around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
    u[1:-1, 1:-1] = (around + 4 * u[1:-1, 1:-1]) / 8

whole = domain.gather(u)                                # the whole array on rank 0
print(domain.rank, *domain.block.start, *domain.block.shape, flush=True)
if whole is not None:
    np.save("plate.npy", whole)
"""
(folder / "plate.py").write_text(program, encoding="utf-8")

ranks = 2 if find_spec("mpi4py") else 1
mpiexec = Path(sys.executable).with_name("mpiexec")  # of the environment, or any on the PATH
launcher = [str(mpiexec) if mpiexec.exists() else "mpiexec", "-n", str(ranks), "--oversubscribe"]
command = [*(launcher if ranks > 1 else []), sys.executable, "plate.py"]
allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}  # in containers
done = subprocess.run(
    command,
    cwd=folder,
    env={**os.environ, **allowed},
    check=True,
    capture_output=True,
    text=True,
)
blocks = sorted([int(n) for n in line.split()] for line in done.stdout.splitlines())
result = np.load(folder / "plate.npy")

figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
drawn = axes.imshow(result, origin="lower", cmap="inferno")
for rank, j, i, height, width in blocks:
    corner = (i - 0.5, j - 0.5)
    axes.add_patch(plt.Rectangle(corner, width, height, fill=False, edgecolor="cyan", linewidth=2))
    axes.text(i + 2, j + 2, f"rank {rank}", color="cyan")
figure.colorbar(drawn, label="temperature")

# %%
# On a GPU
# --------
# The domain allocates on the device, and the exchange works in place on the arrays of your library,
# in its current stream. Only these lines differ::
#
#     import cupy as cp                                      # CuPy
#     domain = Domain((64, 96), ghosts=1, corners=False, device="cuda")
#     u = domain.zeros("float64")                            # a CuPy array
#
#     import torch                                           # PyTorch
#     domain = Domain((64, 96), ghosts=1, corners=False, device="cuda")
#     u = torch.from_dlpack(domain.zeros("float64"))
#
#     import jax.numpy as jnp                                # JAX: arrays are immutable
#     domain = Domain((64, 96), ghosts=1, corners=False, device="cuda")
#     u = jnp.from_dlpack(domain.zeros("float64"))
#     u = domain.exchange(u)                                 # a new array: two copies
#
# ``examples/exchange`` has complete programs for all four libraries. Those also compute inner
# points while messages travel: ``plan.start()``, the inner points of ``domain.split()``,
# ``plan.finish()``, the others.

# %%
# The check
# ---------
# Every point is computed from the same numbers in the same order, whichever process does it. So the
# results have the same bits, not just similar values. Your own program should pass this test, too.

assert len(blocks) == ranks
assert result.tobytes() == plate[1:-1, 1:-1].tobytes(), "some ghost value is wrong"
print(f"the same bits on {ranks} processes")

# %%
# What to change next
# -------------------
# - Leave out ``domain.exchange(u)``: the check fails. ``Domain(..., poison=True)`` fills ghosts
#   with NaN before each exchange, so that such errors show at once.
# - A wider stencil needs ``ghosts=2``; a periodic axis ``periodic=(False, True)``.
# - Several fields travel in one message: ``domain.exchange(u, v, w)``.
# - Send half the bytes: ``Field(u, sent_as="float32")`` in a plan.
