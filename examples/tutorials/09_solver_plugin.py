"""
A solver of your own, as a plug-in
==================================

**Question.** You have a numerical scheme. How do you get a solver with a checked case file, GPUs,
several processes, checkpoints, pictures and a command line, without writing all that?

**Input.** A kernel in C++, and some hundred lines of Python around it. ``groundswell new plugin``
writes a package to start from: acoustic waves in a periodic box.

**Output.** A solver that all commands of Groundswell know, in a package of its own.

The script takes less than a minute.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import xarray

folder = Path("results_plugin").absolute()
shutil.rmtree(folder, ignore_errors=True)
folder.mkdir()


def groundswell(*arguments, fails=False):
    """Run a command in the folder, as in a terminal, and return what it prints."""
    command = [sys.executable, "-m", "groundswell", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert fails == (done.returncode != 0), done.stdout + done.stderr
    return done.stdout


# %%
# The package
# -----------
# In a terminal: ``groundswell new plugin ripples``.

environment = dict(os.environ)
print(groundswell("new", "plugin", "ripples"))
package = folder / "groundswell-ripples"
for path in sorted(package.rglob("*.*")):
    if path.is_file():
        lines = len(path.read_text(encoding="utf-8").splitlines())
        print(f"{lines:4d} lines  {path.relative_to(package)}")

# %%
# The kernel is the scheme itself. The same source is compiled for CPUs and for GPUs.

kernel = package / "groundswell_ripples" / "kernels" / "wave.h"
source = kernel.read_text(encoding="utf-8")
print(source)

# %%
# Groundswell finds the solver by an entry point, one line of ``pyproject.toml``. ``pip install -e
# groundswell-ripples`` registers it. So that this page leaves your environment as it is, we put the
# package on the path of these commands only, with the two small files that pip would write.

registered = package / "groundswell_ripples-1.0.0.dist-info"
registered.mkdir()
(registered / "METADATA").write_text(
    "Metadata-Version: 2.1\nName: groundswell-ripples\nVersion: 1\n"
)
(registered / "entry_points.txt").write_text(
    "[groundswell.solvers]\nripples = groundswell_ripples:info\n"
)
paths = [str(package), os.environ.get("PYTHONPATH", "")]
environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))

# %%
# A run
# -----
# All commands know the solver now: ``new``, ``check``, ``run``, ``report``, ``verify`` and others.

groundswell("new", "ripples", "case.toml")
print(groundswell("check", "case.toml"))
groundswell("run", "case.toml", "--no-pictures")

pressure = xarray.open_dataset(folder / "results" / "pressure.nc", engine="h5netcdf")["p_final"]
figure, axes = plt.subplots(figsize=(6, 4.8), layout="constrained")
pressure.squeeze().isel(z=24).plot(ax=axes, cmap="RdBu_r")
axes.set_aspect("equal")

# %%
# Is the scheme right?
# --------------------
# ``groundswell verify`` solves the problems with known answers in ``verification.py``, here a
# standing wave: its error, and the order with which it falls on finer grids.

print(groundswell("verify", "ripples"))

# %%
# The check
# ---------
# A verification is worth something only if it fails for a wrong scheme. So we make a mistake in the
# kernel: a wave that is 1 % too fast. Kernels are compiled again when their source changes.

right, wrong = "q[c] += WEIGHT *", "q[c] += REAL(1.02) * WEIGHT *"
assert right in source
kernel.write_text(source.replace(right, wrong), encoding="utf-8")
print(groundswell("verify", "ripples", fails=True))

kernel.write_text(source, encoding="utf-8")
groundswell("verify", "ripples")

# %%
# What to change next
# -------------------
# - ``mpiexec -n 4 groundswell run case.toml``: the same bits on four processes.
#   ``--backend cuda``: the same kernel on a GPU.
# - Add a field, a boundary condition or a source. The page on adding a solver explains each file.
# - Add a key to the case in ``case.py``. Units, limits and messages about mistakes come with its
#   type.
# - ``readers`` in ``__init__.py`` names file formats that ``groundswell run`` accepts besides TOML.
