"""
A seismic hazard curve from simulated earthquakes
=================================================

**Question.** A fault is a few kilometres away. How often does the ground shake more than a given
level, where in the region is the hazard highest, and which earthquakes are to blame?

**Input.** A velocity model, a fault, and how often it has earthquakes of each magnitude.

**Output.** A hazard curve, a hazard map, and a disaggregation. No published ground-motion model is
needed: the motion of each earthquake is simulated.

To keep it short, earthquakes are points of magnitude 5 to 6, and motion is below 0.5 Hz. The script
takes less than a minute on two cores.
"""

import csv
import math
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import xarray
from scipy.stats import norm

import groundswell as gs
from groundswell.seismology.hazard.analysis import compute
from groundswell.seismology.hazard.case import load_hazard_case

SPACING = 500.0  # m
POSITIONS = 4  # of epicentres along the fault
DEPTHS = 3e3, 5e3, 7e3  # m, of hypocentres
RISES = {5.0: 1.5, 5.5: 2.0, 6.0: 2.7}  # s, duration of slip by magnitude
SITE = 16e3, 15e3  # x and y, m

folder = Path("results_hazard")
folder.mkdir(exist_ok=True)

# %%
# The ground
# ----------
# The region is 24 km by 22 km. A basin with softer ground lies north-east of the middle. The model
# is a NetCDF file, as any model of a real place would be.

x, y, depth = (
    np.linspace(0, 24e3, 25),
    np.linspace(0, 22e3, 23),
    np.array([0, 1e3, 1.5e3, 4e3, 12e3]),
)
rock = np.interp(depth, [0, 4e3, 12e3], [2000, 3200, 3600])[:, None, None]  # S wave speed, m/s
inside = (x - 16e3) ** 2 + (y[:, None] - 15e3) ** 2 < 5e3**2
vs = np.where(inside & (depth[:, None, None] < 1.2e3), 1200.0, rock)
dims = ("depth", "y", "x")
model = {"vp": (dims, 1.8 * vs), "vs": (dims, vs), "rho": (dims, 1700 + 0.3 * vs)}
xarray.Dataset(model, {"depth": depth, "y": y, "x": x}).to_netcdf(folder / "ground.nc")

# %%
# One earthquake
# --------------
# The case of one earthquake on a vertical fault along x. Its shaking map is all that we need.

(folder / "quake.toml").write_text(f"""
solver = "earthquake"
title = "One earthquake of many"

[grid]
size = ["24 km", "22 km", "12 km"]
spacing = {SPACING}

[time]
duration = "16 s"

[medium]
kind = "netcdf"
file = "ground.nc"

[[source]]
kind = "double-couple"
x = "12 km"
y = "6 km"
depth = "5 km"
strike = 90
dip = 90
rake = 180
magnitude = 5.5
time_function = {{ kind = "cosine", rise = "2 s" }}
""")

# %%
# All earthquakes
# ---------------
# A rupture, in the words of hazard analysis, is an earthquake of one magnitude at one place. Each
# has variations that we cannot foresee, here the depth of the hypocentre. Every variation of every
# rupture is a run; all of them go to one store.

epicentres = np.linspace(5e3, 19e3, POSITIONS)  # x, m
rows = [
    {
        "name": f"M{magnitude:g}-{place}-{depth / 1e3:.0f}km",
        "source.0.x": epicentre, "source.0.depth": depth, "source.0.magnitude": magnitude,
        "source.0.time_function.rise": rise,
    }
    for magnitude, rise in RISES.items()
    for place, epicentre in enumerate(epicentres)
    for depth in DEPTHS
]
plan = gs.ensembles.Plan.of(folder / "quake.toml", rows, folder / "quakes.zarr")
status = gs.ensembles.run(plan, resume=True)
print(status.counts)

pgv = gs.ensembles.open(folder / "quakes.zarr", "shaking_map")["pgv"]  # run, y, x; m/s
ruptures = [name.rsplit("-", 1)[0] for name in pgv["run"].values]
motion = pgv.drop_vars([name for name in pgv.coords if name not in ("x", "y")])
motion = motion.assign_coords(rupture=("run", ruptures)).sortby(["y", "x"])
motion.to_dataset(name="pgv").to_netcdf(folder / "motion.nc")

# %%
# How often
# ---------
# Each magnitude is ten times rarer than the one a unit below it (the law of Gutenberg and Richter).
# Its earthquakes are equally probable at all places. The table also has the size of the fault
# planes, from which the analysis computes distances (lengths of Wells & Coppersmith 1994).


def rate(magnitude):
    """Earthquakes of this magnitude in a year, on the whole fault."""
    return 0.04 * 10 ** -(magnitude - 5.0)


header = "name magnitude rate x y depth strike dip length width".split()
with (folder / "ruptures.csv").open("w", newline="") as file:
    table = csv.writer(file)
    table.writerow(header)
    for magnitude in RISES:
        length = 1e3 * 10 ** (-2.44 + 0.59 * magnitude)  # m
        for place, epicentre in enumerate(epicentres):
            name = f"M{magnitude:g}-{place}"
            yearly = rate(magnitude) / POSITIONS
            table.writerow([name, magnitude, yearly, epicentre, 6e3, 2e3, 90, 90, length, 6e3])

# %%
# The analysis
# ------------
# An input file names both tables. With ``lognormal``, the motion of a rupture has the mean and the
# standard deviation of the logarithms of its variations. Sites of a map are called by row and
# column.

column, row = (math.floor(at / SPACING) for at in SITE)
site = f"{row}-{column}"
(folder / "hazard.toml").write_text(f"""
title = "A fault beside a basin"
measures = ["pgv"]
return_periods = [100, 475, 2475]

[[ruptures]]
file = "ruptures.csv"

[[intensities]]
name = "simulated"
file = "motion.nc"
distribution = "lognormal"

[disaggregation]
return_period = 475
sites = ["{site}"]
magnitude_bin = 0.5
distance_bin = "2 km"
""")
hazard = compute(load_hazard_case(folder / "hazard.toml"))
curves = hazard.curves.sel(measure="pgv")

# %%
# ``groundswell hazard hazard.toml`` does the same, and writes tables and pictures of all results.
#
# The curve
# ---------
# At the site in the basin and at one on rock, as far from the fault: how often in a year does the
# motion exceed a level? The return period of 475 years has a probability of 10 % in 50 years.

rock_site = f"{row}-{math.floor(7e3 / SPACING)}"
level = 100 * curves["level"]  # cm/s
figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
for name, at in {"basin": site, "rock": rock_site}.items():
    axes.loglog(level, curves["rate"].sel(site=at), label=name)
axes.axhline(1 / 475, color="black", linestyle=":", label="once in 475 years")
axes.set(xlabel="peak ground velocity (cm/s)", ylabel="exceedances per year")
axes.set(xlim=(0.5, 300), ylim=(1e-5, 0.1))
axes.legend()

# %%
# The map
# -------
# The level with a return period of 475 years, at each point of the surface. The dashed line is the
# fault, the circle the basin. The four epicentres leave their marks; real studies have many more.

grid = 100 * curves["map"].sel(return_period=475).values.reshape(motion.shape[1:])
figure, axes = plt.subplots(figsize=(6.5, 5), layout="constrained")
drawn = axes.pcolormesh(motion["x"] / 1e3, motion["y"] / 1e3, grid, cmap="magma_r")
axes.plot([3, 21], [6, 6], color="black", linestyle="--")
axes.add_patch(plt.Circle((16, 15), 5, fill=False, color="teal"))
axes.plot(SITE[0] / 1e3, SITE[1] / 1e3, "^", color="black")
axes.set(aspect="equal", xlabel="x (km)", ylabel="y (km)")
figure.colorbar(drawn, label="peak ground velocity, 475 years (cm/s)")

# %%
# Which earthquakes?
# ------------------
# Disaggregation divides the rate at which one level is exceeded among the earthquakes. Rare strong
# ones do not always matter more than frequent weak ones: it depends on the return period. ``rates``
# has the same by bins of magnitude, distance and epsilon.

parts = hazard.disaggregations[site, hazard.case.measures[0]]
print(f"{100 * parts.level:.1f} cm/s is exceeded every {1 / parts.total:.0f} years, on average")
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
below = np.zeros(len(RISES))
for place, epicentre in enumerate(epicentres):
    names = [f"M{magnitude:g}-{place}" for magnitude in RISES]
    share = 100 / parts.total * np.array([parts.by_rupture.get(name, 0.0) for name in names])
    label = f"x = {epicentre / 1e3:.0f} km"
    axes.bar([str(magnitude) for magnitude in RISES], share, 0.6, below, label=label)
    below = below + share
axes.set(xlabel="magnitude", ylabel="share of the rate (%)", ylim=(0, 100))
axes.legend(title="epicentre")

# %%
# The check
# ---------
# Hazard is a sum over ruptures that can be done by hand: the rate of each times the probability
# that its motion is above the level. We do it for the whole curve of the site, from the stored
# maps. And the parts of the disaggregation must add up to the rate that belongs to its return
# period.

logs = np.log(motion.values[:, row, column])
by_hand = np.zeros(len(level))
for name in dict.fromkeys(ruptures):
    own = logs[np.array(ruptures) == name]
    above = norm.sf((np.log(curves["level"]) - own.mean()) / own.std(ddof=1))
    by_hand += rate(float(name[1:].split("-")[0])) / POSITIONS * above

assert status.counts["complete"] == len(rows)
assert np.allclose(curves["rate"].sel(site=site), by_hand, rtol=1e-9), "a rupture is missing"
assert abs(475 * parts.total - 1) < 0.01, "the parts are not the whole"
assert grid[row, column] > 1.2 * curves["map"].sel(return_period=475, site=rock_site) * 100

# %%
# What to change next
# -------------------
# - ``distribution = "samples"`` counts variations instead of fitting a distribution. The curve ends
#   at the strongest one, so it needs more of them.
# - Add branches with published models: ``[[intensities]]`` with ``model = "BSSA14"`` and a weight.
#   They need ``pip install 'groundswell[hazard]'``.
# - Response spectra instead of peak velocity: ``output.intensity`` with ``maps`` in the case, and
#   ``measures = ["rotd50(3.0)"]``.
# - Finite ruptures, thousands of variations: record strain Green tensors of a few sites instead of
#   running each earthquake. ``examples/hazard`` does this.
# - On a cluster, ``groundswell ensemble script`` makes the runs a job array.
