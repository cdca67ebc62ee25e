"""
A rupture that breaks by itself, and its shaking map
====================================================

**Question.** A fault is under stress. A small patch of it fails. Does the rupture spread, how fast,
how large does the earthquake become, and where does the ground shake most?

**Input.** The rock, the fault with its friction, and the stress on it. Nobody prescribes the slip.

**Output.** The rupture time and the slip of each point of the fault, the magnitude, seismograms,
and a map of peak ground velocity.

The script takes less than a minute on two cores.
"""

import matplotlib.pyplot as plt
import numpy as np

import groundswell as gs

SPACING = 200.0  # m
DURATION = 6.0  # s
SIZE = 16e3, 10e3, 8e3  # along x, y and depth, m

# %%
# The fault
# ---------
# The fault is vertical and strikes along x, 10 km long and 6 km deep. In this solver, a fault lies
# in the middle of cells. The rock presses with 60 MPa on both sides; the shear stress is 29 MPa.
#
# Friction is that of slip weakening: the coefficient falls from 0.7 to 0.35 while the fault slips
# by 40 cm. The strength is therefore 42 MPa before, above the stress, and 21 MPa afterwards, below.
# The difference to the stress, 8 MPa, is the stress drop that drives the rupture. A square of 3 km
# with 43 MPa is above its strength, and fails at once.

middle = SIZE[1] / 2 + SPACING / 2
fault = {
    "name": "main",
    "plane": {"y": middle, "x": [3e3, 13e3], "depth": [0.0, 6e3]},
    "hypocenter": [5.4e3, middle, 3.4e3],
    "law": "slip-weakening",
    "friction": {"static": 0.7, "dynamic": 0.35, "distance": 0.4},
    "stress": {"normal": "60 MPa", "shear": "29 MPa", "rake": 180},
    "patch": [
        {
            "shape": "rectangle", "center": [5.4e3, middle, 3.4e3], "size": [3e3, 3e3],
            "stress": {"shear": "43 MPa"},
        }
    ],
}

# %%
# The rock and the run
# --------------------
# A case is a dictionary here; as a file, it would be TOML with the same keys. ``check`` looks at it
# without a run: it warns if the cells are too coarse for the friction.

VS = 3300.0  # m/s
case = gs.earthquake.EarthquakeCase.from_dict(
    {
        "solver": "earthquake",
        "title": "A rupture that breaks by itself",
        "grid": {"size": list(SIZE), "spacing": SPACING},
        "time": {"duration": DURATION},
        "medium": {
            "kind": "homogeneous",
            "vp": 1.75 * VS, "vs": VS, "rho": 2650.0,
        },
        "fault": [fault],
        "receiver": [
            {"name": "BEHIND", "x": 2e3, "y": 7e3},
            {"name": "AHEAD", "x": 14e3, "y": 7e3},
        ],
    }
)
result = gs.run(case, folder="results_rupture", overwrite=True, quiet=True)

# %%
# The rupture
# -----------
# ``fault`` has what happened at each point. Contours of the rupture time, every half second, are
# close together where the rupture is slow.

points = result.fault
along, down = points["along_strike"] / 1e3, points["down_dip"] / 1e3  # km
slip = np.hypot(points["slip_strike"], points["slip_updip"])
figure, axes = plt.subplots(figsize=(8, 4), layout="constrained")
drawn = axes.tripcolor(along, down, slip, cmap="viridis", shading="gouraud")
lines = axes.tricontour(along, down, points["rupture_time"], np.arange(0.5, 6, 0.5), colors="white")
axes.clabel(lines, fmt="%g s")
axes.invert_yaxis()
axes.set(aspect="equal", xlabel="along strike (km)", ylabel="down dip (km)")
figure.colorbar(drawn, label="slip (m)", shrink=0.7)

moment = float((points["mu"] * points["area"] * slip).sum())  # N m
magnitude = (np.log10(moment) - 9.1) / 1.5
print(f"Mw {magnitude:.2f}, mean slip {float(slip.mean()):.2f} m")

# %%
# How fast does it run? At the depth of the hypocentre, the rupture time grows almost linearly.
# Most ruptures run a little slower than S waves.

level = points.where(abs(points["down_dip"] - 3.4e3) <= SPACING / 2, drop=True)
outside = level.where(level["along_strike"] > 2.5e3, drop=True)
slope = np.polyfit(outside["along_strike"], outside["rupture_time"], 1)[0]
speed = 1 / slope
print(f"rupture speed {speed:.0f} m/s, {speed / VS:.2f} times that of S waves")

# %%
# The shaking map
# ---------------
# The rupture starts near the western end and runs east. Its waves arrive ahead of it almost at the
# same time and add up: this is directivity. The station ahead of the rupture sees one short, strong
# pulse, the one behind it longer and weaker motion.

pgv = result.shaking_map["pgv"]
figure, axes = plt.subplots(figsize=(8, 4.5), layout="constrained")
drawn = axes.contourf(pgv["x"] / 1e3, pgv["y"] / 1e3, pgv, levels=20, cmap="magma_r")
axes.plot([3, 13], [middle / 1e3] * 2, color="black", linewidth=2, label="fault")
axes.plot(5.4, middle / 1e3, "*", color="cyan", markersize=14, label="epicentre")
for station in case.receiver:
    axes.plot(station.x / 1e3, station.y / 1e3, "^", color="black")
    axes.annotate(station.name, (station.x / 1e3, station.y / 1e3 + 0.25), ha="center")
axes.set(aspect="equal", xlabel="x (km)", ylabel="y (km)")
axes.legend()
figure.colorbar(drawn, label="peak ground velocity (m/s)", shrink=0.8)

# %%
# North is across the fault, where directivity is strongest.

figure, axes = plt.subplots(figsize=(8, 3.5), layout="constrained")
for station in ("AHEAD", "BEHIND"):
    motion = result.seismograms.sel(station=station, component="N")
    axes.plot(motion["time"], motion, label=station)
axes.set(xlabel="time (s)", ylabel="velocity to the north (m/s)")
axes.legend()

# %%
# The check
# ---------
# Energy is conserved on the fault: at each point, the work of the load goes into friction and into
# waves. With a constant load, this is the initial shear stress times the slip in its direction. The
# patch has another load, so we look at points away from it.

outside = (abs(points["along_strike"]) > 2e3) & (slip > 0.1)
load = 29e6 * abs(points["slip_strike"])
balance = ((points["work"] + points["released"]) / load).where(outside)
print(f"work and released energy over load times slip: {float(balance.mean()):.4f}")
peaks = abs(result.seismograms).max(("component", "time"))

assert abs(balance - 1).max() < 0.01, "energy is lost"
assert 0.5 * VS < speed < 1.75 * VS, "no rupture is faster than P waves"
assert peaks.sel(station="AHEAD") > peaks.sel(station="BEHIND"), "no directivity"

# %%
# What to change next
# -------------------
# - Is it resolved? The cohesive zone needs three cells or more: ``gs.check(case)`` warns.
#   Halve ``SPACING``: rupture times change by some hundredths of a second.
# - Lower the shear stress to 26 MPa: the rupture stops by itself. Raise it to 33 MPa: it runs
#   faster than S waves.
# - ``"law": "ageing"`` uses rate-and-state friction.
# - ``"output": {"rupture": {"interval": "0.05 s"}, "film": True}`` writes a film of the slip rate,
#   and the rupture as an SRF file, the source of other runs.
# - For faults that dip, bend or branch, use ``dgwave``, with the same ``[[fault]]``.
