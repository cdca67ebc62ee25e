"""
Heat in a part of two materials
===============================

**Question.** A power transistor is a small silicon chip in a block of epoxy. It releases 10 W. How
hot does it become, how long does that take, and where does the heat go?

**Input.** The shape, as elements of a box or as a mesh of Gmsh with named volumes; the
conductivities and heat capacities of both materials; the cooling of each side.

**Output.** The temperature everywhere, steady and in time, and the heat through each side.

The script takes about 15 seconds on one core.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import meshio
import numpy as np

import groundswell as gs

DEGREE = 4  # of the polynomials on each element
STEP = 0.25  # s
DURATION = 60.0  # s

# %%
# The part
# --------
# The package is 20 mm by 20 mm, and 3 mm high. The chip, 8 mm by 8 mm and 1 mm thick, is in the
# middle of its underside, which is pressed on a heat sink. Elements of 2 mm by 2 mm by 1 mm end
# where the chip ends: a jump of the conductivity belongs between elements, not into them.
#
# An array with one value for each element is the simplest way to describe the materials.

box = gs.poisson.Box((10, 10, 3), low=(-0.01, -0.01, 0.0), high=(0.01, 0.01, 0.003))  # m
x, y, z = gs.poisson.nodes(box, 1).mean(axis=1).T  # centres of the elements
in_chip = (abs(x) < 0.004) & (abs(y) < 0.004) & (z < 0.001)

SILICON, EPOXY = 130.0, 0.8  # conductivity, W/(m K)
POWER = 10.0  # W
volume = 0.008 * 0.008 * 0.001  # m^3, of the chip

conductivity = np.where(in_chip, SILICON, EPOXY)
heating = np.where(in_chip, POWER / volume, 0.0)  # W/m^3
print(f"{in_chip.sum()} of {len(in_chip)} elements are silicon")

# %%
# The cooling
# -----------
# Each side passes h (u - ambient) to its surroundings, in W/m^2: the thermal paste to the heat sink
# with a large h, the still air above with a small one. The four narrow sides pass nothing.

SINK, AIR = 5000.0, 10.0  # h, W/(m^2 K)
sides = {
    "bottom": {"kind": "robin", "h": SINK, "ambient": 25.0},  # degrees Celsius
    "top": {"kind": "robin", "h": AIR, "ambient": 25.0},
}
problem = gs.poisson.Problem(
    box, DEGREE, sides, conductivity=conductivity, preconditioner="multigrid"
)
steady = problem.solve(heating)
flows = problem.flows(steady)  # what flows in through each side, W
print(f"hottest point: {steady.values.max():.1f} degrees, after {steady.iterations} iterations")
print(", ".join(f"{name}: {-flow:.3f} W out" for name, flow in flows.items()))

# %%
# Nearly all heat goes to the sink, because epoxy insulates. We can check the temperature by hand.
# If all heat left straight through the underside of the chip, this would be hotter than the sink by
# power / (area h), 31 degrees. Silicon conducts so well that the whole chip is nearly as hot. Some
# heat spreads in the epoxy, so the chip is a little cooler.

bound = POWER / (0.008**2 * SINK)
print(f"by hand: at most {25 + bound:.1f} degrees on the underside of the chip")


def section(solution):
    """Temperature in the vertical plane through the middle of the chip."""
    return solution.at(np.linspace(-0.01, 0.01, 161), 0.0, np.linspace(0.0, 0.003, 49))


def draw_section(values, x, z, axes):
    """Temperature in colours, and the outline of the chip."""
    levels = np.linspace(25, 60, 36)
    drawn = axes.contourf(1e3 * x, 1e3 * z, values, levels, cmap="inferno", extend="both")
    axes.plot([-4, -4, 4, 4], [0, 1, 1, 0], color="white", linewidth=1)  # the chip
    axes.set(aspect="equal", ylabel="z (mm)")
    return drawn


across = section(steady)
figure, axes = plt.subplots(figsize=(9, 2.6), layout="constrained")
drawn = draw_section(across.transpose("z", "x"), across["x"], across["z"], axes)
axes.set_xlabel("x (mm)")
figure.colorbar(drawn, label="temperature (°C)", ticks=range(25, 61, 5))

# %%
# The same from Gmsh
# ------------------
# Parts from CAD have curved shapes, and arrive as mesh files. Physical volumes name the materials,
# physical surfaces the sides. We write such a file for our box; for your own part, Gmsh does that.
# Elements must be hexahedra.

corners = gs.poisson.nodes(box, 1).reshape(-1, 2, 2, 2, 3)  # element, z, y, x
order = [(0, 0, 0), (0, 0, 1), (0, 1, 1), (0, 1, 0), (1, 0, 0), (1, 0, 1), (1, 1, 1), (1, 1, 0)]
hexahedra = np.stack([corners[:, k, j, i] for k, j, i in order], axis=1)
points, cells = np.unique(hexahedra.reshape(-1, 3).round(9), axis=0, return_inverse=True)
cells = cells.reshape(-1, 8)
bottom = cells[hexahedra[..., 2].min(axis=1) < 1e-9][:, :4]
top = cells[hexahedra[..., 2].max(axis=1) > 0.003 - 1e-9][:, 4:]

chip, epoxy, sink, air = 1, 2, 3, 4  # numbers of the physical groups
numbers = [
    np.where(in_chip, chip, epoxy),
    np.full(len(bottom), sink),
    np.full(len(top), air),
]
mesh = meshio.Mesh(
    points,
    [("hexahedron", cells), ("quad", bottom), ("quad", top)],
    cell_data={"gmsh:physical": numbers, "gmsh:geometrical": numbers},
    field_data={"chip": [chip, 3], "epoxy": [epoxy, 3], "sink": [sink, 2], "air": [air, 2]},
)
folder = Path("results_transistor")
folder.mkdir(exist_ok=True)
mesh.write(folder / "package.msh", file_format="gmsh22", binary=False)

# %%
# A case names the same things. As a file, it would begin with ``[mesh]`` and ``[material.chip]``;
# here it is a dictionary.

case = {
    "solver": "poisson",
    "title": "A power transistor",
    "mesh": {"kind": "gmsh", "file": str((folder / "package.msh").absolute())},
    "material": {
        "chip": {"conductivity": SILICON, "source": POWER / volume},
        "epoxy": {"conductivity": EPOXY},
    },
    "boundaries": {
        "sink": {"kind": "robin", "h": SINK, "ambient": 25.0},
        "air": {"kind": "robin", "h": AIR, "ambient": 25.0},
    },
    "method": {"degree": DEGREE, "preconditioner": "multigrid"},
    "output": {"unit": "°C"},
}


def run(content, name):
    """Run a case in a folder of its own."""
    checked = gs.poisson.PoissonCase.from_dict(content)
    return gs.run(checked, folder=folder / name, overwrite=True, quiet=True)


from_gmsh = run(case, "steady")
largest = from_gmsh.solution["largest"]
print(f"from the mesh of Gmsh: {largest:.4f} degrees; from arrays: {steady.values.max():.4f}")

# %%
# Switching it on
# ---------------
# With ``[time]``, the temperature develops from 25 degrees. The materials also need a ``capacity``,
# which is density times specific heat. The record takes the plane of the picture above; ``film =
# true`` in ``[output]`` would also write a film.

CAPACITY = {"chip": 1.66e6, "epoxy": 2.0e6}  # J/(m^3 K)
plane = {
    "fields": ["u"],
    "where": {"kind": "plane", "normal": "y", "at": 0.0, "points": [121, 37]},
    "interval": STEP,
    "file": "plane.nc",
}
warming = {
    **case,
    "material": {
        name: {**material, "capacity": CAPACITY[name]}
        for name, material in case["material"].items()
    },
    "time": {"step": STEP, "duration": DURATION},
    "equation": {"initial": 25.0},
    "output": {"unit": "°C", "record": [plane]},
}
in_time = run(warming, "in_time")
moments = in_time.records["plane.nc"]["u"]
figure, panels = plt.subplots(4, 1, figsize=(8, 7), sharex=True, layout="constrained")
for time, axes in zip((0.5, 2.0, 10.0, 50.0), panels, strict=True):
    moment = moments.sel(time=time, method="nearest").transpose("z", "x")
    drawn = draw_section(moment, moment["x"], moment["z"], axes)
    axes.set_title(f"after {float(moment['time']):g} s")
axes.set_xlabel("x (mm)")
figure.colorbar(drawn, ax=panels, label="temperature (°C)", ticks=range(25, 61, 5))

# %%
# Two time scales appear. The chip warms within a second, because it is small and conducts well. The
# epoxy needs tens of seconds, about its thickness squared times capacity over conductivity.

history, flows_in_time = in_time.history, in_time.flows
figure, (upper, lower) = plt.subplots(2, 1, figsize=(8, 6), sharex=True, layout="constrained")
upper.plot(history["time"], history["largest"], label="hottest point")
upper.plot(history["time"], history["mean"], label="mean")
upper.axhline(largest, color="black", linestyle=":", label="steady")
upper.set_ylabel("temperature (°C)")
upper.legend()
for side in flows_in_time["side"].values:
    lower.plot(flows_in_time["time"], -flows_in_time["flow"].sel(side=side), label=f"to the {side}")
lower.axhline(POWER, color="black", linestyle=":", label="released")
lower.set(xlabel="time (s)", ylabel="heat flow (W)")
lower.legend()

# %%
# The check
# ---------
# Arrays and named volumes are two descriptions of one problem. In the steady state, the sides pass
# what the chip releases; in time, what has flowed in is what is stored.

balance = float(flows_in_time["heat"].sum("side")[-1] + flows_in_time["source_heat"][-1])
stored = float(flows_in_time["stored"][-1])
print(f"stored: {stored:.6f} J; balance of all flows: {balance:.6f} J")

assert abs(largest - steady.values.max()) < 1e-6, "two descriptions, two answers"
assert abs(sum(flows.values()) + POWER) < 1e-6, "heat is lost"
assert abs(balance - stored) < 1e-4, "heat is lost in time"
assert largest < 25 + 1.1 * bound, "hotter than possible"
assert abs(float(history["largest"][-1]) - largest) < 0.1, "not steady in the end"
problem.close()

# %%
# What to change next
# -------------------
# - Raise ``DEGREE`` to 6. If the hottest point does not change, the elements are fine enough. The
#   field has a weak singularity at the edges of the chip, so the last digits change slowly.
# - Let the power pulse: ``source`` may contain the time, as in ``"1.5e8 * (sin(6.28 * t) > 0)"``.
# - Take your own part: make hexahedra in Gmsh (*Recombine*, transfinite volumes), name volumes and
#   surfaces, and replace ``package.msh``. Abaqus, Exodus, MED and VTK files work, too.
# - ``conductivity`` may be a tensor, for laminates: a list of six numbers.
