"""
The Game of Life on four processes
==================================

The ghost exchange works with any array. Four processes play the Game of Life, each on its own
block; gliders cross the borders between them (:doc:`/exchange`). This needs Open MPI, as in
``pip install 'groundswell[mpi]'``.
"""

import os
import subprocess
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

folder = Path("results_gallery_life")
folder.mkdir(exist_ok=True)
(folder / "life.py").write_text("""
import numpy as np
from groundswell.exchange import Domain

domain = Domain((96, 160), ghosts=1, periodic=True)  # rows, columns; corners are exchanged, too
cells = domain.zeros("int32")
row, column = domain.indices()  # of this process's own cells
own = domain.interior(cells)
own[...] = np.random.default_rng(5).random((96, 160))[row, column] < 0.12
frames = []
for generation in range(121):
    domain.exchange(cells)
    near = sum(np.roll(cells, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)) - cells
    if generation % 60 == 0:
        frames.append(domain.gather(cells))
    cells[...] = (near == 3) | ((near == 2) & (cells == 1))
if frames[0] is not None:  # on rank 0
    np.savez("life.npz", frames=frames, blocks=domain.dims)
""")
mpiexec = Path(sys.executable).with_name("mpiexec")  # of this environment, or any on the PATH
command = [
    str(mpiexec) if mpiexec.exists() else "mpiexec",
    "-n",
    "4",
    "--oversubscribe",
    sys.executable,
    "life.py",
]
in_containers = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
subprocess.run(command, cwd=folder, env={**os.environ, **in_containers}, check=True)
played = np.load(folder / "life.npz")

figure, panels = plt.subplots(1, 3, figsize=(12, 3), sharey=True, layout="constrained")
for number, (frame, axes) in enumerate(zip(played["frames"], panels, strict=True)):
    axes.imshow(frame, cmap="Greens", interpolation="nearest")
    for n in range(1, played["blocks"][0]):
        axes.axhline(96 * n / played["blocks"][0] - 0.5, color="C3", linewidth=0.8)
    for n in range(1, played["blocks"][1]):
        axes.axvline(160 * n / played["blocks"][1] - 0.5, color="C3", linewidth=0.8)
    axes.set(title=f"generation {60 * number}", xticks=[], yticks=[])
plt.show()
