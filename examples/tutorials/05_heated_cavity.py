"""
A heated cavity: steady flow, and the waves on the way to it
============================================================

**Question.** Air fills a square cavity. One wall is hot, the opposite wall is cold. How much heat
passes? And what happens in the first minute after the heating has been switched on?

**Input.** One number describes the problem: the Rayleigh number, which compares buoyancy with
viscosity and conduction. Here it is a million, that of a box of 10 cm with 10 K across it.

**Output.** The Nusselt number, which is the heat flux over that of air at rest, the flow, and its
history.

The script takes about 15 seconds on one core.
"""

import matplotlib.pyplot as plt
import numpy as np

import groundswell as gs

RAYLEIGH = 1e6
POINTS = 31  # along x and along z
STEP = 0.25  # of time, in units of the time of free fall
DURATION = 80.0

# %%
# The steady flow
# ---------------
# All quantities are dimensionless. The cavity has the size 1, and its walls have the temperatures
# 0.5 (west) and -0.5 (east). The floor and the ceiling are insulated. One point between two planes
# of symmetry makes the flow two-dimensional.
#
# Warm air rises in a thin layer at the hot wall. ``stretching`` moves points from the middle of the
# cavity to its walls, so that a few of them lie in this layer.

air = {"kind": "rayleigh", "rayleigh": RAYLEIGH, "prandtl": 0.71}
grid = {"points": (POINTS, 1, POINTS), "stretching": {"x": 2.0, "z": 1.5}}
walls = {"south": {"kind": "symmetry"}, "north": {"kind": "symmetry"}}

steady = gs.cavity.simulate(fluid=air, walls=walls, **grid)
print(f"Nusselt number {steady.heat['nusselt']:.3f}")

# %%
# ``fields`` is an xarray dataset with all points, the walls included. Temperature in colours, with
# streamlines: warm air lies above cold air, and the core hardly moves.

plane = steady.fields.isel(y=0)


def draw_flow(plane, axes):
    """Temperature and streamlines in the plane of the flow."""
    x, z = (np.linspace(*plane[a].values[[0, -1]], 81) for a in "xz")  # even distances
    even = plane.interp(x=x, z=z)
    drawn = axes.contourf(plane["x"], plane["z"], plane["T"], levels=21, cmap="RdBu_r")
    axes.streamplot(x, z, even["u"].values, even["w"].values, color="black", linewidth=0.6)
    axes.set(aspect="equal", xlabel="x", ylabel="z", xlim=(0, 1), ylim=(0, 1))
    return drawn


figure, axes = plt.subplots(figsize=(5.5, 4.5), layout="constrained")
figure.colorbar(draw_flow(plane, axes), label="temperature")

# %%
# How accurate is it?
# -------------------
# Le Quéré (1991) computed a Nusselt number of 8.825 with a spectral method. One sign of a good
# solution needs no reference: the heat that enters equals the heat that leaves.

REFERENCE = 8.825
error = steady.heat["nusselt"] / REFERENCE - 1
print(f"{100 * error:+.2f} % from the reference")
print(f"heat that enters but does not leave: {steady.heat['heat_imbalance']:.1e}")

# %%
# Switching the heating on
# ------------------------
# With a duration and a step, the flow develops in time, here from air at rest. Two points are
# recorded at every step. The unit of time is that of free fall, about the time that the warmest air
# would need to rise through the cavity without friction. In the box of 10 cm, it is half a second.

probes = {
    "fields": ["T"],
    "where": {"kind": "points", "positions": [[0.3, 0.5, 0.5], [0.5, 0.5, 0.25]]},
    "interval": STEP,
    "file": "probes.nc",
}
planes = {
    "fields": ["T", "u", "w"],
    "where": {"kind": "plane", "normal": "y", "at": 0.5},
    "interval": DURATION / 40,
    "file": "planes.nc",
}
started = gs.cavity.simulate(
    fluid=air,
    walls=walls,
    time={"duration": DURATION, "step": STEP},
    output={"record": [probes, planes]},
    **grid,
)

moments = started.records["planes.nc"]  # the points without the walls
figure, panels = plt.subplots(1, 4, figsize=(13, 3.6), sharey=True, layout="constrained")
for time, axes in zip((4, 8, 16, 60), panels, strict=True):
    drawn = draw_flow(moments.sel(time=time, method="nearest"), axes)
    axes.set_title(f"time {time}")
figure.colorbar(drawn, label="temperature")

# %%
# Hot air shoots up along the wall, spreads under the ceiling and falls back: the cavity fills with
# layers of warm and cold air from above and below. These layers tilt to and fro like water in a
# bath tub. Both records and the Nusselt number show the waves.

temperature = started.records["probes.nc"]["T"]
names = "beside the hot wall, half-way up", "in the middle, near the floor"
figure, (upper, lower) = plt.subplots(2, 1, figsize=(8, 6), sharex=True, layout="constrained")
for number, name in enumerate(names):
    upper.plot(temperature["time"], temperature[:, number], label=name)
upper.set_ylabel("temperature")
upper.legend()
history = started.history
lower.plot(history["time"], history["nusselt_hot"], label="in time")
lower.axhline(steady.heat["nusselt"], color="black", linestyle=":", label="steady")
lower.set(xlabel="time", ylabel="Nusselt number", ylim=(0, 1.5 * REFERENCE))
lower.legend(loc="lower right")

# %%
# Are these the waves that theory predicts?
# -----------------------------------------
# In stratified air, internal waves have the angular frequency N cos(a): N is the buoyancy
# frequency, and a the angle between the wave vector and the horizontal. In these units, N is the
# square root of the temperature gradient. The lowest mode of a square has one half-wave along both
# axes, so a is 45 degrees. The waves are damped, and their stratification still grows, so expect
# agreement within a tenth, not within a thousandth.

z = plane["z"].sel(z=slice(0.3, 0.7))
core = plane["T"].interp(x=0.5).sel(z=z)
gradient = np.polyfit(z, core, 1)[0]
predicted = 2 * np.pi / np.sqrt(gradient / 2)

late = temperature[:, 0].sel(time=slice(15, 60))
swing = late - np.polyval(np.polyfit(late["time"], late, 3), late["time"])
rises = late["time"].values[1:][(swing.values[:-1] < 0) & (swing.values[1:] >= 0)]
period = np.diff(rises).mean()
print(f"period {period:.1f}; theory {predicted:.1f}, with a gradient of {gradient:.2f} in the core")

# %%
# The check
# ---------
# The steady solver and the solver in time are different algorithms, and must agree in the end.

in_time = float(history["nusselt_hot"][-1])
assert abs(error) < 0.01, "the steady Nusselt number is off"
assert abs(in_time / steady.heat["nusselt"] - 1) < 0.005, "the flow in time ends elsewhere"
assert abs(period / predicted - 1) < 0.15, "these are not internal waves"

# %%
# What to change next
# -------------------
# - ``POINTS = 63``: the error falls by about a factor of four.
# - ``RAYLEIGH = 1e7``: the waves last longer. Above 1.8e8, the flow never becomes steady.
# - Put a heated block on the floor: ``solid=[{"low": ..., "high": ..., "conductivity": 10.0}]``.
# - In SI units: ``fluid={"kind": "properties", "viscosity": "1.6e-5 m^2/s", ...}`` and
#   ``size=(0.1, 0.1, 0.1)``.
# - ``output={"film": True}`` writes a film of the middle plane.
#
# The guide to cavities has the method, more measured errors, and a tall cavity that oscillates
# forever. Le Quéré, P. (1991). *Computers & Fluids* 20, 29-41.
